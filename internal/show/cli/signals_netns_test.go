//go:build linux

package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// unreadServer is a server whose standard error is a pipe that is full and not read, from
// its first message on.
func unreadServer(t *testing.T) *serverProcess {
	t.Helper()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	ours := another(t, theirs, os.O_WRONLY)
	if err := ours.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Write(make([]byte, 16<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the pipe is not full: %v", err)
	}
	command := serverCommand()
	command.Stdout, command.Stderr = theirs, theirs
	s := startServerAs(t, command)
	theirs.Close()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+hostilePort)
		if err == nil {
			c.Close()
			return s
		}
		if time.Now().After(until) {
			t.Fatalf("the server does not listen: %v", err)
		}
	}
}

// another opens a pipe's end once more, with deadlines whatever the first has.
func another(t *testing.T, end *os.File, flag int) (opened *os.File) {
	t.Helper()
	raw, err := end.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) {
			opened, failed = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), flag|syscall.O_NONBLOCK, 0)
		})
		err = errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return opened
}

// TestUnreadOutput: a server whose standard error is not read serves, and ends with SIGTERM.
func TestUnreadOutput(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		s := unreadServer(t)
		for range 3 {
			s.measure(t)
		}
		if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if !s.ends(stopsWithin + stopsMargin) {
			t.Error("the server goes on after SIGTERM")
		}
	})
}

// TestSecondSignal: a command that does not end with the first signal, whatever it waits
// for, ends with the second at once. What it has changed is reverted all the same.
func TestSecondSignal(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		t.Run("serve", func(t *testing.T) {
			s := unreadServer(t)
			s.measure(t) // what it says of that is waited for
			endsBySecond(t, s.command, s.ended)
		})
		t.Run("agent", agentEndsBySecond)
		t.Run("run", func(t *testing.T) {
			dir := t.TempDir()
			study, mark := filepath.Join(dir, "study.yaml"), fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(),
				rand.Uint64())
			// Commands that neither answer nor end.
			text := strings.NewReplacer("touch ran; exit 1", "trap '' TERM INT; touch ran; exec sleep 100", "exit 1",
				"trap '' TERM INT; exec sleep 100").Replace(programStudy)
			if err := os.WriteFile(study, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, t.Context(), dir, "run", study, "--trust", "--quiet")
			cmd.Env = append(cmd.Env, mark)
			s := startServerAs(t, cmd)
			t.Cleanup(func() {
				for _, left := range marked(mark) {
					pid, _, _ := strings.Cut(left, " ")
					number, _ := strconv.Atoi(pid)
					_ = syscall.Kill(number, syscall.SIGKILL)
				}
			})
			for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
					break
				}
				if time.Now().After(until) {
					t.Fatalf("nothing was started: %s", s.said)
				}
			}
			endsBySecond(t, s.command, s.ended)
		})
	})
}

// endsBySecond sends SIGTERM until a process has ended, which is to be by such a signal, and
// not the first.
func endsBySecond(t *testing.T, cmd *exec.Cmd, ended <-chan struct{}) {
	t.Helper()
	const most = 100
	for sent := 1; sent <= most; sent++ {
		within := 100 * time.Millisecond
		switch err := cmd.Process.Signal(syscall.SIGTERM); {
		case errors.Is(err, os.ErrProcessDone): // by the one before, at the end of that time
			sent, within = sent-1, time.Minute
		case err != nil:
			t.Fatal(err)
		}
		select {
		case <-ended:
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || sent == 1 {
				t.Errorf("%v after %d signals, want that the second ends it", cmd.ProcessState, sent)
			}
			return
		case <-time.After(within):
		}
	}
	t.Errorf("it goes on after %d signals", most)
}

// agentEndsBySecond has an agent change a setting for a conductor that reads nothing any
// more: its answers, for which it waits, fill a pipe.
func agentEndsBySecond(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal.jsonl")
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, t.Context(), t.TempDir(), "agent", "--stdio", "--node", "nas", "--journal", journal)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	t.Cleanup(func() { in.Close() })
	another(t, out, os.O_RDONLY)
	s := startServerAs(t, cmd)
	theirIn.Close()
	theirOut.Close()
	lost, value := changedBy(t, deaf{out, in})
	out.Close() // the other one is open
	select {
	case <-lost:
	case <-time.After(20 * time.Second):
		t.Fatal("the bus reads on")
	}
	if err := in.SetWriteDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, strings.Repeat("PING\r\n", 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the agent takes everything: %v", err)
	}
	endsBySecond(t, s.command, s.ended)
	for until := time.Now().Add(time.Minute); value() != "0"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the guard has not reverted what the agent had changed")
		}
	}
}
