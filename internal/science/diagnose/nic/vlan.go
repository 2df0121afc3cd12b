package nic

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// VLANRules are about links whose ends use different VLANs.
var VLANRules = []rule.Rule{{ID: cause.VLANMismatch.Code, Find: vlanMismatch, Stops: true}}

// vlanMismatch finds flows that could not connect because one side sends frames with a VLAN tag and
// the other expects none, or another one.
func vlanMismatch(f facts.Trial) (findings []record.Finding) {
	for _, fl := range f.Trial.Flows {
		opener, acceptor, target := fl.From, fl.To, fl.DestinationAddr()
		if fl.OpenedBy == fl.To {
			opener, acceptor, target = fl.To, fl.From, fl.SourceAddr()
		}
		if fl.Connected || f.Host(opener) == nil || f.Host(acceptor) == nil {
			continue
		}
		from, to, ok := sameSubnet(f, opener, acceptor, target)
		if !ok {
			continue
		}
		m, is := f.Topology.VLANMismatch(from, to)
		if !is {
			continue
		}
		args := cause.Frames{From: from.String(), To: to.String(), At: m.In.String()}
		for _, tag := range m.Tags {
			args.Tags = append(args.Tags, int(tag))
		}
		var steps []record.Step
		args.Switch, steps = takeThere(f, m)
		finding := facts.Found(cause.VLANMismatch, f.Host(opener), record.Certain, args).
			With(opener, fact.NotReached{Flow: fl.ID, From: opener, Address: target.String(), To: acceptor}).
			With("", fact.Text{Text: m.Takes}).Fixed(steps...)
		if h, ok := f.Topology.Host(opener); ok && len(h.Via) > 0 {
			finding.Confidence = record.Likely
		}
		findings = append(findings, *finding)
	}
	return findings
}

// sameSubnet returns the interface by which one host reaches an address of another directly, and
// the interface with that address; false: there are no such interfaces.
func sameSubnet(f facts.Trial, opener, acceptor string, target netip.Addr) (from, to topology.End, ok bool) {
	near, _ := f.Topology.Host(opener)
	far, _ := f.Topology.Host(acceptor)
	for name, a := range far.Addresses() {
		if a.Contains(target) {
			to = topology.End{Node: acceptor, Interface: name}
		}
	}
	for name, a := range near.Addresses() {
		if a.Prefix().Contains(target) && from == (topology.End{}) {
			from = topology.End{Node: opener, Interface: name}
		}
	}
	return from, to, from.Interface != "" && to.Interface != ""
}

// takeThere returns the commands after which the frames are accepted: a switch gets their VLAN on
// the ports, a host a VLAN interface. isSwitch reports which of both it is.
func takeThere(f facts.Trial, m topology.VLANMismatch) (isSwitch bool, steps []record.Step) {
	var tag device.VLAN
	if len(m.Tags) > 0 {
		tag = m.Tags[0]
	}
	run := func(words ...string) { steps = append(steps, record.Step{Host: m.In.Node, Command: words}) }
	if s, ok := f.Topology.Switch(m.In.Node); ok {
		var flags []string
		if tag == 0 {
			if tag, _ = s.VLANs(m.In.Interface); tag == 0 {
				tag = 1
			}
			flags = []string{"pvid", "untagged"}
		}
		for _, port := range []string{m.In.Interface, m.Out.Interface} {
			untagged, tagged := s.VLANs(port)
			if untagged != tag && !slices.Contains(tagged, tag) {
				run(append([]string{"bridge", "vlan", "add", "dev", port, "vid", fmt.Sprint(tag)}, flags...)...)
			}
		}
		return true, steps
	}
	if tag != 0 {
		name := fmt.Sprintf("%s.%d", m.In.Interface, tag)
		run("ip", "link", "add", "link", m.In.Interface, "name", name, "type", "vlan", "id", fmt.Sprint(tag))
		run("ip", "link", "set", "dev", name, "up")
	}
	return false, steps
}
