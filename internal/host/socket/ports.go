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

// Exhausted is err, of opening a connection, as the resource of which this host had none left:
// a *record.PortsExhausted or a *record.DescriptorsExhausted. nil: err has another cause. Of
// the request's connections, so many are open, from local if there is any.
func Exhausted(request message.FlowRequest, local netip.Addr, open int, err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return &record.DescriptorsExhausted{Limit: proc.MaxOpenFiles(), Open: open, Wanted: max(1, request.Connections)}
	}
	call, ok := errors.AsType[*os.SyscallError](err)
	if !ok || request.LocalPort != 0 {
		return nil
	}
	// EADDRNOTAVAIL of bind means that no port has the address.
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
