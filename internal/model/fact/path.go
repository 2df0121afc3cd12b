package fact

// Facts about paths, probes and switches.
type (
	// TooLarge is a flow's packets, and what takes only smaller ones.
	TooLarge struct {
		Flow  string `json:"flow"`
		Bytes int    `json:"bytes"`
		At    string `json:"at,omitempty"` // HOST.NAME; empty: not known, and nothing as large arrived
		MTU   int    `json:"mtu,omitempty"`
	}
	// Stuck is a flow that gets nothing through, or of datagrams at most half.
	Stuck struct {
		Flow    string   `json:"flow"`
		Lost    *float64 `json:"lost,omitempty"`    // a share of its datagrams; absent: of TCP
		Doubled uint8    `json:"doubled,omitempty"` // its retransmission timeout, so many times
	}
	// Resolver is how a name server answered.
	Resolver struct {
		Server string  `json:"server"`
		Ms     float64 `json:"ms"`
		Error  string  `json:"error,omitempty"` // empty: it answered
	}
	// LookedUp is how long a name server took to answer for the name of an address.
	LookedUp struct {
		Server  string  `json:"server"`
		Ms      float64 `json:"ms"`
		Address string  `json:"address"`
	}
	// Echo is what became of ICMP echo requests. Of none that was answered the times are 0.
	Echo struct {
		Sent     int     `json:"sent"`
		Received int     `json:"received"`
		MinMs    float64 `json:"min_ms,omitempty"`
		MedianMs float64 `json:"median_ms,omitempty"`
		MaxMs    float64 `json:"max_ms,omitempty"`
	}
	// ARPAnswers are the MAC addresses that answered ARP requests by an interface.
	ARPAnswers struct {
		Interface string   `json:"interface"`
		MACs      []string `json:"macs,omitempty"` // none: no answer
	}
	// OtherMAC are packets for other MAC addresses that arrived during a probe.
	OtherMAC struct {
		Interface string `json:"interface"`
		Packets   uint64 `json:"packets"`
	}
	// PathMTU is the largest packet that reached a peer.
	PathMTU struct {
		Interface    string `json:"interface"`
		InterfaceMTU int    `json:"interface_mtu"`
		MTU          int    `json:"mtu"`
		Reported     bool   `json:"reported,omitempty"` // a router named it
	}
	// NoConnection is a connection that was not answered by a peer which answers echo requests.
	NoConnection struct {
		Sent     int     `json:"echo_sent"`
		Received int     `json:"echo_received"`
		Port     int     `json:"port"`
		Ms       float64 `json:"ms"`
	}
	// PortCounter is a counter of a switch's port that grew.
	PortCounter struct {
		Object string  `json:"object"` // of IF-MIB
		Grew   uint64  `json:"grew"`
		OverS  float64 `json:"over_s"`
		Passed uint64  `json:"passed"` // frames meanwhile
	}
	// SwitchHop is what one end of a part of a path sent, and the other received.
	SwitchHop struct {
		First   SwitchHopEnd `json:"first"`
		Then    SwitchHopEnd `json:"then"`
		Allowed float64      `json:"allowed"` // bytes, by which they may differ
	}
	// SwitchHopEnd is an end of a SwitchHop: an interface, or ports of a switch.
	SwitchHopEnd struct {
		Interface string   `json:"interface,omitempty"` // HOST.NAME
		Switch    string   `json:"switch,omitempty"`    // of Ports; empty: that of the other end
		Ports     []string `json:"ports,omitempty"`
		Name      string   `json:"if_name,omitempty"` // of one port
		Received  bool     `json:"received,omitempty"`
		Bytes     float64  `json:"bytes"`
	}
	// LostByFlows is what the flows of a trial lost or sent again.
	LostByFlows struct {
		Bytes float64 `json:"bytes"`
	}
)

var (
	_ = is[TooLarge]("too_large")
	_ = is[Stuck]("stuck")
	_ = is[Resolver]("resolver")
	_ = is[LookedUp]("looked_up")
	_ = is[Echo]("echo")
	_ = is[ARPAnswers]("arp_answers")
	_ = is[OtherMAC]("other_mac")
	_ = is[PathMTU]("path_mtu")
	_ = is[NoConnection]("no_connection")
	_ = is[PortCounter]("port_counter")
	_ = is[SwitchHop]("switch_hop")
	_ = is[LostByFlows]("lost_by_flows")
)

// Lost is by how much the second end has less.
func (h SwitchHop) Lost() float64 { return h.First.Bytes - h.Then.Bytes }

// Names returns the interface.
func (a ARPAnswers) Names() []string { return []string{a.Interface} }

// Names returns the interface.
func (o OtherMAC) Names() []string { return []string{o.Interface} }

// Names returns the interface.
func (p PathMTU) Names() []string { return []string{p.Interface} }
