//go:build linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// labUnderTest is a `lab up` of its own process.
type labUnderTest struct {
	dir, name, mark string
	cmd             *exec.Cmd
	words           *transcript
}

// transcript is what a process has said so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await waits until the lab has said something.
func (l *labUnderTest) await(t *testing.T, what string) {
	t.Helper()
	// A process that executes a program has no environment for a moment.
	gone := 0
	for end := time.Now().Add(60 * time.Second); !strings.Contains(l.words.String(), what); time.Sleep(
		10 * time.Millisecond) {
		if gone++; len(marked(l.mark)) > 0 {
			gone = 0
		}
		if time.Now().After(end) || gone > 100 {
			controltest.NeedsTun(t, errors.New(l.words.String()))
			t.Fatalf("%q was not said:\n%s", what, l.words)
		}
	}
}

// labUpFor keeps a file's lab up for the test.
func labUpFor(t *testing.T, file string) *labUnderTest {
	t.Helper()
	kerneltest.RequireNamespaces(t)
	name := fmt.Sprintf("test-%d-%d", os.Getpid(), rand.Uint64())
	l := &labUnderTest{dir: t.TempDir(), name: name, mark: "LINERATE_TEST_MARK=" + name, words: &transcript{}}
	l.cmd = command(t, context.Background(), l.dir, "lab", "up", controltest.File(t, file), "--trust", "--lab", name)
	l.cmd.Env = append(l.cmd.Env, l.mark)
	l.cmd.Stderr = l.words
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cmd.Process.Kill(); _ = l.cmd.Wait() })
	l.await(t, "The lab is up")
	return l
}

// exec is `lab exec` in a host.
func (l *labUnderTest) exec(t *testing.T, host string, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, context.Background(), l.dir, append([]string{"lab", "exec", "--lab", l.name, host, "--"},
		argv...)...)
	cmd.Env = append(cmd.Env, l.mark)
	return cmd
}

// ask runs a command that must succeed, and returns what it says.
func (l *labUnderTest) ask(t *testing.T, host string, argv ...string) string {
	t.Helper()
	var errs bytes.Buffer
	cmd := l.exec(t, host, argv...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %v\n%s%s", host, argv, err, out, errs.String())
	}
	return string(out)
}

func statusOf(t *testing.T, cmd *exec.Cmd) (int, string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestLab(t *testing.T) {
	kerneltest.Parallel(t)
	l := labUpFor(t, "routed.yaml")
	server := l.exec(t, "h2", "reach", "serve")
	var errs bytes.Buffer
	server.Stderr = &errs
	ready, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(ready, make([]byte, len("ready"))); err != nil {
		_ = server.Wait()
		t.Fatalf("the server in h2 did not come up: %v\n%s", err, errs.String())
	}

	t.Run("completion", func(t *testing.T) {
		for _, verb := range []string{"exec", "shell"} {
			cmd := command(t, context.Background(), l.dir, "__completeNoDesc", "lab", verb, "--lab", l.name, "h")
			cmd.Env = append(cmd.Env, l.mark)
			if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), "h1\nh2\n:") {
				t.Errorf("lab %s: %v, %q", verb, err, out)
			}
		}
	})
	t.Run("through a router", func(t *testing.T) {
		l.ask(t, "h1", "reach", "10.2.0.2")
		l.ask(t, "h1", "reach", "fd00:2::2")
	})
	t.Run("multipath", func(t *testing.T) {
		routes := l.ask(t, "h1", "ip", "route", "show", "10.9.0.2")
		if !strings.Contains(routes, "via 10.1.0.254 dev eth0") ||
			!strings.Contains(routes, "via inet6 fe80::ff:fe04:1 dev eth1") {
			t.Errorf("the next hops are not those of the file:\n%s", routes)
		}
		l.ask(t, "h1", "reach", "10.9.0.2", "40")
		for _, router := range []string{"r1", "r2"} {
			if got := ipForwarded(t, l.ask(t, router, "cat", "/proc/net/snmp")); got == 0 {
				t.Errorf("nothing went through %s", router)
			}
		}
	})
	t.Run("exec", func(t *testing.T) {
		for _, c := range []struct {
			host   string
			argv   []string
			status int
			says   string
		}{
			{"h1", []string{"sh", "-c", "echo out; exit 7"}, 7, "out"},
			{"h1", []string{"sh", "-c", "kill -9 $$"}, 137, ""},
			{"h1", []string{"/nonexistent"}, 127, "no such file"},
			{"absent", []string{"true"}, 2, `no host "absent" in this lab; it has h1, h2, r1, r2`},
			{"h1", []string{"ls", "/sys/class/net"}, 0, "eth1"},
		} {
			if status, out := statusOf(t, l.exec(t, c.host, c.argv...)); status != c.status ||
				!strings.Contains(out, c.says) {
				t.Errorf("%s: %v: status %d, want %d; says %q, want %q", c.host, c.argv, status, c.status, out, c.says)
			}
		}
		elsewhere := command(t, t.Context(), l.dir, "lab", "exec", "--lab", "no-such-lab", "h1", "--", "true")
		if status, out := statusOf(t, elsewhere); status != ExitFailed ||
			!strings.Contains(out, "no lab named no-such-lab is up; up ") || !strings.Contains(out, l.name) {
			t.Errorf("in a lab that is not up: status %d, %s", status, out)
		}
	})
	t.Run("second of the same name", func(t *testing.T) {
		second := command(t, t.Context(), l.dir, "lab", "up", controltest.File(t, "one-link.yaml"), "--lab", l.name)
		if status, out := statusOf(t, second); status != ExitFailed ||
			!strings.Contains(out, "a lab named "+l.name+" is up already") {
			t.Errorf("status %d, %s", status, out)
		}
		l.ask(t, "h1", "true")
	})
	t.Run("a command is killed", func(t *testing.T) {
		mark := "LINERATE_TEST_VISITOR=" + l.name
		command := l.exec(t, "h1", "sh", "-c", "sleep 1000 & echo started; sleep 1000; true")
		command.Env = append(command.Env, mark)
		started, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(started, make([]byte, len("started"))); err != nil {
			t.Fatal(err)
		}
		_ = command.Process.Kill()
		_ = command.Wait()
		awaitNone(t, mark, "the command was killed")
	})
	t.Run("an agent dies", func(t *testing.T) {
		// The first one's stream is the one that all others could hold.
		kill(t, l, "agent --stdio --node h1 ")
		l.await(t, "the agent of h1 has ended")
		if strings.Contains(l.words.String(), "the agent of h2 has ended") {
			t.Errorf("others went along:\n%s", l.words)
		}
	})
	t.Run("the conductor dies", func(t *testing.T) {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		_ = server.Wait()
		awaitNone(t, l.mark, "the conductor was killed")
		if status, out := statusOf(t, l.exec(t, "h1", "true")); status != ExitFailed ||
			!strings.Contains(out, "no lab named "+l.name+" is up") {
			t.Errorf("the lab is still there: status %d, %s", status, out)
		}
	})
}

// kill ends the process of a lab whose command line has these words.
func kill(t *testing.T, l *labUnderTest, line string) {
	t.Helper()
	for _, process := range marked(l.mark) {
		number, words, _ := strings.Cut(process, " ")
		if pid, err := strconv.Atoi(number); err == nil && strings.Contains(words, line) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no process %q among %v", line, marked(l.mark))
}

// ipForwarded reads ForwDatagrams (RFC 4293, ipSystemStatsOutForwDatagrams).
func ipForwarded(t *testing.T, snmp string) int {
	t.Helper()
	var names []string
	for line := range strings.Lines(snmp) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "Ip:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names {
			if name == "ForwDatagrams" {
				n, err := strconv.Atoi(fields[i])
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
	}
	t.Fatalf("no ForwDatagrams in:\n%s", snmp)
	return 0
}

// Ctrl-C ends a lab; that its agents end with it is no news.
func TestLabEndsQuietly(t *testing.T) {
	kerneltest.Parallel(t)
	l := labUpFor(t, "one-link.yaml")
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, l.words)
	}
	if strings.Contains(l.words.String(), "has ended") {
		t.Errorf("it says of agents that they have gone:\n%s", l.words)
	}
	awaitNone(t, l.mark, "Ctrl-C")
}

// Namespaces may be refused by limits, before the keeper is there or inside it.
// The user needs the same advice each time.
func TestNamespacesRefused(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, c := range []struct{ limit, value string }{
			{"max_user_namespaces", "0"},
			{"max_net_namespaces", "0"},
			{"max_net_namespaces", "3"}, // enough for the keeper, not for its hosts
		} {
			path := "/proc/sys/user/" + c.limit
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.value), 0); err != nil {
				t.Fatal(err)
			}
			up := command(t, t.Context(), t.TempDir(), "lab", "up", controltest.File(t, "small.yaml"),
				"--until", "ready")
			if c.limit == "max_user_namespaces" {
				// Root without CAP_SYS_ADMIN is like anyone else.
				up.Args = append([]string{"setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", up.Path},
					up.Args[1:]...)
				if up.Path, err = exec.LookPath("setpriv"); err != nil {
					kerneltest.Skip(t, "setpriv is not installed")
				}
			}
			status, out := statusOf(t, up)
			if status != ExitFailed || !strings.Contains(out, "making a lab:") ||
				!strings.Contains(out, "user.max_net_namespaces") {
				t.Errorf("%s=%s: status %d, without advice:\n%s", c.limit, c.value, status, out)
			}
			if err := os.WriteFile(path, before, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestTapRefused: a device that a user may not open is another matter than
// namespaces, and another remedy.
func TestTapRefused(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		const device = "/dev/net/tun"
		if _, err := os.Stat(device); err != nil {
			kerneltest.Skip(t, err.Error())
		}
		kerneltest.Do(t, "mount", "--bind", device, device)
		kerneltest.Do(t, "mount", "-o", "remount,bind,nodev", device) // it cannot be opened then
		file := filepath.Join(t.TempDir(), "wire.yaml")
		if err := os.WriteFile(file, []byte(`topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 100mbit, ecn: 64KiB}]
`), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out := statusOf(t, command(t, t.Context(), t.TempDir(), "lab", "up", file, "--until", "ready"))
		if status != ExitFailed || !strings.Contains(out, "nothing here can apply the congestion marks") ||
			!strings.Contains(out, "chmod 0666 "+device) || strings.Contains(out, "user namespaces") {
			t.Errorf("status %d:\n%s", status, out)
		}
	})
}
