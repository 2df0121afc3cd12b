package hoststate

import (
	"net/netip"
	"slices"

	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

// earlier are counters of a host's state at an earlier reading: those of drivers, and of rules
// of nftables. The zero value is that of a state with one reading.
type earlier struct {
	nics     []netstate.NIC
	nicsAt   float64 // seconds of the monotonic clock
	nftables *netstate.Nftables
	nftAt    float64
	read     map[ends]uint64 // bytes that programs had read from TCP connections
	readAt   float64
}

// ends are those of a connection.
type ends struct{ local, remote netip.AddrPort }

// earlierState is that of a state that was read before.
func earlierState(s netstate.HostState) earlier {
	return earlier{nics: s.NICs, nicsAt: ended(s, "nics"), nftables: s.Nftables, nftAt: ended(s, "nftables")}
}

// Earlier returns the part of a snapshot that Options.Since needs: its second reading, and the
// counters of drivers and of nftables rules.
func Earlier(s netstate.HostSnapshot) *netstate.HostSnapshot {
	kept := &netstate.HostSnapshot{Reading: s.Reading, State: netstate.HostState{Nftables: s.State.Nftables,
		Parts: s.State.Parts}}
	for _, n := range s.State.NICs {
		kept.State.NICs = append(kept.State.NICs, netstate.NIC{Interface: n.Interface, Driver: n.Driver,
			Counters: n.Counters})
	}
	return kept
}

// ended is when a part of a state was read, in seconds of the monotonic clock; 0: it was not.
func ended(s netstate.HostState, part string) float64 {
	i := slices.IndexFunc(s.Parts, func(p netstate.StatePart) bool { return p.Part == part })
	if i < 0 {
		return 0
	}
	return float64(s.Parts[i].EndedNs) / 1e9
}

// take reads them now. What cannot be read is missing in the state as well, which says why.
func (e *earlier) take() {
	e.nftables, _ = netlink.Nftables()
	e.nftAt = float64(sched.Now()) / 1e9
	e.readSockets()
	h, err := ethtool.Open()
	if err != nil {
		return
	}
	defer h.Close()
	_ = withConn(func(c *netlink.Conn) error {
		links, err := c.Links()
		for _, l := range links {
			driver := h.Driver(l.Name)
			e.nics = append(e.nics, netstate.NIC{Interface: l.Name, Driver: driver,
				Counters: h.Counters(l.Name, driver)})
		}
		return err
	})
	e.nicsAt = float64(sched.Now()) / 1e9
}

func (e *earlier) readSockets() {
	diag, err := netlink.DialSocketDiag()
	if err != nil {
		return
	}
	defer diag.Close()
	list, err := diag.TCP(false)
	if err != nil {
		return
	}
	e.read, e.readAt = make(map[ends]uint64, len(list)), float64(sched.Now())/1e9
	for _, t := range list {
		if t.Info != nil {
			e.read[ends{t.Local, t.Remote}] = t.Info.BytesReceived - min(t.Info.BytesReceived, uint64(t.ReceiveQueue))
		}
	}
}

// reading is how fast a connection's program has read since, in bit/s; nil: it is not known. What
// a connection that was not there before has read, it has read since.
func (e earlier) reading(c netstate.Connection, at float64) *float64 {
	local, err := netip.ParseAddrPort(c.Local)
	remote, err2 := netip.ParseAddrPort(c.Remote)
	now, known := c.Read()
	if e.read == nil || at <= e.readAt || !known || err != nil || err2 != nil {
		return nil
	}
	before := e.read[ends{local, remote}]
	if before > now { // of another one with the same ends
		before = 0
	}
	return new(8 * float64(now-before) / (at - e.readAt))
}

// add gives a state what was counted before.
func (e earlier) add(s *netstate.HostState) {
	for i, c := range s.Notable {
		if c.ReceiveQueue > 0 {
			s.Notable[i].ReadBps = e.reading(c, ended(*s, "sockets"))
		}
	}
	for i, nic := range s.NICs {
		if n := slices.IndexFunc(e.nics, func(b netstate.NIC) bool { return b.Interface == nic.Interface }); n >= 0 {
			s.NICs[i] = nic.Since(e.nics[n], ended(*s, "nics")-e.nicsAt)
		}
	}
	s.Nftables.Since(e.nftables, ended(*s, "nftables")-e.nftAt)
}
