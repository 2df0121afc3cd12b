package path

import (
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

// SwitchRules are about what the ports of switches counted that are read by SNMP.
var SwitchRules = []rule.Rule{
	{ID: cause.SwitchDiscards.Code, Find: discards, Load: true, Explains: cause.Codes(cause.LostAtHop)},
	{ID: cause.SwitchErrors.Code, Find: portErrors},
	{ID: cause.LostAtHop.Code, Find: lostAtHop, Load: true},
}

const (
	// leastDiscarded is the least share of a port's frames, and leastFrames their number, that
	// is worth a finding: some switches count frames of their own protocols that they do not
	// take.
	leastDiscarded, leastFrames = 1e-5, 10
	// hopTolerance is what the counts at the two ends of a hop may differ by beyond what
	// their times explain.
	hopTolerance = 0.002
	// queueBytes wait in a switch at one edge of the window and not at the other.
	queueBytes = 64 << 10
)

// eachPort calls find for every port with figures.
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

// enough reports whether a number of frames, and their share of those that were to pass, is worth a
// finding.
func enough(n, passed uint64) bool {
	return n >= leastFrames && float64(n) >= leastDiscarded*(float64(n)+float64(passed))
}

// named is a port's name as the switch has it, if it differs from that of the study.
func named(p record.SwitchPort) string {
	if p.Name == p.Port {
		return ""
	}
	return p.Name
}

// counted is a finding of a counter of a port, where it grew by enough.
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

// switchHop is what one end of a part of the path sent and the next received.
type switchHop struct {
	fact.SwitchHop
	where     cause.SwitchHop
	discarded bool // the switch says where, which is another finding
}

// name is that of the part of the path: of its two ends, or of the ports by which frames leave the switch.
func (h switchHop) name() string {
	ports := h.where.Switch + "." + strings.Join(h.where.Ports, "+")
	if h.where.Peer == "" {
		return ports
	}
	return h.where.Peer + "-" + ports
}

// lostAtHop finds the hops at which bytes are missing that flows have lost. Frames that left
// by a port that is not read are missing as well, but no flow has lost them.
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

// lostByFlows is what the trial's flows lost or sent again, in bytes with headers.
func lostByFlows(f facts.Trial) (bytes float64) {
	for _, fl := range f.Trial.Flows {
		bytes += float64(fl.ResentBytes())
		if d := fl.Datagrams; d != nil {
			bytes += float64(d.Lost) * float64(d.Bytes+udpHeaders)
		}
	}
	return bytes
}

// udpHeaders are Ethernet's, IPv4's and UDP's.
const udpHeaders = 42

// cables are the hops between hosts and the switch.
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

// within are the paths through the switch: ports by which flows enter, with those by which
// they leave. Ports that have flows in common are looked at together.
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
		for _, name := range w.in {
			p, is := ports[name]
			complete = complete && is
			h.First.Bytes += float64(p.Counters.InOctets)
		}
		for _, name := range w.out {
			p, is := ports[name]
			complete = complete && is
			h.Then.Bytes += float64(p.Counters.OutOctets)
			h.discarded = h.discarded || enough(p.Counters.OutDiscards, p.Counters.Out())
		}
		if complete {
			h.Allowed = queueBytes + hopTolerance*h.First.Bytes
			hops = append(hops, h)
		}
	}
	return hops
}
