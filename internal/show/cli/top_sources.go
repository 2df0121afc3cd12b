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
	"sync"
	"time"

	"linerate/internal/control/reach"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// namer gives hosts of the same name different names.
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

// sampleTimeout bounds the wait for a sample, in addition to the interval.
const sampleTimeout = 30 * time.Second

// sampled is a host whose agent is asked for samples.
type sampled struct {
	host     reach.Host
	interval time.Duration
	names    *namer
	hosts    *reach.Hosts // nil: its agent has not been reached, or is lost

	mu    sync.Mutex
	shown string // its name on the screen, once it is known
}

func (r *sampled) Name() string {
	if r.host.Called == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.shown
	}
	return r.name("")
}

// name returns the host's name on the screen: the name it was given, or else the one it reports
// itself.
func (r *sampled) name(own string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown == "" {
		r.shown = r.names.distinct(cmp.Or(r.host.Called, own))
	}
	return r.shown
}

func (r *sampled) Next(ctx context.Context) (s record.HostSample, err error) {
	wait := r.interval + sampleTimeout
	if r.hosts == nil {
		h, err := reach.Open(ctx, []reach.Host{r.host}, reach.Read, reach.Options{Within: wait, Self: self})
		if err != nil {
			if h != nil {
				h.Close()
			}
			return s, err
		}
		r.hosts = h
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("no sample within %s: %w", wait,
		context.DeadlineExceeded))
	defer cancel()
	s, err = reach.Call(ctx, r.hosts.List()[0], message.Sample,
		message.SampleRequest{IntervalNs: int64(r.interval)})
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		r.end()
		return s, err
	}
	s.Host = r.name(s.Host)
	return s, nil
}

// end ends the agent. Next calls it, or the caller once Next is not called any more.
func (r *sampled) end() {
	if r.hosts != nil {
		r.hosts.Close()
		r.hosts = nil
	}
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

// recording is a file that --json has written.
type recording struct {
	name     string
	close    func()
	lines    *bufio.Reader
	interval time.Duration // between samples; 0: as they were taken; below 0: none
	number   int
	last     time.Time // when the sample before was taken
	due      time.Time // when the sample before was due on the screen
}

// mostGap bounds the pauses of a recording.
const mostGap = 10 * time.Second

// openRecording opens a file; "-": in. interval is recording.interval.
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
