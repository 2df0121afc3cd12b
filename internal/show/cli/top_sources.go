package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/control/lab"
	"linerate/internal/host/hoststate"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

// labReached are the hosts and switches of a lab.
func labReached(name string) (list []reached, err error) {
	hosts, err := lab.Hosts(name)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	for _, host := range hosts {
		list = append(list, reached{host, []string{self, "lab", "exec", "--lab", name, host, "--"}})
	}
	return list, err
}

// here is this host.
type here struct{ *hoststate.Sampler }

func (here) Name() string { return "" }

// namer tells hosts of one name apart.
type namer struct {
	mu    sync.Mutex
	taken map[string]bool
}

func (n *namer) distinct(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, free := 2, name; ; i++ {
		if !n.taken[free] {
			n.taken[free] = true
			return free
		}
		free = fmt.Sprintf("%s#%d", name, i)
	}
}

// sampleTimeout bounds the wait for a sample beside the interval.
const sampleTimeout = 30 * time.Second

// remote is a host on which linerate top --json is executed.
type remote struct {
	reached
	interval time.Duration
	names    *namer

	mu    sync.Mutex
	cmd   *exec.Cmd // nil: it is not executed
	lines *bufio.Reader
	errs  *proc.FirstBytes
	shown string // its name, once it is known
}

func (r *remote) Name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown == "" && r.name != "" {
		r.shown = r.names.distinct(r.name)
	}
	return r.shown
}

func (r *remote) Next(ctx context.Context) (s record.HostSample, err error) {
	what := r.what()
	if err := r.begin(); err != nil {
		return s, fmt.Errorf("%s: %w", what, err)
	}
	wait := r.interval + sampleTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("no sample within %s", wait))
	defer cancel()
	stop := context.AfterFunc(ctx, r.kill)
	line, err := lineOf(r.lines)
	if !stop() {
		r.end()
		return s, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	if err == nil {
		s, err = record.ParseHostSample(line)
	}
	if err != nil {
		ended := r.end()
		if errors.Is(err, io.EOF) { // it ended; that is no end of samples
			if err = ended; err == nil {
				err = errors.New("it ended")
			}
		}
		if said := strings.TrimSpace(plain.Line(r.errs.String())); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return s, fmt.Errorf("%s: %w", what, err)
	}
	r.mu.Lock()
	if r.shown == "" {
		r.shown = r.names.distinct(cmp.Or(r.name, s.Host))
	}
	s.Host = r.shown
	r.mu.Unlock()
	return s, nil
}

func (r *remote) words() []string {
	return append(r.command[1:len(r.command):len(r.command)], programName(r.command[0]), "top", "--json", "--interval",
		r.interval.String())
}

func (r *remote) what() string {
	return strings.Join(append([]string{r.command[0]}, r.words()...), " ")
}

// begin executes the command, unless it is executed.
func (r *remote) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		return nil
	}
	cmd := proc.Command(r.command[0], r.words()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all of it ends
	cmd.WaitDelay = time.Second
	r.errs = &proc.FirstBytes{Most: 4 << 10}
	cmd.Stderr = r.errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	r.cmd, r.lines = cmd, bufio.NewReaderSize(out, 64<<10)
	return nil
}

func (r *remote) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		_ = proc.SignalGroup(r.cmd.Process, syscall.SIGKILL)
	}
}

// end ends the command, and returns why it had ended itself.
func (r *remote) end() error {
	r.kill()
	r.mu.Lock()
	cmd := r.cmd
	r.cmd = nil
	r.mu.Unlock()
	if cmd == nil {
		return nil
	}
	return cmd.Wait()
}

// lineOf reads a line of bounded length.
func lineOf(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > record.LargestHostSample:
			return nil, fmt.Errorf("expected lines of at most %d bytes", record.LargestHostSample)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

// recording is what --json has written.
type recording struct {
	name     string
	close    func()
	lines    *bufio.Reader
	interval time.Duration // between samples; 0: as they were taken; below 0: none
	number   int
	last     time.Time // when the sample before was taken
	due      time.Time // when that was to be shown
}

// mostGap bounds how long a recording stands still.
const mostGap = 10 * time.Second

// openRecording opens a file; "-": in. Interval is that of a recording.
func openRecording(in io.Reader, name string, interval time.Duration) (*recording, error) {
	r := &recording{name: name, close: func() {}, lines: bufio.NewReader(in), interval: interval}
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		r.close, r.lines = func() { _ = file.Close() }, bufio.NewReader(file)
	}
	return r, nil
}

func (r *recording) Name() string { return r.name }

func (r *recording) Next(ctx context.Context) (s record.HostSample, err error) {
	line, err := lineOf(r.lines)
	if err != nil {
		return s, err
	}
	r.number++
	if s, err = record.ParseHostSample(line); err != nil {
		return s, fmt.Errorf("%s:%d: %w", r.name, r.number, err)
	}
	gap := r.interval
	if gap == 0 && !r.last.IsZero() {
		gap = max(0, min(s.Taken.Sub(r.last), mostGap))
	}
	now := time.Now()
	if r.due = r.due.Add(max(0, gap)); r.due.Before(now) {
		r.due = now
	}
	r.last = s.Taken
	select {
	case <-time.After(r.due.Sub(now)):
		return s, nil
	case <-ctx.Done():
		return s, context.Cause(ctx)
	}
}
