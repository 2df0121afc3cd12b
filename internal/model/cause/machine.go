package cause

// Causes of a machine: its CPUs, memory, clock, resolver and log.
var (
	SoftirqOneCore      = one[Core]("softirq-one-core")
	RingOverrun         = each[None]("ring-overrun")
	SoftnetDrop         = one[Raised]("softnet-drop")
	MemoryPressure      = each[Pressure]("memory-pressure")
	CPUSaturated        = one[CPUs]("cpu-saturated")
	CPUStolen           = one[None]("cpu-stolen")
	MemoryShort         = one[None]("memory-short")
	ConntrackFull       = one[None]("conntrack-full")
	FilesExhausted      = one[None]("files-exhausted")
	SlowClockSource     = one[Source]("slow-clock-source")
	ClockUnsynchronised = one[None]("clock-unsynchronised")
	PowersaveGovernor   = one[None]("powersave-governor")
	ResolverAbsent      = one[None]("resolver-absent")
	ResolverUnresolved  = one[NameServer]("resolver-unresolved")
	ResolverSearchLong  = one[None]("resolver-search-long")
	PacketsSqueezed     = one[Raised]("packets-squeezed")
	FaultLogged         = each[Logged]("fault-logged")
	ToolSurplus         = by("tool-surplus", func(r Report) any { return r.Tool })
)

// Core is a CPU, and its share of all receive softirqs.
type Core struct {
	CPU   int     `json:"cpu"`
	Share float64 `json:"share"`
}

// Raised is what a larger value of a kernel parameter is to remove.
type Raised struct {
	Already int64 `json:"already,omitempty"` // the value, which is too large to be raised further; 0: it is not
	Foreign bool  `json:"foreign,omitempty"` // the packets may be of other network namespaces
}

// Pressure is on memory: that of TCP, or that for which programs waited.
type Pressure struct {
	Programs bool `json:"programs,omitempty"`
}

// CPUs is how many have no time left.
type CPUs struct {
	Full int `json:"full"`
	Of   int `json:"of"`
}

// Source is a clock source that is faster.
type Source struct {
	Faster string `json:"faster"`
}

// NameServer is one that does not answer ARP.
type NameServer struct {
	Server string `json:"server"`
	First  bool   `json:"first,omitempty"` // it is asked before others
}

// Logged is a fault that the kernel has logged.
type Logged struct {
	Fault string `json:"fault"`
}

// Faults that the kernel logs.
const (
	TransmitTimedOut  = "transmit-timeout"
	ConntrackOverflow = "conntrack-full"
	NeighbourOverflow = "neighbours-full"
	SYNFlood          = "syn-queue-full"
	OutOfTCPMemory    = "tcp-memory"
	AddressTaken      = "address-taken"
	CameUpHalfDuplex  = "half-duplex"
	AllocationFailed  = "allocation-failed"
)

// Report is what another program reports, and what its receivers read.
type Report struct {
	Tool       string  `json:"tool"`
	SumBps     float64 `json:"sum_bps"`
	GoodputBps float64 `json:"goodput_bps"`
}
