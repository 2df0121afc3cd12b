package fact

// Facts about a machine. Shares are of 1.
type (
	// BusyCPU is how busy one CPU was, and all together.
	BusyCPU struct {
		CPU        int     `json:"cpu"`
		Busy       float64 `json:"busy"`
		Interrupts float64 `json:"interrupts"` // with softirqs
		CPUs       int     `json:"cpus"`
		Together   float64 `json:"together"`
	}
	// Softirqs are those of a CPU.
	Softirqs struct {
		ReceivePerS    float64 `json:"receive_per_s"`
		InterruptsPerS float64 `json:"interrupts_per_s"`
	}
	// OtherNamespaces: most packets of a CPU are of other network namespaces.
	OtherNamespaces struct{}
	// Budget is how often a CPU ran out of its budget for packets, and how many it dropped.
	Budget struct {
		Squeezed float64 `json:"squeezed"`
		Dropped  float64 `json:"dropped"`
	}
	// RingMissed are packets for which a NIC had no room in its receive ring.
	RingMissed struct {
		Interface string  `json:"interface"`
		Driver    string  `json:"driver,omitempty"` // whose own counter it is; empty: the kernel's
		Missed    float64 `json:"missed"`
		Received  float64 `json:"received,omitempty"`
		Time
	}
	// BacklogDropped is what a CPU's backlog dropped.
	BacklogDropped struct {
		CPU     int      `json:"cpu"`
		Dropped float64  `json:"dropped"`
		Took    float64  `json:"took"`
		Busy    *float64 `json:"busy,omitempty"` // absent: not known
	}
	// WholeMachine: softnet_stat is of the whole machine, whose CPUs took more packets than the
	// interfaces of the hosts received.
	WholeMachine struct {
		Hosts    []string `json:"hosts"`
		Took     float64  `json:"took"`
		Received float64  `json:"received"`
	}
	// TCPPressure is how often TCP reached the bound of its memory.
	TCPPressure struct {
		Grew  int64 `json:"grew"`
		Bytes int64 `json:"bytes"` // of its buffers at the end
	}
	// MemoryWaits are the shares of a window in which programs waited for memory.
	MemoryWaits struct {
		Some           float64 `json:"some"`
		All            float64 `json:"all"`
		AvailableBytes int64   `json:"available_bytes"` // at the end
	}
	// CPUTime is what a CPU did between two readings.
	CPUTime struct {
		CPU        int     `json:"cpu"`
		OverS      float64 `json:"over_s"`
		Idle       float64 `json:"idle"`
		Programs   float64 `json:"programs"`
		Kernel     float64 `json:"kernel"`
		Interrupts float64 `json:"interrupts"`
	}
	// StolenTime is the share of a CPU's time that the hypervisor took.
	StolenTime struct {
		CPU   int     `json:"cpu"`
		OverS float64 `json:"over_s"`
		Share float64 `json:"share"`
	}
	// Memory is a machine's.
	Memory struct {
		AvailableBytes int64 `json:"available_bytes"`
		Bytes          int64 `json:"bytes"`
	}
	// Conntrack is the connection tracking table.
	Conntrack struct {
		Count int64 `json:"count"`
		Most  int64 `json:"most"`
	}
	// OpenFiles are those of a machine.
	OpenFiles struct {
		Open int64 `json:"open"`
		Most int64 `json:"most"` // fs.file-max
	}
	// ClockSource is where the kernel reads the time.
	ClockSource struct {
		Source    string   `json:"source"`
		Available []string `json:"available"`
	}
	// ClockError is the kernel's bound for the error of a clock that is not synchronised.
	ClockError struct {
		ErrorS float64 `json:"error_s"`
	}
	// Powersave is how many CPUs have that frequency governor.
	Powersave struct {
		CPUs int `json:"cpus"`
	}
	// NameServers are those of resolv.conf.
	NameServers struct {
		Servers []string `json:"servers"`
		NoLocal bool     `json:"no_local,omitempty"` // nothing listens on UDP port 53
	}
	// SearchDomains are those of resolv.conf, which has ndots:5.
	SearchDomains struct {
		Domains int `json:"domains"`
	}
	// TimeSqueeze is how often CPUs ran out of their budget (softnet_stat).
	TimeSqueeze struct {
		Times   uint64 `json:"times"`
		Packets uint64 `json:"packets"`
		Time
	}
	// LoggedLines is how many lines of the log are about one fault.
	LoggedLines struct {
		Lines int `json:"lines"`
	}
	// MachineLog: the log is of the whole machine, and was read in another network namespace than
	// its first one.
	MachineLog struct{}
)

var (
	_ = is[BusyCPU]("busy_cpu")
	_ = is[Softirqs]("softirqs")
	_ = is[OtherNamespaces]("other_namespaces")
	_ = is[Budget]("budget")
	_ = is[RingMissed]("ring_missed")
	_ = is[BacklogDropped]("backlog_dropped")
	_ = is[WholeMachine]("whole_machine")
	_ = is[TCPPressure]("tcp_pressure")
	_ = is[MemoryWaits]("memory_waits")
	_ = is[CPUTime]("cpu_time")
	_ = is[StolenTime]("stolen_time")
	_ = is[Memory]("memory")
	_ = is[Conntrack]("conntrack")
	_ = is[OpenFiles]("open_files")
	_ = is[ClockSource]("clock_source")
	_ = is[ClockError]("clock_error")
	_ = is[Powersave]("powersave")
	_ = is[NameServers]("name_servers")
	_ = is[SearchDomains]("search_domains")
	_ = is[TimeSqueeze]("time_squeeze")
	_ = is[LoggedLines]("logged_lines")
	_ = is[MachineLog]("machine_log")
)

// Names returns the parameter.
func (Conntrack) Names() []string { return []string{"net.netfilter.nf_conntrack_max"} }

// Names returns the parameter.
func (OpenFiles) Names() []string { return []string{"fs.file-max"} }
