package path

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/polled"
)

// What the ports of switches counted that are read by SNMP.
var SwitchRules = []rule.Rule{
	{ID: "switch-discards",
		About: "A switch's port discarded frames in the window (ifInDiscards, ifOutDiscards). Needs a measurement and SNMP.",
		Find:  discards, SameCause: rule.SameSubject, Load: true, Explains: []string{"lost-at-hop"}},
	{ID: "switch-errors",
		About: "A switch's port received damaged frames in the window, or could not send some (ifInErrors, ifOutErrors). Needs a measurement and SNMP.",
		Find:  portErrors, SameCause: rule.SameSubject},
	{ID: "lost-at-hop",
		About: "What one end of a hop sent the other did not receive: from a host to a switch's port, through the switch, from its port to a host; and flows lost as much. Needs a measurement and SNMP.",
		Find:  lostAtHop, SameCause: rule.SameSubject, Load: true},
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

	ifReference = "RFC 2863 (ifInDiscards, ifOutDiscards, ifInErrors, ifOutErrors)"
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

// portText names a port as the study and the switch do.
func portText(s record.SwitchReading, p record.SwitchPort) string {
	if p.Name == "" || p.Name == p.Port {
		return fmt.Sprintf("port %s of %s", p.Port, s.Switch)
	}
	return fmt.Sprintf("port %s (%s) of %s", p.Port, p.Name, s.Switch)
}

// ofFrames is a number of frames with their share of those that were to pass; false: they are
// too few for a finding.
func ofFrames(n, passed uint64, of string) (text string, enough bool) {
	share := float64(n) / max(1, float64(n)+float64(passed))
	return fmt.Sprintf("%d frames, %s of %s", n, unit.FormatPercent(share), of), n >= leastFrames &&
		share >= leastDiscarded
}

func discards(f facts.Trial) []record.Finding {
	return eachPort(f, func(s record.SwitchReading, p record.SwitchPort) (list []record.Finding) {
		c := p.Counters
		for _, d := range []struct {
			discarded, passed uint64
			object, what, fix string
		}{
			{c.OutDiscards, c.Out(), "ifOutDiscards", "that it was to send to " + p.Peer, "the link to " +
				p.Peer + " was too slow for what came, or its queue too short: more rate there, senders that pace or that react to marks (ECN), or a longer queue on the switch"},
			{c.InDiscards, c.In(), "ifInDiscards", "that it received from " + p.Peer,
				"the switch had no buffer for them, or a filter or VLAN of the port does not let them in: look at the port's configuration"},
		} {
			text, enough := ofFrames(d.discarded, d.passed, "those")
			if !enough {
				continue
			}
			list = append(list, record.Finding{
				Host: s.Switch, Confidence: record.Certain, Subject: s.End(p).String() + " " + d.object,
				Reference: ifReference,
				Summary:   fmt.Sprintf("%s discarded %s %s", portText(s, p), text, d.what),
				Evidence: append([]string{fmt.Sprintf("%s grew by %d in %s, while %d frames passed", d.object,
					d.discarded, unit.FormatSeconds(p.Seconds()), d.passed)},
					through(f, s)...),
				Fix: []string{d.fix},
			})
		}
		return list
	})
}

func portErrors(f facts.Trial) []record.Finding {
	return eachPort(f, func(s record.SwitchReading, p record.SwitchPort) (list []record.Finding) {
		c := p.Counters
		for _, d := range []struct {
			wrong, passed     uint64
			object, what, fix string
		}{
			{c.InErrors, c.In(), "ifInErrors", "received %s from " + p.Peer + " damaged",
				"change the cable or transceiver between " + p.Peer + " and the port, and compare duplex of both ends"},
			{c.OutErrors, c.Out(), "ifOutErrors", "could not send %s to " + p.Peer,
				"compare speed and duplex of both ends, and look at the switch's log of the port"},
		} {
			text, enough := ofFrames(d.wrong, d.passed, "all")
			if !enough {
				continue
			}
			list = append(list, record.Finding{
				Host: s.Switch, Confidence: record.Certain, Subject: s.End(p).String() + " " + d.object,
				Reference: ifReference,
				Summary:   portText(s, p) + " " + fmt.Sprintf(d.what, text),
				Evidence: []string{fmt.Sprintf("%s grew by %d in %s, while %d frames passed", d.object, d.wrong,
					unit.FormatSeconds(p.Seconds()), d.passed)},
				Fix: []string{d.fix},
			})
		}
		return list
	})
}

// switchHop is what one end of a part of the path sent and the next received.
type switchHop struct {
	where          string
	first, then    string  // "nas.eth0 sent", "port gi7 of sg300 received"
	sent, received float64 // bytes
	allowed        float64 // by which they may differ
	discarded      bool    // the switch says where, which is another finding
}

func (h switchHop) lost() float64 { return h.sent - h.received }

func (h switchHop) text() string {
	return fmt.Sprintf("%s %s, %s %s: %s less (allowed %s)", h.first, unit.FormatBytes(h.sent), h.then,
		unit.FormatBytes(h.received),
		unit.FormatPercent(h.lost()/h.sent), unit.FormatPercent(h.allowed/h.sent))
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
			if h.discarded || h.sent <= 0 || h.lost() <= h.allowed || known < h.lost()/2 {
				continue
			}
			evidence := []string{h.text(), fmt.Sprintf("flows lost or sent again %s in the window",
				unit.FormatBytes(known))}
			for _, o := range hops {
				if o.where != h.where && o.sent > h.sent/2 {
					evidence = append(evidence, o.text())
				}
			}
			findings = append(findings, record.Finding{
				Host: s.Switch, Confidence: record.Likely, Subject: h.where, Reference: ifReference,
				Summary:  fmt.Sprintf("%s of the bytes were lost %s", unit.FormatPercent(h.lost()/h.sent), h.where),
				Evidence: evidence,
				Fix: []string{
					"look at that hop: its queue and filters if it is in the switch, the cable and both ends' counters if it is a link"},
			})
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
		port := portText(s, side.Port)
		h := switchHop{where: fmt.Sprintf("between %s and %s", side.Port.Peer, port), first: side.Port.Peer + " sent",
			then: port + " received", sent: side.HostBytes, received: counted}
		if !side.Receives {
			h.first, h.then, h.sent, h.received = port+" sent", side.Port.Peer+" received", counted, side.HostBytes
		}
		h.allowed = side.DoubtBytes + hopTolerance*h.sent
		if !sure || side.Unsure {
			h.allowed += polled.FCSBytes * side.Frames
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
		h := switchHop{allowed: queueBytes}
		complete := true
		var in, out []string
		for _, name := range w.in {
			p, is := ports[name]
			complete = complete && is
			h.sent += float64(p.Counters.InOctets)
			in = append(in, name)
		}
		for _, name := range w.out {
			p, is := ports[name]
			complete = complete && is
			h.received += float64(p.Counters.OutOctets)
			_, discarded := ofFrames(p.Counters.OutDiscards, p.Counters.Out(), "")
			h.discarded = h.discarded || discarded
			out = append(out, name)
		}
		if !complete {
			continue
		}
		slices.Sort(in)
		slices.Sort(out)
		h.allowed += hopTolerance * h.sent
		h.first, h.then = portsText(in)+" of "+s.Switch+" received", portsText(out)+" sent"
		h.where = fmt.Sprintf("in %s before %s", s.Switch, portsText(out))
		hops = append(hops, h)
	}
	return hops
}

func portsText(names []string) string {
	if len(names) == 1 {
		return "port " + names[0]
	}
	return "ports " + facts.Join(names)
}

// through is what the switch received and sent on the paths of flows.
func through(f facts.Trial, s record.SwitchReading) (lines []string) {
	for _, h := range within(f, s) {
		if h.lost() > 0 {
			lines = append(lines, h.text())
		}
	}
	return lines
}
