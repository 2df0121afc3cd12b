package lab

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// remote is a real host's agent as its conductor sees it.
type remote struct {
	node    string
	cmd     *exec.Cmd
	in, out *os.File // the agent's standard input and output
	words   *tail
	ended   chan struct{}
}

// grace is how long a real host's agent has to revert its settings.
const grace = 20 * time.Second

// reach starts a command whose standard input and output are an agent's stream.
func reach(node string, argv []string) (*remote, error) {
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
	r := &remote{node: node, cmd: exec.Command(argv[0], argv[1:]...), in: in, out: out, words: &tail{}, ended: make(chan struct{})}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = theirIn, theirOut, r.words
	// Ctrl-C at the terminal is the conductor's to handle: the agents live until
	// they have reverted what was changed.
	r.cmd.SysProcAttr = ownSession()
	err = r.cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	return r, nil
}

// end closes the agent's input, which tells it to revert its settings and go.
func (r *remote) end() {
	r.in.Close()
	select {
	case <-r.ended:
	case <-time.After(grace):
		_ = r.cmd.Process.Kill()
		<-r.ended
	}
}

// remoteWords are the last words of a real host's agent, for an error message.
func (l *Lab) remoteWords(node string) string {
	for _, r := range l.remotes {
		if r.node != node {
			continue
		}
		said := strings.TrimSpace(r.words.String())
		if said == "" {
			return fmt.Sprintf(" (command: %s)", strings.Join(r.cmd.Args, " "))
		}
		return fmt.Sprintf(" (%s said: %s)", strings.Join(r.cmd.Args, " "), said)
	}
	return ""
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailLength; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
