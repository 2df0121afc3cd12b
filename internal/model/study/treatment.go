package study

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/setting"
	"linerate/internal/model/tool"
	"linerate/internal/model/topology"
)

// Treatment is one combination of levels, with everything that follows from it.
type Treatment struct {
	// Name joins the levels' names, those of compared factors first. A factor
	// of one level is left out.
	Name string
	// Baseline says that every compared factor is at its baseline level.
	Baseline bool
	// Levels are the levels' names by factor.
	Levels map[string]string
	// Settings are those of all levels, in the order of the factors.
	Settings []setting.Setting
	// Workload is the study's with the levels' changes.
	Workload Workload
	// Flows are the workload's flows one by one: a connection that carries data
	// in one direction each.
	Flows []PlannedFlow
	// Attacks are the workload's, with their addresses and ports.
	Attacks []PlannedAttack
	// Unreachable allows flows that cannot connect.
	Unreachable bool
}

// PlannedFlow is one connection. The opener connects to the acceptor; one of the
// two sends.
type PlannedFlow struct {
	ID       string
	Opener   string
	Acceptor string
	// Source is invalid when the kernel is to choose.
	Source      netip.Addr
	Destination netip.Addr
	OpenerSends bool
	// Process identifies the process of a tool: the streams of a workload's flow
	// in one direction are one's. Empty: linerate makes the flow.
	Process string
	flow.Spec
}

// Sender is the host that data comes from, and Receiver where it goes to.
func (f PlannedFlow) Sender() string {
	if f.OpenerSends {
		return f.Opener
	}
	return f.Acceptor
}

// Receiver is the host that data goes to.
func (f PlannedFlow) Receiver() string {
	if f.OpenerSends {
		return f.Acceptor
	}
	return f.Opener
}

// treatment puts a combination of levels together, of at most room flows.
func (s *Study) treatment(levels []Level, room int) (Treatment, error) {
	t := Treatment{Name: s.treatmentName(levels), Baseline: true, Levels: map[string]string{}, Workload: s.Workload}
	// A level's options win over a flow's own: the level is what is varied.
	t.Workload.Flows = make([]Flow, len(s.Workload.Flows))
	for i, f := range s.Workload.Flows {
		f.Spec = s.Workload.Spec.With(f.Spec)
		t.Workload.Flows[i] = f
	}
	for k, l := range levels {
		f := s.Factors[k]
		t.Levels[f.Name] = l.Name
		t.Settings = append(t.Settings, l.Settings...)
		t.Unreachable = t.Unreachable || l.Unreachable
		if f.Role == roleCompare && l.Name != f.Baseline {
			t.Baseline = false
		}
		if l.Workload != nil {
			t.Workload.change(*l.Workload)
		}
	}
	// Only now, so that they also reach the flows that a later factor replaced.
	for _, l := range levels {
		if l.Workload != nil {
			for i := range t.Workload.Flows {
				t.Workload.Flows[i].Spec = t.Workload.Flows[i].With(l.Workload.Spec)
			}
		}
	}
	for i := range t.Workload.Flows {
		t.Workload.Flows[i].Spec = t.Workload.Flows[i].Fitted()
	}
	if slices.ContainsFunc(t.Workload.Flows, func(f Flow) bool { return !f.Destination.IsValid() }) {
		setDestinations(t.Workload.Flows, s.Topology.With(t.Settings))
	}
	if err := t.eventsInTime(); err != nil {
		return t, err
	}
	n := 0 // processes of tools
	if s.Workload.Probe {
		room--
	}
	for _, f := range t.Workload.Flows {
		if room -= f.Streams * max(f.Copies, 1); room < 0 {
			return t, fmt.Errorf("the treatments have more than %d flows together", maxFlows)
		}
		all := t.allDestinations(&s.Topology, f)
		for i := range max(f.Copies, 1) {
			if n++; len(all) > 0 {
				f.Destination = all[i%len(all)]
			}
			var processes [2]string // of the flow's tool, by who sends
			connections := f.Streams
			if made, foreign := tool.Find(f.Tool); foreign {
				if made.All {
					connections = 1 // as a flow: they are counted together
				}
				processes = [2]string{fmt.Sprintf("p%dw", n), fmt.Sprintf("p%dr", n)}
			}
			for range connections {
				if f.Direction != flow.Read {
					t.add(f, true, processes[0])
				}
				if f.Direction != flow.Write {
					t.add(f, false, processes[1])
				}
			}
		}
	}
	if s.Workload.Probe && len(t.Flows) > 0 {
		t.Flows = append(t.Flows, s.probe(t.Flows[0], t.Workload.Duration))
	}
	if len(t.Workload.Attacks) > 0 {
		t.Attacks, _, _, _ = t.plannedAttacks(s.Topology.With(t.Settings)) // checked by planAttacks
	}
	return t, nil
}

// allDestinations are the addresses that a flow's copies go to in turn: those of its
// host that are on one network with the first. None: they all go to that one.
func (t *Treatment) allDestinations(base *topology.Topology, f Flow) []netip.Addr {
	if f.Destinations != flow.AllDestinations || !f.Destination.IsValid() {
		return nil
	}
	h, known := base.With(t.Settings).Host(f.To)
	if !known {
		return nil
	}
	var list []netip.Addr
	var network netip.Prefix
	for _, a := range h.Addresses() {
		if a.First == f.Destination {
			network = a.Prefix()
		}
	}
	for _, a := range h.Addresses() {
		for _, prefix := range a.Prefixes() {
			if network.Contains(prefix.Addr()) {
				list = append(list, prefix.Addr())
			}
		}
	}
	return list
}

func (t *Treatment) add(f Flow, openerSends bool, process string) {
	t.Flows = append(t.Flows, PlannedFlow{
		ID:     fmt.Sprintf("f%d", len(t.Flows)+1),
		Opener: f.From, Acceptor: f.To, Source: f.Source, Destination: f.Destination,
		OpenerSends: openerSends, Process: process, Spec: f.Spec,
	})
}

// change applies a level's workload values, except for its options to the flows.
func (w *Workload) change(over Override) {
	if over.Duration != 0 {
		w.Duration = over.Duration
	}
	if over.Warmup != 0 {
		w.Warmup = over.Warmup
	}
	if over.AgeNeighbours != nil {
		w.AgeNeighbours = over.AgeNeighbours
	}
	if over.Events != nil {
		w.Events = over.Events
	}
	if over.Attacks != nil {
		w.Attacks = over.Attacks
	}
	w.Spec = w.Spec.With(over.Spec)
	if over.Flows != nil {
		w.Flows = make([]Flow, len(over.Flows))
		for i, f := range over.Flows {
			f.Spec = w.Spec.With(f.Spec)
			w.Flows[i] = f
		}
	}
}

// treatmentName names a combination of levels. Where two factors share a level's
// name ("on"), the factor is named with it ("tso on").
func (s *Study) treatmentName(levels []Level) string {
	factors := map[string]int{}
	for _, f := range s.Factors {
		for _, l := range f.Levels {
			factors[l.Name]++
		}
	}
	var compared, conditions, single []string
	for k, l := range levels {
		f, name := s.Factors[k], l.Name
		if factors[name] > 1 {
			name = f.Name + " " + name
		}
		switch {
		case s.quiet(f, l.Name):
		case len(f.Levels) == 1:
			single = append(single, name)
		case f.Role == roleCondition:
			conditions = append(conditions, name)
		default:
			compared = append(compared, name)
		}
	}
	switch names := append(compared, conditions...); {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case len(single) > 0:
		return strings.Join(single, ", ")
	}
	return s.Name
}
