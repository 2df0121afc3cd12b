//go:build linux

package cli

import (
	"bufio"
	"io"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/file"
)

// A signal to `lab exec` ends its command, as it would without a lab between.
func TestLabExecSignals(t *testing.T) {
	l := labUpFor(t, "one-link.yaml")
	for _, c := range []struct {
		name, script string
		signal       syscall.Signal
		status       int
	}{
		// The shell waits, and has nothing left to start: some lose a signal that
		// comes while they start a program (a handler that runs during vfork).
		{"SIGTERM", "sleep 1000 & echo started; wait", syscall.SIGTERM, 143},
		{"SIGINT", "sleep 1000 & echo started; wait", syscall.SIGINT, 130},
		{"SIGHUP", "sleep 1000 & echo started; wait", syscall.SIGHUP, 129},
		{"a trap", "trap 'exit 7' TERM; sleep 1000 & echo started; wait", syscall.SIGTERM, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := l.exec(t, "client", "sh", "-c", c.script)
			out, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			awaitLine(t, out, "started")
			if err := command.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			if got := command.ProcessState.ExitCode(); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
		})
	}
	for _, c := range []struct {
		name, keys string
		signal     syscall.Signal
		status     int
	}{
		{"keys", "\x1a\x03", 0, 130}, // a stop that could not be continued, and an interrupt
		{"hanging up", "", syscall.SIGTERM, 143},
	} {
		t.Run("terminal: "+c.name, func(t *testing.T) {
			controller, terminal, err := file.OpenPTY()
			if err != nil {
				t.Fatal(err)
			}
			defer controller.Close()
			command := l.exec(t, "client", "sh", "-c", "echo started; exec sleep 1000")
			command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
			command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			terminal.Close()
			awaitLine(t, controller, "started")
			if _, err := controller.WriteString(c.keys); err != nil {
				t.Fatal(err)
			}
			if c.signal != 0 {
				if err := command.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			go func() { _, _ = io.Copy(io.Discard, controller) }()
			_ = command.Wait()
			if got := command.ProcessState.ExitCode(); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
		})
	}
	l.ask(t, "client", "true")
}

func awaitLine(t *testing.T, r io.Reader, what string) {
	t.Helper()
	if line, err := bufio.NewReaderSize(r, 16).ReadString('\n'); err != nil || strings.TrimSpace(line) != what {
		t.Fatalf("read %q, %v; want %q", line, err, what)
	}
}
