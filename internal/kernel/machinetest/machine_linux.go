package machinetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of waiting. Without KVM a boot takes about 30 s on a busy machine.
const (
	bootTimeout  = 3 * time.Minute
	endTimeout   = 10 * time.Second
	replyTimeout = 30 * time.Second // for the response of a command that has ended
	qmpTimeout   = 30 * time.Second
)

// Machine describes a machine to boot. Every field but Kernel may be zero.
type Machine struct {
	Name    string            // for messages
	Kernel  Kernel            // UserMode or Debian
	Modules []string          // to load at boot, with their dependencies: a name each, which parameters may follow
	Ports   []Port            // network ports: eth0, eth1 … (QEMU)
	Files   map[string][]byte // contents of files by their path in the machine; all are executable
	Memory  int               // MiB; 0: 512
	Tree    bool              // it has this machine's file system, read-only, for Exec; it can load all modules
	CPUs    int               // 0: 1 (QEMU)
	// Emulator is the QEMU that runs the machine; the zero value is this machine's own.
	Emulator Emulator
}

// Port is a network port of a machine.
type Port struct {
	Model string // of QEMU's network devices: e1000e, vmxnet3, virtio-net-pci, …
	Cable *Cable // nil: nothing is plugged in, so the port has no carrier
}

// Running is a booted machine, which executes commands.
type Running struct {
	Machine
	dir      string
	process  *exec.Cmd
	lifeline *os.File // the supervisor ends when it is closed
	ended    chan struct{}
	console  tail
	mu       sync.Mutex // held while a command is executed, of the shell or of QMP
	commands *channel

	executions net.Conn // of user-mode Linux: the commands of Exec

	// QEMU
	addresses  []string // of its ports
	monitor    net.Conn // QMP
	answers    *json.Decoder
	negotiated bool
}

// tooManyRegisters is what user-mode Linux of 6.1 prints on a processor whose floating-point state is larger than it
// has room for, as with AMX.
const tooManyRegisters = "ptrace set fp regs failed"

// Boot boots machines and waits until each of them executes commands. They end with the
// test.
func Boot(t testing.TB, machines ...Machine) []*Running {
	t.Helper()
	program := linerate(t)
	running := make([]*Running, len(machines))
	for i, m := range machines {
		r := &Running{Machine: m, ended: make(chan struct{})}
		if err := r.start(program); err != nil {
			if errors.Is(err, errRefused) {
				skip(t, err.Error())
			}
			t.Fatalf("%s: %v", m.Name, err)
		}
		t.Cleanup(func() { r.end(t) })
		if err := r.unplugEmpty(); err != nil { // before the drivers are there
			t.Fatal(err, r.Console())
		}
		running[i] = r
	}
	for _, r := range running {
		if err := r.commands.ready(bootTimeout); err != nil {
			r.awaitEnd() // what it printed last says why
			if r.Kernel.userMode && strings.Contains(r.Console(), tooManyRegisters) {
				skip(t, "user-mode Linux "+r.Kernel.Release+" does not run on this processor: "+tooManyRegisters)
			}
			t.Fatalf("%s does not boot: %v\n%s", r.Name, err, r.Console())
		}
		if faults := r.Do(t, "touch /run/faults && cat /run/faults"); faults != "" {
			t.Fatalf("%s:\n%s", r.Name, faults)
		}
		if err := r.listen(); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
	}
	return running
}

var errRefused = errors.New("the kernel refuses a user, process and network namespace")

var built struct {
	once    sync.Once
	program []byte
	err     error
}

// linerate is the program as built from this tree, once for a test program.
func linerate(t testing.TB) []byte {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "linerate-build-")
		if err != nil {
			built.err = err
			return
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, "linerate")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, "linerate/cmd/linerate")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
			return
		}
		built.program, built.err = os.ReadFile(file)
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.program
}

// start starts the supervisor, and with it the machine.
func (r *Running) start(linerate []byte) error {
	for range r.Ports {
		r.addresses = append(r.addresses, newAddress())
	}
	root, err := r.initramfs(linerate)
	if err != nil {
		return err
	}
	// Its address and those of its sockets go with the supervisor.
	r.dir = filepath.Join(os.TempDir(), fmt.Sprintf("linerate-machine-%016x", rand.Uint64()))
	var files files
	defer files.close()
	image := files.memory(root)
	var conn net.Conn
	commands := files.socket(&conn)
	r.commands = newChannel(conn)
	var command []string
	if r.Kernel.userMode {
		if len(r.Ports) > 0 {
			return errors.New("ports need QEMU: user-mode Linux has none here")
		}
		command = r.umlCommand(image, commands, files.socket(&r.executions))
	} else {
		monitor := files.socket(&r.monitor)
		r.answers = json.NewDecoder(r.monitor)
		command, err = r.qemuCommand(image, commands, monitor, &files)
	}
	if err = errors.Join(err, files.err); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	theirs, lifeline, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	r.lifeline = lifeline
	arguments := append([]string{superviseArgument, r.dir, strconv.FormatBool(r.Tree), strconv.Itoa(len(files.list))},
		command...)
	r.process = exec.Command(self, arguments...)
	r.process.Stdin, r.process.Stdout, r.process.Stderr = theirs, &r.console, &r.console
	r.process.ExtraFiles, r.process.SysProcAttr = files.list, namespaces()
	r.process.WaitDelay = time.Second
	if err := r.process.Start(); err != nil {
		lifeline.Close()
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	go func() {
		_ = r.process.Wait()
		close(r.ended)
	}()
	return nil
}

// end ends the machine and waits until nothing is left of it.
func (r *Running) end(t testing.TB) {
	if t.Failed() {
		t.Logf("console of %s:\n%s", r.Name, r.Console())
	}
	r.lifeline.Close()
	r.commands.conn.Close()
	for _, conn := range []net.Conn{r.monitor, r.executions} {
		if conn != nil {
			conn.Close()
		}
	}
	select {
	case <-r.ended:
	case <-time.After(endTimeout):
		t.Errorf("%s did not end within %v and was killed", r.Name, endTimeout)
		_ = r.process.Process.Kill()
		<-r.ended
	}
	_ = os.RemoveAll(r.dir) // if the supervisor was killed
}

// awaitEnd waits until a machine that does not answer has ended, for at most endTimeout.
func (r *Running) awaitEnd() {
	select {
	case <-r.ended:
	case <-time.After(endTimeout):
	}
}

// Console returns the last part of what the kernel and the init script have printed.
func (r *Running) Console() string { return r.console.String() }

// Run executes a shell script in the machine, for at most timeout. It returns the output,
// including standard error, and the exit status.
func (r *Running) Run(t testing.TB, timeout time.Duration, script string) (output string, status int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	output, status, err := r.commands.execute(script, timeout)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", r.Name, script, err, r.Console())
	}
	return output, status
}

// Do executes a shell script that takes less than a minute and returns its output. The
// test fails if the script does.
func (r *Running) Do(t testing.TB, script string) string {
	t.Helper()
	output, status := r.Run(t, time.Minute, script)
	if status != 0 {
		t.Fatalf("%s: %s: exit status %d\n%s", r.Name, script, status, output)
	}
	return output
}

// files are open files for the supervisor's children, by their numbers there.
type files struct {
	list []*os.File
	err  error
}

const firstFile = 3 // after standard error

func (f *files) add(file *os.File) int {
	f.list = append(f.list, file)
	return firstFile + len(f.list) - 1
}

func (f *files) close() {
	for _, file := range f.list {
		file.Close()
	}
}

// memory adds a file without a name. Where it is read, its path is /proc/self/fd/N.
func (f *files) memory(content []byte) int {
	fd, err := unix.MemfdCreate("machinetest", unix.MFD_CLOEXEC)
	if err != nil {
		f.err = errors.Join(f.err, err)
		return 0
	}
	file := os.NewFile(uintptr(fd), "initramfs")
	if _, err := file.Write(content); err != nil {
		f.err = errors.Join(f.err, err)
	}
	return f.add(file)
}

// socket adds one end of a connection, the other being *ours.
func (f *files) socket(ours *net.Conn) int {
	ends, err := socketPair()
	if err == nil {
		*ours, err = net.FileConn(ends[0])
		ends[0].Close()
	}
	if err != nil {
		f.err = errors.Join(f.err, err)
		return 0
	}
	return f.add(ends[1])
}

func socketPair() (ends [2]*os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ends, err
	}
	return [2]*os.File{os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket")}, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailLength):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
