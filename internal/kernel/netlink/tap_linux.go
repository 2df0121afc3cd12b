package netlink

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// TapHeader is how many bytes struct virtio_net_hdr (linux/virtio_net.h) takes in
// front of each frame of a tap.
const TapHeader = 10

// tapOffloads are what the interface may leave undone, since frames go from kernel to
// kernel: checksums, and the cutting into segments (linux/if_tun.h). Not every
// kernel can do the second set, for UDP (6.2).
const (
	tapOffloads    = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6 | unix.TUN_F_TSO_ECN
	tapOffloadsUDP = 0x20 | 0x40 // TUN_F_USO4, TUN_F_USO6
)

// tapQueue is how many frames may wait for whoever reads the tap.
const tapQueue = 8192

// NewTap makes an interface whose frames go to a file instead of a cable, and come from it
// (Documentation/networking/tuntap.rst), each with a virtio_net_hdr in front: a
// super-frame that the kernel has not cut into segments stays one. The interface ends
// with its file.
func NewTap(e LinkEnd) (tap *os.File, err error) {
	err = e.Namespace.Do(func() error {
		tap, err = openTap(e.Interface)
		return err
	})
	if err != nil {
		return nil, e.Namespace.named(err)
	}
	queue, up := tapQueue, true
	err = e.Namespace.conn.ChangeLink(e.Interface, LinkChange{MTU: &e.MTU, TxQueueLen: &queue, MAC: &e.MAC})
	if err == nil {
		err = e.Namespace.conn.ChangeLink(e.Interface, LinkChange{Up: &up})
	}
	if err != nil {
		tap.Close()
		return nil, e.Namespace.named(err)
	}
	return tap, nil
}

func openTap(port string) (*os.File, error) {
	const device = "/dev/net/tun"
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		e := &kernel.Error{Op: "open", Object: device, Err: err, Detail: "it makes interfaces whose frames a program carries"}
		switch err {
		case unix.EACCES: // without udev it is root's alone
			e.Detail += ", and this user may not open it; udev lets everybody: chmod 0666 " + device
		case unix.ENOENT, unix.ENODEV, unix.ENXIO:
			e.Detail += ": CONFIG_TUN, module tun"
		}
		return nil, e
	}
	fail := func(op string, err error) (*os.File, error) {
		unix.Close(fd)
		return nil, &kernel.Error{Op: op, Object: port, Err: err}
	}
	request, err := unix.NewIfreq(port)
	if err != nil {
		return fail("name a tap", err)
	}
	request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return fail("make a tap", err)
	}
	if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tapOffloads|tapOffloadsUDP) != nil {
		if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tapOffloads); err != nil {
			return fail("set the offloads of", err)
		}
	}
	return os.NewFile(uintptr(fd), fmt.Sprintf("tap %s", port)), nil
}

// ReadFrame reads one frame of a tap with its header, without waiting.
func ReadFrame(fd int, buffer []byte) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// WriteFrame gives one frame with its header to a tap: it comes in at the interface.
func WriteFrame(fd int, frame []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(frame))), uintptr(len(frame)))
	if errno != 0 {
		return errno
	}
	return nil
}

// SetNonblocking lets reads and writes of a descriptor that came from another process
// return at once.
func SetNonblocking(fd int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return &kernel.Error{Op: "set O_NONBLOCK of", Object: fmt.Sprintf("descriptor %d", fd), Err: err}
	}
	return nil
}
