package machinetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
)

// Modules of the devices that every QEMU machine has, and of those with a tree.
var (
	qemuModules = []string{"virtio_pci", "virtio_console"}
	treeModules = []string{"9p", "9pnet_virtio"}
)

// modules are those that the init script loads.
func (m *Machine) modules() []string {
	if m.Kernel.userMode {
		return m.Modules
	}
	if m.Tree {
		return slices.Concat(qemuModules, treeModules, m.Modules)
	}
	return slices.Concat(qemuModules, m.Modules)
}

// tree is how the init script mounts the tree: device, type, options; and the directory of
// modules there.
func (m *Machine) tree() []string {
	modules := filepath.Dir(m.Kernel.modules)
	if m.Kernel.userMode {
		return []string{"none", "hostfs", "ro", modules}
	}
	return []string{"tree", "9p", "ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose", modules}
}

// channels are the devices by which the init script receives commands: of Run, and of Via
// or Exec.
func (m *Machine) channels() []string {
	if m.Kernel.userMode {
		return []string{"/dev/ttyS0", "/dev/ttyS1"}
	}
	return []string{"/dev/vport0p1", "/dev/vport0p2"}
}

func (m *Machine) memory() string {
	if m.Memory == 0 {
		return "512"
	}
	return strconv.Itoa(m.Memory)
}

// umlCommand is the command line of user-mode Linux (linux.uml --help).
func (r *Running) umlCommand(image, commands, executions int) []string {
	return []string{r.Kernel.image, "mem=" + r.memory() + "M", "uml_dir=" + r.dir + "/", "umid=machine",
		fmt.Sprintf("initrd=/proc/self/fd/%d", image), fmt.Sprintf("ssl0=fd:%d", commands),
		fmt.Sprintf("ssl1=fd:%d", executions), "ssl=null",
		"con0=null,fd:1", "con=null", "quiet", "panic=-1"}
}

// lastAddress numbers the ports of all machines of a test program.
var lastAddress atomic.Uint32

// qemuCommand is the command line of qemu-system-x86_64(1). All but the sockets of Via is
// passed as open files, which leave nothing behind.
func (r *Running) qemuCommand(image, commands, monitor int, files *files) ([]string, error) {
	command := append(r.Emulator.program(), "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-accel", "tcg,thread=multi", "-smp", strconv.Itoa(max(1, r.CPUs)), "-m", r.memory(),
		"-kernel", r.Kernel.image, "-initrd", fmt.Sprintf("/proc/self/fd/%d", image), "-append",
		"console=ttyS0 quiet panic=-1",
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-chardev", fmt.Sprintf("socket,id=monitor,fd=%d", monitor), "-mon", "chardev=monitor,mode=control",
		"-device", "virtio-serial",
		"-chardev", fmt.Sprintf("socket,id=commands,fd=%d", commands), "-device",
		"virtserialport,chardev=commands,nr=1",
		"-chardev", "socket,id=agents,server=on,wait=off,path="+agentsSocket, "-device",
		"virtserialport,chardev=agents,nr=2",
		"-chardev", "socket,id=stream,server=on,wait=off,path="+streamSocket, "-device",
		"virtserialport,chardev=stream,nr=3")
	if r.Tree {
		command = append(command, "-virtfs",
			"local,path=/,mount_tag=tree,security_model=none,readonly=on,multidevs=remap")
	}
	for i, p := range r.Ports {
		backend := fmt.Sprintf("hubport,id=net%d,hubid=%d", i, i)
		device := fmt.Sprintf("%s,id=%s,netdev=net%d,mac=%s", p.Model, portID(i), i, r.addresses[i])
		if p.Cable != nil {
			end, err := p.Cable.plug(r, i)
			if err != nil {
				return nil, err
			}
			backend = end.backend(i, files)
			device += end.options()
		}
		command = append(command, "-netdev", backend, "-device", device)
	}
	return command, nil
}

func portID(i int) string { return fmt.Sprintf("port%d", i) }

// newAddress returns a MAC address that no other port has.
func newAddress() string {
	n := lastAddress.Add(1)
	return net.HardwareAddr{0x52, 0x54, 0x00, byte(n >> 16), byte(n >> 8), byte(n)}.String()
}

// Cable joins two ports of QEMU machines, or a port and a Switch.
type Cable struct {
	ends    []end
	plugged []plug
}

// end is one end of a cable: a socket, or the queues of a tap.
type end struct {
	socket *os.File
	queues []*os.File
}

func (e end) close() {
	if e.socket != nil {
		e.socket.Close()
	}
	for _, q := range e.queues {
		q.Close()
	}
}

// backend is the network backend number i of QEMU for it.
func (e end) backend(i int, files *files) string {
	if e.socket != nil {
		return fmt.Sprintf("socket,id=net%d,fd=%d", i, files.add(e.socket))
	}
	numbers := make([]string, len(e.queues))
	for n, q := range e.queues {
		numbers[n] = strconv.Itoa(files.add(q))
	}
	return fmt.Sprintf("tap,id=net%d,vhost=off,fds=%s", i, strings.Join(numbers, ":"))
}

// options are those of a device with as many queues; each needs two interrupts, and the device
// two more (virtio_net).
func (e end) options() string {
	if len(e.queues) == 0 {
		return ""
	}
	return fmt.Sprintf(",mq=on,vectors=%d", 2*len(e.queues)+2)
}

type plug struct {
	machine *Running
	port    int
}

// NewCable returns a cable. It joins the first two ports that name it.
func NewCable(t testing.TB) *Cable {
	t.Helper()
	ends, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	return newCable(t, end{socket: ends[0]}, end{socket: ends[1]})
}

func newCable(t testing.TB, ends ...end) *Cable {
	t.Cleanup(func() { // an end that was plugged in is closed already
		for _, e := range ends {
			e.close()
		}
	})
	return &Cable{ends: ends}
}

// NewQueuedCable returns a cable for two ports of model virtio-net-pci with several queues, for
// which QEMU needs taps. A bridge joins these taps in the network namespace of the calling
// thread, in which the test must be root (kerneltest.InNamespace).
func NewQueuedCable(t testing.TB, queues int) *Cable {
	t.Helper()
	bridge := fmt.Sprintf("cable%d", lastAddress.Add(1))
	kerneltest.Do(t, "ip", "link", "add", "name", bridge, "type", "bridge")
	kerneltest.Do(t, "ip", "link", "set", "dev", bridge, "up")
	var ends []end
	for n := range 2 {
		name := fmt.Sprintf("%s-%d", bridge, n)
		files, err := queuedTap(name, queues)
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "ip", "link", "set", "dev", name, "master", bridge, "up")
		ends = append(ends, end{queues: files})
	}
	return newCable(t, ends...)
}

// queuedTap makes a tap with several queues (Documentation/networking/tuntap.rst), each of which
// is a file; it is deleted when all are closed.
func queuedTap(name string, queues int) (files []*os.File, err error) {
	for range queues {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, os.NewFile(uintptr(fd), name))
		request, err := unix.NewIfreq(name)
		if err != nil {
			return nil, err
		}
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR | unix.IFF_MULTI_QUEUE)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
			return nil, fmt.Errorf("queue of the tap %s: %w", name, err)
		}
	}
	return files, nil
}

// plug returns the next free end.
func (c *Cable) plug(r *Running, port int) (end, error) {
	if len(c.plugged) == len(c.ends) {
		return end{}, fmt.Errorf("port %d: all ends of its cable are in use", port)
	}
	c.plugged = append(c.plugged, plug{r, port})
	return c.ends[len(c.plugged)-1], nil
}

// Unplug takes the carrier from the cable's ports. QEMU 7.2 does not raise an interrupt for this
// on an e1000e with MSI-X: load the module as "e1000e IntMode=0", with one value per port.
func (c *Cable) Unplug(t testing.TB) { t.Helper(); c.setLink(t, false) }

// Plug gives the cable's ports their carrier back.
func (c *Cable) Plug(t testing.TB) { t.Helper(); c.setLink(t, true) }

func (c *Cable) setLink(t testing.TB, up bool) {
	t.Helper()
	for _, p := range c.plugged {
		if err := p.machine.setLink(p.port, up); err != nil {
			t.Fatal(err)
		}
	}
}

// setLink gives a port a carrier, or takes it.
func (r *Running) setLink(port int, up bool) error {
	if err := r.qmp("set_link", map[string]any{"name": portID(port), "up": up}); err != nil {
		return fmt.Errorf("%s: set_link %s: %w", r.Name, portID(port), err)
	}
	return nil
}

// unplugEmpty takes the carrier from the ports without a cable.
func (r *Running) unplugEmpty() error {
	for i, p := range r.Ports {
		if p.Cable == nil {
			if err := r.setLink(i, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// qmp executes a command of the QEMU Machine Protocol
// (https://www.qemu.org/docs/master/interop/qmp-spec.html).
func (r *Running) qmp(command string, arguments map[string]any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.monitor.SetDeadline(time.Now().Add(qmpTimeout)); err != nil {
		return err
	}
	if !r.negotiated {
		if err := r.ask("qmp_capabilities", nil); err != nil {
			return err
		}
		r.negotiated = true
	}
	return r.ask(command, arguments)
}

func (r *Running) ask(command string, arguments map[string]any) error {
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	if err := json.NewEncoder(r.monitor).Encode(request); err != nil {
		return err
	}
	for {
		// The greeting and events have neither part.
		var answer struct {
			Return json.RawMessage
			Error  *struct{ Desc string }
		}
		if err := r.answers.Decode(&answer); err != nil {
			return err
		}
		if answer.Error != nil {
			return errors.New(answer.Error.Desc)
		}
		if answer.Return != nil {
			return nil
		}
	}
}
