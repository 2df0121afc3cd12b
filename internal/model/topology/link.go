package topology

import (
	"fmt"
	"strings"

	"linerate/internal/model/unit"
)

// Link joins two interfaces. From and To only fix which direction is which.
type Link struct {
	From End `yaml:"from,required" json:"from" doc:"host.interface, or a switch (its interface is then named for the other end)"`
	To   End `yaml:"to,required" json:"to" doc:"host.interface, or a switch"`
	// Shape holds for both directions, unless Forward or Reverse says otherwise.
	Impairment `yaml:",inline"`
	Forward    *Impairment `yaml:"forward" json:"forward,omitempty" doc:"what differs in the direction from → to"`
	Reverse    *Impairment `yaml:"reverse" json:"reverse,omitempty" doc:"what differs in the direction to → from"`
}

// Impairment is what one direction of a link does to frames. Zero values: no rate
// limit, no delay, no loss, a queue and a burst derived from the rate, no marks,
// MTU 1500.
type Impairment struct {
	Rate    unit.BitRate  `yaml:"rate" json:"rate,omitempty" doc:"bits per second, such as 1gbit; absent: as fast as the machine goes, and no limit is known"`
	Delay   unit.Duration `yaml:"delay" json:"delay,omitempty" doc:"one-way delay, such as 25ms"`
	Jitter  unit.Duration `yaml:"jitter" json:"jitter,omitempty" doc:"the delay varies by so much to either side, each value as likely; frames stay in order"`
	Loss    unit.Ratio    `yaml:"loss" json:"loss,omitempty" doc:"share of frames lost, such as 0.1%"`
	Reorder unit.Ratio    `yaml:"reorder" json:"reorder,omitempty" doc:"share of frames that are not delayed and so overtake those under way, such as 1%"`
	Queue   unit.Depth    `yaml:"queue" json:"queue,omitzero" doc:"what can wait in front of the link, as a size or as a time at the rate; absent: 10 ms at the rate, at least two bursts"`
	ECN     unit.Depth    `yaml:"ecn" json:"ecn,omitzero" doc:"a frame that finds more than this waiting gets a congestion mark (RFC 3168) if its sender understands them; absent: none is marked"`
	Burst   unit.Bytes    `yaml:"burst" json:"burst,omitempty" doc:"token bucket of the shaper; absent: 2.5 ms at the rate, at least two frames, and at least 128KiB from 200mbit on; with a queue, no more than half of it"`
	MTU     int           `yaml:"mtu" json:"mtu,omitempty" doc:"bytes; 1500 when absent"`
	// Bucket says that a setting's token bucket makes the rate, also where the
	// link itself is an Ethernet.
	Bucket bool `yaml:"-" json:"bucket,omitempty"`
}

// DefaultMTU is Ethernet's (IEEE 802.3); EthernetHeader is what the kernel's
// shapers count on top of it (no preamble, no checksum, no gap).
const (
	DefaultMTU     = 1500
	EthernetHeader = 14
)

// Frame is the largest frame of the direction, as the kernel's shapers count it.
func (s Impairment) Frame() unit.Bytes {
	if s.MTU == 0 {
		return DefaultMTU + EthernetHeader
	}
	return unit.Bytes(s.MTU + EthernetHeader)
}

// gsoRate is from where on a shaper meets segmentation offload at a rate that
// matters, and gsoBurst holds two of its largest super-frames of 64 KiB. A tbf
// whose bucket cannot hold a super-frame segments it in softirq context: four
// interfaces of 1 Gbit/s then cost more CPU than they carry traffic
// (net/sched/sch_tbf.c, tbf_segment).
const (
	gsoRate  = 200e6
	gsoBurst = 128 << 10
)

// BurstSize is the shaper's bucket: the file's, or 2.5 ms at the rate, but
// no more than half of a queue that the file gives. That
// is long enough for the timer's slack and short enough that no window of
// interest starts with a gulp. Zero when there is no rate.
func (s Impairment) BurstSize() unit.Bytes {
	if s.Burst != 0 || s.Rate == 0 {
		return s.Burst
	}
	burst := max(bytesIn(s.Rate, 2.5e-3), 2*s.Frame())
	if s.Rate >= gsoRate {
		burst = max(burst, gsoBurst)
	}
	if queue := s.Queue.At(s.Rate); queue != 0 {
		// A short queue takes a super-frame whole or loses it whole, where a real
		// one would take the frames that fit. What the bucket cannot hold is cut
		// into frames first, so a bucket of half the queue keeps short queues
		// honest, as far as the timers (some 100 µs) can refill it.
		burst = min(burst, max(queue/2, 2*s.Frame(), bytesIn(s.Rate, 100e-6)))
	}
	return burst
}

// QueueSize is what can wait in front of the link: the file's, or 10 ms at
// the rate, but two bursts at least, so that the shaper never starves beside a
// full queue. Zero when there is neither.
func (s Impairment) QueueSize() unit.Bytes {
	if queue := s.Queue.At(s.Rate); queue != 0 || s.Rate == 0 {
		return queue
	}
	return max(bytesIn(s.Rate, 10e-3), 2*s.BurstSize())
}

// bytesIn is what a rate carries in so many seconds.
func bytesIn(rate unit.BitRate, seconds float64) unit.Bytes {
	return unit.Bytes(float64(rate) / 8 * seconds)
}

// Towards returns the shape of the direction that leaves the given end.
func (l Link) Towards(from End) Impairment {
	shape := l.towards(from)
	if shape.MTU == 0 {
		shape.MTU = DefaultMTU
	}
	return shape
}

// towards leaves the MTU that is not in the file at 0.
func (l Link) towards(from End) Impairment {
	shape, over := l.Impairment, l.Forward
	if from == l.To {
		over = l.Reverse
	}
	if over != nil {
		shape = shape.with(*over)
	}
	return shape
}

func (s Impairment) with(over Impairment) Impairment {
	if over.Rate != 0 {
		s.Rate = over.Rate
	}
	if over.Delay != 0 {
		s.Delay = over.Delay
	}
	if over.Jitter != 0 {
		s.Jitter = over.Jitter
	}
	if over.Loss != 0 {
		s.Loss = over.Loss
	}
	if over.Reorder != 0 {
		s.Reorder = over.Reorder
	}
	if over.Queue != (unit.Depth{}) {
		s.Queue = over.Queue
	}
	if over.ECN != (unit.Depth{}) {
		s.ECN = over.ECN
	}
	if over.Burst != 0 {
		s.Burst = over.Burst
	}
	if over.MTU != 0 {
		s.MTU = over.MTU
	}
	s.Bucket = s.Bucket || over.Bucket
	return s
}

// Other returns the far end as seen from e.
func (l Link) Other(e End) End {
	if e == l.From {
		return l.To
	}
	return l.From
}

// End is one end of a link: a host's interface, or a switch's port. In a file it is
// written "host.interface" or just "switch"; Complete names the switch's port after
// the far end. In JSON it is written "host.interface" too.
type End struct {
	Node      string
	Interface string
}

func (e End) String() string {
	if e.Interface == "" {
		return e.Node
	}
	return e.Node + "." + e.Interface
}

// MarshalText spells the end as String does.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads host.interface or switch. An interface's name may itself have dots
// (eth0.100), a host's name has none.
func (e *End) UnmarshalText(text []byte) error {
	node, port, dot := strings.Cut(strings.TrimSpace(string(text)), ".")
	if node == "" || dot && port == "" {
		return fmt.Errorf("%q is not the end of a link: expected host.interface or the name of a switch", text)
	}
	*e = End{node, port}
	return nil
}

// JSONSchema describes the spelling to editors.
func (End) JSONSchema() map[string]any {
	return map[string]any{
		"type":     "string",
		"examples": []string{"server.eth0", "client{1..2}.eth0", "switch"},
	}
}
