package cause

// Causes shown by the counters of interfaces (rtnl_link_stats64).
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

// Causes in NICs and their settings.
var (
	PCIeNarrow         = each[None]("pcie-narrow")
	USB2Adapter        = each[None]("usb2-adapter")
	EmulatedNIC        = each[None]("emulated-nic")
	OneQueue           = each[Queues]("one-queue")
	OneCPU             = each[Interrupts]("one-cpu-for-interrupts")
	OffloadOff         = each[Offload]("offload-off")
	OffloadsNotOffered = each[None]("offloads-not-offered")
	Promiscuous        = each[None]("promiscuous")
	MTUBelowMinimum    = each[MTU]("mtu-below-minimum")
	BridgeMTUMixed     = each[None]("bridge-mtu-mixed")
	MTUAboveUplink     = each[Uplink]("mtu-above-uplink")
	RingSmall          = each[None]("ring-small")
	InterruptsDelayed  = each[Delay]("interrupts-delayed")
	LROWhileForwarding = each[None]("lro-while-forwarding")
	Wireless           = each[None]("wireless")
	WirelessWeak       = each[None]("wireless-weak")
	TransmitQueueShort = each[None]("transmit-queue-short")
)

// Causes shown by the own counters of drivers (ethtool -S).
var (
	LinkLost              = each[None]("link-lost")
	CountersUnknown       = each[None]("counters-unknown")
	TransmitTimeout       = each[None]("transmit-timeout")
	FramesDamaged         = each[None]("frames-damaged")
	FramesWrongLength     = each[None]("frames-wrong-length")
	ReceiveBuffersMissing = each[None]("receive-buffers-missing")
	RingEmpty             = each[None]("ring-empty")
	NICBufferFull         = each[None]("nic-buffer-full")
	Paused                = each[None]("paused")
	Pausing               = each[None]("pausing")
	PauseStorm            = each[None]("pause-storm")
	ChecksumsByNIC        = each[None]("nic-bad-checksums")
	PCIeStalled           = each[None]("pcie-stalled")
	PCIeErrors            = each[None]("pcie-errors")
	CloudAllowance        = each[None]("cloud-allowance")
)

// Queues is for a NIC that uses fewer receive queues than it could.
type Queues struct {
	Most int `json:"most"` // number of receive queues that the NIC supports
}

// Interrupts is for a NIC whose interrupts are all served by one CPU.
type Interrupts struct {
	// Count is the number of interrupts of the NIC, which only the CPU may serve. 0: others may, and it served nearly
	// all.
	Count int    `json:"count"`
	CPU   string `json:"cpu"` // number of the CPU
}

// Offload says why segmentation offloads are off. Zero value: not because of scatter-gather.
type Offload struct {
	NoGather  bool `json:"no_scatter_gather,omitempty"` // scatter-gather is off, so the kernel keeps them off
	Requested bool `json:"requested,omitempty"`         // scatter-gather was requested, and the kernel keeps it off
}

// MTU is the MTU of an interface.
type MTU struct {
	Bytes  int  `json:"bytes"`
	Tunnel bool `json:"tunnel,omitempty"` // the interface is a tunnel, whose path may not allow more
}

// Delay is for a NIC that delays its receive interrupts (ethtool -c).
type Delay struct {
	Us int `json:"us"` // longest delay, in microseconds
}

// Tunnel says whether an interface is a tunnel. The error counters of a tunnel have another meaning
// than those of a NIC.
type Tunnel struct {
	Kind  string `json:"kind,omitempty"`  // such as vxlan; empty: no tunnel
	IPsec bool   `json:"ipsec,omitempty"` // its packets need an IPsec state (ip-xfrm(8))
}

// Unreceived says what is known about received packets that were dropped (rx_dropped).
type Unreceived struct {
	Known Known `json:"known,omitempty"`
	MTU   int   `json:"mtu,omitempty"` // MTU of the interface, in bytes; 0: not known
}

// Known says how far dropped packets could be explained.
type Known string

// Values of Unreceived.Known.
const (
	Reason   Known = ""          // the kernel named reasons (kfree_skb); the fix explains them
	Few      Known = "few"       // only a few packets were dropped
	NoReason Known = "no-reason" // many, and the kernel named no reason
	Many     Known = "many"      // many, and the kernel was not traced
)

// Uplink is the interface of the default route, with its MTU in bytes.
type Uplink struct {
	Interface string `json:"interface"`
	MTU       int    `json:"mtu"`
}
