package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Datagrams by the batch: sendmmsg(2), recvmmsg(2), and the kernel's cutting of
// one large send into many datagrams (UDP_SEGMENT, Linux 4.18) and putting
// together of received ones (UDP_GRO, Linux 5.0); see udp(7).

// batchMessage is struct mmsghdr.
type batchMessage struct {
	header unix.Msghdr
	length uint32
}

// A DatagramSender hands messages to a connected socket, several at a time. It
// holds the memory that takes, so that sending needs none.
type DatagramSender struct {
	messages []batchMessage
	pieces   []unix.Iovec
}

// NewDatagramSender makes one for so many messages in one system call.
func NewDatagramSender(most int) *DatagramSender {
	s := &DatagramSender{messages: make([]batchMessage, most), pieces: make([]unix.Iovec, most)}
	for i := range s.messages {
		s.messages[i].header.Iov = &s.pieces[i]
		s.messages[i].header.SetIovlen(1)
	}
	return s
}

// Load says what message i is. The memory has to stay until it is sent.
func (s *DatagramSender) Load(i int, data []byte) {
	s.pieces[i].Base = unsafe.SliceData(data)
	s.pieces[i].SetLen(len(data))
}

// Send hands over the first n messages without waiting, and says how many were
// taken. The error is of the first that was not; it may come with the next call.
func (s *DatagramSender) Send(fd, n int) (int, error) {
	taken, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(s.messages))), uintptr(n), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(taken), nil
}

// Message is what a socket received at a time: one datagram, or several that the
// kernel put together.
type Message struct {
	Data []byte
	// Bytes is its size, of which Data may be the beginning only.
	Bytes int
	// Segment is the size of each datagram in it but the last, which may be
	// shorter.
	Segment int
	// Dropped is how many messages the socket had thrown away because its buffer
	// was full when this one was queued (SO_RXQ_OVFL).
	Dropped uint32
	// TimestampNs is when the kernel got it, on the clock of the time of day; 0: not
	// known.
	TimestampNs int64
	// Truncated says that the rest of it was not copied.
	Truncated bool
}

// control is room for the three things that the kernel tells of a message:
// UDP_GRO, SO_RXQ_OVFL and SO_TIMESTAMPNS, each with its header.
const controlBytes = 3*unix.SizeofCmsghdr + 8 + 8 + 16 + 8

// A DatagramReceiver takes messages from a connected socket, several at a time.
type DatagramReceiver struct {
	messages []batchMessage
	pieces   []unix.Iovec
	control  []byte
	buffer   []byte
	used     int // of the messages, by the latest call
	room     int // bytes of each that are copied
}

// NewDatagramReceiver makes one for so many messages in one system call, each of
// so many bytes at most.
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

// Receive takes the messages that are there, without waiting, and says how many. Of
// each, at most so many bytes are copied; the size of the rest is still known
// (MSG_TRUNC). No more than the receiver was made for.
func (r *DatagramReceiver) Receive(fd, bytes int) (int, error) {
	for i := range r.used {
		r.messages[i].header.SetControllen(controlBytes)
	}
	if bytes = min(bytes, len(r.buffer)/len(r.messages)); bytes != r.room {
		for i := range r.pieces {
			r.pieces[i].SetLen(bytes)
		}
		r.room = bytes
	}
	r.used = 0
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(r.messages))), uintptr(len(r.messages)), unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	r.used = int(n)
	return r.used, nil
}

// Message is the i-th of those that Receive took. It is there until the next
// Receive.
func (r *DatagramReceiver) Message(i int) Message {
	m := &r.messages[i]
	size := int(m.length)
	copied, stride := min(size, r.room), len(r.buffer)/len(r.messages)
	out := Message{Data: r.buffer[i*stride:][:copied:copied], Bytes: size, Segment: size, Truncated: copied < size}
	told := r.control[i*controlBytes:][:m.header.Controllen]
	for len(told) >= unix.SizeofCmsghdr {
		head := (*unix.Cmsghdr)(unsafe.Pointer(&told[0]))
		if head.Len < unix.SizeofCmsghdr || int(head.Len) > len(told) {
			break
		}
		value := told[unix.SizeofCmsghdr:head.Len]
		switch {
		case head.Level == unix.SOL_UDP && head.Type == unix.UDP_GRO && len(value) >= 4:
			if segment := int(*(*int32)(unsafe.Pointer(&value[0]))); segment > 0 {
				out.Segment = segment
			}
		case head.Level == unix.SOL_SOCKET && head.Type == unix.SO_RXQ_OVFL && len(value) >= 4:
			out.Dropped = *(*uint32)(unsafe.Pointer(&value[0]))
		case head.Level == unix.SOL_SOCKET && head.Type == unix.SCM_TIMESTAMPNS && len(value) >= int(unsafe.Sizeof(unix.Timespec{})):
			out.TimestampNs = (*unix.Timespec)(unsafe.Pointer(&value[0])).Nano()
		}
		const align = unsafe.Sizeof(uintptr(0)) - 1
		told = told[min(uintptr(len(told)), (uintptr(head.Len)+align)&^align):]
	}
	return out
}

// SetUDPSegment has the kernel cut every send into datagrams of so many bytes
// (UDP_SEGMENT); 0: none is cut.
func SetUDPSegment(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, bytes)
}

// SetUDPGRO lets the kernel hand over several datagrams at a time (UDP_GRO).
func SetUDPGRO(fd int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1)
}

// SetRxqOvfl has each message tell how many were thrown away before it, as
// the receive buffer was full (SO_RXQ_OVFL).
func SetRxqOvfl(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
}

// SetTimestampNS has each message tell when the kernel got it (SO_TIMESTAMPNS).
func SetTimestampNS(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// SetReceiveBuffer asks for a receive buffer and says what was granted, as the
// kernel counts it: twice that, for its own bookkeeping. With CAP_NET_ADMIN over
// the network namespace net.core.rmem_max does not bound it (SO_RCVBUFFORCE).
func SetReceiveBuffer(fd, bytes int) (granted int, err error) {
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bytes); err != nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
	}
	if err != nil {
		return 0, err
	}
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
}

// PathMTU is the MTU of the way to where a socket is connected to, as far as
// this host knows it.
func PathMTU(fd int, six bool) (int, error) {
	if six {
		return unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU)
	}
	return unix.GetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU)
}
