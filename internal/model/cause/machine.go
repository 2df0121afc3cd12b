package cause

// Causes in the machine itself: CPUs, memory, clock, resolver and the kernel's log.
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
	ReceiveOnOneCPU     = one[Core]("receive-on-one-cpu") // Share is that of the packets received
	FaultLogged         = each[Logged]("fault-logged")
	ToolSurplus         = by("tool-surplus", func(r Report) any { return r.Tool })
)

// Core is the CPU that handles most receive softirqs (NET_RX).
type Core struct {
	CPU   int     `json:"cpu"`
	Share float64 `json:"share"` // of all NET_RX softirqs of the host, 0 to 1
}

// Raised is for causes whose fix is to raise a kernel parameter.
type Raised struct {
	Already int64 `json:"already,omitempty"` // current value, if it is too large to raise further; 0: raise it
	Foreign bool  `json:"foreign,omitempty"` // the packets may belong to other network namespaces
}

// Pressure says who lacked memory.
type Pressure struct {
	Programs bool `json:"programs,omitempty"` // true: programs (PSI); false: TCP reached tcp_mem
}

// CPUs says how many CPUs are fully busy.
type CPUs struct {
	Full int `json:"full"`
	Of   int `json:"of"` // number of CPUs
}

// Source names an available clock source that is faster than the current one.
type Source struct {
	Faster string `json:"faster"`
}

// NameServer is a name server on a link of the host that does not answer ARP or neighbour discovery.
type NameServer struct {
	Server string `json:"server"`
	First  bool   `json:"first,omitempty"` // it is the first in resolv.conf, so look-ups wait for it
}

// Logged names a fault that the kernel reported in its log.
type Logged struct {
	Fault string `json:"fault"` // a code of netstate.Messages, such as "transmit-timeout"
}

// Report compares the rate that another measuring program prints with the rate at which its
// receivers read data.
type Report struct {
	Tool       string  `json:"tool"`
	SumBps     float64 `json:"sum_bps"`     // printed by the program, in bits per second
	GoodputBps float64 `json:"goodput_bps"` // read by its receivers in the window, in bits per second
}
