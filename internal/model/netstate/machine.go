package netstate

// CPUEvents counts the interrupts and, by kind (NET_RX, NET_TX, …), the softirqs of one CPU.
type CPUEvents struct {
	CPU        int               `json:"cpu"`
	Interrupts uint64            `json:"interrupts"`
	Softirqs   map[string]uint64 `json:"softirqs,omitempty" is:"word"`
}

// MemoryLoad is the memory of a machine: what is available to programs, what TCP uses in all
// network namespaces, and the time since boot during which some or all programs waited for memory
// (PSI). A value that the kernel does not report is 0.
type MemoryLoad struct {
	AvailableBytes int64  `json:"available_bytes"`
	TCPBytes       int64  `json:"tcp_bytes"`
	SomeWaitedUs   uint64 `json:"some_waited_us"`
	AllWaitedUs    uint64 `json:"all_waited_us"`
}

// KernelLog has the kernel's log messages about the network. In a trial they are those of the
// window, in a snapshot all that are still stored. The log belongs to the machine, not to the
// namespace.
type KernelLog struct {
	// Lines has the latest messages, oldest first, at most MostLogLines. More counts earlier ones.
	Lines []LogLine `json:"lines,omitempty"`
	More  int       `json:"more,omitempty"`
	// Missing is why the log was not read.
	Missing string `json:"missing,omitempty" is:"text"`
}

// LogLine is one line of the kernel's log.
type LogLine struct {
	// AtNs is the time of the message in nanoseconds: in a trial on the conductor's monotonic
	// clock, in a snapshot since the boot of the host. The clock of the log can deviate from the
	// monotonic clock; in a trial, AtNs is therefore limited to the time between the two samples
	// around the message.
	AtNs  int64  `json:"at_ns"`
	Level int    `json:"level"` // 0 emergency … 3 error, 4 warning, … 7 debug
	Text  string `json:"text" is:"text"`
}

// MostLogLines limits the messages that are stored.
const MostLogLines = 50

// Add appends a message. If there are too many, it removes the oldest.
func (l *KernelLog) Add(line LogLine) {
	if l.Lines = append(l.Lines, line); len(l.Lines) > MostLogLines {
		l.Lines = l.Lines[1:]
		l.More++
	}
}
