package fact

// Facts about links and what is at their other end.
type (
	// Link is the state of a NIC's link.
	Link struct {
		Interface string `json:"interface"`
		Mbps      int64  `json:"mbps"`
		Duplex    string `json:"duplex,omitempty"`
		Autoneg   *bool  `json:"autoneg,omitempty"` // absent: it cannot negotiate, or that is not known
	}
	// Negotiated is a link's speed, and what it could have been.
	Negotiated struct {
		Interface   string `json:"interface"`
		Mbps        int64  `json:"mbps"`
		OfferedMbps int64  `json:"offered_mbps"`
		BestMbps    int64  `json:"best_mbps"`
		Autoneg     *bool  `json:"autoneg,omitempty"`
	}
	// NoCarrier is an interface that is up without a link.
	NoCarrier struct {
		Interface string   `json:"interface"`
		OperState string   `json:"operstate"`
		Addresses []string `json:"addresses"`
	}
	// RouteBy is a route by an interface.
	RouteBy struct {
		Interface string `json:"interface"`
		Route     string `json:"route"` // as ip(8) prints it
	}
	// CarrierChanges is how often a link came up or went down since the machine was booted.
	CarrierChanges struct {
		Interface string  `json:"interface"`
		Changes   int64   `json:"changes"`
		Days      float64 `json:"days"`
	}
	// CarrierLoss is a time of a trial in which an interface had no carrier.
	CarrierLoss struct {
		What   string  `json:"what"` // as the trial has it: "link eth0 state down"
		BeganS float64 `json:"began_s"`
		ForS   float64 `json:"for_s,omitempty"`
		Again  bool    `json:"again,omitempty"` // it had it again after that, before the window's end
	}
	// Silence is for how long a flow received nothing.
	Silence struct {
		Flow        string  `json:"flow"`
		From        string  `json:"from"`
		To          string  `json:"to"`
		LostS       float64 `json:"lost_s"`
		LostAtMostS float64 `json:"lost_at_most_s,omitempty"`
		Resumed     bool    `json:"resumed,omitempty"` // before the window's end
	}
	// NotReached is a flow whose host does not reach the other's address.
	NotReached struct {
		Flow    string `json:"flow"`
		From    string `json:"from"`
		Address string `json:"address"`
		To      string `json:"to"`
	}
	// LLDP is one thing that the port at the other end of a cable says of itself.
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
		On        string `json:"on,omitempty"`     // the interface whose frames have it as a tag
		Bridge    string `json:"bridge,omitempty"` // of whose port it is, without a tag
	}
)

var (
	_ = is[Link]("link")
	_ = is[Negotiated]("negotiated")
	_ = is[NoCarrier]("no_carrier")
	_ = is[RouteBy]("route_by")
	_ = is[CarrierChanges]("carrier_changes")
	_ = is[CarrierLoss]("carrier_loss")
	_ = is[Silence]("silence")
	_ = is[NotReached]("not_reached")
	_ = is[LLDP]("lldp")
	_ = is[VLAN]("vlan")
)

// Names returns the interfaces.
func (v VLAN) Names() []string { return []string{v.Interface, v.On, v.Bridge} }
