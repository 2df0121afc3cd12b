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

// Causes of NICs and their settings.
var (
	PCIeNarrow         = each[None]("pcie-narrow")
	USB2Adapter        = each[None]("usb2-adapter")
	EmulatedNIC        = each[None]("emulated-nic")
	OneQueue           = each[Queues]("one-queue")
	OneCPU             = each[Interrupts]("one-cpu-for-interrupts")
	OffloadOff         = each[Offload]("offload-off")
	Promiscuous        = each[None]("promiscuous")
	MTUBelowMinimum    = each[MTU]("mtu-below-minimum")
	BridgeMTUMixed     = each[None]("bridge-mtu-mixed")
	RingSmall          = each[None]("ring-small")
	InterruptsDelayed  = each[Delay]("interrupts-delayed")
	LROWhileForwarding = each[None]("lro-while-forwarding")
	Wireless           = each[None]("wireless")
	TransmitQueueShort = each[None]("transmit-queue-short")
)

// Causes of what drivers count.
var (
	LinkLost              = each[None]("link-lost")
	TransmitTimeout       = each[None]("transmit-timeout")
	FramesDamaged         = each[None]("frames-damaged")
	FramesWrongLength     = each[None]("frames-wrong-length")
	ReceiveBuffersMissing = each[None]("receive-buffers-missing")
	RingEmpty             = each[None]("ring-empty")
	NICBufferFull         = each[None]("nic-buffer-full")
	Paused                = each[None]("paused")
	Pausing               = each[None]("pausing")
	PauseStorm            = each[None]("pause-storm")
	PCIeStalled           = each[None]("pcie-stalled")
	PCIeErrors            = each[None]("pcie-errors")
	CloudAllowance        = each[None]("cloud-allowance")
)

// Queues is how many receive queues a NIC can have.
type Queues struct {
	Most int `json:"most"`
}

// Interrupts are those of a NIC, which one CPU serves.
type Interrupts struct {
	Count int    `json:"count"`
	CPU   string `json:"cpu"`
}

// Offload is why offloads are off.
type Offload struct {
	NoGather  bool `json:"no_scatter_gather,omitempty"` // without which the kernel keeps them off
	Requested bool `json:"requested,omitempty"`         // scatter-gather is, and is off
}

// MTU is an interface's.
type MTU struct {
	Bytes  int  `json:"bytes"`
	Tunnel bool `json:"tunnel,omitempty"` // whose path may leave no more
}

// Delay is for how long a NIC holds packets back, at most.
type Delay struct {
	Us int `json:"us"`
}

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
