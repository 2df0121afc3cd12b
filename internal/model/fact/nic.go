package fact

// Facts about NICs and their settings.
type (
	// Queues are those by which a NIC receives.
	Queues struct {
		Interface string `json:"interface"`
		Channels  int    `json:"channels"`
		Most      int    `json:"most"`
		CPUs      int    `json:"cpus"` // of the host
	}
	// Interrupts are those of a NIC, from First to Last, and the CPUs that they may have.
	Interrupts struct {
		First int    `json:"first"`
		Last  int    `json:"last"`
		CPUs  string `json:"cpus"`
	}
	// PCIe is a NIC's link to the machine.
	PCIe struct {
		Interface   string  `json:"interface"`
		Bus         string  `json:"bus"`
		Width       int     `json:"width"`
		GTps        float64 `json:"gt_per_s"`
		MostWidth   int     `json:"most_width"`
		MostGTps    float64 `json:"most_gt_per_s"`
		CarriesGbps float64 `json:"carries_gbps"`      // each way
		NeededGbps  float64 `json:"needed_gbps"`       // by the Ethernet link
		Port        bool    `json:"of_port,omitempty"` // by the port: the link's rate is not known
	}
	// USB is an adapter's speed on either side.
	USB struct {
		Interface    string  `json:"interface"`
		Mbps         float64 `json:"mbps"`
		EthernetMbps int64   `json:"ethernet_mbps"`
	}
	// Driver is that of an interface.
	Driver struct {
		Interface string `json:"interface"`
		Driver    string `json:"driver"`
	}
	// DriverCounter is a driver's own counter that grew.
	DriverCounter struct {
		Interface string `json:"interface"`
		Name      string `json:"name"`
		Driver    string `json:"driver"`
		Meaning   string `json:"meaning"`
		Grew      int64  `json:"grew"`
		Time
	}
	// OffloadOff is an offload that is off.
	OffloadOff struct {
		Interface string `json:"interface"`
		Feature   string `json:"feature"` // as the kernel names it
		Option    string `json:"option"`  // of ethtool(8)
	}
	// Promiscuous: an interface that is in no bridge takes all frames.
	Promiscuous struct {
		Interface string `json:"interface"`
	}
	// MTU is an interface's.
	MTU struct {
		Interface string `json:"interface"`
		Bytes     int    `json:"bytes"`
	}
	// PortMTUs are those of two ports of a bridge.
	PortMTUs struct {
		Larger  MTU `json:"larger"`
		Smaller MTU `json:"smaller"`
	}
	// ShortRing is a receive ring that can be longer, and the packets that it had no room for.
	ShortRing struct {
		Interface   string `json:"interface"`
		Descriptors int    `json:"descriptors"`
		Most        int    `json:"most"`
		Missed      uint64 `json:"missed"`
		Time
	}
	// Coalescing is how an interface holds packets back before it interrupts.
	Coalescing struct {
		Interface string `json:"interface"`
		RxUs      int    `json:"rx_us"`
		RxFrames  int    `json:"rx_frames"`
	}
	// LROForwarding: large receive offload is on, and the host forwards.
	LROForwarding struct {
		Interface string `json:"interface"`
	}
	// Wireless is a wireless interface.
	Wireless struct {
		Interface string `json:"interface"`
	}
	// TransmitQueue is the length of an interface's queue (txqueuelen).
	TransmitQueue struct {
		Interface string `json:"interface"`
		Packets   int    `json:"packets"`
	}
)

var (
	_ = is[Queues]("queues")
	_ = is[Interrupts]("interrupts")
	_ = is[PCIe]("pcie")
	_ = is[USB]("usb")
	_ = is[Driver]("driver")
	_ = is[DriverCounter]("driver_counter")
	_ = is[OffloadOff]("offload_off")
	_ = is[Promiscuous]("promiscuous")
	_ = is[MTU]("mtu")
	_ = is[PortMTUs]("port_mtus")
	_ = is[ShortRing]("short_ring")
	_ = is[Coalescing]("coalescing")
	_ = is[LROForwarding]("lro_forwarding")
	_ = is[Wireless]("wireless")
	_ = is[TransmitQueue]("transmit_queue")
)

// Names returns the interfaces of both ports.
func (p PortMTUs) Names() []string { return []string{p.Larger.Interface, p.Smaller.Interface} }

// Names returns the interface and the parameter.
func (l LROForwarding) Names() []string { return []string{l.Interface, "net.ipv4.ip_forward"} }
