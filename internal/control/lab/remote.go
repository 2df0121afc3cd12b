package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/topology"
)

// remote is a real host's agent as seen by the conductor.
type remote struct {
	node    string
	cmd     *exec.Cmd
	in, out *os.File // the agent's standard input and output
	stderr  *tailBuffer
	ended   chan struct{}
	err     error // why the command ended, once it has
}

// Limits of waiting.
const (
	revertTimeout = 20 * time.Second // for an agent to revert its settings
	killTimeout   = 2 * time.Second  // for a command that was killed
	// a process that the command started may keep its standard error open
	stderrTimeout = time.Second
)

// startRemote starts a command whose standard input and output are an agent's stream.
func startRemote(node string, argv []string) (*remote, error) {
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
	r := &remote{node: node, cmd: proc.Command(argv[0], argv[1:]...), in: in, out: out, stderr: &tailBuffer{},
		ended: make(chan struct{})}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = theirIn, theirOut, r.stderr
	// A session of its own: Ctrl-C at the terminal must not reach the agents, which
	// live until they have reverted their settings.
	r.cmd.SysProcAttr = ownSession()
	r.cmd.WaitDelay = stderrTimeout
	err = r.cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	return r, nil
}

// end closes the agent's input, upon which it reverts its settings and exits. An error
// means that they may not be reverted.
func (r *remote) end() error {
	r.in.Close()
	if !r.endsWithin(revertTimeout) {
		err := fmt.Errorf(
			"%s: its agent did not end within %v, so its settings may not be reverted: see linerate recover there%s",
			r.node, revertTimeout, r.detail())
		// A process of another user, such as sudo, cannot be killed.
		if kill := r.cmd.Process.Kill(); kill != nil || !r.endsWithin(killTimeout) {
			err = fmt.Errorf("%w; the command is still there (process %d)", err, r.cmd.Process.Pid)
		}
		return err
	}
	// ErrWaitDelay: another process keeps the standard error open, as ssh's connection
	// sharing does. That is no failure.
	if r.err == nil || errors.Is(r.err, exec.ErrWaitDelay) {
		return nil
	}
	return fmt.Errorf(
		"%s: its agent failed in the end (%w), so its settings may not be reverted: see linerate recover there%s",
		r.node, r.err, r.detail())
}

func (r *remote) endsWithin(d time.Duration) bool {
	select {
	case <-r.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// remote returns the real host of that name; nil: there is none.
func (l *Lab) remote(node string) *remote {
	if i := slices.IndexFunc(l.remotes, func(r *remote) bool { return r.node == node }); i >= 0 {
		return l.remotes[i]
	}
	return nil
}

// exitDetail is detail of a command that has ended or is about to, with advice.
func (r *remote) exitDetail() string {
	if r == nil {
		return ""
	}
	// The stream may end before standard error does.
	if r.endsWithin(time.Second) {
		// The exit status of sh(1) and env(1) for a command that they cannot run or find.
		if status := r.cmd.ProcessState.ExitCode(); status == 126 || status == 127 {
			return r.detail() + "; if linerate is elsewhere on that host, give its path with agent: PATH"
		}
	}
	return r.detail()
}

// detail is the standard error of a real host's command so far, for an error message. Of
// the command it has the program alone: errors are kept, and its arguments may be secrets.
func (r *remote) detail() string {
	if r == nil {
		return ""
	}
	command := r.cmd.Args[0]
	if text := strings.TrimSpace(r.stderr.String()); text != "" {
		return fmt.Sprintf(" (%s printed: %s)", command, text)
	}
	return fmt.Sprintf(" (via %s …; linerate check lists the command)", command)
}

// startRemotes starts an agent on each real host, by its `via`.
func (l *Lab) startRemotes() error {
	var errs []error
	for _, h := range l.topology.Hosts {
		errs = append(errs, l.attachRemote(h.Name, h.Via, h.Agent))
	}
	for _, s := range l.topology.Switches {
		errs = append(errs, l.attachRemote(s.Name, s.Via, s.Agent))
	}
	return errors.Join(errs...)
}

// attachRemote starts a node's agent, agent being its program there; empty: see agentProgram.
func (l *Lab) attachRemote(name string, via []string, agent string) error {
	if len(via) == 0 {
		return nil
	}
	if agent == "" {
		own, err := os.Executable()
		if err != nil {
			return err
		}
		agent = agentProgram(via, own)
	}
	r, err := startRemote(name, slices.Concat(via, topology.AgentWords(agent, name)))
	if err != nil {
		return fmt.Errorf("starting the agent of %s: %w", name, err)
	}
	l.remotes = append(l.remotes, r)
	l.bus.Attach(name, bus.Pipes(r.out, r.in))
	return nil
}

// localCommands run another command on this machine; remoteCommands run it elsewhere, or
// without this machine's files.
var (
	localCommands = []string{"ip", "nsenter", "unshare", "sudo", "doas", "setpriv", "env", "chroot", "nice",
		"timeout", "taskset"}
	remoteCommands = []string{"ssh", "rsh", "kubectl", "oc", "docker", "podman", "nerdctl", "crictl", "lxc",
		"lxc-attach", "incus", "machinectl", "limactl", "vagrant", "adb"}
)

// agentProgram returns own, the path of this program, if via runs it on this machine,
// and otherwise "linerate", to be found in the remote PATH.
func agentProgram(via []string, own string) string {
	leaves := slices.ContainsFunc(via, func(word string) bool {
		return slices.Contains(remoteCommands, path.Base(word))
	})
	if slices.Contains(localCommands, path.Base(via[0])) && !leaves {
		return own
	}
	return "linerate"
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
