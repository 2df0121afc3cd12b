package fact

// Facts about NICs and their settings.
type (
	// Queues is the number of receive queues (channels) of a NIC, now and at most.
	Queues struct {
		Interface string `json:"interface"`
		Channels  int    `json:"channels"`
		Most      int    `json:"most"`
		CPUs      int    `json:"cpus"` // of the host
	}
	// ServedInterrupts says how many of the interrupts of a NIC one CPU served since the boot.
	ServedInterrupts struct {
		First int   `json:"first"` // numbers of the interrupts
		Last  int   `json:"last"`
		CPU   int   `json:"cpu"`
		Count int64 `json:"count"`
		Of    int64 `json:"of"`
	}
	// Interrupts is the range of a NIC's interrupt numbers, and the CPUs that all of them may use.
	Interrupts struct {
		First int    `json:"first"`
		Last  int    `json:"last"`
		CPUs  string `json:"cpus"`
	}
	// PCIe is the link between a NIC and its machine, as it is and at best.
	PCIe struct {
		Interface   string  `json:"interface"`
		Bus         string  `json:"bus"`
		Width       int     `json:"width"`
		GTps        float64 `json:"gt_per_s"`
		MostWidth   int     `json:"most_width"`
		MostGTps    float64 `json:"most_gt_per_s"`
		CarriesGbps float64 `json:"carries_gbps"`      // in one direction
		NeededGbps  float64 `json:"needed_gbps"`       // by the Ethernet link; 0: not known
		Port        bool    `json:"of_port,omitempty"` // NeededGbps is the port's, not the link's
	}
	// USB is the speed of an adapter on its USB and its Ethernet side.
	USB struct {
		Interface    string  `json:"interface"`
		Mbps         float64 `json:"mbps"`
		EthernetMbps int64   `json:"ethernet_mbps"`
	}
	// Driver is the driver of an interface.
	Driver struct {
		Interface string `json:"interface"`
		Driver    string `json:"driver"`
	}
	// DriverCounter is a driver's own counter that grew, and its meaning for all drivers.
	DriverCounter struct {
		Interface string `json:"interface"`
		Name      string `json:"name"`
		Driver    string `json:"driver"`
		Meaning   string `json:"meaning"`
		Grew      int64  `json:"grew"`
		// Inferred says that the driver is known by the names of its counters only.
		Inferred bool `json:"driver_inferred,omitempty"`
		Time
	}
	// UnknownCounter is a counter of a driver whose name says that something was lost or failed.
	UnknownCounter struct {
		Interface string `json:"interface"`
		Driver    string `json:"driver,omitempty"` // absent: not known
		Name      string `json:"name"`
		Value     int64  `json:"value"`
	}
	// OffloadOff is an offload that is switched off.
	OffloadOff struct {
		Interface string `json:"interface"`
		Feature   string `json:"feature"`         // the kernel's name
		Option    string `json:"option"`          // the option of ethtool(8)
		Fixed     bool   `json:"fixed,omitempty"` // no command switches it on
	}
	// Promiscuous is an interface in promiscuous mode that is in no bridge.
	Promiscuous struct {
		Interface string `json:"interface"`
	}
	// MTU is the MTU of an interface.
	MTU struct {
		Interface string `json:"interface"`
		Bytes     int    `json:"bytes"`
	}
	// PortMTUs are the different MTUs of two ports of a bridge.
	PortMTUs struct {
		Larger  MTU `json:"larger"`
		Smaller MTU `json:"smaller"`
	}
	// ShortRing is a receive ring that is shorter than it can be, and the packets for which it had no
	// room.
	ShortRing struct {
		Interface   string `json:"interface"`
		Descriptors int    `json:"descriptors"`
		Most        int    `json:"most"`
		Missed      uint64 `json:"missed"`
		Time
	}
	// Coalescing is how long, or for how many packets, a NIC waits before it interrupts.
	Coalescing struct {
		Interface string `json:"interface"`
		RxUs      int    `json:"rx_us"`
		RxFrames  int    `json:"rx_frames"`
	}
	// LROForwarding is an interface with large receive offload on a host that forwards.
	LROForwarding struct {
		Interface string `json:"interface"`
	}
	// WirelessLink is what the driver of a wireless interface says of its link, as in netstate.WiFi.
	WirelessLink struct {
		Interface    string  `json:"interface"`
		SignalDBm    int     `json:"signal_dbm,omitempty"`
		RxMbps       float64 `json:"rx_mbps,omitempty"`
		TxMbps       float64 `json:"tx_mbps,omitempty"`
		TxPackets    int64   `json:"tx_packets,omitempty"`
		TxRetries    int64   `json:"tx_retries,omitempty"`
		TxFailed     int64   `json:"tx_failed,omitempty"`
		FrequencyMHz int     `json:"frequency_mhz,omitempty"`
	}
	// Wireless is a wireless interface.
	Wireless struct {
		Interface string `json:"interface"`
	}
	// TransmitQueue is the length of an interface's transmit queue (txqueuelen).
	TransmitQueue struct {
		Interface string `json:"interface"`
		Packets   int    `json:"packets"`
	}
)

var _ = are(Queues{}, Interrupts{}, ServedInterrupts{}, USB{}, Driver{}, UnknownCounter{}, DriverCounter{},
	OffloadOff{}, Promiscuous{}, MTU{}, ShortRing{}, Coalescing{}, LROForwarding{}, Wireless{}, WirelessLink{},
	TransmitQueue{})
var (
	_ = is[PCIe]("pcie")
	_ = is[PortMTUs]("port_mtus")
)

// Names returns the interfaces of both ports.
func (p PortMTUs) Names() []string { return []string{p.Larger.Interface, p.Smaller.Interface} }

// Names returns the interface and the parameter.
func (l LROForwarding) Names() []string { return []string{l.Interface, "net.ipv4.ip_forward"} }
