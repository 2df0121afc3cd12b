package fact

import "net/netip"

// Facts about reverse-path filters. Fact.Host is the host with the filter.
type (
	// AnsweredElsewhere is a sender to an interface that is answered by another one.
	AnsweredElsewhere struct {
		Peer      string     `json:"peer,omitempty"` // empty: a neighbour there
		Address   netip.Addr `json:"address"`
		Interface string     `json:"interface"`
		By        string     `json:"by,omitempty"` // empty: by none
	}
	// DroppedRequest is an ARP request of a peer that is not answered, because the filter of the
	// interface with the address drops it.
	DroppedRequest struct {
		Peer   string     `json:"peer"`
		For    netip.Addr `json:"for"`
		State  string     `json:"state"` // of the peer's entry
		On     string     `json:"on"`    // interface of the peer
		From   []Answer   `json:"from"`  // addresses from which it may be sent
		DropBy string     `json:"dropped_by"`
	}
	// Answer is how an address would be answered.
	Answer struct {
		To netip.Addr `json:"to"`
		By string     `json:"by,omitempty"` // interface; empty: by none
	}
	// Received is how many packets came in by an interface, and by the others with a strict filter.
	Received struct {
		Interface string  `json:"interface"`
		Packets   float64 `json:"packets"`
		Others    float64 `json:"others"`
	}
	// Sharing are interfaces with addresses of one subnet.
	Sharing struct {
		Interfaces []string `json:"interfaces"`
	}
	// NoAnswer are addresses for which requests of a host (Fact.Host) got no answer.
	NoAnswer struct {
		Addresses []Entry `json:"addresses"`
	}
	// Entry is an address with the states of its entries.
	Entry struct {
		Address netip.Addr `json:"address"`
		States  []string   `json:"states"`
	}
	// Unconnected are flows that could not connect.
	Unconnected struct {
		Flows []string `json:"flows"`
	}
)

var (
	_ = is[AnsweredElsewhere]("answered_elsewhere")
	_ = is[DroppedRequest]("dropped_request")
	_ = is[Received]("received")
	_ = is[Sharing]("sharing")
	_ = is[NoAnswer]("no_answer")
	_ = is[Unconnected]("unconnected")
)

// Names returns the interface.
func (a AnsweredElsewhere) Names() []string { return []string{a.Interface} }

// Names returns the interface with the filter.
func (d DroppedRequest) Names() []string { return []string{d.DropBy} }

// Names returns the interface.
func (r Received) Names() []string { return []string{r.Interface} }

// Names returns the interfaces.
func (s Sharing) Names() []string { return s.Interfaces }
