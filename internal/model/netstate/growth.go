package netstate

import "slices"

// Interval is the interval of sar(1) or mpstat(1) in which a part of a host was worst.
type Interval struct {
	// Part is "interface counters", "snmp", "softnet" or "cpu". Name is the interface, or the protocol as in
	// the names of SNMP: "Tcp". Empty: all of the part.
	Part string `json:"part" is:"words"`
	Name string `json:"name,omitempty" is:"words"`
	// Day, From and To are as they were printed: "11/29/2026", "12:10:01 AM".
	Day  string `json:"day,omitempty" is:"words"`
	From string `json:"from" is:"words"`
	To   string `json:"to" is:"words"`
	// Among is the number of intervals.
	Among int `json:"among"`
}

// Since makes the counters of an earlier snapshot of the same host, taken the given seconds before, the
// first reading of this one. What only one of the two has did not grow, as far as is known. If the host
// was booted in between, or seconds is not positive, it does nothing and returns false.
func (s *HostSnapshot) Since(earlier HostSnapshot, seconds float64) bool {
	up, was := s.State.UptimeS, earlier.State.UptimeS
	if !(seconds > 0) || up > 0 && was > 0 && up < was {
		return false
	}
	s.Intervals = slices.DeleteFunc(slices.Clone(s.Intervals), func(i Interval) bool { return i.Part != "cpu" })
	begin, end := earlier.Reading.End, &s.Reading.End
	s.OverS = seconds
	begin.BeganNs, end.BeganNs = 1, 1+int64(seconds*1e9)
	begin.EndedNs, end.EndedNs = begin.BeganNs, end.BeganNs
	begin.Interfaces, end.Interfaces = slices.Clone(begin.Interfaces), slices.Clone(end.Interfaces)
	begin.Interfaces = both(begin.Interfaces, end.Interfaces, func(c InterfaceCounters) string { return c.Interface })
	for i := range begin.Interfaces {
		begin.Interfaces[i].AtNs = begin.BeganNs
	}
	for i := range end.Interfaces {
		end.Interfaces[i].AtNs = end.BeganNs
	}
	begin.Qdiscs = both(slices.Clone(begin.Qdiscs), end.Qdiscs, QdiscCounters.Key)
	begin.Softnet = both(slices.Clone(begin.Softnet), end.Softnet, func(c SoftnetCounters) int { return c.CPU })
	begin.CPU = both(slices.Clone(begin.CPU), end.CPU, func(c CPUTimes) int { return c.CPU })
	begin.Events = both(slices.Clone(begin.Events), end.Events, func(c CPUEvents) int { return c.CPU })
	begin.SNMP, begin.Softirqs = began(begin.SNMP, end.SNMP), began(begin.Softirqs, end.Softirqs)
	s.Reading.Begin = begin
	for i, n := range s.State.NICs {
		at := slices.IndexFunc(earlier.State.NICs, func(b NIC) bool {
			return b.Interface == n.Interface && b.CounterDriver() == n.CounterDriver()
		})
		if at >= 0 && len(n.Counters)+len(earlier.State.NICs[at].Counters) > 0 {
			before := earlier.State.NICs[at]
			before.Driver = n.Driver
			s.State.NICs[i] = n.Since(before, seconds)
		}
	}
	had := map[[2]string]Connection{}
	for _, c := range earlier.State.Notable {
		had[[2]string{c.Local, c.Remote}] = c
	}
	for i := range s.State.Notable {
		c := &s.State.Notable[i]
		now, known := c.Read()
		if before, was := had[[2]string{c.Local, c.Remote}].Read(); known && was && before <= now {
			c.ReadBps = new(8 * float64(now-before) / seconds)
		}
	}
	s.State.Nftables.Since(earlier.State.Nftables, seconds)
	return true
}

// Read returns how many bytes the connection's program has read since it was established. Known is false if
// that was not read.
func (c Connection) Read() (bytes uint64, known bool) {
	if c.Info == nil || c.Info.Lacking("bytes_received") != "" {
		return 0, false
	}
	return c.Info.BytesReceived - min(c.Info.BytesReceived, uint64(c.ReceiveQueue)), true
}

// both returns the rows of an earlier reading that the later one has too, and those that only the later
// one has. A counter that became smaller was reset, and then its row begins with the later reading.
func both[T any, K comparable](earlier, later []T, key func(T) K) (list []T) {
	had := map[K]T{}
	for _, x := range earlier {
		had[key(x)] = x
	}
	for _, x := range later {
		if b, is := had[key(x)]; is {
			list = append(list, b)
		} else {
			list = append(list, x)
		}
	}
	return list
}

// began returns the counters of an earlier reading, as far as the later one has them. What the earlier
// reading does not have, or has with a larger value, did not grow.
func began[V int64 | uint64](earlier, later map[string]V) map[string]V {
	list := make(map[string]V, len(later))
	for name, now := range later {
		if list[name] = now; len(earlier) > 0 {
			if before, has := earlier[name]; has {
				list[name] = min(before, now)
			}
		}
	}
	return list
}
