package kernel

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Namespace is a network namespace that linerate made (network_namespaces(7)).
// It lives as long as a process or a descriptor is in it.
type Namespace struct {
	name   string // for error messages
	fd     int
	handle *netlink.Handle
}

// ownNamespace opens the calling thread's network namespace. It goes by
// /proc/thread-self, which is right even where /proc belongs to an outer
// process namespace and shows other process ids.
func ownNamespace() (int, error) {
	fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening /proc/thread-self/ns/net: %w", err)
	}
	return fd, nil
}

// onOwnThread runs f on a thread of its own, which is used again only if f says
// that it is as it was.
func onOwnThread(f func() (restored bool, err error)) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		restored, err := f()
		if restored {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// NewNamespace makes an empty network namespace.
func NewNamespace(name string) (*Namespace, error) {
	n := &Namespace{name: name, fd: -1}
	err := onOwnThread(func() (bool, error) {
		own, err := ownNamespace()
		if err != nil {
			return true, err
		}
		defer unix.Close(own)
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return true, fmt.Errorf("unshare(CLONE_NEWNET): %w", err)
		}
		n.fd, err = ownNamespace()
		if err == nil {
			n.handle, err = netlink.NewHandle(unix.NETLINK_ROUTE)
		}
		return unix.Setns(own, unix.CLONE_NEWNET) == nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("making a network namespace for %s: %w", name, err)
	}
	return n, nil
}

// Close releases the descriptors.
func (n *Namespace) Close() {
	n.handle.Close()
	unix.Close(n.fd)
}

// Do runs f on a thread inside the namespace; processes that f starts are
// inside it too.
func (n *Namespace) Do(f func() error) error {
	return onOwnThread(func() (bool, error) {
		own, err := ownNamespace()
		if err != nil {
			return true, err
		}
		defer unix.Close(own)
		if err := unix.Setns(n.fd, unix.CLONE_NEWNET); err != nil {
			return true, fmt.Errorf("entering the network namespace of %s: %w", n.name, err)
		}
		err = f()
		return unix.Setns(own, unix.CLONE_NEWNET) == nil, err
	})
}

// DoAsHost is Do with a mount namespace of its own in which /sys and /proc show
// the namespace, so that people's tools see the host's ports. Where mounting is
// refused (some containers) they see the machine's /sys, and that is all.
func (n *Namespace) DoAsHost(f func() error) error {
	return onOwnThread(func() (bool, error) {
		if err := unix.Setns(n.fd, unix.CLONE_NEWNET); err != nil {
			return false, fmt.Errorf("entering the network namespace of %s: %w", n.name, err)
		}
		if unix.Unshare(unix.CLONE_NEWNS) == nil && unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") == nil {
			_ = unix.Mount("sysfs", "/sys", "sysfs", 0, "")
			_ = unix.Mount("proc", "/proc", "proc", 0, "")
		}
		return false, f()
	})
}

// CableEnd is one end of a cable.
type CableEnd struct {
	In   *Namespace
	Port string
	MAC  string
	MTU  int
}

// Cable joins two namespaces with a veth pair and brings both ends up. The
// interface speed that veth reports (10 Gbit/s) means nothing.
func Cable(a, b CableEnd) error {
	macA, err := net.ParseMAC(a.MAC)
	if err != nil {
		return err
	}
	macB, err := net.ParseMAC(b.MAC)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr = a.Port, a.MTU, macA
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerMTU, veth.PeerHardwareAddr = b.Port, uint32(b.MTU), macB
	veth.PeerNamespace = netlink.NsFd(b.In.fd)
	what := fmt.Sprintf("cabling %s.%s to %s.%s", a.In.name, a.Port, b.In.name, b.Port)
	if err := a.In.handle.LinkAdd(veth); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for _, end := range []CableEnd{a, b} {
		if err := end.In.Up(end.Port); err != nil {
			return err
		}
	}
	return nil
}

// Up brings a port up.
func (n *Namespace) Up(port string) error {
	link, err := n.link(port)
	if err != nil {
		return err
	}
	if err := n.handle.LinkSetUp(link); err != nil {
		return fmt.Errorf("bringing %s.%s up: %w", n.name, port, err)
	}
	return nil
}

func (n *Namespace) link(port string) (netlink.Link, error) {
	link, err := n.handle.LinkByName(port)
	if err != nil {
		return nil, fmt.Errorf("looking up %s.%s: %w", n.name, port, err)
	}
	return link, nil
}

// Bridge makes a bridge that forwards at once: no spanning tree, no forward
// delay, entries that live for the usual 300 s.
func (n *Namespace) Bridge(name string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := n.handle.LinkAdd(bridge); err != nil {
		return fmt.Errorf("making bridge %s in %s: %w", name, n.name, err)
	}
	return n.Up(name)
}

// Enslave makes a port a port of a bridge.
func (n *Namespace) Enslave(port, bridge string) error {
	link, err := n.link(port)
	if err != nil {
		return err
	}
	master, err := n.link(bridge)
	if err != nil {
		return err
	}
	if err := n.handle.LinkSetMaster(link, master); err != nil {
		return fmt.Errorf("adding %s.%s to bridge %s: %w", n.name, port, bridge, err)
	}
	return nil
}

// Shaping is what a port does to the frames it sends.
type Shaping struct {
	RateBps    float64 // bit/s; 0: not shaped
	BurstBytes int64
	QueueBytes int64
	DelayUs    int64
	Loss       float64 // 0…1
	MTU        int
}

// Shape sets a port's root queueing discipline: tbf for the rate (tc-tbf(8)),
// netem for delay and loss (tc-netem(8)), netem inside tbf for both.
func (n *Namespace) Shape(port string, s Shaping) error {
	link, err := n.link(port)
	if err != nil {
		return err
	}
	index := link.Attrs().Index
	parent := uint32(netlink.HANDLE_ROOT)
	if s.RateBps > 0 {
		bytesPerSecond := uint64(s.RateBps / 8)
		tbf := &netlink.Tbf{
			QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(1, 0), Parent: parent},
			Rate:       bytesPerSecond,
			Limit:      uint32(s.QueueBytes),
			Buffer:     netlink.Xmittime(bytesPerSecond, uint32(s.BurstBytes)),
		}
		if err := n.handle.QdiscAdd(tbf); err != nil {
			return fmt.Errorf("shaping %s.%s with tbf: %w%s", n.name, port, err, missingQdisc(err, "SCH_TBF"))
		}
		parent = netlink.MakeHandle(1, 1)
	}
	if s.DelayUs > 0 || s.Loss > 0 {
		inFlight := s.RateBps / 8 * float64(s.DelayUs) / 1e6
		packets := max(1000, (float64(s.QueueBytes)+inFlight)/float64(s.MTU))
		netem := netlink.NewNetem(
			netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(2, 0), Parent: parent},
			netlink.NetemQdiscAttrs{Latency: uint32(s.DelayUs), Loss: float32(s.Loss * 100), Limit: uint32(packets)})
		if err := n.handle.QdiscAdd(netem); err != nil {
			return fmt.Errorf("delaying %s.%s with netem: %w%s", n.name, port, err, missingQdisc(err, "SCH_NETEM"))
		}
	}
	return nil
}

func missingQdisc(err error, option string) string {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Sprintf(" (this kernel has no %s: it must be built with CONFIG_NET_%s, or its module loaded)", option, option)
	}
	return ""
}

// SocketPair makes a connected pair of stream sockets, close-on-exec.
func SocketPair() (near, far *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far"), nil
}

func init() {
	// The kernel's own words (extended ack) come with each refusal.
	nl.EnableErrorMessageReporting = true
}
