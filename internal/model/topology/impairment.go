package topology

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Impairment is what one direction of a link does to frames. Study files, the lab's plan, the qdisc
// recipe and the link emulator use it. Zero values: no rate limit, no delay, no loss, no marks, a
// queue and a burst derived from the rate, MTU 1500.
type Impairment struct {
	Rate    unit.BitRate  `yaml:"rate" json:"rate,omitempty" doc:"rate of the link, such as 1gbit; absent: not shaped, and the limit is unknown"`
	Delay   unit.Duration `yaml:"delay,unit,zero" json:"delay,omitempty" doc:"one-way delay, such as 25ms; 0s or absent: none"`
	Jitter  unit.Duration `yaml:"jitter,unit,zero" json:"jitter,omitempty" doc:"largest deviation from the delay, uniformly distributed; frames stay in order; 0s or absent: none"`
	Loss    unit.Ratio    `yaml:"loss,zero" json:"loss,omitempty" doc:"share of frames lost, such as 0.1%; 0% or absent: none"`
	Reorder unit.Ratio    `yaml:"reorder,zero" json:"reorder,omitempty" doc:"share of frames that are not delayed and so overtake those in flight, such as 1%; 0% or absent: none"`
	Queue   unit.Depth    `yaml:"queue" json:"queue,omitzero" doc:"length of the queue before the link, as a size or as a time at the rate; absent: 10 ms at the rate, at least two bursts. A host that itself sends TCP hardly fills it (TCP small queues): put a router before the link"`
	ECN     unit.Depth    `yaml:"ecn,zero" json:"ecn,omitzero" doc:"queue length above which a frame is marked (ECN, RFC 3168) if its sender supports it; 0 or absent: no marks"`
	Burst   unit.Bytes    `yaml:"burst" json:"burst,omitempty" doc:"token bucket of the shaper; absent: 2.5 ms at the rate, at least two frames, at least 128KiB from 200mbit on, and at most half of a given queue"`
	MTU     int           `yaml:"mtu" json:"mtu,omitempty" doc:"bytes; 1500 when absent. An interface that linerate makes drops larger frames"`
	// Bucket reports whether Rate is that of a token bucket, set by a setting or by a qdisc of the
	// sending interface. It can be true even if the link itself is a real Ethernet, which has no
	// bucket.
	Bucket bool `yaml:"-" json:"bucket,omitempty"`
	// Shaper is the kind of the qdisc that limits the rate, if one was found on the sending
	// interface. Overhead is the number of bytes that it counts for each frame in addition to the
	// Ethernet header and its payload; it can be negative.
	Shaper   string `yaml:"-" json:"shaper,omitempty"`
	Overhead int    `yaml:"-" json:"shaper_overhead_bytes,omitempty"`
}

// DefaultMTU is that of Ethernet (IEEE 802.3). ethernetHeader is what the kernel's shapers count in
// addition (no preamble, no frame check sequence, no gap).
const (
	DefaultMTU     = 1500
	ethernetHeader = 14
)

// with returns the impairment with the properties that over sets, also to zero.
func (i Impairment) with(over Direction) Impairment {
	zero := over.Zeros.Has
	return Impairment{
		Rate:    cmp.Or(over.Rate, i.Rate),
		Delay:   inherited(over.Delay, i.Delay, zero("delay")),
		Jitter:  inherited(over.Jitter, i.Jitter, zero("jitter")),
		Loss:    inherited(over.Loss, i.Loss, zero("loss")),
		Reorder: inherited(over.Reorder, i.Reorder, zero("reorder")),
		Queue:   cmp.Or(over.Queue, i.Queue),
		ECN:     inherited(over.ECN, i.ECN, zero("ecn")),
		Burst:   cmp.Or(over.Burst, i.Burst),
		MTU:     cmp.Or(over.MTU, i.MTU),
		Bucket:  cmp.Or(over.Bucket, i.Bucket),
		Shaper:  cmp.Or(over.Shaper, i.Shaper), Overhead: cmp.Or(over.Overhead, i.Overhead),
	}
}

// inherited returns the value of a key, or that of base if the key is absent.
func inherited[T comparable](value, base T, zero bool) T {
	if zero {
		return value
	}
	return cmp.Or(value, base)
}

// String describes a direction of a link in the words of study files, without defaults: "1 Gbit/s,
// delay 25ms, loss 0.1%".
func (i Impairment) String() string { return i.Beside(i) }

// Beside is like String, and says what only the other direction has: "no loss".
func (i Impairment) Beside(other Impairment) string {
	rate := "not shaped"
	if i.Rate > 0 {
		rate = unit.FormatRate(float64(i.Rate))
		if i.Shaper != "" {
			rate += " by " + i.Shaper
		}
	}
	words := []string{rate}
	say := func(name string, set bool, value any) {
		if set {
			words = append(words, fmt.Sprint(name, " ", value))
		}
	}
	differ := func(name string, set, there bool, value any) {
		if say(name, set, value); there && !set {
			words = append(words, "no "+name)
		}
	}
	differ("delay", i.Delay != 0, other.Delay != 0, i.Delay)
	differ("jitter", i.Jitter != 0, other.Jitter != 0, i.Jitter)
	differ("loss", i.Loss != 0, other.Loss != 0, i.Loss)
	differ("reorder", i.Reorder != 0, other.Reorder != 0, i.Reorder)
	say("queue", i.Queue != unit.Depth{}, i.Queue)
	differ("ecn", i.ECN != unit.Depth{}, other.ECN != unit.Depth{}, i.ECN)
	say("burst", i.Burst != 0, i.Burst)
	say("mtu", i.MTU != 0 && i.MTU != DefaultMTU, i.MTU)
	say("overhead", i.Overhead != 0, i.Overhead)
	return strings.Join(words, ", ")
}

// Frame returns the size of the largest frame in this direction, as the kernel's shapers count it.
func (i Impairment) Frame() unit.Bytes { return unit.Bytes(cmp.Or(i.MTU, DefaultMTU) + ethernetHeader) }

// gsoRate is the rate from which segmentation offload matters to a shaper, and gsoBurst holds two
// of its largest super-frames of 64 KiB. A tbf whose bucket cannot hold a super-frame segments it
// in softirq context, which then costs more CPU than the traffic itself (net/sched/sch_tbf.c,
// tbf_segment).
const (
	gsoRate  = 200e6
	gsoBurst = 128 << 10
)

// BurstSize returns the size of the shaper's token bucket: Burst, or 2.5 ms at the rate, but at
// most half of a queue that is given. That is long enough for timer slack, and short enough that
// the initial burst of a window does not matter. 0: there is no rate.
func (i Impairment) BurstSize() unit.Bytes {
	if i.Burst != 0 || i.Rate == 0 {
		return i.Burst
	}
	burst := max(bytesIn(i.Rate, 2.5e-3), 2*i.Frame())
	if i.Rate >= gsoRate {
		burst = max(burst, gsoBurst)
	}
	if queue := i.Queue.At(i.Rate); queue != 0 {
		// A short queue accepts or drops a super-frame as a whole, whereas a real one would accept
		// the frames that fit. Super-frames larger than the bucket are segmented first, so a bucket
		// of half the queue keeps short queues realistic, as far as timers (some 100 µs) can refill
		// it.
		burst = min(burst, max(queue/2, 2*i.Frame(), bytesIn(i.Rate, 100e-6)))
	}
	return burst
}

// QueueSize returns the number of bytes that can wait in front of the link: Queue, or 10 ms at the
// rate, but at least two bursts, so that the shaper never runs empty beside a full queue. 0: there
// is neither a queue nor a rate.
func (i Impairment) QueueSize() unit.Bytes {
	if queue := i.Queue.At(i.Rate); queue != 0 || i.Rate == 0 {
		return queue
	}
	return max(bytesIn(i.Rate, 10e-3), 2*i.BurstSize())
}

// bytesIn returns the bytes that a rate carries in the given number of seconds.
func bytesIn(rate unit.BitRate, seconds float64) unit.Bytes {
	return unit.Bytes(float64(rate) / 8 * seconds)
}

// MTU limits: RFC 791 section 3.2; RFC 8200 section 5; and what a virtual link carries with room
// for its headers in 64 KiB.
const (
	minMTU     = 68
	minIPv6MTU = 1280
	maxMTU     = 65521
)

// maxBurstTime is the longest time in seconds for which a bucket may last at the rate. Otherwise a
// window of a second would measure the bucket instead of the link.
const maxBurstTime = 0.1

// impairmentChecker checks both directions of a link.
type impairmentChecker struct {
	report source.Report
	path   string
	minMTU unit.Bytes // 0: no IPv6
}

func (c impairmentChecker) check(l Link) {
	c.direction(l.Towards(l.From), l.Forward, ".forward")
	c.direction(l.Towards(l.To), l.Reverse, ".reverse")
}

// direction checks one direction. A mistake is reported at the place in the file that sets the
// property: the section of the direction (over), or the link.
func (c impairmentChecker) direction(i Impairment, over *Direction, section string) {
	say := func(field string, own bool, format string, args ...any) {
		path := c.path + "." + field
		if own {
			path = c.path + section + "." + field
		}
		c.report(path, format, args...)
	}
	if over == nil {
		over = &Direction{}
	}
	frame := i.Frame()
	if i.Loss >= 1 {
		say("loss", over.Loss != 0, "loss of %s: expected less than 100%%", i.Loss)
	}
	switch {
	case i.MTU < minMTU || i.MTU > maxMTU:
		say("mtu", over.MTU != 0, "MTU %d: expected %d to %d", i.MTU, minMTU, maxMTU)
	case unit.Bytes(i.MTU) < c.minMTU:
		say("mtu", over.MTU != 0, "MTU %d: IPv6 needs at least %d (RFC 8200)", i.MTU, minIPv6MTU)
	}
	none := unit.Depth{}
	switch {
	case i.Queue == none:
	case i.Queue.Time != 0 && i.Rate == 0:
		say("queue", over.Queue != none, "a queue of %s needs a rate: give the link a rate, or the queue a size",
			i.Queue)
	case i.Queue.At(i.Rate) < frame:
		say("queue", over.Queue != none, "queue of %s is smaller than one frame: expected at least %d bytes (MTU + %d)",
			i.Queue, frame, ethernetHeader)
	}
	switch mark := i.ECN.At(i.Rate); {
	case i.ECN == none:
	case i.Rate == 0:
		say("ecn", over.ECN != none, "ecn without rate marks nothing, since nothing waits: give the link a rate")
	case mark < frame:
		say("ecn", over.ECN != none,
			"ecn of %s is less than one frame, so every frame would be marked: expected at least %d bytes (MTU + %d)",
			i.ECN, frame, ethernetHeader)
	case mark >= i.QueueSize():
		say("ecn", over.ECN != none, "ecn of %s is not less than the queue of %s, so nothing would be marked", i.ECN,
			i.QueueSize())
	}
	if i.Jitter > i.Delay {
		say("jitter", over.Jitter != 0,
			"jitter of %s to either side of a delay of %s: no frame arrives before it was sent", i.Jitter, i.Delay)
	}
	switch {
	case i.Reorder >= 1:
		say("reorder", over.Reorder != 0, "reorder of %s: expected less than 100%%", i.Reorder)
	case i.Reorder > 0 && i.Delay == 0:
		say("reorder", over.Reorder != 0,
			"reorder without delay: there is nothing in flight to overtake; give the link a delay")
	}
	switch took := float64(i.Burst) * 8 / float64(i.Rate); {
	case i.Burst == 0:
	case i.Rate == 0:
		say("burst", over.Burst != 0, "burst without rate shapes nothing: give the link a rate")
	case i.Burst < frame:
		say("burst", over.Burst != 0,
			"burst of %s is smaller than one frame, so nothing would pass: expected at least %d bytes (MTU + %d)",
			i.Burst, frame, ethernetHeader)
	case took > maxBurstTime:
		say("rate", over.Rate != 0,
			"rate %s is too small for the burst of %s, which lasts %s: expected at most %g ms, so a burst of at "+
				"most %s",
			i.Rate, i.Burst, unit.FormatSeconds(took), maxBurstTime*1000, bytesIn(i.Rate, maxBurstTime))
	}
}
