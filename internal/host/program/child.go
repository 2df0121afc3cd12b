// Package program starts other programs as children of the agent, in its network namespace. Each leads a
// process group, dies with the agent however that ends (prctl(2), PR_SET_PDEATHSIG), and has the end of its
// output kept.
//
// Packages foreign and daemon decide what to run. Detach starts linerate itself so that it outlives the agent.
package program

import (
	"context"
	"errors"
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

// Launcher starts all programs from one thread that lives until Close, because the kernel kills a child when
// the thread that started it ends (PR_SET_PDEATHSIG). The thread and its programs are confined (proc.Apart,
// proc.Confine) as far as the kernel permits.
type Launcher struct {
	calls chan func()
	once  sync.Once
	// unconfined is why its programs are not confined; nil if they are. apart says that they have a PID namespace of
	// their own. The thread sets both.
	unconfined error
	apart      bool
}

// NewLauncher starts the thread, whose programs have the needs.
func NewLauncher(needs proc.Needs) *Launcher {
	l := &Launcher{calls: make(chan func())}
	go func() {
		runtime.LockOSThread()
		var end func()
		for do := range l.calls {
			if end == nil {
				var together error
				l.apart, end, together = apart()
				l.unconfined = errors.Join(together, proc.Confine(needs))
			}
			do()
		}
		if end != nil {
			end()
		}
	}()
	return l
}

// Close ends the thread and kills every program still running, with all processes that they have started.
func (l *Launcher) Close() { l.once.Do(func() { close(l.calls) }) }

// Detach starts this program with args in a session of its own. It survives this process and the terminal or
// ssh connection that started it, and keeps none of their files open. in is its standard input; ended is closed
// when it has exited.
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

// Program is a process of another program that leads its process group.
type Program struct {
	cmd         *exec.Cmd
	text, wrong *words
	startNs     int64
	unconfined  error         // why it is not confined; nil: it is
	alone       bool          // in a PID namespace of its own
	ended       chan struct{} // closed when the program has ended and the fields below are set
	endNs       int64
	status      int

	mu     sync.Mutex
	killed bool
}

// Do runs f on the thread that starts programs; they inherit its namespaces.
func (l *Launcher) Do(f func() error) (err error) {
	done := make(chan struct{})
	l.calls <- func() {
		defer close(done)
		err = f()
	}
	<-done
	return err
}

// Start runs a command. If alone, it gets a PID namespace of its own where the kernel permits, so that its
// child processes end with it. The lines of input are repeated forever on its standard input, which is empty
// without any.
func (l *Launcher) Start(command []string, alone bool, input ...string) (p *Program, err error) {
	err = l.Do(func() error {
		if p, err = l.begin(command, alone, input); err != nil && alone {
			p, err = l.begin(command, false, input)
		}
		if err == nil {
			p.unconfined = l.unconfined
		}
		return err
	})
	if err == nil {
		proc.KilledFirst(p.Pid()) // /proc is read-only to the thread
	}
	return p, err
}

// wordsGrace is how long a child left running by the program may keep its standard output open.
const wordsGrace = 200 * time.Millisecond

func (l *Launcher) begin(command []string, alone bool, input []string) (*Program, error) {
	p := &Program{cmd: proc.Command(command[0], command[1:]...), text: &words{}, wrong: &words{}, alone: alone,
		ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.text, p.wrong
	// Not the agent's own environment: iperf reads options from it.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "LC_ALL=C", "HOME=/"}
	p.cmd.SysProcAttr = attributes(alone, l.apart)
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

func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed when the program has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// EndNs returns when the program ended; 0 if it is running or that is unknown.
func (p *Program) EndNs() int64 {
	if p.Running() {
		return 0
	}
	return p.endNs
}

func (p *Program) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// End waits until the program ends. It interrupts a server first, and kills the program when ctx ends.
func (p *Program) End(ctx context.Context, server bool) {
	if server {
		const grace = 100 * time.Millisecond // time to finish writing a report
		select {
		case <-p.ended:
			return
		case <-time.After(grace):
		}
		if p.alone {
			p.Kill() // the first process of a PID namespace ignores other signals
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

// Kill kills the program's process group, unless the program has ended and its PID may have been reused.
func (p *Program) Kill() {
	if !p.Running() {
		return
	}
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	_ = proc.SignalGroup(p.cmd.Process, syscall.SIGKILL)
}

// interruptGrace is how long a program may take to end after SIGINT. The first process of a PID namespace
// ignores it unless it has a handler.
const interruptGrace = 500 * time.Millisecond

// Interrupt ends the program with SIGINT, as a terminal does, and kills it if it continues. It is the regular
// end of programs without a duration, so it does not count as killing.
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

// repeated reads as a text repeated forever.
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

// LastLine returns the last line of the program's standard error or, if that is empty, of its standard output.
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

// Said returns what the program has written to both outputs.
func (p *Program) Said() string { return p.text.String() + p.wrong.String() }

// Printed returns the program's output and exit, at most most bytes. Call it after the program has ended.
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

// maxText limits how much output of a program is kept, in bytes; a report of hundreds of streams has some
// hundred KiB.
const maxText = 1 << 20

// MaxPrinted returns how many bytes of output of each program may be reported: the output of all is one
// message.
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
