package fact

// Facts about paths, probes and switches.
type (
	// TooLarge is the size of a flow's packets, and what accepts only smaller ones.
	TooLarge struct {
		Flow  string `json:"flow"`
		Bytes int    `json:"bytes"`
		At    string `json:"at,omitempty"` // HOST.NAME; empty: not known, but nothing as large ever arrived
		MTU   int    `json:"mtu,omitempty"`
	}
	// Stuck is a flow that gets nothing through, or of datagrams at most half.
	Stuck struct {
		Flow    string   `json:"flow"`
		Lost    *float64 `json:"lost,omitempty"`    // share of its datagrams; absent: it is a TCP flow
		Doubled uint8    `json:"doubled,omitempty"` // how often its retransmission timeout was doubled
	}
	// Resolver is the answer of a name server, and the time that it took.
	Resolver struct {
		Server string  `json:"server"`
		Ms     float64 `json:"ms"`
		Error  string  `json:"error,omitempty"` // empty: it answered
	}
	// LookedUp is how long a name server took to find the name of an address.
	LookedUp struct {
		Server  string  `json:"server"`
		Ms      float64 `json:"ms"`
		Address string  `json:"address"`
	}
	// Echo is the number of ICMP echo requests and replies, and their round-trip times; 0 without a
	// reply.
	Echo struct {
		Sent     int     `json:"sent"`
		Received int     `json:"received"`
		MinMs    float64 `json:"min_ms,omitempty"`
		MedianMs float64 `json:"median_ms,omitempty"`
		MaxMs    float64 `json:"max_ms,omitempty"`
		// Duplicates counts further replies to a request.
		Duplicates int `json:"duplicates,omitempty"`
	}
	// ARPAnswers lists the MAC addresses that answered an ARP request on an interface.
	ARPAnswers struct {
		Interface string   `json:"interface"`
		MACs      []string `json:"macs,omitempty"` // none: nothing answered
	}
	// OtherMAC is the number of packets for other MAC addresses that arrived during a probe.
	OtherMAC struct {
		Interface string `json:"interface"`
		Packets   uint64 `json:"packets"`
	}
	// PathMTU is the largest packet that reached a peer, and the MTU of the interface.
	PathMTU struct {
		Interface    string `json:"interface"`
		InterfaceMTU int    `json:"interface_mtu"`
		MTU          int    `json:"mtu"`
		Below        int    `json:"below,omitempty"`    // the smallest that did not; 0: one byte more
		Reported     bool   `json:"reported,omitempty"` // a router reported it
	}
	// NoConnection is a connection attempt without an answer from a peer that answers echo requests.
	NoConnection struct {
		Sent     int     `json:"echo_sent"`
		Received int     `json:"echo_received"`
		Port     int     `json:"port"`
		Ms       float64 `json:"ms"`
	}
	// PortCounter is a counter of a switch port that grew.
	PortCounter struct {
		Object string  `json:"object"` // of IF-MIB: "ifOutDiscards"
		Grew   uint64  `json:"grew"`
		OverS  float64 `json:"over_s"`
		Passed uint64  `json:"passed"` // frames that passed meanwhile
	}
	// SwitchHop compares what one end of a part of a path sent with what the other received.
	SwitchHop struct {
		First   SwitchHopEnd `json:"first"`
		Then    SwitchHopEnd `json:"then"`
		Allowed float64      `json:"allowed"` // bytes by which they may differ
	}
	// SwitchHopEnd is an end of a SwitchHop: an interface of a host, or ports of a switch.
	SwitchHopEnd struct {
		Interface string   `json:"interface,omitempty"` // HOST.NAME
		Switch    string   `json:"switch,omitempty"`    // of Ports; empty: the switch of the other end
		Ports     []string `json:"ports,omitempty"`
		Name      string   `json:"if_name,omitempty"` // the switch's own name of a single port
		Received  bool     `json:"received,omitempty"`
		Bytes     float64  `json:"bytes"`
	}
	// DeclaredRate is the rate of a shaper at an interface, below that declared for its link.
	DeclaredRate struct {
		Interface   string  `json:"interface"`
		Shaper      string  `json:"shaper"`
		Bps         float64 `json:"bps"`
		DeclaredBps float64 `json:"declared_bps"`
	}
	// AmongPeers is the mean goodput of the flows of a host or interface, or the goodput of a flow, and
	// the median of it and its peers.
	AmongPeers struct {
		Bps       float64 `json:"bps"`
		MedianBps float64 `json:"median_bps"`
		Peers     int     `json:"peers"`
		Flows     int     `json:"flows"`
	}
	// LostByFlows is the number of bytes that the flows of a trial lost or sent again.
	LostByFlows struct {
		Bytes float64 `json:"bytes"`
	}
)

var _ = are(TooLarge{}, Stuck{}, Resolver{}, LookedUp{}, Echo{}, ARPAnswers{}, OtherMAC{}, PathMTU{},
	NoConnection{}, PortCounter{}, SwitchHop{}, LostByFlows{}, DeclaredRate{}, AmongPeers{})

// Lost returns how many bytes less the second end has than the first.
func (h SwitchHop) Lost() float64 { return h.First.Bytes - h.Then.Bytes }

// Names returns the interface.
func (a ARPAnswers) Names() []string { return []string{a.Interface} }

// Names returns the interface.
func (o OtherMAC) Names() []string { return []string{o.Interface} }

// Names returns the interface.
func (p PathMTU) Names() []string { return []string{p.Interface} }
