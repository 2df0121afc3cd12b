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
	"strings"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
)

// askTimeout bounds asking a listener of this host what it is: its greeting is short.
const askTimeout = 500 * time.Millisecond

const anotherProgram = "another program (ss -lntup names it)"

// occupant says what listens on an address that is in use: "another linerate serve, pid 4711,
// of user root", or "another program" where it does not answer as linerate does.
func occupant(ctx context.Context, address string) string {
	if !servesHere(ctx, address) {
		return anotherProgram
	}
	text := "another linerate serve"
	l, known := listenerAt(address)
	if !known {
		return text
	}
	if pid := (proc.Proc{}).SocketHolder(l.Inode); pid != 0 {
		text += fmt.Sprintf(", pid %d", pid)
	}
	name := fmt.Sprint(l.UID)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return text + ", of user " + name
}

// listenerAt is the socket that listens on the port of an address; false: that is unknown.
func listenerAt(address string) (netlink.Socket, bool) {
	sockets, err := netlink.DialSocketDiag()
	if err != nil {
		return netlink.Socket{}, false
	}
	defer sockets.Close()
	all, _ := sockets.TCP(true)
	i := slices.IndexFunc(all, func(s netlink.Socket) bool { return strings.HasSuffix(address, fmt.Sprintf(":%d", s.Local.Port())) })
	if i < 0 {
		return netlink.Socket{}, false
	}
	return all[i], true
}

// servesHere reports whether what listens on an address of this host greets as linerate serve
// does. The greeting is bounded, in time and in size.
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
	_, refused := errors.AsType[greeting.Refused](err) // by linerate, such as of another version
	return err == nil || refused
}
