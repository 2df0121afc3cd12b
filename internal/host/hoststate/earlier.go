package hoststate

import (
	"slices"

	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// earlier are counters of a host's state at an earlier reading: those of drivers, and of rules
// of nftables. The zero value is that of a state with one reading.
type earlier struct {
	nics     []record.NIC
	nicsAt   float64 // seconds of the monotonic clock
	nftables *record.Nftables
	nftAt    float64
}

// earlierState is that of a state that was read before.
func earlierState(s record.HostState) earlier {
	return earlier{s.NICs, ended(s, "nics"), s.Nftables, ended(s, "nftables")}
}

// ended is when a part of a state was read, in seconds of the monotonic clock; 0: it was not.
func ended(s record.HostState, part string) float64 {
	i := slices.IndexFunc(s.Parts, func(p record.StatePart) bool { return p.Part == part })
	if i < 0 {
		return 0
	}
	return float64(s.Parts[i].EndedNs) / 1e9
}

// read reads them now. What cannot be read is missing in the state as well, which says why.
func (e *earlier) read() {
	e.nftables, _ = netlink.Nftables()
	e.nftAt = float64(sched.Now()) / 1e9
	h, err := ethtool.Open()
	if err != nil {
		return
	}
	defer h.Close()
	_ = withConn(func(c *netlink.Conn) error {
		links, err := c.Links()
		for _, l := range links {
			driver := h.Driver(l.Name)
			e.nics = append(e.nics, record.NIC{Interface: l.Name, Driver: driver, Counters: h.Counters(l.Name, driver)})
		}
		return err
	})
	e.nicsAt = float64(sched.Now()) / 1e9
}

// add gives a state what was counted before.
func (e earlier) add(s *record.HostState) {
	for i, nic := range s.NICs {
		if n := slices.IndexFunc(e.nics, func(b record.NIC) bool { return b.Interface == nic.Interface }); n >= 0 {
			s.NICs[i] = nic.Since(e.nics[n], ended(*s, "nics")-e.nicsAt)
		}
	}
	s.Nftables.Since(e.nftables, ended(*s, "nftables")-e.nftAt)
}
