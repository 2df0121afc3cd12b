//go:build !portable

package packet

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// receiveBuffer is the requested size of the socket's buffer, in bytes.
const receiveBuffer = 64 << 20

// Receiver receives the frames that arrive at one interface of the network namespace in which it was opened,
// whatever their destination address. It is not safe for concurrent use.
type Receiver struct {
	fd   int
	from *sock.DatagramReceiver
	wait sched.Poller
}

// OpenReceiver returns a receiver of frames that match; it needs CAP_NET_RAW.
func OpenReceiver(name string, m Match) (*Receiver, error) {
	fd, err := open(name, m, receiveBuffer)
	if err != nil {
		return nil, err
	}
	if dropped, timestamp, _ := sock.PrepareReceiver(fd, false); dropped != nil || timestamp != nil {
		unix.Close(fd)
		return nil, &kernel.Error{Op: "count drops and take times of", Object: object, Err: unix.EOPNOTSUPP}
	}
	return &Receiver{fd: fd, from: sock.NewDatagramReceiver(Room, MaxBytes)}, nil
}

const object = "packet socket"

// open returns a packet socket that receives matching frames from an interface, with a receive buffer of this
// size.
func open(name string, m Match, buffer int) (int, error) {
	link, _, err := describe(name)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, &kernel.Error{Op: "open", Object: object, Err: err,
			Detail: "receiving frames needs CAP_NET_RAW over the network namespace"}
	}
	fail := func(op string, err error) (int, error) {
		unix.Close(fd)
		return -1, &kernel.Error{Op: op, Object: object, Err: err}
	}
	// Since 4.20; earlier kernels also deliver what this host sends on the interface.
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	// In effect while the socket is open.
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
		&unix.PacketMreq{Ifindex: int32(link.Index), Type: unix.PACKET_MR_PROMISC}); err != nil {
		return fail("receive what is for others by", err)
	}
	if err := m.attach(fd); err != nil {
		return fail("attach a filter to", err)
	}
	if _, err := sock.SetReceiveBuffer(fd, buffer); err != nil {
		return fail("set the receive buffer of", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: link.Index,
		Protocol: binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))}); err != nil {
		return fail("bind", err)
	}
	return fd, nil
}

// Receive returns how many frames have arrived, at most Room. It waits up to limit for the first; 0: none
// arrived.
func (r *Receiver) Receive(limit time.Duration) (int, error) {
	n, err := r.from.Receive(r.fd, MaxBytes, ahead())
	if err == unix.EAGAIN && limit > 0 {
		if _, err := r.wait.Wait(r.fd, false, limit); err != nil {
			return 0, err
		}
		n, err = r.from.Receive(r.fd, MaxBytes, ahead())
	}
	if err == unix.EAGAIN || err == unix.EINTR {
		return 0, nil
	}
	return max(0, n), err
}

// ahead returns how far the wall clock is ahead of the monotonic clock, in ns.
func ahead() int64 { return time.Now().UnixNano() - sched.Now() }

// Frame returns the i-th frame of the latest Receive, without VLAN tag and check sequence. It is valid until
// the next Receive.
func (r *Receiver) Frame(i int) Message {
	k := r.from.Message(i)
	// The wall clock first, so that the time in between makes no frame arrive before it was sent.
	ofDay := time.Now().UnixNano()
	return Message{Data: k.Data, Bytes: k.Bytes, Dropped: k.Dropped, AtNs: r.from.Arrived(k, sched.Now(), ofDay)}
}

// Close ends the receiver.
func (r *Receiver) Close() error { return unix.Close(r.fd) }
