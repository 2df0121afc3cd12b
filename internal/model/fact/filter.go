package fact

import "net/netip"

// Facts about reverse-path filters. Fact.Host is the host with the filter unless noted otherwise.
type (
	// AnsweredElsewhere is a sender whose packets arrive on one interface and are answered by another.
	AnsweredElsewhere struct {
		Peer      string     `json:"peer,omitempty"` // host; empty: a neighbour of which no more is known
		Address   netip.Addr `json:"address"`
		Interface string     `json:"interface"`
		By        string     `json:"by,omitempty"` // interface; empty: there is no route to it
	}
	// DroppedRequest is an ARP request of a peer that stays unanswered, because the filter of the
	// interface with the address drops it.
	DroppedRequest struct {
		Peer   string     `json:"peer"`
		For    netip.Addr `json:"for"`
		State  string     `json:"state"` // of the peer's neighbour entry
		On     string     `json:"on"`    // the peer's interface
		From   []Answer   `json:"from"`  // possible senders and how each would be answered
		DropBy string     `json:"dropped_by"`
	}
	// Answer is the interface by which an address would be answered.
	Answer struct {
		To netip.Addr `json:"to"`
		By string     `json:"by,omitempty"` // interface; empty: there is no route
	}
	// Received compares the number of packets that an interface received with the number that all
	// other interfaces with a strict filter received.
	Received struct {
		Interface string  `json:"interface"`
		Packets   float64 `json:"packets"`
		Others    float64 `json:"others"`
	}
	// Sharing lists interfaces with addresses in one subnet.
	Sharing struct {
		Interfaces []string `json:"interfaces"`
	}
	// NoAnswer lists addresses for which the ARP requests of Fact.Host got no answer.
	NoAnswer struct {
		Addresses []Entry `json:"addresses"`
	}
	// Entry is an address and the states of its neighbour entries.
	Entry struct {
		Address netip.Addr `json:"address"`
		States  []string   `json:"states"`
	}
	// Unconnected lists flows that could not connect.
	Unconnected struct {
		Flows []string `json:"flows"`
	}
)

var _ = are(AnsweredElsewhere{}, DroppedRequest{}, Received{}, Sharing{}, NoAnswer{}, Unconnected{})

// Names returns the interface on which the packets arrive.
func (a AnsweredElsewhere) Names() []string { return []string{a.Interface} }

// Names returns the interface with the filter.
func (d DroppedRequest) Names() []string { return []string{d.DropBy} }

// Names returns the interface.
func (r Received) Names() []string { return []string{r.Interface} }

// Names returns the interfaces.
func (s Sharing) Names() []string { return s.Interfaces }
