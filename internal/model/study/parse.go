package study

import (
	"cmp"
	"net/netip"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Parse reads a study file, checks it and fills in its defaults. Each element of set replaces a
// value of the file: "workload.duration=5s". The error, of type source.Problems, lists every
// mistake with its line and column.
func Parse(file string, data []byte, set ...string) (*Study, error) {
	doc, problems := source.Parse(file, data, set...)
	if doc == nil {
		return nil, problems.Err()
	}
	s := &Study{File: string(data)}
	expanded := len(problems) == 0
	if expanded {
		s.PairsOfHosts = expandPairs(doc, doc.Reporter(&problems))
		if len(problems) > 0 {
			return nil, problems.Err()
		}
	}
	decoded := doc.Decode(s)
	problems = append(problems, decoded...)
	if !expanded {
		return nil, problems.Err() // lists lack items
	}
	report := doc.Reporter(&problems)
	checkTopology(doc, &s.Topology, report)
	whole := len(problems) == 0
	if whole {
		s.Topology.Complete()
	}
	c := checker{Study: s, report: report, has: doc.Has, doc: doc}
	c.check()
	if len(decoded) > 0 {
		return nil, problems.Err()
	}
	s.fillIn()
	if p, err := NewPlan(s, AllParts); err == nil {
		c.paths(p, whole)
		c.protocols(p)
		c.tools(p)
		c.services(p)
	}
	if len(problems) > 0 {
		return nil, problems.Err()
	}
	c.plan()
	if len(problems) > 0 {
		return nil, problems.Err()
	}
	return s, nil
}

// Defaults of a study.
const (
	defaultDuration          = unit.Duration(2 * time.Second)
	defaultWarmup            = unit.Duration(500 * time.Millisecond)
	defaultInterval          = unit.Duration(100 * time.Millisecond)
	defaultConnectTimeout    = unit.Duration(3 * time.Second)
	defaultMargin            = unit.Ratio(0.02)
	defaultDirection         = flow.Write
	defaultCongestionControl = "cubic"
)

// fillIn sets the defaults for values that the file does not contain.
func (s *Study) fillIn() {
	s.Unit = cmp.Or(s.Unit, "bit/s")
	w := &s.Workload
	w.Duration = cmp.Or(w.Duration, defaultDuration)
	w.Warmup = cmp.Or(w.Warmup, defaultWarmup)
	w.Interval = cmp.Or(w.Interval, defaultInterval)
	w.ConnectTimeout = cmp.Or(w.ConnectTimeout, defaultConnectTimeout)
	w.Direction = cmp.Or(w.Direction, defaultDirection)
	w.Streams = cmp.Or(w.Streams, 1)
	if l := w.LossFree; l != nil {
		l.Resolution, l.Repeats = cmp.Or(l.Resolution, DefaultResolution), cmp.Or(l.Repeats, DefaultRepeats)
	}
	w.CongestionControl = cmp.Or(w.CongestionControl, defaultCongestionControl)
	s.Design.Margin = cmp.Or(s.Design.Margin, defaultMargin)
	setDestinations(w.Flows, &s.Topology)
	for i := range s.Factors {
		f := &s.Factors[i]
		f.Role = cmp.Or(f.Role, roleCompare)
		if f.Role == roleCompare {
			f.Baseline = f.baseline()
		}
		for _, l := range f.Levels {
			if l.Workload != nil {
				setDestinations(l.Workload.Flows, &s.Topology)
			}
		}
	}
}

// setDestinations sets the address of each flow without a destination if the topology has a
// suitable one. A treatment that adds addresses selects from those as well.
func setDestinations(flows []Flow, t *topology.Topology) {
	for i := range flows {
		if f := &flows[i]; !f.Destination.IsValid() {
			f.Destination = destination(t, *f)
		}
	}
}

// destination returns the first address of the flow's host To in the family of its source,
// preferably one in a network of host From. The hosts may be missing, because the study has not
// been checked yet.
func destination(t *topology.Topology, f Flow) netip.Addr {
	from, fromKnown := t.Host(f.From)
	to, toKnown := t.Host(f.To)
	var first netip.Addr
	if !fromKnown || !toKnown {
		return first
	}
	for _, a := range to.Addresses() {
		if f.Source.IsValid() && f.Source.Is4() != a.First.Is4() || a.First.IsLinkLocalUnicast() && a.First.Is6() {
			continue
		}
		if onNetwork(from, f.Source, a.Prefix()) {
			return a.First
		}
		first = cmp.Or(first, a.First)
	}
	return first
}

// onNetwork reports whether network contains source or, if that is invalid, an address of the host.
func onNetwork(h *topology.Host, source netip.Addr, network netip.Prefix) bool {
	if source.IsValid() {
		return network.Contains(source)
	}
	for _, a := range h.Addresses() {
		if network.Contains(a.First) {
			return true
		}
	}
	return false
}

// ParseTopology reads the topology of a study file, or of a file that contains only a topology.
func ParseTopology(file string, data []byte) (*topology.Topology, error) {
	doc, problems := source.Parse(file, data)
	if doc == nil {
		return nil, problems.Err()
	}
	if doc.Has("workload") {
		s, err := Parse(file, data)
		if err != nil {
			return nil, err
		}
		return &s.Topology, nil
	}
	var alone struct {
		Name     string            `yaml:"study" doc:"a name for it"`
		Topology topology.Topology `yaml:"topology,required" doc:"hosts, switches and links"`
	}
	expanded := len(problems) == 0
	problems = append(problems, doc.Decode(&alone)...)
	if expanded {
		checkTopology(doc, &alone.Topology, doc.Reporter(&problems))
	}
	if len(problems) > 0 {
		return nil, problems.Err()
	}
	alone.Topology.Complete()
	return &alone.Topology, nil
}

// checkTopology reports mistakes in a topology. If it could not be decoded completely, only names
// are checked that nothing else in the file could make valid.
func checkTopology(doc *source.Document, t *topology.Topology, report source.Report) {
	switch {
	case doc.Sound("topology"):
		t.Validate(report)
	case hasNodes(doc):
		t.CheckNodes(report)
	}
}

// hasNodes reports whether the names of all hosts and switches were decoded, regardless of other
// mistakes in them.
func hasNodes(doc *source.Document) bool {
	return doc.Has("topology.hosts") && doc.Itself("topology") && doc.Itself("topology.hosts") &&
		doc.Itself("topology.switches")
}
