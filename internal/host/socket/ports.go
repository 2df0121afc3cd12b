package socket

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Exhausted converts err, from opening a connection, to a *record.PortsExhausted or
// *record.DescriptorsExhausted if this host has no more of that resource, or nil. open is the number of the
// request's connections that are open; local is their address, if known.
func Exhausted(request message.FlowRequest, local netip.Addr, open int, err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return &record.DescriptorsExhausted{Limit: proc.MaxOpenFiles(), Open: open, Wanted: max(1, request.Connections)}
	}
	call, ok := errors.AsType[*os.SyscallError](err)
	if !ok || request.LocalPort != 0 {
		return nil
	}
	// From bind, EADDRNOTAVAIL means that no port of the address is free.
	bound := call.Syscall == "bind" && call.Err == syscall.EADDRINUSE
	if !bound && !(call.Syscall == "connect" && call.Err == syscall.EADDRNOTAVAIL) {
		return nil
	}
	if request.Local.IsValid() {
		local = request.Local
	}
	p := &record.PortsExhausted{Source: local, Destination: request.Remote, Bound: bound, Open: open,
		Wanted: max(1, request.Connections)}
	if text, err := (proc.Sysctls{}).Read("net.ipv4.ip_local_port_range"); err == nil {
		_, _ = fmt.Sscan(text, &p.FirstPort, &p.LastPort)
	}
	return p
}
