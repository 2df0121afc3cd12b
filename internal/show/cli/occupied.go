package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/user"
	"slices"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
)

// askTimeout bounds how long a listener on this host is asked what it is. Its greeting is short.
const askTimeout = 500 * time.Millisecond

const anotherProgram = "another program (ss -lntup names it)"

// occupant says what listens on an address that is in use: "another linerate serve, pid 4711, of
// user root", "iperf3, pid 4711, of user ada", or "another program" if its process is not known. It
// connects to the address only if ask is set.
func occupant(ctx context.Context, address string, ask bool) string {
	text := ""
	if ask && servesHere(ctx, address) {
		text = "another linerate serve"
	}
	l, known := listenerAt(address)
	if !known {
		return cmp.Or(text, anotherProgram)
	}
	holder := proc.Proc{}.Holders()[l.Inode]
	if text = cmp.Or(text, holder.Name); text == "" {
		return anotherProgram
	}
	if holder.PID != 0 {
		text += fmt.Sprintf(", pid %d", holder.PID)
	}
	owner := fmt.Sprint(l.UID)
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	return text + ", of user " + owner
}

// listenerAt returns the socket that listens on the port of an address; false: it is unknown.
func listenerAt(address string) (netlink.Socket, bool) {
	sockets, err := netlink.DialSocketDiag()
	if err != nil {
		return netlink.Socket{}, false
	}
	defer sockets.Close()
	all, _ := sockets.TCP(true)
	i := slices.IndexFunc(all, func(s netlink.Socket) bool { return occupies(s.Local, address) })
	if i < 0 {
		return netlink.Socket{}, false
	}
	return all[i], true
}

// occupies reports whether a listener at local occupies the port of an address: with the same host, or
// if either of them is unspecified.
func occupies(local netip.AddrPort, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != fmt.Sprint(local.Port()) {
		return false
	}
	a, err := netip.ParseAddr(host)
	return err != nil || a.IsUnspecified() || local.Addr().IsUnspecified() || a.Unmap() == local.Addr().Unmap()
}

// servesHere reports whether the listener on an address of this host greets like linerate serve.
// The greeting is bounded in time and size.
func servesHere(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if a, err := netip.ParseAddr(cmp.Or(host, "0.0.0.0")); err == nil && a.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return false
	}
	defer conn.Close()
	if at, has := ctx.Deadline(); !has || conn.SetDeadline(at) != nil {
		return false
	}
	_, err = greeting.AskName(conn)
	_, refused := errors.AsType[greeting.Refused](err) // by linerate, for example of another version
	return err == nil || refused
}
