package record

// CPUEvents are interrupts, of whatever source, and softirqs by kind (NET_RX,
// NET_TX, …) that one CPU served.
type CPUEvents struct {
	CPU        int               `json:"cpu"`
	Interrupts uint64            `json:"interrupts"`
	Softirqs   map[string]uint64 `json:"softirqs,omitempty"`
}

// MemoryLoad is the memory of a machine: what programs could still have, what TCP
// has of all network namespaces, and since boot the time in which some program, or
// all of them, waited for memory (PSI). A part that this kernel does not report is 0.
type MemoryLoad struct {
	AvailableBytes int64  `json:"available_bytes"`
	TCPBytes       int64  `json:"tcp_bytes"`
	SomeWaitedUs   uint64 `json:"some_waited_us"`
	AllWaitedUs    uint64 `json:"all_waited_us"`
}
