package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
)

// Conn is an open route-netlink socket of the network namespace in which Dial
// was called. Its methods may be called from several goroutines; each request
// has the socket to itself.
type Conn struct {
	mu     sync.Mutex
	fd     int
	seq    uint32
	out    []byte
	in     []byte
	strict bool // the kernel filters dumps by what the request says (4.20)
}

// Object is a kernel object (a route, an address, a neighbour entry, a rule, a
// queueing discipline) as the kernel itself described it in a dump: the body of
// the netlink message. Given back verbatim it makes the object again.
type Object []byte

// Dial opens the socket.
func Dial() (*Conn, error) { return open(unix.NETLINK_ROUTE, "route netlink socket") }

func open(protocol int, what string) (*Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: what, Err: err}
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		unix.Close(fd)
		return nil, &kernel.Error{Op: "bind", Object: what, Err: err}
	}
	// Both options only improve what is reported; older kernels lack them.
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK, 1)
	strict := unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_GET_STRICT_CHK, 1) == nil
	// A kernel that never answered would hang its caller for good.
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10})
	return &Conn{fd: fd, in: make([]byte, 64<<10), strict: strict}, nil
}

// Close closes the socket.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return nil
	}
	err := unix.Close(c.fd)
	c.fd = -1
	return err
}

const headerLen = unix.SizeofNlMsghdr

var native = binary.NativeEndian

// visit is called for each message of an answer: its type, its body (valid only
// during the call) and when the kernel filled it in.
type visit func(kind uint16, body []byte, atNs int64) error

// dump asks for all objects of a kind. A dump that the kernel marks as
// interrupted (something changed meanwhile) is repeated a few times, since it
// may have left things out; what visit collected is discarded through reset.
func (c *Conn) dump(op string, kind uint16, body []byte, reset func(), v visit) error {
	const tries = 4
	for try := 1; ; try++ {
		if reset != nil {
			reset()
		}
		err := c.request(op, "", kind, unix.NLM_F_DUMP, body, v)
		if try == tries || !errors.Is(err, errInterrupted) {
			return err
		}
	}
}

var errInterrupted = errors.New("the table kept changing while it was read")

// request sends one message and handles the answer up to its end.
func (c *Conn) request(op, object string, kind uint16, flags int, body []byte, v visit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	fail := func(err error, detail string) error {
		return &kernel.Error{Op: op, Object: object, Err: err, Detail: detail}
	}
	if c.fd < 0 {
		return fail(errors.New("the netlink socket is closed"), "")
	}
	isDump := flags&unix.NLM_F_DUMP == unix.NLM_F_DUMP
	if !isDump && flags&unix.NLM_F_ECHO == 0 {
		flags |= unix.NLM_F_ACK
	}
	c.out = c.out[:0]
	c.put(kind, flags, body)

	// The kernel fills the first chunk of a dump while it takes the request,
	// and each further one while it hands out the one before it.
	began := sched.Now()
	if err := c.send(); err != nil {
		return fail(err, "")
	}
	filled := (began + sched.Now()) / 2
	var visitErr error
	interrupted := false
	for {
		began = sched.Now()
		rest, err := c.receive()
		if err != nil {
			return fail(err, "")
		}
		next := (began + sched.Now()) / 2
		for len(rest) >= headerLen {
			var m message
			if m, rest, err = cutMessage(rest); err != nil {
				return fail(err, "")
			}
			if m.seq != c.seq {
				continue // left over from a request that was given up
			}
			interrupted = interrupted || m.flags&unix.NLM_F_DUMP_INTR != 0
			switch m.kind {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				errno, detail := acknowledgement(m.kind, m.flags, m.payload)
				switch {
				case errno != 0:
					return fail(errno, detail)
				case visitErr != nil:
					return visitErr
				case interrupted:
					return fail(errInterrupted, "")
				}
				return nil
			case unix.NLMSG_NOOP:
			default:
				if visitErr == nil && v != nil {
					visitErr = v(m.kind, m.payload, filled)
				}
			}
		}
		filled = next
	}
}

// put adds a message to what is to be sent, with a number of its own.
func (c *Conn) put(kind uint16, flags int, body []byte) {
	c.seq++
	c.out = native.AppendUint32(c.out, uint32(headerLen+len(body)))
	c.out = native.AppendUint16(c.out, kind)
	c.out = native.AppendUint16(c.out, uint16(flags|unix.NLM_F_REQUEST))
	c.out = native.AppendUint32(c.out, c.seq)
	c.out = native.AppendUint32(c.out, 0)
	c.out = append(c.out, body...)
	c.out = append(c.out, make([]byte, align(len(body))-len(body))...)
}

// send hands over what was put.
func (c *Conn) send() error {
	for {
		err := unix.Sendto(c.fd, c.out, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		if err != unix.EINTR {
			return err
		}
	}
}

// receive waits for the kernel's next messages.
func (c *Conn) receive() ([]byte, error) {
	for {
		n, _, err := unix.Recvfrom(c.fd, c.in, unix.MSG_TRUNC)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return nil, errors.New("no answer from the kernel within 10 s")
		case err != nil:
			return nil, err
		case n > len(c.in):
			return nil, fmt.Errorf("answer of %d bytes is larger than the buffer of %d", n, len(c.in))
		default:
			return c.in[:n], nil
		}
	}
}

// message is one of those that come in.
type message struct {
	kind, flags uint16
	seq         uint32
	payload     []byte
}

// cutMessage takes the first message off.
func cutMessage(text []byte) (m message, rest []byte, err error) {
	size := int(native.Uint32(text))
	if size < headerLen || size > len(text) {
		return m, nil, fmt.Errorf("malformed answer: message of %d bytes in %d", size, len(text))
	}
	m = message{native.Uint16(text[4:]), native.Uint16(text[6:]), native.Uint32(text[8:]), text[headerLen:size]}
	return m, text[min(align(size), len(text)):], nil
}

// acknowledgement reads the errno and the text of the end of an answer.
func acknowledgement(kind, flags uint16, payload []byte) (syscall.Errno, string) {
	if len(payload) < 4 {
		return 0, ""
	}
	errno := syscall.Errno(-int32(native.Uint32(payload)))
	if flags&unix.NLM_F_ACK_TLVS == 0 {
		return errno, ""
	}
	offset := 4 // NLMSG_DONE: attributes follow the status
	if kind == unix.NLMSG_ERROR {
		offset = 4 + headerLen
		if flags&unix.NLM_F_CAPPED == 0 && len(payload) >= 8 {
			offset = 4 + align(int(native.Uint32(payload[4:])))
		}
	}
	if offset > len(payload) {
		return errno, ""
	}
	detail := ""
	for a := range attributes(payload[offset:]) {
		if a.kind == unix.NLMSGERR_ATTR_MSG {
			detail = cString(a.data)
		}
	}
	return errno, detail
}
