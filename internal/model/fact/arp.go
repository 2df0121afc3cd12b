package fact

import "net/netip"

// Facts about neighbour tables and ARP requests. Fact.Host is the host that has the table, or that
// sent the requests.
type (
	// Neighbour is an entry of a neighbour table.
	Neighbour struct {
		Address   string `json:"address"`
		Interface string `json:"interface"`
		MAC       string `json:"mac,omitempty"`
		State     string `json:"state"` // in the kernel's words: "FAILED", "PERMANENT"
	}
	// WrongEntry is a neighbour entry whose MAC address does not belong to the host with the address.
	WrongEntry struct{ Neighbour }
	// Holder is an interface that has an address; Fact.Host is its host.
	Holder struct {
		Interface string `json:"interface"`
		MAC       string `json:"mac"`
	}
	// AnsweredBy lists the MAC addresses that answered ARP requests for an address.
	AnsweredBy struct {
		MACs []string `json:"macs"`
	}
	// Misdirected lists addresses of host Of for which Fact.Host has the MAC address of the wrong
	// interface of Of.
	Misdirected struct {
		Of        string `json:"of"` // name of a host
		Addresses []At   `json:"addresses"`
		Interface string `json:"interface"`
		MAC       string `json:"mac"`
	}
	// At is an address, and the interface that has it.
	At struct {
		Address   netip.Addr `json:"address"`
		Interface string     `json:"interface"`
	}
	// Taken is the share of a host's incoming traffic that one of its interfaces received (Took), and
	// the share that was addressed to the interface (Meant). Both are from 0 to 1.
	Taken struct {
		Interface string  `json:"interface"`
		Took      float64 `json:"took"`
		Meant     float64 `json:"meant"`
	}
	// OneSubnet lists interfaces of Fact.Host in one subnet.
	OneSubnet struct {
		Interfaces []string     `json:"interfaces"`
		Subnet     netip.Prefix `json:"subnet"`
	}
	// RightReplies is a value of arp_ignore with which ARP replies name the right interface.
	RightReplies struct{ Scoped }
	// Asked is an ARP request for a peer whose sender address is that of another interface.
	Asked struct {
		Peer      string `json:"peer"`
		Interface string `json:"interface"`
		Sender    At     `json:"sender"`
	}
	// Unanswered is an ARP request for an address, with the address of another interface as sender,
	// that got no answer. State is that of the neighbour entry.
	Unanswered struct {
		Address   netip.Addr `json:"address"`
		State     string     `json:"state"`
		Interface string     `json:"interface"`
		Sender    At         `json:"sender"`
	}
	// SwitchPort is the port behind which a switch (Fact.Host) has learned a MAC address.
	SwitchPort struct {
		MAC   string `json:"mac"`
		Port  string `json:"port"`
		Takes string `json:"takes,omitempty"` // Everything or Some of the packets for a machine; empty: not known
	}
	// OtherPorts lists the switch ports of a machine's other interfaces.
	OtherPorts struct {
		Ports []SwitchPort `json:"ports"`
	}
	// Found lists the MAC addresses that were given for addresses: in replies to requests of Fact.Host
	// or, if Fact.Host is empty, in neighbour tables.
	Found struct {
		Addresses []netip.Addr `json:"addresses"`
		MACs      []string     `json:"macs"`
		Each      bool         `json:"each,omitempty"` // each address was given with all of the MAC addresses
	}
	// OnlySome is an address that shows that there are two machines: MACs answer for it, and Not do
	// not.
	OnlySome struct {
		Address netip.Addr `json:"address"`
		MACs    []string   `json:"macs"`
		Not     []string   `json:"not"`
	}
	// ForEachOther says that MAC addresses also answer for each other's addresses, as those of one
	// machine do.
	ForEachOther struct{}
	// NotApart says that nothing shows whether MAC addresses belong to one machine or to two.
	NotApart struct{}
	// Numbered says that MAC addresses are consecutive or nearly so, as those of one card.
	Numbered struct{}
	// AtMAC lists the addresses that a neighbour table has with one MAC address.
	AtMAC struct {
		Addresses []netip.Addr `json:"addresses"`
		MAC       string       `json:"mac"`
	}
	// EntriesAt says how many of the neighbour entries for a machine have MAC, one of its MAC
	// addresses: Entries of Of.
	EntriesAt struct {
		Entries int    `json:"entries"`
		Of      int    `json:"of"`
		MAC     string `json:"mac"`
	}
	// TentativeFailed is an address for which duplicate address detection found another machine.
	TentativeFailed struct {
		Address   string `json:"address"` // with its prefix length
		Interface string `json:"interface"`
	}
	// TableEntries is the number of entries of a neighbour table, and the parameter Key that limits it
	// to Most.
	TableEntries struct {
		Entries int    `json:"entries"`
		Key     string `json:"key"`
		Most    int64  `json:"most"`
	}
)

// What part of the packets for a machine a switch sends to a port.
const (
	Everything = "everything"
	Some       = "part"
)

var _ = are(Neighbour{}, WrongEntry{}, Holder{}, AnsweredBy{}, Misdirected{}, Taken{}, OneSubnet{},
	RightReplies{}, Asked{}, SwitchPort{}, OtherPorts{}, OnlySome{}, ForEachOther{}, NotApart{}, AtMAC{},
	EntriesAt{}, TentativeFailed{}, TableEntries{})
var (
	_ = is[Unanswered]("unanswered_request")
	_ = is[Found]("found_at")
	_ = is[Numbered]("numbered_together")
)

// Names returns the interface of the entry.
func (n Neighbour) Names() []string { return []string{n.Interface} }

// Names returns the parameter that limits the table.
func (t TableEntries) Names() []string { return []string{t.Key} }
