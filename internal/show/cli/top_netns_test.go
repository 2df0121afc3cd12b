//go:build linux && !portable

package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// onTerminal is linerate top on a terminal of its own.
type onTerminal struct {
	cmd      *exec.Cmd
	keys     *os.File
	terminal *os.File
	said     *transcript
	before   unix.Termios
}

func topOnTerminal(t *testing.T, width, height uint16, args ...string) *onTerminal {
	t.Helper()
	controller, terminal, err := file.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close(); controller.Close() })
	if err := unix.IoctlSetWinsize(int(controller.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: height, Col: width}); err != nil {
		t.Fatal(err)
	}
	o := &onTerminal{cmd: command(t, context.Background(), t.TempDir(), append([]string{"top"}, args...)...),
		keys: controller, terminal: terminal, said: &transcript{}}
	o.before = o.state(t)
	o.cmd.Stdin, o.cmd.Stdout, o.cmd.Stderr = terminal, terminal, terminal
	o.cmd.Env = append(o.cmd.Env, "TERM=xterm-256color", "COLUMNS=", "LINES=")
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.cmd.Process.Kill(); _ = o.cmd.Wait() })
	go func() { _, _ = io.Copy(o.said, controller) }()
	return o
}

// state are the terminal's modes.
func (o *onTerminal) state(t *testing.T) unix.Termios {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(o.terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *state
}

func (o *onTerminal) await(t *testing.T, what string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !strings.Contains(o.said.String(), what); time.Sleep(
		10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q is not on the terminal: %q", what, o.said)
		}
	}
}

// Sequences of xterm: the alternate screen.
const alternateOn, alternateOff = "\x1b[?1049h", "\x1b[?1049l"

// TestTopRestoresTheTerminal: however linerate top ends but by SIGKILL, the terminal has its
// modes and its screen afterwards, and the exit status is 0.
func TestTopRestoresTheTerminal(t *testing.T) {
	kerneltest.Parallel(t)
	for name, end := range map[string]func(*onTerminal) error{
		"q":       func(o *onTerminal) error { _, err := o.keys.Write([]byte("q")); return err },
		"Ctrl-C":  func(o *onTerminal) error { _, err := o.keys.Write([]byte("\x03")); return err },
		"SIGTERM": func(o *onTerminal) error { return o.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(o *onTerminal) error { return o.cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			o := topOnTerminal(t, 80, 24, "--interval", "100ms")
			o.await(t, "packets/s")
			if during := o.state(t); during.Lflag&unix.ICANON != 0 {
				t.Error("the terminal is not in raw mode meanwhile")
			}
			if err := end(o); err != nil {
				t.Fatal(err)
			}
			if err := o.cmd.Wait(); err != nil {
				t.Errorf("%v: %q", err, o.said)
			}
			o.await(t, alternateOff)
			if said := o.said.String(); strings.LastIndex(said, alternateOn) > strings.LastIndex(said, alternateOff) {
				t.Error("the alternate screen was left and entered again")
			}
			if after := o.state(t); after != o.before {
				t.Errorf("modes of the terminal: %+v, before %+v", after, o.before)
			}
		})
	}
}

// TestTopCost: the screen of a host with 1,000 TCP connections, with a sample each second,
// takes about 1 % of one CPU on an idle machine, and some per cent at most on one that is busy
// with other tests, whose caches they share.
func TestTopCost(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		const connections, window = 1000, 15 * time.Second
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		var limit syscall.Rlimit // Go has raised it as far as it may
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 3*connections {
			kerneltest.Skip(t, "the process may not open 3,000 files")
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range connections / 2 { // each is two: of either end
			near, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
		}
		o := topOnTerminal(t, 200, 60)
		o.await(t, "TCP 1,000 conn")
		used := func() float64 {
			p, err := procfs.NewProc(o.cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			stat, err := p.Stat()
			if err != nil {
				t.Fatal(err)
			}
			return stat.CPUTime()
		}
		// What is read each half minute is in the beginning, and counted for its share.
		start := used()
		began := time.Now()
		time.Sleep(window)
		share := (used() - start) / time.Since(began).Seconds()
		rare := start / 30
		t.Logf("%.2f %% of one CPU, and %.2f %% for what is read each 30 s, at most", 100*share, 100*rare)
		if share+rare > 0.05 {
			t.Errorf("%.2f %% of one CPU: expected at most 5 %%", 100*(share+rare))
		}
	})
}

// TestTopReachesHosts: a command that reaches a host gives its samples, one that fails is
// reported, and hosts of one name get different names.
func TestTopReachesHosts(t *testing.T) {
	kerneltest.Parallel(t)
	dir := t.TempDir()
	run := func(args ...string) (string, string, error) {
		var out, errs strings.Builder
		cmd := command(t, t.Context(), dir, append([]string{"top", "--interval", "100ms"}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		return out.String(), errs.String(), err
	}
	out, errs, err := run("--once", "--json", "--via", "env", "--via", "env", "--via", "third=env LC_ALL=C")
	if err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	names := map[string]bool{}
	for line := range strings.Lines(out) {
		s, err := record.ParseHostSample([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		names[s.Host] = true
	}
	host, _ := os.Hostname()
	if len(names) != 3 || !names[host] || !names[host+"#2"] || !names["third"] {
		t.Errorf("hosts %v", names)
	}
	_, errs, err = run("--once", "--via", "sh -c false")
	if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != ExitFailed ||
		!strings.Contains(errs, "exit status 1") {
		t.Errorf("%v: %s", err, errs)
	}
	o := topOnTerminal(t, 80, 24, "--via", "good=env", "--via", "bad=false")
	o.await(t, "bad")
	o.await(t, "exit status 1")
	o.await(t, "packets/s")
}
