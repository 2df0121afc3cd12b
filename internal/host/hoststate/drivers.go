package hoststate

import (
	"slices"

	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// driverCounters are those of drivers at an earlier reading.
type driverCounters struct {
	nics []record.NIC
	at   float64 // seconds of the monotonic clock
}

func driverCountersOf(s record.HostState) driverCounters {
	i := slices.IndexFunc(s.Parts, func(p record.StatePart) bool { return p.Part == "nics" })
	if i < 0 {
		return driverCounters{}
	}
	return driverCounters{s.NICs, float64(s.Parts[i].EndedNs) / 1e9}
}

// read reads them now. What cannot be read is missing in the state as well, which says why.
func (d *driverCounters) read() {
	h, err := ethtool.Open()
	if err != nil {
		return
	}
	defer h.Close()
	_ = withConn(func(c *netlink.Conn) error {
		links, err := c.Links()
		for _, l := range links {
			driver := h.Driver(l.Name)
			d.nics = append(d.nics, record.NIC{Interface: l.Name, Driver: driver, Counters: h.Counters(l.Name, driver)})
		}
		return err
	})
	d.at = float64(sched.Now()) / 1e9
}

// add gives the NICs of a state what their drivers had counted before.
func (d driverCounters) add(s *record.HostState) {
	over := driverCountersOf(*s).at - d.at
	for i, nic := range s.NICs {
		if n := slices.IndexFunc(d.nics, func(b record.NIC) bool { return b.Interface == nic.Interface }); n >= 0 {
			s.NICs[i] = nic.Since(d.nics[n], over)
		}
	}
}
