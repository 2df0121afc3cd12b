package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// linkMaker makes the links of a lab: veth pairs, and what the mechanisms need that apply
// delay, loss and marks.
type linkMaker struct {
	plan  plan
	nodes []*netlink.Namespace
	// usable has the result of each probe: why a mechanism cannot be used; nil: it can.
	usable map[topology.Mechanism]error
	// does is what each mechanism does on any link, and instead why the one that was
	// preferred for some link could not be used.
	does    map[topology.Mechanism]topology.Impairment
	instead []string
	wire    *netlink.Namespace // of netem's interfaces; nil: there are none
	taps    []*os.File         // two for each emulated link
	carried [][2]topology.Impairment
}

// refused says why a mechanism cannot be used; nil: it can.
func (m *linkMaker) refused(by topology.Mechanism) error {
	if force := m.plan.ImpairedBy; force != "" && by != force {
		return fmt.Errorf("not by %s, since the topology has impaired_by: %s", by, force)
	}
	why, probed := m.usable[by]
	if !probed {
		why = probe(by)
		m.usable[by] = why
	}
	return why
}

// probe returns why this kernel or user cannot use a mechanism. The init process has a
// network namespace of its own.
func probe(by topology.Mechanism) error {
	if by == topology.Emulator {
		return netlink.HasTun()
	}
	conn, err := netlink.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	// An open question counts as yes: making the qdisc answers it.
	if errors.Is(conn.HasNetem(), syscall.ENOENT) {
		return errors.New("this kernel has no netem (module sch_netem)")
	}
	return nil
}

// make makes a link with its interfaces, queues and impairments.
func (m *linkMaker) make(i int, l planLink) error {
	parts, by, skipped, err := topology.SplitLink([2]topology.Impairment{l[0].Impairment, l[1].Impairment}, m.refused)
	end := func(e planEnd) netlink.LinkEnd {
		return netlink.LinkEnd{Namespace: m.nodes[e.Node], Interface: e.Interface, MAC: e.MAC, MTU: e.Impairment.MTU}
	}
	a, b := end(l[0]), end(l[1])
	inFlight := [2]topology.Impairment{parts[0].InFlight, parts[1].InFlight}
	switch {
	case err != nil:
		// Not %w: a file or a qdisc was refused, not a namespace (see isNamespaceError).
		err = fmt.Errorf("nothing here can apply the %s of the link from %s.%s to %s.%s: %v",
			properties(l[0].Impairment, l[1].Impairment),
			m.plan.Nodes[l[0].Node].Name, a.Interface, m.plan.Nodes[l[1].Node].Name, b.Interface, err)
	case by == topology.Netem:
		err = m.makeWire(i, a, b, inFlight)
	case by == topology.Emulator:
		inFlight[0].MTU, inFlight[1].MTU = b.MTU, a.MTU // of the end that receives, which a tap does not check
		err = m.makeTaps(a, b, inFlight)
	default:
		err = a.NewVethPair(b)
	}
	if err != nil {
		return err
	}
	m.note(by, skipped, inFlight)
	for k, e := range l {
		if n := m.plan.Nodes[e.Node]; n.Switch && !n.isMember(e.Interface) {
			if err := m.nodes[e.Node].SetMaster(e.Interface, bridgeName); err != nil {
				return err
			}
		}
		if e.Segments {
			if err := m.nodes[e.Node].Segment(e.Interface); err != nil {
				return err
			}
		}
		if err := m.nodes[e.Node].Shape(e.Interface, parts[k].TBF); err != nil {
			return err
		}
	}
	return nil
}

// makeWire makes a link with netem in a namespace between the two ends'.
func (m *linkMaker) makeWire(i int, a, b netlink.LinkEnd, inFlight [2]topology.Impairment) (err error) {
	if m.wire == nil {
		if m.wire, err = netlink.NewNamespace("the links"); err != nil {
			return err
		}
		if err := m.wire.Do(func() error { return kernelDefaults(planNode{Switch: true}) }); err != nil {
			return err
		}
	}
	return a.NewNetemLink(b, m.wire, fmt.Sprintf("link%d", i), inFlight)
}

// makeTaps makes a link whose frames the emulator will carry.
func (m *linkMaker) makeTaps(a, b netlink.LinkEnd, inFlight [2]topology.Impairment) error {
	for _, end := range []netlink.LinkEnd{a, b} {
		tap, err := end.NewTap()
		if err != nil {
			return fmt.Errorf("a link that linerate emulates: %v", err) // not %w, as above
		}
		m.taps = append(m.taps, tap)
	}
	m.carried = append(m.carried, inFlight)
	return nil
}

func (m *linkMaker) note(by topology.Mechanism, skipped []error, inFlight [2]topology.Impairment) {
	for _, i := range inFlight {
		all := m.does[by]
		all.Delay, all.Jitter, all.Loss, all.Reorder = max(all.Delay, i.Delay), max(all.Jitter, i.Jitter),
			max(all.Loss, i.Loss), max(all.Reorder, i.Reorder)
		if i.ECN != (unit.Depth{}) {
			all.ECN = i.ECN
		}
		m.does[by] = all
	}
	for _, why := range skipped {
		if text := why.Error(); m.plan.ImpairedBy == "" && !slices.Contains(m.instead, text) {
			m.instead = append(m.instead, text)
		}
	}
}

// impairedBy names what applies delay, loss and marks, and why it is not what would have
// been preferred; empty: no link has any.
func (m *linkMaker) impairedBy() string {
	var list []string
	for _, by := range topology.Mechanisms {
		if all, used := m.does[by]; used {
			what := "the kernel's netem"
			switch {
			case by == topology.Emulator:
				what = "linerate's link emulator"
			case all.PerFrame():
				what += ", each frame by itself"
			}
			list = append(list, properties(all)+" by "+what)
		}
	}
	text := strings.Join(list, "; ")
	if len(m.instead) > 0 {
		text += " (" + strings.Join(m.instead, "; ") + ")"
	}
	return text
}

// properties names what directions of a link do to frames in flight.
func properties(directions ...topology.Impairment) string {
	var names []string
	for _, p := range []struct {
		name string
		is   func(topology.Impairment) bool
	}{
		{"delay", func(i topology.Impairment) bool { return i.Delay != 0 }},
		{"jitter", func(i topology.Impairment) bool { return i.Jitter != 0 }},
		{"loss", func(i topology.Impairment) bool { return i.Loss != 0 }},
		{"reordering", func(i topology.Impairment) bool { return i.Reorder != 0 }},
		{"congestion marks", func(i topology.Impairment) bool { return i.ECN != unit.Depth{} }},
	} {
		if slices.ContainsFunc(directions, p.is) {
			names = append(names, p.name)
		}
	}
	return source.And(names)
}

// startEmulator starts the emulator's process, if there are links for it. It ends with
// the lab.
func (m *linkMaker) startEmulator() error {
	if len(m.carried) == 0 {
		return nil
	}
	links, err := json.Marshal(m.carried)
	if err != nil {
		return err
	}
	cmd := program("lab", "emulate")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(links), os.Stderr
	cmd.ExtraFiles = m.taps
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the link emulator: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	for _, tap := range m.taps {
		tap.Close() // the process's own copies keep the interfaces
	}
	return nil
}
