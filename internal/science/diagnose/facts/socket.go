package facts

import (
	"net/netip"
	"slices"

	"linerate/internal/model/record"
)

// Full: more connections wait for accept(2) than the listener's backlog.
func Full(l record.Listener) bool { return l.Protocol == "tcp" && l.Queued > l.Backlog }

// Toward is the other host to which all connections lead of which a condition holds; empty: they
// lead to several, or to one that is not known.
func (f Trial) Toward(h *Host, where func(record.Connection) bool) (name string) {
	for _, c := range h.State.Notable {
		if !where(c) {
			continue
		}
		remote, err := netip.ParseAddrPort(c.Remote)
		i := slices.IndexFunc(f.Hosts, func(o *Host) bool { return o != h && o.Holder(remote.Addr().Unmap()) != nil })
		if err != nil || i < 0 || name != "" && name != f.Hosts[i].Name {
			return ""
		}
		name = f.Hosts[i].Name
	}
	return name
}

// Unanswered: a SYN was sent again.
func Unanswered(c record.Connection) bool {
	return c.State == "SYN-SENT" && c.Info != nil && (c.Info.Retransmits > 0 || c.Info.Backoff > 0)
}
