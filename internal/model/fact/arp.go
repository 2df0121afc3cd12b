package fact

import "net/netip"

// Facts about neighbour tables and ARP requests. Fact.Host is the host with the table, or that asked.
type (
	// Neighbour is an entry of a neighbour table.
	Neighbour struct {
		Address   string `json:"address"`
		Interface string `json:"interface"`
		MAC       string `json:"mac,omitempty"`
		State     string `json:"state"` // FAILED, PERMANENT
	}
	// WrongEntry is an entry with a MAC address that is not of the address's host.
	WrongEntry struct{ Neighbour }
	// Holder is an interface that has an address.
	Holder struct {
		Interface string `json:"interface"`
		MAC       string `json:"mac"`
	}
	// AnsweredBy are the MAC addresses that answer ARP requests.
	AnsweredBy struct {
		MACs []string `json:"macs"`
	}
	// Misdirected are addresses of a host that another one has at the MAC address of an interface
	// which has none of them.
	Misdirected struct {
		Of        string `json:"of"` // host
		Addresses []At   `json:"addresses"`
		Interface string `json:"interface"`
		MAC       string `json:"mac"`
	}
	// At is an address, and the interface that has it.
	At struct {
		Address   netip.Addr `json:"address"`
		Interface string     `json:"interface"`
	}
	// Taken is the share of a host's traffic that came in by an interface, and the share that was
	// for its own address.
	Taken struct {
		Interface string  `json:"interface"`
		Took      float64 `json:"took"`
		Meant     float64 `json:"meant"`
	}
	// OneSubnet are interfaces on one subnet.
	OneSubnet struct {
		Interfaces []string     `json:"interfaces"`
		Subnet     netip.Prefix `json:"subnet"`
	}
	// RightReplies is the value of arp_ignore by which replies name the right interface.
	RightReplies struct{ Scoped }
	// Asked is an ARP request for an address of a peer with the address of another interface as sender.
	Asked struct {
		Peer      string `json:"peer"`
		Interface string `json:"interface"`
		Sender    At     `json:"sender"`
	}
	// Unanswered is such a request for an address that did not answer.
	Unanswered struct {
		Address   netip.Addr `json:"address"`
		State     string     `json:"state"`
		Interface string     `json:"interface"`
		Sender    At         `json:"sender"`
	}
	// SwitchPort is the port by which a switch (Fact.Host) reaches a MAC address.
	SwitchPort struct {
		MAC   string `json:"mac"`
		Port  string `json:"port"`
		Takes string `json:"takes,omitempty"` // Everything, Part of what is sent to a machine; empty: not known
	}
	// OtherPorts are ports that lead to further interfaces of a machine.
	OtherPorts struct {
		Ports []SwitchPort `json:"ports"`
	}
	// Found are MAC addresses that were given for addresses: to requests of a host or, without one,
	// in tables.
	Found struct {
		Addresses []netip.Addr `json:"addresses"`
		MACs      []string     `json:"macs"`
		Each      bool         `json:"each,omitempty"` // all of them for each address
	}
	// OnlySome is an address that tells two machines apart: some MAC addresses answer for it, and
	// some do not.
	OnlySome struct {
		Address netip.Addr `json:"address"`
		MACs    []string   `json:"macs"`
		Not     []string   `json:"not"`
	}
	// ForEachOther says that MAC addresses answer for each other's addresses as well, as those of
	// one machine do.
	ForEachOther struct{}
	// NotApart says that nothing is known by which two machines could be told from one.
	NotApart struct{}
	// Numbered says that MAC addresses are next to each other.
	Numbered struct{}
	// AtMAC are addresses that a table has at one MAC address.
	AtMAC struct {
		Addresses []netip.Addr `json:"addresses"`
		MAC       string       `json:"mac"`
	}
	// EntriesAt is how many of the entries for a machine are at one of its MAC addresses.
	EntriesAt struct {
		Entries int    `json:"entries"`
		Of      int    `json:"of"`
		MAC     string `json:"mac"`
	}
	// TentativeFailed is an address that duplicate address detection found at another machine.
	TentativeFailed struct {
		Address   string `json:"address"` // with its prefix length
		Interface string `json:"interface"`
	}
	// TableEntries is how many entries a table has, beside the parameter that bounds them.
	TableEntries struct {
		Entries int    `json:"entries"`
		Key     string `json:"key"`
		Most    int64  `json:"most"`
	}
)

// What is sent to a port of a switch.
const (
	Everything = "everything"
	Some       = "part"
)

var (
	_ = is[Neighbour]("neighbour")
	_ = is[WrongEntry]("wrong_entry")
	_ = is[Holder]("holder")
	_ = is[AnsweredBy]("answered_by")
	_ = is[Misdirected]("misdirected")
	_ = is[Taken]("taken")
	_ = is[OneSubnet]("one_subnet")
	_ = is[RightReplies]("right_replies")
	_ = is[Asked]("asked")
	_ = is[Unanswered]("unanswered_request")
	_ = is[SwitchPort]("switch_port")
	_ = is[OtherPorts]("other_ports")
	_ = is[Found]("found_at")
	_ = is[OnlySome]("only_some")
	_ = is[ForEachOther]("for_each_other")
	_ = is[NotApart]("not_apart")
	_ = is[Numbered]("numbered_together")
	_ = is[AtMAC]("at_mac")
	_ = is[EntriesAt]("entries_at")
	_ = is[TentativeFailed]("tentative_failed")
	_ = is[TableEntries]("table_entries")
)

// Names returns the interface.
func (n Neighbour) Names() []string { return []string{n.Interface} }

// Names returns the parameter.
func (t TableEntries) Names() []string { return []string{t.Key} }
