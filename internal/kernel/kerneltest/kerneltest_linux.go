package kerneltest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// InNamespace runs body as root in its own process, whose network namespace has only a loopback interface. Call
// it first in a top-level test.
func InNamespace(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	within(t, namespaces(syscall.CLONE_NEWNS), body)
}

// AsRoot is InNamespace without a user namespace, so that the machine's other users exist. It skips the test
// unless root runs it.
func AsRoot(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	if os.Geteuid() != 0 {
		Without(t, "needs root, to become another user")
	}
	within(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET},
		body)
}

// OwnProcess runs body in its own process, concurrently with other tests (Parallel), so that it may change its
// environment and working directory. Call it first in a top-level test.
func OwnProcess(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	Parallel(t)
	within(t, &syscall.SysProcAttr{}, body)
}

// Start starts a command that the kernel kills when this program ends (Pdeathsig). The kernel sends that
// signal when the thread ends that started the process (prctl(2)), and threads end with the goroutines that
// are locked to them, as those of flows are. So the process has a thread that ends after it.
func Start(command *exec.Cmd) error {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err != nil {
			return
		}
		err = unix.EINTR
		for errors.Is(err, unix.EINTR) { // nil: it has ended; ECHILD: and command.Wait was first
			err = unix.Waitid(unix.P_PID, command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		}
	}()
	return <-started
}

func within(t *testing.T, attributes *syscall.SysProcAttr, body func(t *testing.T)) {
	t.Helper()
	if os.Getenv(inside) == t.Name() {
		body(t)
		return
	}
	arguments := []string{"-test.run=^" + regexp.QuoteMeta(t.Name()) + "$", "-test.v", "-test.count=1"}
	if testing.Short() {
		arguments = append(arguments, "-test.short")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], arguments...)
	command.Env = append(os.Environ(), inside+"="+t.Name())
	command.SysProcAttr = attributes
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := Start(command)
	if err == nil {
		err = command.Wait()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		t.Fatalf("in its own process: %v\n%s", err, &output)
	case err != nil && attributes.Cloneflags != 0:
		Skip(t, "the kernel refuses a user and network namespace: "+err.Error())
	case err != nil:
		t.Fatal(err)
	case strings.Contains(output.String(), "--- SKIP: "+t.Name()):
		t.Skipf("in its own process:\n%s", &output)
	case !strings.Contains(output.String(), "--- PASS: "+t.Name()):
		t.Fatalf("the test did not run in its own process:\n%s", &output)
	}
	t.Logf("in its own process:\n%s", &output)
}

// namespaces returns the attributes of a process in a new user and network namespace and another one.
func namespaces(another uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | another,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// Descriptors lets this process open n descriptors at a time (RLIMIT_NOFILE) until the test ends.
func Descriptors(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
}

// Do runs a command, fails the test if it fails, and returns its output. Tests use it to prepare a host and to
// check it independently of linerate.
func Do(t testing.TB, name string, arguments ...string) string {
	t.Helper()
	output, err := exec.Command(Program(t, name), arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// Forwards waits until a bridge's port forwards (BR_STATE_FORWARDING), shortly after it gets a carrier; before
// that, the bridge drops its frames.
func Forwards(t testing.TB, port string) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		output := Do(t, "bridge", "link", "show", "dev", port)
		if strings.Contains(output, "state forwarding") {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("port %s does not forward: %s", port, output)
		}
	}
}

// RequireNamespaces skips the test if this user cannot create namespaces.
func RequireNamespaces(t testing.TB) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^$")
	command.SysProcAttr = namespaces(syscall.CLONE_NEWPID)
	if err := command.Run(); err != nil {
		Skip(t, "the kernel refuses user and network namespaces: "+err.Error())
	}
}
