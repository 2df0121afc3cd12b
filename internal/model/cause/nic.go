package cause

// Causes of what interfaces count.
var (
	InterfaceErrors = each[Tunnel]("interface-errors")
	FramesTooLong   = each[None]("frames-too-long")
	RxDropped       = about[Unreceived]("rx-dropped")
	TxDropped       = each[None]("tx-dropped")
	TxCarrier       = each[Tunnel]("tx-carrier")
	Collisions      = each[Tunnel]("collisions")
	OtherHostFrames = each[None]("other-host-frames")
	StandbyTraffic  = each[None]("standby-traffic")
)

// Tunnel is the kind of an interface that sends its packets inside others; empty: it does not.
type Tunnel struct {
	Kind  string `json:"kind,omitempty"`
	IPsec bool   `json:"ipsec,omitempty"` // its packets need a state of IPsec
}

// Unreceived is what is known of packets that were received and dropped.
type Unreceived struct {
	Known Known `json:"known,omitempty"`
	MTU   int   `json:"mtu,omitempty"` // of the interface; 0: not known
}

// Known says how many packets were dropped, and what may have dropped them.
type Known string

// What is known of packets that were dropped.
const (
	Reason   Known = ""          // the kernel's reasons, which the fix has
	Few      Known = "few"       // they are few
	NoReason Known = "no-reason" // many, of which the kernel has no reason
	Many     Known = "many"      // many, and the kernel was not traced
)
