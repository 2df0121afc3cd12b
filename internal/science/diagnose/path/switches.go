package path

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/polled"
)

// SwitchRules are about the counters of switch ports, read by SNMP.
var SwitchRules = []rule.Rule{
	{ID: cause.SwitchDiscards.Code, Find: discards, Load: true, Explains: cause.Codes(cause.LostAtHop)},
	{ID: cause.SwitchErrors.Code, Find: portErrors},
	{ID: cause.LostAtHop.Code, Find: lostAtHop, Load: true},
}

const (
	// A counter of a port is worth a finding if it grew by at least leastFrames, and by the share
	// leastDiscarded of the port's frames. Some switches count frames of their own protocols that they
	// ignore.
	leastDiscarded, leastFrames = 1e-5, 10
	// hopTolerance is the share by which the counts at the ends of a hop may differ, beyond what their
	// times explain.
	hopTolerance = 0.002
	// queueBytes may wait in a switch at one end of the window and not at the other.
	queueBytes = 64 << 10
)

// eachPort calls find for each port that was read.
func eachPort(f facts.Trial, find func(s record.SwitchReading, p record.SwitchPort) []record.Finding) (
	findings []record.Finding) {
	for _, s := range f.Trial.Switches {
		for _, p := range s.Ports {
			if s.Missing == "" && p.Missing == "" {
				findings = append(findings, find(s, p)...)
			}
		}
	}
	return findings
}

// enough reports whether n frames are worth a finding where passed frames got through.
func enough(n, passed uint64) bool {
	return n >= leastFrames && float64(n) >= leastDiscarded*(float64(n)+float64(passed))
}

// named returns the switch's own name of a port, or "" if it is the name that the study uses.
func named(p record.SwitchPort) string {
	if p.Name == p.Port {
		return ""
	}
	return p.Name
}

// counted returns a finding about a counter of a port; none if it grew by too little.
func counted(c cause.Of[cause.PortObject], s record.SwitchReading, p record.SwitchPort, object string,
	grew, passed uint64) []record.Finding {
	if !enough(grew, passed) {
		return nil
	}
	finding := record.Finding{ID: c.Code, Host: s.Switch, Confidence: record.Certain,
		About: record.Subject{Object: s.End(p).String() + " " + object},
		Args:  cause.PortObject{Switch: s.Switch, Port: p.Port, Name: named(p), Peer: p.Peer, Object: object}}
	finding.With(s.Switch, fact.PortCounter{Object: object, Grew: grew, OverS: p.Seconds(), Passed: passed})
	return []record.Finding{finding}
}

func discards(f facts.Trial) []record.Finding {
	return eachPort(f, func(s record.SwitchReading, p record.SwitchPort) []record.Finding {
		c := p.Counters
		list := append(counted(cause.SwitchDiscards, s, p, "ifOutDiscards", c.OutDiscards, c.Out()),
			counted(cause.SwitchDiscards, s, p, "ifInDiscards", c.InDiscards, c.In())...)
		for i := range list {
			for _, h := range within(f, s) {
				if h.Lost() > 0 {
					list[i].With(s.Switch, h.SwitchHop)
				}
			}
		}
		return list
	})
}

func portErrors(f facts.Trial) []record.Finding {
	return eachPort(f, func(s record.SwitchReading, p record.SwitchPort) []record.Finding {
		c := p.Counters
		return append(counted(cause.SwitchErrors, s, p, "ifInErrors", c.InErrors, c.In()),
			counted(cause.SwitchErrors, s, p, "ifOutErrors", c.OutErrors, c.Out())...)
	})
}

// switchHop is a part of a path: what one end sent and the other received.
type switchHop struct {
	fact.SwitchHop
	where     cause.SwitchHop
	discarded bool // the switch counted discards there, which are another finding
}

// name returns the name of the part of the path: its two ends, or the ports by which frames leave
// the switch.
func (h switchHop) name() string {
	ports := h.where.Switch + "." + strings.Join(h.where.Ports, "+")
	if h.where.Peer == "" {
		return ports
	}
	return h.where.Peer + "-" + ports
}

// lostAtHop finds the parts of paths at which bytes are missing that flows have lost. Frames that
// left by a port that is not read are missing as well, but no flow has lost them.
func lostAtHop(f facts.Trial) (findings []record.Finding) {
	known := lostByFlows(f)
	for _, s := range f.Trial.Switches {
		if s.Missing != "" {
			continue
		}
		hops := append(cables(f, s), within(f, s)...)
		for _, h := range hops {
			if h.discarded || h.First.Bytes <= 0 || h.Lost() <= h.Allowed || known < h.Lost()/2 {
				continue
			}
			finding := record.Finding{ID: cause.LostAtHop.Code, Host: s.Switch, Confidence: record.Likely,
				About: record.Subject{Object: h.name()}, Args: h.where}
			finding.With(s.Switch, h.SwitchHop, fact.LostByFlows{Bytes: known})
			for _, o := range hops {
				if o.name() != h.name() && o.First.Bytes > h.First.Bytes/2 {
					finding.With(s.Switch, o.SwitchHop)
				}
			}
			findings = append(findings, finding)
		}
	}
	return findings
}

// lostByFlows returns how many bytes, with headers, the trial's flows lost or sent again.
func lostByFlows(f facts.Trial) (bytes float64) {
	for _, fl := range f.Trial.Flows {
		bytes += float64(fl.ResentBytes())
		if d := fl.Datagrams; d != nil {
			bytes += float64(d.Lost) * float64(d.Bytes+udpHeaders)
		}
	}
	return bytes
}

// udpHeaders is the length of the Ethernet, IPv4 and UDP headers.
const udpHeaders = 42

// cables returns the parts of paths between hosts and the switch.
func cables(f facts.Trial, s record.SwitchReading) (hops []switchHop) {
	sides := polled.Sides(f.Trial, s, f.Topology)
	fcs, sure := polled.FCS(sides)
	for _, side := range sides {
		counted := side.HostBytes + side.More(fcs && sure)
		ports := []string{side.Port.Port}
		h := switchHop{where: cause.SwitchHop{Switch: s.Switch, Ports: ports, Name: named(side.Port),
			Peer: side.Port.Peer}}
		h.First = fact.SwitchHopEnd{Interface: side.Port.Peer, Bytes: side.HostBytes}
		h.Then = fact.SwitchHopEnd{Switch: s.Switch, Ports: ports, Name: h.where.Name, Bytes: counted}
		if !side.Receives {
			h.First, h.Then = h.Then, h.First
		}
		h.Then.Received = true
		h.Allowed = side.DoubtBytes + hopTolerance*h.First.Bytes
		if !sure || side.Unsure {
			h.Allowed += polled.FCSBytes * side.Frames
		}
		hops = append(hops, h)
	}
	return hops
}

// within returns the parts of paths inside the switch: ports by which flows enter and ports by
// which they leave. Ports that have flows in common are one part.
func within(f facts.Trial, s record.SwitchReading) (hops []switchHop) {
	ports := map[string]record.SwitchPort{}
	for _, p := range s.Ports {
		if p.Missing == "" {
			ports[p.Port] = p
		}
	}
	type path struct{ in, out []string }
	var paths []path
	join := func(in, out string) {
		w := path{[]string{in}, []string{out}}
		paths = slices.DeleteFunc(paths, func(o path) bool {
			if !slices.Contains(o.in, in) && !slices.Contains(o.out, out) {
				return false
			}
			w.in, w.out = facts.Union(w.in, o.in...), facts.Union(w.out, o.out...)
			return true
		})
		paths = append(paths, w)
	}
	for _, fl := range f.Trial.Flows {
		if fl.Paths > 1 || !fl.Connected {
			continue
		}
		var at []string
		for _, text := range fl.Path {
			var end topology.End
			if end.UnmarshalText([]byte(text)) == nil && end.Node == s.Switch {
				at = append(at, end.Interface)
			}
		}
		if len(at) == 2 {
			join(at[0], at[1])
			join(at[1], at[0]) // what answers
		}
	}
	for _, w := range paths {
		slices.Sort(w.in)
		slices.Sort(w.out)
		h := switchHop{where: cause.SwitchHop{Switch: s.Switch, Ports: w.out}}
		h.First = fact.SwitchHopEnd{Switch: s.Switch, Ports: w.in, Received: true}
		h.Then = fact.SwitchHopEnd{Ports: w.out}
		complete := true
		var read []record.SwitchPort
		for _, name := range w.in {
			p, is := ports[name]
			complete, read = complete && is, append(read, p)
			h.First.Bytes += float64(p.Counters.InOctets)
		}
		for _, name := range w.out {
			p, is := ports[name]
			complete, read = complete && is, append(read, p)
			h.Then.Bytes += float64(p.Counters.OutOctets)
			h.discarded = h.discarded || enough(p.Counters.OutDiscards, p.Counters.Out())
		}
		if complete {
			h.Allowed = queueBytes + hopTolerance*h.First.Bytes + readApart(read)*max(h.First.Bytes, h.Then.Bytes)
			hops = append(hops, h)
		}
	}
	return hops
}

// readApart returns the share by which counts of ports may differ because the ports were read at
// different instants, and their times are not exact.
func readApart(ports []record.SwitchPort) float64 {
	begun := func(p record.SwitchPort) int64 { return p.FromNs }
	ended := func(p record.SwitchPort) int64 { return p.ToNs }
	apart := float64(spread(ports, begun)+spread(ports, ended)) / 1e9
	least := math.Inf(1)
	for _, p := range ports {
		apart, least = apart+p.DoubtS, min(least, p.Seconds())
	}
	if least <= 0 {
		return 0
	}
	return apart / least
}

// spread returns the difference between the largest and the least of the values of ports.
func spread(ports []record.SwitchPort, of func(record.SwitchPort) int64) int64 {
	least, most := of(ports[0]), of(ports[0])
	for _, p := range ports {
		least, most = min(least, of(p)), max(most, of(p))
	}
	return most - least
}
