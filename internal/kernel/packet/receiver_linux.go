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

// receiveBuffer is what the socket's buffer is asked to hold, in bytes.
const receiveBuffer = 64 << 20

// A Receiver receives the frames that come in by one interface of the network namespace in
// which it was opened, whatever their destination addresses are. One goroutine at a time may use it.
type Receiver struct {
	fd   int
	from *sock.DatagramReceiver
	wait sched.Poller
}

// OpenReceiver makes a receiver of what matches; it needs CAP_NET_RAW.
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

// open makes a packet socket that receives what comes in by an interface, matches, and has
// room in a buffer of so many bytes.
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
	// Since 4.20; before that what this host sends by the interface is received, too.
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	// As long as the socket is open.
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

// Receive returns how many frames have come in, at most Room, and waits for the first for
// limit at most; 0: none has.
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

// ahead is how far the time of day is ahead of the monotonic clock.
func ahead() int64 { return time.Now().UnixNano() - sched.Now() }

// Frame is the i-th frame of the latest Receive, without VLAN tag and check sequence. It is
// valid until the next.
func (r *Receiver) Frame(i int) Message {
	k := r.from.Message(i)
	// First the time of day, so that what goes by in between makes no frame arrive before it
	// was sent.
	ofDay := time.Now().UnixNano()
	return Message{Data: k.Data, Bytes: k.Bytes, Dropped: k.Dropped, AtNs: r.from.Arrived(k, sched.Now(), ofDay)}
}

// Close ends the receiver.
func (r *Receiver) Close() error { return unix.Close(r.fd) }
