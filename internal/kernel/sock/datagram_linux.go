//go:build !portable

package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Batches of datagrams: sendmmsg(2), recvmmsg(2), and segmentation of one large send into
// many datagrams (UDP_SEGMENT, Linux 4.18) and merging of received ones (UDP_GRO, Linux
// 5.0); see udp(7).

// batchMessage is struct mmsghdr.
type batchMessage struct {
	header unix.Msghdr
	length uint32
}

// DatagramSender sends several messages per call on a connected socket. Sending allocates nothing.
type DatagramSender struct {
	messages []batchMessage
	pieces   []unix.Iovec
}

// NewDatagramSender returns a sender of at most most messages per system call.
func NewDatagramSender(most int) *DatagramSender {
	s := &DatagramSender{messages: make([]batchMessage, most), pieces: make([]unix.Iovec, most)}
	for i := range s.messages {
		s.messages[i].header.Iov = &s.pieces[i]
		s.messages[i].header.SetIovlen(1)
	}
	return s
}

// Load sets message i. data must stay valid until it is sent.
func (s *DatagramSender) Load(i int, data []byte) {
	s.pieces[i].Base = unsafe.SliceData(data)
	s.pieces[i].SetLen(len(data))
}

// Send sends the first n messages without waiting, and returns how many were sent. The
// error of the first that was not may be returned by the next call.
func (s *DatagramSender) Send(fd, n int) (int, error) {
	return result(unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(s.messages))), uintptr(n), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0))
}

// Message is a received message: one datagram, or several that the kernel merged.
type Message struct {
	Data []byte
	// Bytes is its size; Data may be only its beginning.
	Bytes int
	// Segment is the size of each datagram in it but the last, which may be
	// shorter.
	Segment int
	// Dropped is how many messages the socket had dropped for a full receive buffer when this one was queued
	// (SO_RXQ_OVFL).
	Dropped uint32
	// TimestampNs is when the kernel received it (CLOCK_REALTIME); 0: unknown.
	TimestampNs int64
	// Truncated says that Data is not the whole message.
	Truncated bool
}

// controlBytes is the size of a message's control messages: UDP_GRO, SO_RXQ_OVFL and
// SO_TIMESTAMPNS, each with its header.
const controlBytes = 3*unix.SizeofCmsghdr + 8 + 8 + 16 + 8

// DatagramReceiver receives several messages per call. Receiving allocates nothing.
type DatagramReceiver struct {
	messages []batchMessage
	pieces   []unix.Iovec
	control  []byte
	buffer   []byte
	used     int // of the messages, by the latest call
	room     int // bytes of each that are copied

	// ahead at the latest call that emptied the socket, and at the latest such call before this one; 0: none.
	ahead, before int64
}

// NewDatagramReceiver returns a receiver of at most most messages per system call, each of at most bytes.
func NewDatagramReceiver(most, bytes int) *DatagramReceiver {
	r := &DatagramReceiver{
		messages: make([]batchMessage, most), pieces: make([]unix.Iovec, most),
		control: make([]byte, most*controlBytes), buffer: make([]byte, most*bytes), used: most, room: bytes,
	}
	for i := range r.messages {
		r.pieces[i].Base = &r.buffer[i*bytes]
		r.pieces[i].SetLen(bytes)
		r.messages[i].header.Iov = &r.pieces[i]
		r.messages[i].header.SetIovlen(1)
		r.messages[i].header.Control = &r.control[i*controlBytes]
	}
	return r
}

// Receive receives the messages that have arrived, without waiting, and returns their number. It copies at most
// bytes of each; Message.Bytes is the whole size (MSG_TRUNC). ahead is how far the wall clock is currently
// ahead of a monotonic clock, for Arrived.
func (r *DatagramReceiver) Receive(fd, bytes int, ahead int64) (int, error) {
	for i := range r.used {
		r.messages[i].header.SetControllen(controlBytes)
	}
	if bytes = min(bytes, len(r.buffer)/len(r.messages)); bytes != r.room {
		for i := range r.pieces {
			r.pieces[i].SetLen(bytes)
		}
		r.room = bytes
	}
	n, err := result(unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(r.messages))), uintptr(len(r.messages)),
		unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0))
	r.used, r.before = n, r.ahead
	if err == unix.EAGAIN || err == nil && n < len(r.messages) {
		r.ahead = ahead
	}
	return n, err
}

// Arrived returns when the kernel received a message of the latest Receive, in ns of the monotonic clock; now
// if unknown. now and ofDay are the same instant on that clock and on the wall clock. If the wall clock was set
// after the socket was last empty, that may have been while the message waited, and its timestamp is ignored.
func (r *DatagramReceiver) Arrived(m Message, now, ofDay int64) int64 {
	const step = time.Millisecond // reading the two clocks takes less
	since, moved := ofDay-m.TimestampNs, ofDay-now-r.before
	if m.TimestampNs == 0 || since < 0 || since > int64(time.Minute) || r.before != 0 &&
		max(moved, -moved) > int64(step) {
		return now
	}
	return now - since
}

// Message returns the i-th message of the latest Receive. It is valid until the next.
func (r *DatagramReceiver) Message(i int) Message {
	m := &r.messages[i]
	size := int(m.length)
	copied, stride := min(size, r.room), len(r.buffer)/len(r.messages)
	out := Message{Data: r.buffer[i*stride:][:copied:copied], Bytes: size, Segment: size, Truncated: copied < size}
	control := r.control[i*controlBytes:][:m.header.Controllen]
	for len(control) >= unix.SizeofCmsghdr {
		head := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
		if head.Len < unix.SizeofCmsghdr || int(head.Len) > len(control) {
			break
		}
		value := control[unix.SizeofCmsghdr:head.Len]
		switch {
		case head.Level == unix.SOL_UDP && head.Type == unix.UDP_GRO && len(value) >= 4:
			if segment := int(*(*int32)(unsafe.Pointer(&value[0]))); segment > 0 {
				out.Segment = segment
			}
		case head.Level == unix.SOL_SOCKET && head.Type == unix.SO_RXQ_OVFL && len(value) >= 4:
			out.Dropped = *(*uint32)(unsafe.Pointer(&value[0]))
		case head.Level == unix.SOL_SOCKET && head.Type == unix.SCM_TIMESTAMPNS &&
			len(value) >= int(unsafe.Sizeof(unix.Timespec{})):
			out.TimestampNs = (*unix.Timespec)(unsafe.Pointer(&value[0])).Nano()
		}
		const align = unsafe.Sizeof(uintptr(0)) - 1
		control = control[min(uintptr(len(control)), (uintptr(head.Len)+align)&^align):]
	}
	return out
}

// SetUDPSegment makes the kernel cut every send into datagrams of this size (UDP_SEGMENT); 0: no segmentation.
func SetUDPSegment(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, bytes)
}

// PrepareReceiver enables what a DatagramReceiver reads beside the data: the number of dropped messages
// (SO_RXQ_OVFL), the time of reception (SO_TIMESTAMPNS; socket(7)) and, if merge, merging of datagrams
// (UDP_GRO). It returns an error for each.
func PrepareReceiver(fd int, merge bool) (dropped, timestamp, merged error) {
	dropped = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
	timestamp = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	if merge {
		merged = unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1)
	}
	return dropped, timestamp, merged
}

// SetReceiveBuffer sets the receive buffer and returns its size in bytes as Buffers does.
// With CAP_NET_ADMIN over the network namespace it is not limited by net.core.rmem_max
// (SO_RCVBUFFORCE).
func SetReceiveBuffer(fd, bytes int) (granted int, err error) {
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bytes); err != nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
	}
	if err != nil {
		return 0, err
	}
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
}

// PathMTU returns the known path MTU of a connected socket in bytes (IP_MTU, ip(7)).
func PathMTU(fd int, six bool) (int, error) {
	if six {
		return unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU)
	}
	return unix.GetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU)
}

// Disconnect makes a connected socket receive from any address and port, at its own address and port
// (connect(2) with AF_UNSPEC). Disconnecting drops a port chosen by connect(2), or by bind(2) to port 0, so it
// is bound again.
func Disconnect(fd int) error {
	at, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	unspecified := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	if _, err := result(unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&unspecified)),
		unsafe.Sizeof(unspecified))); err != nil {
		return err
	}
	if left, _ := Addresses(fd); left.Port() == 0 {
		return unix.Bind(fd, at)
	}
	return nil
}
