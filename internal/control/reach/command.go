package reach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

// command is a process whose standard input and output are an agent's stream.
type command struct {
	via     []string
	program string // linerate behind it
	cmd     *exec.Cmd
	in, out *os.File // the agent's standard input and output
	stderr  *tailBuffer
	ended   chan struct{}
	err     error // why it ended, once it has
}

// Limits of waiting.
const (
	revertTimeout = 20 * time.Second // for an agent to revert its settings
	leaveTimeout  = 2 * time.Second  // for one that has changed nothing
	killTimeout   = 2 * time.Second  // for a command that was killed
	// a process that the command started may keep its standard error open
	stderrTimeout  = time.Second
	versionTimeout = 5 * time.Second
)

// startCommand executes via with an agent's words.
func startCommand(via, words []string) (*command, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, err
	}
	argv := slices.Concat(unattended(via), words)
	c := &command{via: via, program: words[0], cmd: proc.Command(argv[0], argv[1:]...), in: in, out: out,
		stderr: &tailBuffer{}, ended: make(chan struct{})}
	if bySSH(via) {
		c.cmd.Env = append(c.cmd.Env, "LC_ALL=C") // for sshMessages
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirIn, theirOut, c.stderr
	// A session of its own: Ctrl-C at the terminal must not reach the agents, which
	// live until they have reverted their settings.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.cmd.WaitDelay = stderrTimeout
	err = c.cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// unattended returns a command whose ssh asks for nothing, because nobody would answer, and gives up before linerate
// does, so that its message says why. It has no terminal, which would change bytes. Before sshpass(1), ssh must ask.
func unattended(via []string) []string {
	at := slices.IndexFunc(via, func(word string) bool { return path.Base(word) == "ssh" })
	if at < 0 || slices.ContainsFunc(via[:at], func(word string) bool { return path.Base(word) == "sshpass" }) {
		return slices.Clone(via)
	}
	options := []string{"-T"}
	if !slices.Contains(via, "BatchMode=yes") {
		options = append(options, "-o", "BatchMode=yes")
	}
	if at == 0 && !hasConnectTimeout(via) {
		options = append(options, "-o", "ConnectTimeout=20")
	}
	return slices.Insert(slices.Clone(via), at+1, options...)
}

// hasConnectTimeout reports whether the user's configuration of ssh, or the words of a command, set ConnectTimeout.
func hasConnectTimeout(via []string) bool {
	ask, out := proc.Command(via[0], slices.Insert(slices.Clone(via[1:]), 0, "-G")...), &proc.FirstBytes{Most: 64 << 10}
	ask.Stdout, ask.WaitDelay, ask.SysProcAttr = out, stderrTimeout, &syscall.SysProcAttr{Setsid: true}
	if ask.Start() != nil {
		return false
	}
	defer time.AfterFunc(versionTimeout, func() { _ = proc.SignalGroup(ask.Process, syscall.SIGKILL) }).Stop()
	_ = ask.Wait()
	_, value, has := strings.Cut(out.String(), "\nconnecttimeout ")
	return has && !strings.HasPrefix(value, "none")
}

// noShell reports whether the command has ended because it found no sh: by its exit status, or as container runtimes
// say it.
func (c *command) noShell() bool {
	if !c.endsWithin(time.Second) {
		return false
	}
	exit, text := c.cmd.ProcessState.ExitCode(), c.said()
	reason := reasonOf(c.via, exit, text)
	return reason == NoProgram || reason == NotAllowed ||
		exit > 0 && strings.Contains(text, "executable file not found")
}

// end closes the agent's input, upon which it reverts its settings and exits. An error
// means that they may not be reverted.
func (r *Reached) end() error {
	c := r.command
	c.in.Close()
	if r.purpose != Change {
		if !c.endsWithin(leaveTimeout) {
			_ = proc.SignalGroup(c.cmd.Process, syscall.SIGKILL)
			c.endsWithin(killTimeout)
		}
		return nil
	}
	if !c.endsWithin(revertTimeout) {
		err := fmt.Errorf(
			"%s: its agent did not end within %v, so its settings may not be reverted: see linerate recover there%s",
			r.Name, revertTimeout, c.detail())
		// A process of another user, such as sudo, cannot be killed.
		if kill := c.cmd.Process.Kill(); kill != nil || !c.endsWithin(killTimeout) {
			err = fmt.Errorf("%w; the command is still there (process %d)", err, c.cmd.Process.Pid)
		}
		return err
	}
	// ErrWaitDelay: another process keeps the standard error open, as ssh's connection
	// sharing does. That is no failure.
	if c.err == nil || errors.Is(c.err, exec.ErrWaitDelay) {
		return nil
	}
	return fmt.Errorf(
		"%s: its agent failed in the end (%w), so its settings may not be reverted: see linerate recover there%s",
		r.Name, c.err, c.detail())
}

func (c *command) endsWithin(d time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// said is the end of the command's standard error so far, as one line.
func (c *command) said() string {
	return oneLine(c.stderr.String())
}

func oneLine(text string) string { return strings.TrimSpace(plain.Line(strings.TrimSpace(text))) }

// detail is what the command has printed, for an error message. Of the command it has the program
// alone: errors are kept, and its arguments may be secrets.
func (c *command) detail() string {
	if said := c.said(); said != "" {
		return fmt.Sprintf(" (%s printed: %s)", c.cmd.Args[0], said)
	}
	return fmt.Sprintf(" (via %s …)", c.cmd.Args[0])
}

var versionLine = pattern.MustCompile(`(?m)^linerate ([^\s,]+)`)

// version is that of linerate behind the command, by --version; empty: it does not say.
func (c *command) version(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	argv := append(unattended(c.via), c.program, "--version")
	ask, out := proc.Command(argv[0], argv[1:]...), &proc.FirstBytes{Most: 4 << 10}
	ask.Stdout, ask.WaitDelay, ask.SysProcAttr = out, stderrTimeout, &syscall.SysProcAttr{Setsid: true}
	if ask.Start() != nil {
		return ""
	}
	stop := context.AfterFunc(ctx, func() { _ = proc.SignalGroup(ask.Process, syscall.SIGKILL) })
	err := ask.Wait()
	stop()
	if found := versionLine.FindStringSubmatch(out.String()); err == nil && found != nil {
		return plain.Short(found[1], 64)
	}
	return ""
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 2000

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailLength; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
