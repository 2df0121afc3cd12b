//go:build !portable

package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
)

// Available reports whether route netlink, /proc and sysctls can be used on this system.
const Available = true

// Conn is an open route netlink socket in the network namespace in which Dial was called
// (rtnetlink(7)). Its methods may be called concurrently; requests are serialized. Errors are
// *kernel.Error.
type Conn struct {
	mu  sync.Mutex
	fd  int
	seq uint32
	out []byte
	in  []byte
}

// Dial opens the socket (netlink(7), NETLINK_ROUTE). Reading requires no privilege; changes require
// CAP_NET_ADMIN in the network namespace.
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
	// Older kernels lack both options: the first improves error reports, the second has the kernel filter dumps by the
	// fields of the request (4.20).
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_GET_STRICT_CHK, 1)
	// This limits the wait for an answer.
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10})
	return &Conn{fd: fd, in: make([]byte, 64<<10)}, nil
}

// Close closes the socket. Closing it again is no error.
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

// userHz is the unit of times in netlink: ticks per second, 100 on every architecture that linerate
// supports (USER_HZ, asm-generic/param.h).
const userHz = 100

// visit is called for each message of an answer with its type, its body (valid only during the
// call), and when the kernel filled it.
type visit func(kind uint16, body []byte, atNs int64)

// list dumps a table and returns the results of parse for each message of type answer, in the
// kernel's order, except those for which parse returns false. Size is the length of a message's
// fixed header; parse gets no shorter body. With several requests, such as one for each address
// family, the answers follow one another.
//
// A dump that the kernel marks as interrupted (the table changed meanwhile) may lack entries, and
// is repeated a few times.
func list[T any](c *Conn, op string, kind, answer uint16, size int, requests [][]byte,
	parse func(body []byte, atNs int64) (T, bool)) ([]T, error) {
	const tries = 4
	var entries []T
	for _, request := range requests {
		before := len(entries)
		for try := 1; ; try++ {
			entries = entries[:before]
			err := c.request(op, "", kind, unix.NLM_F_DUMP, request, func(kind uint16, body []byte, atNs int64) {
				// Without IPv6 the kernel answers a request for it with all families.
				otherFamily := request[0] != unix.AF_UNSPEC && len(body) > 0 && body[0] != request[0]
				if kind != answer || len(body) < size || otherFamily {
					return
				}
				if value, ok := parse(body, atNs); ok {
					entries = append(entries, value)
				}
			})
			if err == nil {
				break
			}
			if try == tries || !errors.Is(err, errInterrupted) {
				return nil, err
			}
		}
	}
	return entries, nil
}

// bothFamilies returns the requests for a table's IPv4 and IPv6 entries: a fixed header of the
// given size in which only the family is set.
func bothFamilies(size int) [][]byte {
	four, six := make([]byte, size), make([]byte, size)
	four[0], six[0] = unix.AF_INET, unix.AF_INET6
	return [][]byte{four, six}
}

// family returns the address family of an IPv4 or IPv6 address.
func family(a netip.Addr) uint8 {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// each returns a parse function for list that keeps every message.
func each[T any](parse func(body []byte) T) func([]byte, int64) (T, bool) {
	return func(body []byte, _ int64) (T, bool) { return parse(body), true }
}

// indexOf returns the interface index of a message. In struct ifinfomsg, ifaddrmsg, ndmsg, tcmsg
// and if_stats_msg it follows four bytes.
func indexOf(body []byte) int { return int(int32(native.Uint32(body[4:]))) }

var errInterrupted = errors.New("the table kept changing while it was read")

// Flags of a request that creates an object (netlink(7)).
const (
	flagsAdd     = unix.NLM_F_CREATE | unix.NLM_F_EXCL
	flagsReplace = unix.NLM_F_CREATE | unix.NLM_F_REPLACE
)

// remove sends a request that deletes an object. It is no error if the object does not exist.
func (c *Conn) remove(op, object string, kind uint16, body []byte) error {
	err := c.request(op, object, kind, 0, body, nil)
	if isAbsent(err) {
		return nil
	}
	return err
}

// isAbsent reports whether err is one of the errors with which the kernel answers the deletion of
// an object that does not exist.
func isAbsent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

// check returns an error if the object is shorter than its fixed header.
func (o Object) check(op string, size int) error {
	if len(o) < size {
		return &kernel.Error{Op: op, Err: syscall.EINVAL,
			Detail: fmt.Sprintf("an object of %d bytes: expected at least %d", len(o), size)}
	}
	return nil
}

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
	if flags&unix.NLM_F_DUMP != unix.NLM_F_DUMP {
		flags |= unix.NLM_F_ACK
	}
	c.out = c.out[:0]
	c.put(kind, flags, body)

	// The kernel fills the first chunk of a dump when it receives the request, and each further one
	// when it returns the previous one.
	began := sched.Now()
	if err := c.send(); err != nil {
		return fail(err, "")
	}
	filled := (began + sched.Now()) / 2
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
				continue // the answer to an earlier request that failed
			}
			interrupted = interrupted || m.flags&unix.NLM_F_DUMP_INTR != 0
			switch m.kind {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				errno, detail := acknowledgement(m.kind, m.flags, m.payload)
				switch {
				case errno != 0:
					return fail(errno, detail)
				case interrupted:
					return fail(errInterrupted, "")
				}
				return nil
			case unix.NLMSG_NOOP:
			default:
				if v != nil {
					v(m.kind, m.payload, filled)
				}
			}
		}
		filled = next
	}
}

// put appends a message to the send buffer with the next sequence number.
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

// send sends the messages that put has appended.
func (c *Conn) send() error {
	for {
		err := unix.Sendto(c.fd, c.out, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		if err != unix.EINTR {
			return err
		}
	}
}

// receive waits for the next datagram of messages, at most 10 s.
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

// message is one message of an answer: struct nlmsghdr and its payload.
type message struct {
	kind, flags uint16
	seq         uint32
	payload     []byte
}

// cutMessage splits off the first message.
func cutMessage(text []byte) (m message, rest []byte, err error) {
	size := int(native.Uint32(text))
	if size < headerLen || size > len(text) {
		return m, nil, fmt.Errorf("malformed answer: message of %d bytes in %d", size, len(text))
	}
	m = message{native.Uint16(text[4:]), native.Uint16(text[6:]), native.Uint32(text[8:]), text[headerLen:size]}
	return m, text[min(align(size), len(text)):], nil
}

// acknowledgement returns the errno and the extended acknowledgement of NLMSG_ERROR or NLMSG_DONE,
// which end an answer.
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
	return errno, cString(within(payload[offset:], unix.NLMSGERR_ATTR_MSG).data)
}
