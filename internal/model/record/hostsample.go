package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// HostSampleSchema is the schema of HostSample as a document.
const HostSampleSchema = "linerate.top/v1"

// HostSample is what a host did between two readings of its counters, as rates: one line of
// `linerate top --json`. Shares are parts of one. A counter that ran backwards, as when a
// driver was reloaded, counts as 0.
type HostSample struct {
	Schema  string    `json:"schema"`
	Version string    `json:"version"` // of linerate
	Host    string    `json:"host"`
	Taken   time.Time `json:"taken"` // when the second reading was complete
	WindowS float64   `json:"window_s"`
	UptimeS float64   `json:"uptime_s,omitempty"`
	// Interfaces are all but the loopback, by name.
	Interfaces []InterfaceRates `json:"interfaces"`
	// CPUs begin with the mean of all, whose CPU is -1.
	CPUs      []CPURates    `json:"cpus"`
	Queues    []QueueRates  `json:"queues,omitempty"`
	Protocols ProtocolRates `json:"protocols"`
	// Flows are the TCP connections with the highest rates, at most MostFlows, over
	// FlowsWindowS: connections are read less often where there are many.
	Flows        []FlowRates `json:"flows,omitempty"`
	FlowsWindowS float64     `json:"flows_window_s,omitempty"`
	// Drops are packets that were not delivered in the window, with what that means.
	Drops []Drop `json:"drops,omitempty"`
	// Findings are of the rules of doctor.
	Findings []Finding `json:"findings,omitempty"`
	// Missing are the parts that could not be read, each with the reason.
	Missing []string `json:"missing,omitempty"`
}

// InterfaceRates is what an interface carried.
type InterfaceRates struct {
	Interface string `json:"interface"`
	Kind      string `json:"kind,omitempty"`   // the kernel's link kind; absent: hardware
	Master    string `json:"master,omitempty"` // the bridge or bond that it belongs to
	Up        bool   `json:"up"`
	// Bits are those that the interface counts, headers included. What a virtual interface
	// sends is what its qdisc counts, if that is more: each segment of a GSO packet. What it
	// receives is packets as they are handed to it, which may be of many segments.
	RxBps float64 `json:"rx_bps"`
	TxBps float64 `json:"tx_bps"`
	RxPps float64 `json:"rx_pps"`
	TxPps float64 `json:"tx_pps"`
	// Limits are the link's speed, or of what leaves the rate of a shaper that is lower; 0:
	// not known. TxLimiter is the shaper's kind.
	RxLimitBps float64 `json:"rx_limit_bps,omitempty"`
	TxLimitBps float64 `json:"tx_limit_bps,omitempty"`
	TxLimiter  string  `json:"tx_limiter,omitempty"`
	// Shares are parts of the limits, of a link with preamble, frame check sequence and gap
	// of each packet.
	RxShare float64 `json:"rx_share,omitempty"`
	TxShare float64 `json:"tx_share,omitempty"`
	// DropsPerS and ErrorsPerS are packets, those of its qdiscs among the drops. Drops of the
	// sample has them by cause.
	DropsPerS  float64 `json:"drops_per_s"`
	ErrorsPerS float64 `json:"errors_per_s"`
}

// CPURates is the time of a CPU by kind, as shares of the window, and what it served.
type CPURates struct {
	CPU            int     `json:"cpu"`
	User           float64 `json:"user"`
	System         float64 `json:"system"`
	IRQ            float64 `json:"irq"`
	SoftIRQ        float64 `json:"softirq"`
	Steal          float64 `json:"steal"`
	InterruptsPerS float64 `json:"interrupts_per_s"`
	NetRxPerS      float64 `json:"net_rx_per_s"` // softirqs
	NetTxPerS      float64 `json:"net_tx_per_s"`
	// Packets are those of softnet_stat, of all network namespaces.
	PacketsPerS  float64 `json:"packets_per_s"`
	DroppedPerS  float64 `json:"dropped_per_s"`
	SqueezedPerS float64 `json:"squeezed_per_s"`
	Backlog      uint64  `json:"backlog,omitempty"` // packets, now
}

// Busy is the share of the window in which the CPU was not idle.
func (c CPURates) Busy() float64 { return c.User + c.System + c.IRQ + c.SoftIRQ + c.Steal }

// QueueRates is what passed one queue of an interface: a queueing discipline, or a queue of
// the NIC as far as its driver counts each.
type QueueRates struct {
	Interface string `json:"interface"`
	Queue     string `json:"queue"` // "fq_codel 8001:", "rx-0"
	// WindowS is the time between the readings of a NIC's queues, which are rarer; 0: that
	// of the sample.
	WindowS   float64 `json:"window_s,omitempty"`
	Bps       float64 `json:"bps"`
	Pps       float64 `json:"pps"`
	DropsPerS float64 `json:"drops_per_s"`
	// Backlog is what waits now.
	BacklogBytes   uint64 `json:"backlog_bytes,omitempty"`
	BacklogPackets uint64 `json:"backlog_packets,omitempty"`
}

// ProtocolRates are counters of TCP and UDP, of the network namespace.
type ProtocolRates struct {
	// Connections of TCP, without those in TIME-WAIT.
	Connections      int     `json:"tcp_connections"`
	OpenedPerS       float64 `json:"tcp_opened_per_s"`
	SegmentsOutPerS  float64 `json:"tcp_segments_out_per_s"`
	RetransmitPerS   float64 `json:"tcp_retransmitted_per_s"`
	DatagramsInPerS  float64 `json:"udp_in_per_s"`
	DatagramsOutPerS float64 `json:"udp_out_per_s"`
	DatagramErrPerS  float64 `json:"udp_errors_per_s"` // those that arrived and were not delivered
}

// MostFlows bounds the connections of a HostSample.
const MostFlows = 100

// FlowRates is one TCP connection.
type FlowRates struct {
	Local   string `json:"local"`
	Remote  string `json:"remote"`
	State   string `json:"state"`
	Program string `json:"program,omitempty"` // absent: not known
	// TxBps are bits that were acknowledged, RxBps those that arrived, both without headers.
	TxBps float64 `json:"tx_bps"`
	RxBps float64 `json:"rx_bps"`
	// SegmentsPerS are those of both directions.
	SegmentsPerS   float64 `json:"segments_per_s"`
	RetransmitPerS float64 `json:"retransmitted_per_s"` // segments
	RTTUs          uint32  `json:"rtt_us,omitempty"`
	MinRTTUs       uint32  `json:"min_rtt_us,omitempty"`
	CwndBytes      uint64  `json:"cwnd_bytes,omitempty"`
	ReceiveQueue   int64   `json:"receive_queue_bytes"`
	SendQueue      int64   `json:"send_queue_bytes"`
	// LimitedBy is what held its sending back (docs/limits.md); empty: it sends nothing, or
	// that cannot be attributed. LimitedWhy has the figures.
	LimitedBy         string `json:"limited_by,omitempty"`
	LimitedWhy        string `json:"limited_why,omitempty"`
	CongestionControl string `json:"congestion_control,omitempty"`
}

// LargestHostSample bounds a HostSample as a line of JSON, in bytes.
const LargestHostSample = 8 << 20

// ParseHostSample reads a line of HostSample, which may be from elsewhere: its lists are
// bounded by its size.
func ParseHostSample(line []byte) (s HostSample, err error) {
	if len(line) > LargestHostSample {
		return s, fmt.Errorf("expected a line of at most %d bytes", LargestHostSample)
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return s, fmt.Errorf("expected a sample, as linerate top --json prints it: %w", err)
	}
	return s, s.Check()
}

// Check is an error if a sample that another program has made is none, or has what cannot be.
func (s *HostSample) Check() error {
	switch {
	case s.Schema != HostSampleSchema:
		return fmt.Errorf("expected a sample, as linerate top --json prints it (schema %s): its schema is %.60q",
			HostSampleSchema, s.Schema)
	case s.Host == "":
		return errors.New("the sample names no host")
	case !(s.WindowS > 0 && s.WindowS <= 86400):
		return fmt.Errorf("window_s is %v: expected seconds of at most a day", s.WindowS)
	case len(s.Interfaces) > mostInterfaces || len(s.CPUs) > mostInterfaces || len(s.Queues) > mostInterfaces ||
		len(s.Flows) > MostFlows:
		return fmt.Errorf(
			"it has %d interfaces, %d CPUs, %d queues and %d flows: expected at most %d of each, and %d flows",
			len(s.Interfaces), len(s.CPUs), len(s.Queues), len(s.Flows), mostInterfaces, MostFlows)
	}
	return nil
}
