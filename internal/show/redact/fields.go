package redact

import (
	"reflect"
	"strings"

	"linerate/internal/model/netstate"
)

// class says what a string of a snapshot may tell about whose host it is. Addresses are replaced in strings of every
// class. Values of secret parameters are in no snapshot (proc.IsSecret).
type class string

const (
	// kept are words of the kernel, of drivers, of hardware and of linerate, and names of interfaces.
	kept class = "kept"
	// text may contain names.
	text class = "text"
	// parameter is text where the parameter is one of the host's own (kernel.hostname), and kept elsewhere.
	parameter class = "parameter"
	// The other classes are names, and the words by which they are replaced.
	host        class = "host"
	description class = "description"
	domain      class = "domain"
)

// fields has the class of every string of a snapshot, by the type and the name of its field. TestFields fails for a
// field that is not declared.
var fields = declared(map[class]string{
	host: `HostEnvironment.Host HostReading.Host Snapshot.Host LLDPNeighbour.System LLDPNeighbour.Chassis Probe.Peer
		ReverseProbe.Name Transfer.From Transfer.To`,
	description: `LLDPNeighbour.PortDescription`,
	domain:      `Resolver.Search`,
	parameter:   `ParameterLine.Value`,
	text: `FDBEntry.Peer HostEnvironment.Missing KernelLog.Missing LLDPNeighbour.Description LogLine.Text NftObject.Name
		NftObject.Table NftRule.Chain NftRule.Table NftRule.Text NftSet.Name NftSet.Table Probe.Missing Probe.Sent
		Reading.Missing ResolverProbe.Error ReverseProbe.Error RouteLookup.Error RouteLookup.Unsure StatePart.Missing
		Tables.Missing`,
	kept: `Arrival.Flow Arrival.Interface Bond.ActiveMember Bond.HashPolicy Bond.Interface Bond.Kind Bond.LACPRate
		Bond.Link Bond.Mode Bond.PartnerMAC BondMember.ActorChurn BondMember.ActorMAC BondMember.Duplex
		BondMember.Interface BondMember.Link BondMember.PartnerChurn BondMember.PartnerMAC BondMember.State
		Bridge.Interface BridgePort.Interface BridgePort.VLANs BufferPool.Name CPUEvents.Softirqs
		CarrierLoss.Interface ClockSource.Available ClockSource.Source ConnectProbe.Outcome
		Connection.CongestionControl Connection.Local Connection.Program Connection.Remote Connection.State
		DriverCounter.Name FDBEntry.Interface FDBEntry.MAC FEC.Active FEC.Configured Firmware.BIOS Firmware.Product
		Firmware.Vendor FlowRule.Location FlowRule.Rule FlowSample.ID Gap.Flow HostEnvironment.Arch
		HostEnvironment.CongestionControl HostEnvironment.Kernel HostEnvironment.OS HostEnvironment.Version
		HostSnapshot.CounterNames HostSnapshot.Pasted HostSnapshot.Schema HostSnapshot.Version HostState.Governors
		HostState.Neighbours HostState.Parameters HostState.Sockstat HostState.TCP IRQ.Affinity IRQ.Effective IRQ.Name
		InterfaceCounters.Interface InterfaceSnapshot.Addresses InterfaceSnapshot.Driver InterfaceSnapshot.Duplicates
		InterfaceSnapshot.Interface InterfaceSnapshot.Kind InterfaceSnapshot.MAC InterfaceSnapshot.Master Interval.Day
		Interval.From Interval.Name Interval.Part Interval.To KernelDrop.Direction KernelDrop.Interface
		KernelDrop.Place KernelDrop.Protocol KernelDrop.Reason LLDPNeighbour.Addresses LLDPNeighbour.Capabilities
		LLDPNeighbour.Duplex LLDPNeighbour.Interface LLDPNeighbour.Media LLDPNeighbour.Port LLDPNeighbour.Protocol
		Listener.Local Listener.Program Listener.Protocol Module.Part Module.Vendor NIC.Before NIC.Bus NIC.Counters
		NIC.CountersLike NIC.Device NIC.Driver NIC.Duplex NIC.Features NIC.Firmware NIC.Fixed NIC.Interface NIC.Meanings
		NIC.OperState NIC.Stalled NIC.Unmet NIC.Version NICQueue.CPUs NICQueue.Queue Neighbour.Address
		Neighbour.Interface Neighbour.MAC Neighbour.State Nexthop.Flags Nexthop.Interface Nexthop.Via NftObject.Family
		NftObject.Kind NftRule.Family NftRule.Hook NftRule.Tool NftRule.Verdict NftSet.Family ParameterLine.File
		ParameterLine.Key Probe.ARP Probe.Address Probe.Interface Qdisc.Kind Qdisc.Options Qdisc.Parent
		QdiscCounters.Handle QdiscCounters.Interface QdiscCounters.Kind QdiscCounters.Parent RSS.Fields RSS.Table
		Reading.Own Reading.SNMP Reading.Softirqs Resolver.Options Resolver.Servers ResolverProbe.Server
		RouteEntry.Interface RouteEntry.Protocol RouteEntry.Source RouteEntry.Text RouteEntry.To RouteEntry.Type
		RouteEntry.Via RouteLookup.ChosenSource RouteLookup.Destination RouteLookup.Gateway RouteLookup.In
		RouteLookup.Interface RouteLookup.Protocol RouteLookup.Source RouteNexthop.Interface RouteNexthop.Via
		RuleEntry.From RuleEntry.To Sample.IRQs Shaper.Kind Snapshot.Sysctls StatePart.Part TCPInfo.Lacks Transfer.Protocol
		Transfer.Tool`,
})

func declared(lists map[class]string) map[string]class {
	all := map[string]class{}
	for of, list := range lists {
		for _, field := range strings.Fields(list) {
			all[field] = of
		}
	}
	return all
}

// visit calls found for each string of a snapshot that is or may contain a name. Kind is the kind of name that the
// whole string is; empty: it is none. It looks neither at the keys nor at the values of maps, which are all kept.
func visit(s *netstate.HostSnapshot, found func(text *string, kind string)) {
	each(reflect.ValueOf(s).Elem(), kept, found)
}

func each(v reflect.Value, of class, found func(*string, string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), of, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), of, found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				of := fields[v.Type().Name()+"."+f.Name]
				if of == parameter {
					of = kept
					if strings.HasPrefix(v.FieldByName("Key").String(), "kernel.") {
						of = text
					}
				}
				each(v.Field(i), of, found)
			}
		}
	case reflect.String:
		switch of {
		case text:
			found(v.Addr().Interface().(*string), "")
		case host, description, domain:
			found(v.Addr().Interface().(*string), string(of))
		}
	}
}
