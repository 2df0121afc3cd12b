package nic

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

const vlanReference = "IEEE 802.1Q; bridge(8), ip-link(8)"

// VLANRules are about VLANs that two ends of a link do not agree on.
var VLANRules = []rule.Rule{
	{ID: "vlan-mismatch",
		About: "A flow of one subnet cannot connect, and the VLANs of the interfaces and switch ports between its ends do not fit. Needs a run.",
		Find:  vlanMismatch, Stops: true, SameCause: rule.SameSummary},
}

// vlanMismatch finds flows that cannot connect because frames have a tag on one side, and
// the other takes none or another.
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
		where := fmt.Sprintf("arrive at %s %s", m.In, topology.Tagged(m.Tags))
		finding := record.Finding{
			Host: opener, Confidence: record.Certain,
			Summary: fmt.Sprintf("frames from %s to %s %s, and are not taken there", from, to, where),
			Evidence: []string{
				fmt.Sprintf("flow %s: %s does not reach %s of %s", fl.ID, opener, target, acceptor),
				m.Takes,
			},
			Fix: vlanFix(f, from, to, m), Reference: vlanReference,
		}
		if h, ok := f.Topology.Host(opener); ok && len(h.Via) > 0 {
			finding.Confidence = record.Likely
		}
		findings = append(findings, finding)
	}
	return findings
}

// sameSubnet finds the interface of one host by which it reaches an address of another
// directly, and that with the address.
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

// vlanFix is how the VLANs fit: at a switch the port has that of the frames, at a host an
// interface takes it.
func vlanFix(f facts.Trial, from, to topology.End, m topology.VLANMismatch) []string {
	var tag device.VLAN
	if len(m.Tags) > 0 {
		tag = m.Tags[0]
	}
	if s, ok := f.Topology.Switch(m.In.Node); ok {
		flags := ""
		if tag == 0 {
			if tag, _ = s.VLANs(m.In.Interface); tag == 0 {
				tag = 1
			}
			flags = " pvid untagged"
		}
		var lines []string
		for _, port := range []string{m.In.Interface, m.Out.Interface} {
			untagged, tagged := s.VLANs(port)
			if untagged != tag && !slices.Contains(tagged, tag) {
				lines = append(lines, fmt.Sprintf("bridge vlan add dev %s vid %d%s", hostconfig.Quote(port),
					tag, flags))
			}
		}
		return append(said.On(s.Name, false, lines...), fmt.Sprintf("or other VLANs for %s and %s", from, to))
	}
	if tag == 0 {
		return []string{fmt.Sprintf("give the address to %s itself, or tag the frames at %s", m.In, from)}
	}
	link := hostconfig.Quote(m.In.Interface)
	name := hostconfig.Quote(fmt.Sprintf("%s.%d", m.In.Interface, tag))
	return append(said.On(m.In.Node, false, fmt.Sprintf("ip link add link %s name %s type vlan id %d", link, name, tag),
		"ip link set dev "+name+" up"),
		fmt.Sprintf("and its address there, in place of %s; or the VLAN of %s at %s", to, to, from))
}
