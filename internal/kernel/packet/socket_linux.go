//go:build !portable

package packet

import (
	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sock"
)

// socket transmits with sendmmsg(2). A transmit ring (PACKET_TX_RING) is no faster; see decision 0043.
type socket struct {
	fd int
	to *sock.DatagramSender
}

func openSocket(f *frames, index int, bypass bool) (*socket, error) {
	const object = "packet socket"
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: object, Err: err,
			Detail: "frames need CAP_NET_RAW over the network namespace"}
	}
	if bypass {
		_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1) // Linux 3.14
	}
	// Protocol 0: nothing is received.
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
		unix.Close(fd)
		return nil, &kernel.Error{Op: "bind", Object: object, Err: err}
	}
	f.head, f.place = 0, (f.bytes+63)/64*64
	f.memory = make([]byte, Room*f.place)
	return &socket{fd: fd, to: sock.NewDatagramSender(Room)}, nil
}

func (s *socket) transmit(f *frames, begin, end int) (int, error) {
	for i := begin; i < end; i++ {
		s.to.Load(i-begin, f.frame(i))
	}
	return s.to.Send(s.fd, end-begin)
}

func (s *socket) close() error { return unix.Close(s.fd) }
