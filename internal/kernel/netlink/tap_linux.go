//go:build !portable

package netlink

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// tapOffloads are the offloads that the interface offers, since frames go from kernel to kernel:
// checksums and segmentation (linux/if_tun.h). The second set, for UDP, requires Linux 6.2.
const (
	tapOffloads    = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6 | unix.TUN_F_TSO_ECN
	tapOffloadsUDP = 0x20 | 0x40 // TUN_F_USO4, TUN_F_USO6
)

// tapQueue is the number of frames that can wait for the reader of the tap.
const tapQueue = 8192

// NewTap creates the interface as a tap (Documentation/networking/tuntap.rst) and sets it up. Its
// frames are read from and written to a file (O_NONBLOCK), one in each call, after a
// virtio_net_hdr, so that super-frames of segmentation offload stay whole. Closing the file deletes
// the interface.
func (e LinkEnd) NewTap() (tap *os.File, err error) {
	err = e.Namespace.Do(func() error {
		tap, err = openTap(e.Interface)
		return err
	})
	if err != nil {
		return nil, e.Namespace.addName(err)
	}
	queue, up := tapQueue, true
	err = e.Namespace.conn.ChangeLink(e.Interface, LinkChange{MTU: &e.MTU, TxQueueLen: &queue, MAC: &e.MAC})
	if err == nil {
		err = e.Namespace.conn.ChangeLink(e.Interface, LinkChange{Up: &up})
	}
	if err != nil {
		tap.Close()
		return nil, e.Namespace.addName(err)
	}
	return tap, nil
}

// HasTun returns nil if taps can be created, and otherwise the reason.
func HasTun() error {
	fd, err := openTun()
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func openTun() (fd int, err error) {
	const device = "/dev/net/tun"
	fd, err = unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		e := &kernel.Error{Op: "open", Object: device, Err: err,
			Detail: "it makes taps, whose frames a program carries"}
		switch err {
		case unix.EACCES: // its mode is 0600 without udev and 0666 with it
			e.Detail += ", and this user may not open it: chmod 0666 " + device + ", as udev does"
		case unix.ENOENT, unix.ENODEV, unix.ENXIO:
			e.Detail += ": CONFIG_TUN, module tun"
		}
		return -1, e
	}
	return fd, nil
}

func openTap(name string) (*os.File, error) {
	fd, err := openTun()
	if err != nil {
		return nil, err
	}
	fail := func(op string, err error) (*os.File, error) {
		unix.Close(fd)
		return nil, &kernel.Error{Op: op, Object: name, Err: err}
	}
	request, err := unix.NewIfreq(name)
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
	return os.NewFile(uintptr(fd), fmt.Sprintf("tap %s", name)), nil
}

// Tap is the descriptor of a tap's file; see NewTap.
type Tap int

// Read reads one frame with its virtio_net_hdr. EAGAIN: there is none.
func (t Tap) Read(buffer []byte) (int, error) { return unix.Read(int(t), buffer) }

// Write writes one frame with its virtio_net_hdr, which the interface receives.
func (t Tap) Write(frame []byte) (int, error) { return unix.Write(int(t), frame) }

// SetCarrier sets or removes the carrier of the interface (Linux 5.0).
func (t Tap) SetCarrier(on bool) error {
	value := 0
	if on {
		value = 1
	}
	return unix.IoctlSetPointerInt(int(t), unix.TUNSETCARRIER, value)
}

// TapsUp reports which taps' interfaces are up: only these are ready for writing (POLLOUT, see
// tun_chr_poll in drivers/net/tun.c).
func TapsUp(taps []int) ([]bool, error) {
	fds, up := make([]unix.PollFd, len(taps)), make([]bool, len(taps))
	for i, tap := range taps {
		fds[i] = unix.PollFd{Fd: int32(tap), Events: unix.POLLOUT}
	}
	_, err := unix.Poll(fds, 0)
	for i, f := range fds {
		up[i] = f.Revents&unix.POLLOUT != 0
	}
	return up, err
}
