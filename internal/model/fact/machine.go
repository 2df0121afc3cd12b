package fact

// Facts about a machine. Shares are from 0 to 1.
type (
	// BusyCPU is how busy one CPU was, and all CPUs of its machine together.
	BusyCPU struct {
		CPU        int     `json:"cpu"`
		Busy       float64 `json:"busy"`
		Interrupts float64 `json:"interrupts"` // part of Busy, with softirqs
		CPUs       int     `json:"cpus"`
		Together   float64 `json:"together"` // how busy all CPUs were
	}
	// Softirqs is the rate of receive softirqs and interrupts on one CPU.
	Softirqs struct {
		ReceivePerS    float64 `json:"receive_per_s"`
		InterruptsPerS float64 `json:"interrupts_per_s"`
	}
	// OtherNamespaces says that most packets of a CPU belong to other network namespaces.
	OtherNamespaces struct{}
	// Budget is how often a CPU used up its budget for packets, and how many packets it dropped.
	Budget struct {
		Squeezed float64 `json:"squeezed"`
		Dropped  float64 `json:"dropped"`
	}
	// RingMissed is the number of packets for which a NIC had no room in its receive ring.
	RingMissed struct {
		Interface string  `json:"interface"`
		Driver    string  `json:"driver,omitempty"`  // driver whose own counter it is; empty: the kernel's counter
		Printed   string  `json:"printed,omitempty"` // what a system other than Linux calls the counter
		Missed    float64 `json:"missed"`
		Received  float64 `json:"received,omitempty"`
		Time
	}
	// BacklogDropped is the number of packets that a CPU's backlog dropped, and that it accepted.
	BacklogDropped struct {
		CPU     int      `json:"cpu"`
		Dropped float64  `json:"dropped"`
		Took    float64  `json:"took"`
		Busy    *float64 `json:"busy,omitempty"` // absent: not known
	}
	// WholeMachine says that softnet_stat counts for the whole machine: its CPUs took more packets than
	// the interfaces of these hosts received.
	WholeMachine struct {
		Hosts    []string `json:"hosts"`
		Took     float64  `json:"took"`
		Received float64  `json:"received"`
	}
	// TCPPressure is how often TCP reached the limit of its memory.
	TCPPressure struct {
		Grew  int64 `json:"grew"`
		Bytes int64 `json:"bytes"` // of TCP's buffers, at the end
	}
	// MemoryWaits is the share of a window in which some program, or all of them, waited for memory
	// (PSI).
	MemoryWaits struct {
		Some           float64 `json:"some"`
		All            float64 `json:"all"`
		AvailableBytes int64   `json:"available_bytes"` // at the end
	}
	// CPUTime is how a CPU spent the time between two readings, as shares of it.
	CPUTime struct {
		CPU        int     `json:"cpu"`
		OverS      float64 `json:"over_s"`
		Idle       float64 `json:"idle"`
		Programs   float64 `json:"programs"`
		Kernel     float64 `json:"kernel"`
		Interrupts float64 `json:"interrupts"`
	}
	// StolenTime is the share of a CPU's time that a hypervisor took.
	StolenTime struct {
		CPU   int     `json:"cpu"`
		OverS float64 `json:"over_s"`
		Share float64 `json:"share"`
	}
	// Memory is the available and the total memory of a machine.
	Memory struct {
		AvailableBytes int64 `json:"available_bytes"`
		Bytes          int64 `json:"bytes"`
	}
	// Conntrack is the number of tracked connections and its limit.
	Conntrack struct {
		Count int64 `json:"count"`
		Most  int64 `json:"most"`
	}
	// OpenFiles is the number of open files of a machine and its limit.
	OpenFiles struct {
		Open int64 `json:"open"`
		Most int64 `json:"most"` // fs.file-max
	}
	// ClockSource is the clock source that the kernel uses, and those that are available.
	ClockSource struct {
		Source    string   `json:"source"`
		Available []string `json:"available"`
	}
	// ClockError is the kernel's bound of the error of a clock that is not synchronised.
	ClockError struct {
		ErrorS float64 `json:"error_s"`
	}
	// Powersave is the number of CPUs with the frequency governor powersave.
	Powersave struct {
		CPUs int `json:"cpus"`
	}
	// NameServers lists the name servers of resolv.conf.
	NameServers struct {
		Servers []string `json:"servers"`
		NoLocal bool     `json:"no_local,omitempty"` // nothing listens on UDP port 53 of the host
	}
	// SearchDomains is the number of search domains of resolv.conf, which also has ndots:5.
	SearchDomains struct {
		Domains int `json:"domains"`
	}
	// ReceivedBy is how many of the packets that all CPUs of a host took from their queues one CPU
	// took, and how often it used up its budget (softnet_stat).
	ReceivedBy struct {
		CPU      int    `json:"cpu"`
		CPUs     int    `json:"cpus"`
		Packets  uint64 `json:"packets"`
		Of       uint64 `json:"of"`
		Squeezed uint64 `json:"squeezed,omitempty"`
		Time
	}
	// TimeSqueeze is how often CPUs used up their budget for packets (softnet_stat).
	TimeSqueeze struct {
		Times   uint64 `json:"times"`
		Packets uint64 `json:"packets"`
		Time
	}
	// LoggedLines is the number of lines of the kernel log about one fault.
	LoggedLines struct {
		Lines int `json:"lines"`
	}
	// MachineLog says that the kernel log belongs to the whole machine, while the host is a network
	// namespace other than its first.
	MachineLog struct{}
)

var _ = are(BusyCPU{}, Softirqs{}, OtherNamespaces{}, Budget{}, RingMissed{}, BacklogDropped{}, WholeMachine{},
	TCPPressure{}, MemoryWaits{}, CPUTime{}, StolenTime{}, Memory{}, Conntrack{}, OpenFiles{}, ClockSource{},
	ClockError{}, Powersave{}, NameServers{}, SearchDomains{}, TimeSqueeze{}, ReceivedBy{}, LoggedLines{},
	MachineLog{})

// Names returns the parameter.
func (Conntrack) Names() []string { return []string{"net.netfilter.nf_conntrack_max"} }

// Names returns the parameter.
func (OpenFiles) Names() []string { return []string{"fs.file-max"} }
