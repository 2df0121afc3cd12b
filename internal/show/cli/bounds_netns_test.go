//go:build linux

package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// refuses has a client ask for more than the machine's limits leave, which is refused by the
// limit's name; hostile clients try the same, and the next client is served.
func (s *serverProcess) refuses(t *testing.T, limit string, asks ...string) {
	t.Helper()
	s.measure(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "linerate", append([]string{"measure", "127.0.0.1:" + hostilePort, "--duration",
		"300ms", "--no-save", "--quiet"}, asks...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != ExitFailed ||
		!strings.Contains(errs.String(), limit) {
		t.Errorf("%v: %v, %q; want a refusal with %s", asks, err, errs.String(), limit)
	}
	s.measure(t)
	hostile := time.Second
	if os.Getenv("LINERATE_SOAK") != "" {
		hostile = time.Minute
	}
	ctx, cancel = context.WithTimeout(t.Context(), hostile)
	defer cancel()
	attack(ctx, func(i int) string { return fmt.Sprintf("127.0.0.%d", 2+i) }).Wait()
	s.reading(t) // it lives
	s.measure(t)
}

// TestFewDescriptors: a server with a small RLIMIT_NOFILE, also while one address holds as
// many connections as there are descriptors.
func TestFewDescriptors(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		s := startServerIn(t, "ulimit -n 200")
		s.refuses(t, "RLIMIT_NOFILE", "--streams", "120")
		silent := hostile{from: net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
		for range 400 {
			conn, err := silent.dial()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = conn.Write([]byte("lin"))
		}
		s.measure(t)
	})
}

// TestTooFewDescriptors: a server that may open too few files to serve anybody says so at once, and one that may open
// as many as that says serves a client.
func TestTooFewDescriptors(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		for _, limit := range []string{"12", "16", "31"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			command := serverCommand()
			cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c",
				"ulimit -n " + limit + ` && exec "$0" "$@"`, command.Path}, command.Args[1:]...)...)
			cmd.Env = command.Env
			said, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != ExitFailed || strings.Count(string(said), "\n") != 1 ||
				!strings.Contains(string(said), "RLIMIT_NOFILE is "+limit+": a server needs at least 32") {
				t.Errorf("%s files: %v, %q", limit, err, said)
			}
		}
		startServerIn(t, "ulimit -n 32").measure(t)
	})
}

// TestLittleMemory: a server with a small RLIMIT_DATA or RLIMIT_AS says so at once, or refuses what does not fit and
// lives: a program whose calls for memory fail ends.
func TestLittleMemory(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		for limit, name := range map[string]string{"-d 300000": "RLIMIT_DATA", "-v 1800000": "RLIMIT_AS"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			command := serverCommand()
			cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c",
				"ulimit " + limit + ` && exec "$0" "$@"`, command.Path}, command.Args[1:]...)...)
			cmd.Env = command.Env
			if said, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != ExitFailed ||
				strings.Count(string(said), "\n") != 1 || !strings.Contains(string(said), name+" leaves room for") {
				t.Errorf("%s: %v, %.300q", limit, err, said)
			}
		}
		s := startServerIn(t, "ulimit -d 1600000 && ulimit -v 8000000")
		s.refuses(t, "RLIMIT_DATA", "--protocol", "rr", "--threads", "100", "--connections", "100")
	})
}

// TestFewThreads: a server of an ordinary user with a small RLIMIT_NPROC. A process that
// cannot make a thread ends.
func TestFewThreads(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.AsRoot(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		const (
			user  = 64321 // with no other processes
			nproc = 6     // RLIMIT_NPROC, getrlimit(2)
		)
		// For what this process starts: root has no such limit.
		if err := syscall.Setrlimit(nproc, &syscall.Rlimit{Cur: 70, Max: 70}); err != nil {
			t.Fatal(err)
		}
		command := serverCommand()
		command.Path = "/proc/self/exe" // whose directory may be closed to the user
		command.Dir = "/"
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		s := startServerAs(t, command)
		s.listens(t)
		s.refuses(t, "RLIMIT_NPROC", "--protocol", "rr", "--threads", "60", "--connections", "60")
	})
}

// TestControlGroups: a server in a group with a small pids.max, and with a small memory.max.
func TestControlGroups(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.AsRoot(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		for _, test := range []struct {
			controller, limits string // by version 2 and 1
			value              int
			serve, asks        []string
		}{
			{"pids", "pids.max pids.max", 70, nil, []string{"--protocol", "rr", "--threads", "60",
				"--connections", "60"}},
			{"memory", "memory.max memory.limit_in_bytes", 128 << 20, []string{"--max-flows", "512"},
				[]string{"--streams", "400"}},
		} {
			t.Run(test.controller, func(t *testing.T) {
				group, limit := controlGroup(t, test.controller, strings.Fields(test.limits))
				if err := os.WriteFile(filepath.Join(group, limit), []byte(fmt.Sprint(test.value)), 0o600); err != nil {
					t.Fatal(err)
				}
				s := startServerIn(t, "echo $$ >"+filepath.Join(group, "cgroup.procs"), test.serve...)
				s.refuses(t, limit+" of the control group /", test.asks...)
			})
		}
	})
}

// startServerIn starts a server in what a line of shell makes for it.
func startServerIn(t *testing.T, line string, arguments ...string) *serverProcess {
	t.Helper()
	command := serverCommand(arguments...)
	command.Args = append([]string{"sh", "-c", line + ` && exec "$0" "$@"`, command.Path}, command.Args[1:]...)
	command.Path = "/bin/sh"
	s := startServerAs(t, command)
	s.listens(t)
	return s
}

// controlGroup makes a group below this process's own, and returns the name of the limit
// that it has. It skips the test where the kernel has no group with the controller there.
func controlGroup(t *testing.T, controller string, limits []string) (dir, limit string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		kerneltest.Skip(t, "no control groups: "+err.Error())
	}
	for line := range strings.Lines(string(text)) {
		// ID:CONTROLLERS:PATH; version 2 names no controllers (cgroups(7)).
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != controller && parts[1] != "" {
			continue
		}
		above := filepath.Join("/sys/fs/cgroup", parts[1], parts[2])
		if parts[1] == "" {
			// Refused where the group has processes and is not the root.
			_ = os.WriteFile(filepath.Join(above, "cgroup.subtree_control"), []byte("+"+controller), 0o600)
		}
		if dir, err = os.MkdirTemp(above, "linerate-test-"); err != nil {
			continue
		}
		t.Cleanup(func() {
			for until := time.Now().Add(10 * time.Second); os.Remove(dir) != nil && time.Now().Before(until); {
				time.Sleep(10 * time.Millisecond) // for its processes
			}
		})
		for _, limit := range limits {
			if _, err := os.Stat(filepath.Join(dir, limit)); err == nil {
				return dir, limit
			}
		}
	}
	kerneltest.Without(t, "needs a control group that may have one below it with the controller "+controller)
	return "", ""
}

// TestReplacedProgram: a server whose program a package has replaced or removed goes on, also where it starts processes
// of its own for a flow's connections.
func TestReplacedProgram(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		installed, err := exec.LookPath("linerate")
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(t.TempDir(), "linerate")
		kerneltest.Do(t, "cp", installed, program)
		s := startServerIn(t, "ulimit -n 200 && exec "+program+` "$@"`, "--max-connections", "1000")
		for _, change := range []string{"echo 'exit 1' >PROGRAM.new && mv PROGRAM.new PROGRAM", "rm PROGRAM"} {
			kerneltest.Do(t, "sh", "-c", strings.ReplaceAll(change, "PROGRAM", program))
			s.measure(t)
			cmd := exec.CommandContext(t.Context(), "linerate", "measure", "127.0.0.1:"+hostilePort, "--duration",
				"300ms", "--no-save", "--quiet", "--protocol", "rr", "--connections", "400")
			if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), "400 open") {
				t.Errorf("%s: %v, %s", change, err, out)
			}
		}
		s.reading(t) // it lives
	})
}
