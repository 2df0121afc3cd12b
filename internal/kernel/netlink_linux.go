package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
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
func Dial() (*Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, &Error{Op: "open", Object: "route netlink socket", Err: err}
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		unix.Close(fd)
		return nil, &Error{Op: "bind", Object: "route netlink socket", Err: err}
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
		return &Error{Op: op, Object: object, Err: err, Detail: detail}
	}
	if c.fd < 0 {
		return fail(errors.New("the netlink socket is closed"), "")
	}
	c.seq++
	isDump := flags&unix.NLM_F_DUMP == unix.NLM_F_DUMP
	if !isDump && flags&unix.NLM_F_ECHO == 0 {
		flags |= unix.NLM_F_ACK
	}
	c.out = c.out[:0]
	c.out = native.AppendUint32(c.out, uint32(headerLen+len(body)))
	c.out = native.AppendUint16(c.out, kind)
	c.out = native.AppendUint16(c.out, uint16(flags|unix.NLM_F_REQUEST))
	c.out = native.AppendUint32(c.out, c.seq)
	c.out = native.AppendUint32(c.out, 0)
	c.out = append(c.out, body...)

	// The kernel fills the first chunk of a dump while it takes the request,
	// and each further one while it hands out the one before it.
	began := Now()
	for {
		err := unix.Sendto(c.fd, c.out, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return fail(err, "")
		}
	}
	filled := (began + Now()) / 2
	var visitErr error
	interrupted := false
	for {
		began = Now()
		n, _, err := unix.Recvfrom(c.fd, c.in, unix.MSG_TRUNC)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return fail(errors.New("no answer from the kernel within 10 s"), "")
		case err != nil:
			return fail(err, "")
		case n > len(c.in):
			return fail(fmt.Errorf("answer of %d bytes is larger than the buffer of %d", n, len(c.in)), "")
		}
		next := (began + Now()) / 2
		rest := c.in[:n]
		for len(rest) >= headerLen {
			size := int(native.Uint32(rest))
			if size < headerLen || size > len(rest) {
				return fail(fmt.Errorf("malformed answer: message of %d bytes in %d", size, len(rest)), "")
			}
			kind, messageFlags, seq := native.Uint16(rest[4:]), native.Uint16(rest[6:]), native.Uint32(rest[8:])
			payload := rest[headerLen:size]
			rest = rest[min(align(size), len(rest)):]
			if seq != c.seq {
				continue // left over from a request that was given up
			}
			interrupted = interrupted || messageFlags&unix.NLM_F_DUMP_INTR != 0
			switch kind {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				errno, detail := acknowledgement(kind, messageFlags, payload)
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
					visitErr = v(kind, payload, filled)
				}
			}
		}
		filled = next
	}
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
