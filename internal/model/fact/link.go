package fact

// Facts about links and the devices at their other end.
type (
	// Link is the state of a NIC's link.
	Link struct {
		Interface string `json:"interface"`
		Mbps      int64  `json:"mbps"`
		Duplex    string `json:"duplex,omitempty"`
		Autoneg   *bool  `json:"autoneg,omitempty"` // absent: the NIC cannot negotiate, or it is not known
	}
	// Negotiated is the speed of a link: negotiated, offered by this end, and supported by the port.
	Negotiated struct {
		Interface   string `json:"interface"`
		Mbps        int64  `json:"mbps"`
		OfferedMbps int64  `json:"offered_mbps"`
		BestMbps    int64  `json:"best_mbps"`
		Autoneg     *bool  `json:"autoneg,omitempty"`
	}
	// NoCarrier is an interface that is up and has no carrier.
	NoCarrier struct {
		Interface string   `json:"interface"`
		OperState string   `json:"operstate"`
		Addresses []string `json:"addresses"`
	}
	// RouteBy is a route that leaves by an interface.
	RouteBy struct {
		Interface string `json:"interface"`
		Route     string `json:"route"` // as ip(8) prints it
	}
	// CarrierChanges is how often a link came up or went down since the boot, Days ago.
	CarrierChanges struct {
		Interface string  `json:"interface"`
		Changes   int64   `json:"changes"`
		Days      float64 `json:"days"`
	}
	// CarrierLoss is a part of a trial in which an interface had no carrier. Times are in seconds.
	CarrierLoss struct {
		What   string  `json:"what"`    // event of the trial: "link eth0 state down"
		BeganS float64 `json:"began_s"` // from the begin of the window
		ForS   float64 `json:"for_s,omitempty"`
		Again  bool    `json:"again,omitempty"` // the carrier came back after ForS, before the window's end
	}
	// Silence is how long a flow received nothing, in seconds.
	Silence struct {
		Flow        string  `json:"flow"`
		From        string  `json:"from"`
		To          string  `json:"to"`
		LostS       float64 `json:"lost_s"`                   // at least
		LostAtMostS float64 `json:"lost_at_most_s,omitempty"` // 0: LostS is exact
		Resumed     bool    `json:"resumed,omitempty"`        // it received again before the window's end
	}
	// NotReached is a flow from a host that cannot reach the other host's address.
	NotReached struct {
		Flow    string `json:"flow"`
		From    string `json:"from"`
		Address string `json:"address"`
		To      string `json:"to"`
	}
	// LLDP is one property that the port at the other end of a cable announces.
	LLDP struct {
		Place      string `json:"place"` // "port Gi1/0/7 of sw1"
		FrameBytes int    `json:"max_frame_bytes,omitempty"`
		Media      string `json:"media,omitempty"`
		AutonegOff bool   `json:"autoneg_off,omitempty"`
		PVID       int    `json:"pvid,omitempty"`
		VLANs      []int  `json:"vlans,omitempty"`
	}
	// VLAN is the VLAN of an interface.
	VLAN struct {
		Interface string `json:"interface"`
		VLAN      int    `json:"vlan"`
		On        string `json:"on,omitempty"` // interface whose frames carry the tag
		// Bridge of which the interface is a port that has the VLAN untagged.
		Bridge string `json:"bridge,omitempty"`
	}
)

var _ = are(Link{}, Negotiated{}, NoCarrier{}, RouteBy{}, CarrierChanges{}, CarrierLoss{}, Silence{},
	NotReached{}, LLDP{}, VLAN{})

// Names returns the interfaces.
func (v VLAN) Names() []string { return []string{v.Interface, v.On, v.Bridge} }
