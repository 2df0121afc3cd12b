// Package program starts foreign programs as children of the agent, in its network
// namespace: each leads a process group of its own, dies with the agent however that
// ends (prctl(2), PR_SET_PDEATHSIG), and has the end of its output kept.
//
// What the programs are for is in packages foreign and daemon. Detach starts this program
// itself, to outlive the agent.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// Launcher starts programs, all from one thread that lives until it is closed:
// the kernel ends a child when the thread that made it is gone (PR_SET_PDEATHSIG). The
// thread is confined (proc.Confine), and so are they, as far as the kernel permits.
type Launcher struct {
	calls chan func()
	once  sync.Once
	// unconfined is why its programs are not confined; nil: they are. The thread sets it.
	unconfined error
}

// NewLauncher makes one. As root its programs keep further capabilities besides those that
// proc.Confine leaves to all.
func NewLauncher(keep ...proc.Capability) *Launcher {
	l := &Launcher{calls: make(chan func())}
	go func() {
		runtime.LockOSThread()
		confined := false
		for do := range l.calls {
			if !confined {
				confined, l.unconfined = true, proc.Confine(keep...)
			}
			do()
		}
	}()
	return l
}

// Close ends the thread, and with it whatever still runs.
func (l *Launcher) Close() { l.once.Do(func() { close(l.calls) }) }

// Detach starts this program with other arguments in a session of its own: it neither
// ends with this process nor with the terminal or ssh connection that this one was started
// from, and keeps none of their files open. Its standard input is given; the channel is
// closed when it has ended.
func Detach(in *os.File, args ...string) (ended <-chan struct{}, err error) {
	cmd := proc.Command("/proc/self/exe", args...)
	cmd.Args[0], cmd.Dir, cmd.Stdin = "linerate", "/", in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(over)
	}()
	return over, nil
}

// Program is another program's process, the leader of a group of its own.
type Program struct {
	cmd         *exec.Cmd
	text, wrong *words
	startNs     int64
	unconfined  error         // why it is not confined
	alone       bool          // in a process namespace of its own
	ended       chan struct{} // closed once it has ended, and the following are set
	endNs       int64
	status      int

	mu     sync.Mutex
	killed bool
}

// Do runs f on the thread that programs are started from, whose namespaces they
// inherit.
func (l *Launcher) Do(f func() error) (err error) {
	done := make(chan struct{})
	l.calls <- func() {
		defer close(done)
		err = f()
	}
	<-done
	return err
}

// Start runs a command. alone gives it a process namespace of its own, if the kernel permits
// it, so that processes that it starts end with it. Its standard input repeats the lines of
// input without end; without any it is empty.
func (l *Launcher) Start(command []string, alone bool, input ...string) (p *Program, err error) {
	err = l.Do(func() error {
		if p, err = begin(command, alone, input); err != nil && alone {
			p, err = begin(command, false, input)
		}
		if err == nil {
			p.unconfined = l.unconfined
		}
		return err
	})
	return p, err
}

// wordsGrace is how long a child that the program has left running may keep its standard
// output open.
const wordsGrace = 200 * time.Millisecond

func begin(command []string, alone bool, input []string) (*Program, error) {
	p := &Program{cmd: proc.Command(command[0], command[1:]...), text: &words{}, wrong: &words{}, alone: alone,
		ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.text, p.wrong
	// Not the agent's own environment: iperf takes options from there.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "LC_ALL=C", "HOME=/"}
	p.cmd.SysProcAttr = attributes(alone)
	if len(input) > 0 {
		p.cmd.Stdin = &repeated{text: strings.Join(input, "\n") + "\n"}
	}
	p.cmd.WaitDelay = wordsGrace
	p.startNs = sched.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.endNs, p.status = sched.Now(), p.cmd.ProcessState.ExitCode()
		close(p.ended)
	}()
	return p, nil
}

// Pid is the process's number.
func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Ended is closed once the program has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// EndNs is when it ended; 0: it runs, or that is not known.
func (p *Program) EndNs() int64 {
	if p.Running() {
		return 0
	}
	return p.endNs
}

// Running reports whether the program has not ended.
func (p *Program) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// End waits for the program's own end, asks it to end if it is a server, and kills
// it when ctx is over.
func (p *Program) End(ctx context.Context, server bool) {
	if server {
		const grace = 100 * time.Millisecond // for a report that is being made
		select {
		case <-p.ended:
			return
		case <-time.After(grace):
		}
		if p.alone {
			p.Kill() // the first process of a namespace ignores other signals
		} else {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.Kill()
		<-p.ended
	}
}

// Kill ends the program and its whole group, unless it has ended: its number may be
// another process's then.
func (p *Program) Kill() {
	if !p.Running() {
		return
	}
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	_ = proc.SignalGroup(p.cmd.Process, syscall.SIGKILL)
}

// interruptGrace is how long a program may take to end after SIGINT, which it may
// ignore: the first process of a namespace does, unless it has a handler.
const interruptGrace = 500 * time.Millisecond

// Interrupt ends the program as a terminal does, and kills it if it goes on. It is how
// programs end that have no duration, and does not count as killed.
func (p *Program) Interrupt() {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		if !p.Running() {
			return
		}
		_ = proc.SignalGroup(p.cmd.Process, signal)
		select {
		case <-p.ended:
		case <-time.After(interruptGrace):
		}
	}
}

// repeated is a text over and over.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		m := copy(b[n:], r.text[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.text)
	}
	return n, nil
}

// Last describes how a program ended unexpectedly.
func (p *Program) Last() string {
	text := fmt.Sprintf("%s ended after %.2f s with status %d", p.cmd.Args[0], float64(p.endNs-p.startNs)/1e9, p.status)
	if said := p.LastLine(); said != "" && p.status != 0 {
		text += ": " + said
	}
	return text
}

// LastLine is the last line that the program has written, of its errors if it has written
// any; empty: none.
func (p *Program) LastLine() string {
	said := strings.TrimSpace(p.wrong.String())
	if said == "" {
		said = strings.TrimSpace(p.text.String())
	}
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = strings.TrimSpace(said[i+1:])
	}
	if len(said) > 200 {
		said = said[:200] + "…"
	}
	return said
}

// Said is what the program has said so far, on both of its outputs.
func (p *Program) Said() string { return p.text.String() + p.wrong.String() }

// Printed is the program's life; it has ended.
func (p *Program) Printed(process string, most int) message.Printed {
	out := message.Printed{
		Process: process, Command: p.cmd.Args, StartNs: p.startNs, EndNs: p.endNs, Status: p.status,
		Text: p.text.end(most), Errors: p.wrong.end(message.MaxPrinted),
	}
	if p.unconfined != nil {
		out.NotConfined = strings.ReplaceAll(p.unconfined.Error(), "\n", "; ")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		out.EndNs = 0
	}
	return out
}

// maxText bounds what is kept of one program's words; a report of hundreds of
// streams has some hundred KiB.
const maxText = 1 << 20

// MaxPrinted is how much of it is handed over: all programs' words are one message.
func MaxPrinted(programs int) int {
	return max(message.MaxPrinted, min(maxText, 16<<20/max(programs, 1)))
}

// words keeps the end of what is written to it.
type words struct {
	mu   sync.Mutex
	text []byte
}

func (w *words) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text...)
	if len(w.text) > 2*maxText {
		w.text = append(w.text[:0], w.text[len(w.text)-maxText:]...)
	}
	return len(text), nil
}

func (w *words) String() string { return w.end(maxText) }

func (w *words) end(most int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(string(w.text[max(0, len(w.text)-most):]), "\ufffd")
}
