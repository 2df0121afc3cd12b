package path

import (
	"cmp"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/stats"
)

// PeerRules are about what differs from what it should be like: the rate of a link from its
// declaration, and a host, interface or flow from its peers.
var PeerRules = []rule.Rule{
	{ID: cause.BelowDeclared.Code, Find: belowDeclared, Explains: cause.Codes(cause.OddOneOut)},
	{ID: cause.OddOneOut.Code, Find: oddOneOut},
}

// declaredTolerance is the share by which a shaper may be below the declared rate of its link: it
// counts other headers.
const declaredTolerance = 0.05

// belowDeclared finds shapers that are slower than the declared rates of their links, as one that a
// setting of a host adds. The limit of the path is then that of the shaper.
func belowDeclared(f facts.Trial) (findings []record.Finding) {
	if f.Declared == nil || f.Topology == nil {
		return nil
	}
	for _, l := range f.Declared.Links {
		for _, from := range []topology.End{l.From, l.To} {
			declared := l.Towards(from)
			now, linked := f.Topology.LinkAt(from)
			if !linked || !carries(f, from) {
				continue
			}
			is := now.Towards(from)
			if is.Shaper == "" || is.Rate <= 0 || float64(is.Rate) >= (1-declaredTolerance)*float64(declared.Rate) {
				continue
			}
			finding := record.Finding{ID: cause.BelowDeclared.Code, Host: from.Node, Confidence: record.Certain,
				About: record.Subject{Interface: from.Interface}, Args: cause.None{}}
			finding.With(from.Node, fact.DeclaredRate{Interface: from.Interface, Shaper: is.Shaper,
				Bps: float64(is.Rate), DeclaredBps: float64(declared.Rate)})
			findings = append(findings, finding)
		}
	}
	return findings
}

// carries reports whether a flow of the trial leaves by an interface.
func carries(f facts.Trial, from topology.End) bool {
	return slices.ContainsFunc(f.Trial.Flows, func(fl record.Flow) bool {
		ends := fl.Ends()
		for i := 0; i < len(ends); i += 2 {
			if ends[i] == from {
				return true
			}
		}
		return false
	})
}

// group is what flows must have in common to be peers: the traffic, and the declared rates of the
// links at their ends.
type group struct {
	protocol, process string
	capBps            float64
	out, in           declared
	from, to          topology.End // of flows among themselves, which share a path
}

// declared is what a study says of a direction of a link.
type declared struct {
	rate  unit.BitRate
	delay unit.Duration
}

func declaredOf(over *topology.Topology, end topology.End, out bool) declared {
	l, linked := over.LinkAt(end)
	if !linked {
		return declared{}
	}
	if !out {
		end = l.Other(end)
	}
	is := l.Towards(end)
	return declared{is.Rate, is.Delay}
}

// oddOneOut finds the host, or else the interface or flow, whose goodput stands apart from that of its
// peers. Of a host or interface it is the mean of the flows that it sends or receives; the peers of a
// flow are those between the same two interfaces. Flows whose path is left to chance have no peers.
func oddOneOut(f facts.Trial) (findings []record.Finding) {
	groups := map[group][]record.Flow{}
	for _, fl := range f.Trial.Flows {
		ends := fl.Ends()
		if !fl.Connected || fl.Transactions != nil || fl.Probe || fl.Paths > 1 || len(ends) == 0 || f.Declared == nil {
			continue
		}
		g := group{protocol: flow.Of(fl.Protocol).Name, capBps: fl.CapBps()}
		if fl.Process != "" {
			g.process = "a program"
		}
		g.out, g.in = declaredOf(f.Declared, ends[0], true), declaredOf(f.Declared, ends[len(ends)-1], false)
		groups[g] = append(groups[g], fl)
	}
	shared := map[group][]record.Flow{}
	for g, flows := range groups {
		found := false
		for _, kind := range kinds {
			if list := apart(flows, kind.args, kind.of); list != nil {
				findings, found = append(findings, list...), true
				break
			}
		}
		for _, fl := range flows {
			if ends := fl.Ends(); !found {
				g.from, g.to = ends[0], ends[len(ends)-1]
				shared[g] = append(shared[g], fl)
			}
		}
	}
	for _, flows := range shared {
		findings = append(findings, apart(flows, cause.Odd{Kind: cause.OddFlow}, func(f record.Flow) topology.End {
			return topology.End{Node: f.From, Interface: f.ID}
		})...)
	}
	slices.SortFunc(findings, func(a, b record.Finding) int { return cmp.Compare(a.About.Object, b.About.Object) })
	return findings
}

// kinds are what may stand apart, the widest first.
var kinds = []struct {
	args cause.Odd
	of   func(record.Flow) topology.End
}{
	{cause.Odd{Kind: cause.OddHost, Sends: true}, func(f record.Flow) topology.End {
		return topology.End{Node: f.From}
	}},
	{cause.Odd{Kind: cause.OddHost}, func(f record.Flow) topology.End { return topology.End{Node: f.To} }},
	{cause.Odd{Kind: cause.OddInterface, Sends: true}, func(f record.Flow) topology.End { return f.Ends()[0] }},
	{cause.Odd{Kind: cause.OddInterface}, func(f record.Flow) topology.End { return f.Ends()[len(f.Ends())-1] }},
}

// apart returns findings about the subjects of one kind whose flows stand apart.
func apart(flows []record.Flow, args cause.Odd, of func(record.Flow) topology.End) (findings []record.Finding) {
	var subjects []topology.End
	sum, count := map[topology.End]float64{}, map[topology.End]float64{}
	for _, fl := range flows {
		at := of(fl)
		if count[at] == 0 {
			subjects = append(subjects, at)
		}
		sum[at], count[at] = sum[at]+fl.GoodputBps, count[at]+1
	}
	values := make([]float64, len(subjects))
	for i, at := range subjects {
		values[i] = sum[at] / count[at]
	}
	list, median := stats.AmongPeers(values)
	for _, i := range list {
		at := subjects[i]
		name := at.Node
		switch args.Kind {
		case cause.OddInterface:
			name = at.String()
		case cause.OddFlow:
			name = at.Interface
		}
		finding := record.Finding{ID: cause.OddOneOut.Code, Host: at.Node, Confidence: record.Likely,
			About: record.Subject{Object: name}, Args: args}
		finding.With(at.Node, fact.AmongPeers{Bps: values[i], MedianBps: median, Peers: len(values) - 1,
			Flows: int(count[at])})
		findings = append(findings, finding)
	}
	return findings
}
