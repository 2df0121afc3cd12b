package facts

import (
	"slices"

	"linerate/internal/model/record"
)

// EchoUnanswered: no echo request was answered, and no connection accepted.
func EchoUnanswered(p record.Probe) bool {
	return p.Echo != nil && p.Echo.Sent > 0 && p.Echo.Received == 0 &&
		!slices.ContainsFunc(p.Connects, func(c record.ConnectProbe) bool {
			return c.Outcome == record.ConnectAccepted
		})
}

// OtherHost is the kernel's reason for dropping packets for other MAC addresses.
const OtherHost = "OTHERHOST"

// Strayed names the peer whose answers may be what arrives by an interface for other MAC addresses;
// empty: every peer probed by that interface answered, or none was probed.
func (h *Host) Strayed(name string) string {
	for _, p := range h.State.Probes {
		if p.Interface == name && EchoUnanswered(p) {
			return p.Address
		}
	}
	return ""
}
