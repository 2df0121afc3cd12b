package record

import (
	"regexp"
	"strings"
)

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

// KernelLog is what the kernel wrote into its log about the network: of a trial, from its
// window's beginning to its end; of a snapshot, what is still kept. The log is the machine's.
type KernelLog struct {
	// Lines are at most MostLogLines, the latest, the oldest first. More is how many came before.
	Lines []LogLine `json:"lines,omitempty"`
	More  int       `json:"more,omitempty"`
	// Missing is why the log was not read.
	Missing string `json:"missing,omitempty"`
}

// LogLine is one line of the kernel's log.
type LogLine struct {
	// AtNs is when it was written, in nanoseconds: of a trial on the conductor's monotonic
	// clock, of a snapshot since the host's boot. The kernel's own clock of the log may differ
	// from the monotonic one; of a trial, AtNs is bounded by the samples between which the
	// line came.
	AtNs  int64  `json:"at_ns"`
	Level int    `json:"level"` // 0 emergency … 3 error, 4 warning, … 7 debug
	Text  string `json:"text"`
}

// MostLogLines bounds the lines that are kept.
const MostLogLines = 50

// Add adds a line, which displaces the oldest if there are too many.
func (l *KernelLog) Add(line LogLine) {
	if l.Lines = append(l.Lines, line); len(l.Lines) > MostLogLines {
		l.Lines = l.Lines[1:]
		l.More++
	}
}

// networkMessages are what lines of the kernel's log are about that concern the network. The
// texts are those of net/ and drivers/net/ in the kernel.
var networkMessages = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\blink (is |becomes )?(up|down|ready|not ready)\b`, // drivers, addrconf
	`\bcarrier\b`,
	`netdev watchdog`, `transmit queue \d+ timed out`, // net/sched/sch_generic.c
	// net/core/dev.c, net/bridge
	`(promiscuous|allmulticast|blocking|forwarding|listening|learning|disabled) (mode|state)\b`,
	`possible syn flooding`, `\btcp: (out of memory|too many orphaned|request_sock)`, // net/ipv4
	`martian (source|destination)`, `\bnf_conntrack: .*(full|dropping)`, `table full, dropping packet`,
	`neighbou?r.* table overflow`, `duplicate address detected`, `\bdad\b`,
	`\b(bond|team|br|vlan|vxlan|veth|macvlan|wlan|eth|en[opsx])\d+\S*:`, `\bbonding:`,
	`reset(ting)? adapter`, `\btx (hang|timeout)`, `\bpage allocation failure\b`, `\brcu.*stall`, `soft lockup`,
	`(firmware|nvm|phy).*(fail|error)`, `\bpcie? .*(bandwidth|width|speed)`, `\bunregister_netdevice: waiting\b`,
}, "|"))

// AboutNetwork reports whether a line of the kernel's log is about the network, by its text.
func AboutNetwork(text string) bool { return networkMessages.MatchString(text) }
