package netstate

import "cmp"

// NIC describes a network interface by its driver and the kernel's device model
// (Documentation/networking/ethtool-netlink.rst, Documentation/ABI/testing/sysfs-class-net).
// Software devices only have the parts that they support.
type NIC struct {
	Interface string `json:"interface" is:"interface"`
	Driver    string `json:"driver,omitempty" is:"word"`
	Version   string `json:"driver_version,omitempty" is:"words"`
	Firmware  string `json:"firmware,omitempty" is:"words"`
	Bus       string `json:"bus,omitempty" is:"word"` // "0000:03:00.0"
	// Device is the vendor and device number of a PCI or USB device, "8086:10d3".
	Device string `json:"device,omitempty" is:"word"`
	// PCIe link: width in lanes and speed in GT/s, negotiated and highest; USB speed in Mbit/s.
	PCIe    *PCIeLink `json:"pcie,omitempty"`
	USBMbps float64   `json:"usb_mbps,omitempty"`
	// NUMA is the NUMA node of the device, -1 if none. Nil: not a hardware device.
	NUMA *int `json:"numa_node,omitempty"`

	OperState string `json:"operstate,omitempty" is:"word"`
	Carrier   bool   `json:"carrier"`
	// CarrierChanges counts changes since the interface was created.
	CarrierChanges int64 `json:"carrier_changes"`
	Promiscuous    bool  `json:"promiscuous,omitempty"`
	Wireless       bool  `json:"wireless,omitempty"`
	// WiFi is set if the text of iw(8) has the link or the stations of a wireless interface.
	WiFi       *WiFi `json:"wifi,omitempty"`
	TxQueueLen int   `json:"tx_queue_len"`
	// Peer is the index of the other end of a veth pair, or of the lower device of this interface.
	// 0: none.
	Peer int `json:"peer_index,omitempty"`
	VLAN int `json:"vlan,omitempty"` // of a VLAN interface; 0 for others

	SpeedMbps   int64  `json:"speed_mbps,omitempty"`
	Duplex      string `json:"duplex,omitempty" is:"word"` // "full", "half"
	Autoneg     *bool  `json:"autoneg,omitempty"`          // nil: unknown, or not supported by the port
	BestMbps    int64  `json:"best_mbps,omitempty"`        // the fastest mode that the port supports
	OfferedMbps int64  `json:"offered_mbps,omitempty"`     // the fastest mode that it advertises

	Rings    *Rings    `json:"rings,omitempty"`
	Channels *Channels `json:"channels,omitempty"`
	Coalesce *Coalesce `json:"coalesce,omitempty"`
	Pause    *Pause    `json:"pause,omitempty"`
	// FEC and Module are set if the driver reports them.
	FEC      *FEC            `json:"fec,omitempty"`
	Module   *Module         `json:"module,omitempty"`
	RSS      *RSS            `json:"rss,omitempty"`
	Steering []FlowRule      `json:"steering,omitempty"`
	Features map[string]bool `json:"features,omitempty" is:"word"` // offloads by their kernel names, on or off
	// Fixed are features that cannot be changed. Of pasted text they include those that the
	// interface does not support: these are off, and not in Features.
	Fixed []string `json:"fixed_features,omitempty" is:"word"`
	// Unmet are features that are requested and off, because another feature or the driver disables
	// them.
	Unmet  []string   `json:"unmet_features,omitempty" is:"word"`
	Queues []NICQueue `json:"queues,omitempty"`
	// Stalled are the transmit rings of a NIC of FreeBSD that are full because the NIC completes nothing (iflib(4)):
	// "txq0". Absent: none is, or it was not read. RingStates reports whether it was.
	Stalled    []string         `json:"stalled_rings,omitempty" is:"word"`
	RingStates bool             `json:"ring_states,omitempty"`
	IRQs       []IRQ            `json:"irqs,omitempty"`
	Counters   map[string]int64 `json:"driver_counters,omitempty" is:"words"` // non-zero ones, by the driver's names
	// CountersLike is the driver that has counters of such names, if Driver is absent (DriverOf).
	// Relatives of a driver have its names too.
	CountersLike string `json:"counters_like,omitempty" is:"word"`
	// Meanings sums the counters that have one of Meanings, by its name: each packet counts once.
	Meanings map[string]int64 `json:"meanings,omitempty" is:"words"`
	// Unknown are the largest counters, at most MostUnknownCounters, of which the name says that
	// something was lost or failed, and which have no meaning. Absent: there are none.
	Unknown []DriverCounter `json:"unknown_counters,omitempty"`
	// Before are the counters of an earlier reading, CountedS seconds before. CountedS 0: there was
	// none.
	Before   map[string]int64 `json:"driver_counters_before,omitempty" is:"words"`
	CountedS float64          `json:"driver_counters_over_s,omitempty"`
}

// CounterDriver returns the driver by whose names the counters are read. Empty: unknown.
func (n NIC) CounterDriver() string { return cmp.Or(n.Driver, n.CountersLike) }

// WiFi is the wireless link of an interface (iw(8)): of a station that to its access point, of an
// access point those to its stations. Of several, it has the weakest signal and the lowest bitrates.
type WiFi struct {
	// SignalDBm is the strength of received frames. 0: unknown.
	SignalDBm int `json:"signal_dbm,omitempty"`
	// RxMbps and TxMbps are the bitrates of the last frames in Mbit/s, of which programs get about
	// half. 0: unknown.
	RxMbps float64 `json:"rx_mbps,omitempty"`
	TxMbps float64 `json:"tx_mbps,omitempty"`
	// TxPackets, TxRetries and TxFailed count frames sent, sent again and given up, of all links
	// together. Absent: none, or unknown.
	TxPackets int64 `json:"tx_packets,omitempty"`
	TxRetries int64 `json:"tx_retries,omitempty"`
	TxFailed  int64 `json:"tx_failed,omitempty"`
	// FrequencyMHz is the channel's frequency. 0: unknown.
	FrequencyMHz int `json:"frequency_mhz,omitempty"`
}

// FlowRule is a rule that directs packets to a receive queue (ethtool -U).
type FlowRule struct {
	Location string `json:"location" is:"words"`
	Rule     string `json:"rule" is:"words"` // as the arguments of ethtool(8) after flow-type, or why it is unknown
}

// Since returns the NIC with the counters of an earlier reading by the same driver, taken the given
// seconds before.
func (n NIC) Since(before NIC, seconds float64) NIC {
	if before.Interface == n.Interface && before.Driver == n.Driver && seconds > 0 {
		n.Before, n.CountedS = before.Counters, seconds
	}
	return n
}

// PCIeLink has the negotiated and the maximum width and speed
// (Documentation/ABI/testing/sysfs-bus-pci).
type PCIeLink struct {
	Width     int     `json:"width"`
	MostWidth int     `json:"most_width"`
	GTps      float64 `json:"gt_per_s"`
	MostGTps  float64 `json:"most_gt_per_s"`
}

// Rings has the lengths of the receive and transmit rings, and their maximum, in descriptors.
type Rings struct {
	Rx     int `json:"rx"`
	MostRx int `json:"most_rx"`
	Tx     int `json:"tx"`
	MostTx int `json:"most_tx"`
}

// Channels has the numbers of queues with interrupts, and their maximum.
type Channels struct {
	Rx           int `json:"rx"`
	MostRx       int `json:"most_rx"`
	Tx           int `json:"tx"`
	MostTx       int `json:"most_tx"`
	Combined     int `json:"combined"`
	MostCombined int `json:"most_combined"`
}

// Coalesce says how long interrupts are delayed to wait for more packets.
type Coalesce struct {
	RxUs     int  `json:"rx_us"`
	RxFrames int  `json:"rx_frames"`
	TxUs     int  `json:"tx_us"`
	TxFrames int  `json:"tx_frames"`
	AdaptRx  bool `json:"adaptive_rx"`
	AdaptTx  bool `json:"adaptive_tx"`
}

// Pause is flow control by IEEE 802.3 pause frames.
type Pause struct {
	Autoneg bool `json:"autoneg"`
	Rx      bool `json:"rx"`
	Tx      bool `json:"tx"`
}

// FEC is forward error correction of a link (ethtool --show-fec): "none", "off", "rs", "baser",
// "llrs", "auto", or several of these separated by spaces.
type FEC struct {
	Active     string `json:"active" is:"words"`
	Configured string `json:"configured" is:"words"`
}

// Module is a pluggable module (SFF-8472, SFF-8636), without its serial number. Values that it does
// not measure are absent. Powers are given for each lane.
type Module struct {
	Vendor       string    `json:"vendor,omitempty" is:"words"`
	Part         string    `json:"part,omitempty" is:"words"`
	TemperatureC float64   `json:"temperature_c,omitempty"`
	RxPowerDBm   []float64 `json:"rx_power_dbm,omitempty"`
	TxPowerDBm   []float64 `json:"tx_power_dbm,omitempty"`
}

// RSS describes how received packets are spread over queues (Documentation/networking/scaling.rst):
// the indirection table as an argument of ethtool -X, and for each kind of packet the hashed fields
// as an argument of ethtool -N ("sdfn").
type RSS struct {
	Table  string            `json:"table,omitempty" is:"words"`
	Fields map[string]string `json:"fields,omitempty" is:"words,words"`
}

// Bridge is a bridge with the VLANs of its ports. Its forwarding table is in Snapshot.FDB.
type Bridge struct {
	Interface     string       `json:"interface" is:"interface"`
	VLANFiltering bool         `json:"vlan_filtering"`
	STP           bool         `json:"stp"`
	Ports         []BridgePort `json:"ports,omitempty"`
}

// BridgePort is a port of a bridge, or the bridge itself. VLANs are as bridge(8) prints them: "1
// PVID untagged", "10-20".
type BridgePort struct {
	Interface string   `json:"interface" is:"interface"`
	VLANs     []string `json:"vlans,omitempty" is:"words"`
}

// Bond describes a bonding device (Documentation/networking/bonding.rst), or a team(8) with the
// runner as its mode.
type Bond struct {
	Interface string `json:"interface" is:"interface"`
	// Kind is "team" for a team device. Empty: a bond.
	Kind       string `json:"kind,omitempty" is:"word"`
	Mode       string `json:"mode" is:"word"` // of a team: the runner, such as lacp or loadbalance
	HashPolicy string `json:"hash_policy,omitempty" is:"word"`
	MIIMonMs   int    `json:"miimon_ms"`                     // 0: links are not monitored, or it is a team
	LACPRate   string `json:"lacp_rate,omitempty" is:"word"` // for 802.3ad: slow, fast
	// The fields below are in /proc/net/bonding and in the state of teamd only. Link is the state of
	// the whole device, up or down. ActiveMember is the member that sends in active-backup and the
	// balance-tlb and balance-alb modes. Empty: none, or not read.
	Link         string `json:"link,omitempty" is:"word"`
	ActiveMember string `json:"active_member,omitempty" is:"interface"`
	// Aggregator is the ID of the 802.3ad aggregator that carries the traffic, Ports the number of
	// its ports, and PartnerMAC the system at their other end. 0 and empty: none, or not read, as
	// without CAP_NET_ADMIN. A partner of 00:00:00:00:00:00 sends no LACP.
	Aggregator int          `json:"aggregator,omitempty"`
	Ports      int          `json:"aggregator_ports,omitempty"`
	PartnerMAC string       `json:"partner_mac,omitempty" is:"link"`
	Slaves     []BondMember `json:"slaves,omitempty"`
}

// BondMember is a slave of a bond, or a port of a team.
type BondMember struct {
	Interface string `json:"interface" is:"interface"`
	// State is active or backup; of a port of a team's lacp runner the state of the runner, such as
	// current. Link is up, going down, down or going back. Empty: not read.
	State string `json:"state" is:"word"`
	Link  string `json:"link" is:"words"`
	// LinkFailures counts link failures since the slave joined. Aggregator is its 802.3ad
	// aggregator: slaves of one bond in different aggregators do not work together. 0: none.
	LinkFailures int `json:"link_failures"`
	Aggregator   int `json:"aggregator,omitempty"`
	// The fields below are in /proc/net/bonding and in the state of teamd only. SpeedMbps and Duplex
	// (full, half) are those that the bond works with. 0 and empty: unknown.
	SpeedMbps int64  `json:"speed_mbps,omitempty"`
	Duplex    string `json:"duplex,omitempty" is:"word"`
	// ActorChurn and PartnerChurn say whether LACP failed to bring this end and the other end into
	// an aggregator (IEEE 802.1AX, churn detection): none, monitoring (the first minute), churned.
	// Empty: not read.
	ActorChurn   string `json:"actor_churn,omitempty" is:"word"`
	PartnerChurn string `json:"partner_churn,omitempty" is:"word"`
	// ActorMAC and PartnerMAC are the systems of the last LACP frames of this end and of the other
	// end. Empty: not read. 00:00:00:00:00:00: no frame of the partner arrived.
	ActorMAC   string `json:"actor_mac,omitempty" is:"link"`
	PartnerMAC string `json:"partner_mac,omitempty" is:"link"`
	// ActorState and PartnerState are the states in these frames, as bits (IEEE 802.1AX): 1 active,
	// 2 short timeout, 4 aggregation, 8 in sync, 16 collecting, 32 distributing, 64 defaulted (no
	// partner), 128 expired. Nil: not read.
	ActorState   *int `json:"actor_state,omitempty"`
	PartnerState *int `json:"partner_state,omitempty"`
}

// NICQueue is a queue with the CPUs that packets are steered to (RPS, XPS;
// Documentation/networking/scaling.rst) as hexadecimal masks.
type NICQueue struct {
	Queue string `json:"queue" is:"word"` // "rx-0", "tx-0"
	CPUs  string `json:"cpus,omitempty" is:"word"`
	Flows int    `json:"rps_flows,omitempty"`
}

// IRQ is one interrupt of a NIC.
type IRQ struct {
	IRQ      int    `json:"irq"`
	Name     string `json:"name,omitempty" is:"words"` // the driver's: "eth0-rx-0"
	Affinity string `json:"affinity" is:"word"`        // CPUs that may serve it, "0-3"
	// Effective is the subset of these CPUs that serves it. Absent: the kernel does not report it.
	Effective string `json:"effective_affinity,omitempty" is:"word"`
	// NUMA is the node of its memory, -1 if none. Nil: the kernel does not report it.
	NUMA  *int  `json:"numa_node,omitempty"`
	Count int64 `json:"count"` // on all CPUs, since boot
	// ByCPU has the CPUs that served it since boot, with their counts. Absent: not read; only text
	// of /proc/interrupts has it.
	ByCPU []CPUCount `json:"by_cpu,omitempty"`
}

// CPUCount is a count on one CPU.
type CPUCount struct {
	CPU   int   `json:"cpu"`
	Count int64 `json:"count"`
}
