package study

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/setting"
	"linerate/internal/model/tool"
	"linerate/internal/model/topology"
)

// Treatment is a combination of levels, one of each factor, with the resulting settings, workload and
// flows.
type Treatment struct {
	// Name joins the names of the levels, those of compared factors first. Factors with a single
	// level are left out.
	Name string
	// Baseline reports whether every compared factor is at its baseline level.
	Baseline bool
	// Levels has the name of the level of each factor.
	Levels map[string]string
	// Settings are those of all levels in the order of the factors.
	Settings []setting.Setting
	// Workload is the study's workload with the changes of the levels.
	Workload Workload
	// Flows lists the connections of the workload. Each carries data in one direction.
	Flows []PlannedFlow
	// Attacks are those of the workload with their addresses and ports.
	Attacks []PlannedAttack
	// Unreachable allows flows that cannot connect.
	Unreachable bool
}

// PlannedFlow is one connection. The opener connects to the acceptor, and one of the two sends.
type PlannedFlow struct {
	ID       string
	Opener   string
	Acceptor string
	// Source is invalid if the kernel is to select it.
	Source      netip.Addr
	Destination netip.Addr
	OpenerSends bool
	// Process identifies the process of a tool that makes the flow: one for all streams of a
	// workload's flow in one direction. Empty: linerate makes the flow.
	Process string
	flow.Spec
}

// Sender returns the host that sends the data.
func (f PlannedFlow) Sender() string {
	if f.OpenerSends {
		return f.Opener
	}
	return f.Acceptor
}

// Receiver returns the host that receives the data.
func (f PlannedFlow) Receiver() string {
	if f.OpenerSends {
		return f.Acceptor
	}
	return f.Opener
}

// treatment combines levels. It fails if the treatment has more than room flows.
func (s *Study) treatment(levels []Level, room int) (Treatment, error) {
	t := Treatment{Name: s.treatmentName(levels), Baseline: true, Levels: map[string]string{}, Workload: s.Workload}
	// Options of a level override those of a flow, because the level is what is varied.
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
	// After the loop, so that the options also apply to flows that a later factor has replaced.
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
	n := 0 // number of processes of tools
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
			var processes [2]string // of the flow's tool, by the end that sends
			connections := f.Streams
			if made, foreign := tool.Find(f.Tool); foreign {
				if made.All {
					connections = 1 // as one flow: they are counted together
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

// allDestinations returns the addresses that copies of a flow use in turn: the addresses of the
// destination host in the network of the first one. Empty: all copies use the same address.
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

// change applies a level's workload values, except options of flows.
func (w *Workload) change(over Override) {
	w.Duration = cmp.Or(over.Duration, w.Duration)
	w.Warmup = cmp.Or(over.Warmup, w.Warmup)
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

// treatmentName returns the name of a combination of levels. If two factors have a level with the
// same name ("on"), the name of the factor precedes it ("tso on").
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
