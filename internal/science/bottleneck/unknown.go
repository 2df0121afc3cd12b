package bottleneck

import (
	"math"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
)

const (
	// The goodput of a flow that has a queue before a full link is that link's in each part of
	// the window, and does not change, but for what the receiver's reads add or leave. That of
	// a busy processor does.
	windowParts, constant = 5, 0.03
	// With fewer segments in flight, round trips have the receiver's delayed acknowledgements
	// in them, 40 ms and more (RFC 1122, section 4.2.3.2).
	undelayed = 4
	// A queue holds nearly all that is in flight when round trips take so many times the least.
	far = 10
	// A host answers within wakeUs if each of its CPUs has idle time, and otherwise within aWhileUs.
	wakeUs, aWhileUs = 300, 1000
	// A queue that only this flow fills drops a smaller share of it.
	loses = 0.01
)

// roundTrip is what a flow's round trips took, and how much of that they did not when there
// was no queue.
type roundTrip struct {
	us, longerUs float64
	mean         bool // of readings in the window; false: at its end
	grown        bool // a queue stands somewhere on the path, or hosts are slow to answer
	few          bool // too few segments were in flight for its length to tell of a queue
}

func (s scene) roundTrip(f record.Flow) roundTrip {
	us, mean := s.meanRTTUs(f)
	least := float64(f.SenderInfo.MinRTTUs)
	few := f.GoodputBps/8*us/1e6 < fewSegments*float64(f.SenderInfo.SndMSS) &&
		float64(f.SenderInfo.RTTVarUs) > varies*float64(f.SenderInfo.RTTUs)
	return roundTrip{us, us - least, mean, least > 0 && us >= queued*least, few}
}

func (r roundTrip) fact() fact.RoundTrip {
	return fact.RoundTrip{Seconds: r.us / 1e6, LeastS: (r.us - r.longerUs) / 1e6, Mean: r.mean}
}

// behindLink is what shows that a flow has all of a link that nothing here describes, such as
// a router's: nearly all that it has in flight waits in a queue of its own direction, and arrives
// at an even rate, which is that link's; nil: nothing does. More in flight, by a larger buffer
// or window, would only wait longer; and processors that keep a queue filled are fast enough.
// Sure: it is a link's queue; otherwise it may be that of a CPU.
func (s scene) behindLink(f record.Flow) (why *fact.QueueAt, sure bool) {
	trip := s.roundTrip(f)
	if s.known || !trip.grown || trip.few || trip.longerUs < max(wakeUs, trip.us*(1-1./far)) ||
		f.GoodputBps/8*trip.us/1e6 < undelayed*float64(f.SenderInfo.SndMSS) || s.whose(f) != ownQueue {
		return nil, false
	}
	if acks, _ := s.acknowledged(f, trip.longerUs); acks != nil {
		return nil, false
	}
	sure = steady(f.Bins) && (trip.longerUs >= aWhileUs || s.idleTime(f)) && !s.generating(f)
	return s.queue(f, trip), sure
}

// idleTime reports whether each CPU of a flow's hosts was idle for a part of the window: packets
// that always wait for a CPU, and not just until it wakes, wait for one that is never idle.
func (s scene) idleTime(f record.Flow) bool {
	for _, name := range []string{f.From, f.To} {
		h, _ := s.Reading(name)
		if c, read := hostload.BusiestOf(h); !read || c.Busy-c.Niced >= Spent {
			return false
		}
	}
	return true
}

// generating reports whether linerate's own program at an end of the flow used most of a CPU.
func (s scene) generating(f record.Flow) bool {
	from, _ := s.Reading(f.From)
	to, _ := s.Reading(f.To)
	return max(from.GeneratorCPU, to.GeneratorCPU) >= most
}

// queue is that in which packets of a flow waited at most of the readings. A flow with a queue before
// a full link may lose packets as well: each loss has it send less for a while, in which the link may
// not be full.
func (s scene) queue(f record.Flow, trip roundTrip) *fact.QueueAt {
	q := fact.QueueAt{RoundTrip: trip.fact(), Interface: s.waitsAt(f)}
	if missing(f) >= loses {
		q.Resent = resent(f)
	}
	return &q
}

// steady reports whether what was received had the same rate in each part of the window.
func steady(bins []int64) bool {
	each := len(bins) / windowParts
	if each == 0 {
		return false
	}
	var parts [windowParts]float64
	for i := range parts {
		for _, bytes := range bins[i*each : (i+1)*each] {
			parts[i] += float64(bytes)
		}
	}
	return alike(parts)
}

// alike reports whether all parts have about as much.
func alike(parts [windowParts]float64) bool {
	sum := 0.0
	for _, part := range parts {
		sum += part
	}
	for _, part := range parts {
		if math.Abs(part*windowParts-sum) > constant*sum {
			return false
		}
	}
	return sum > 0
}

// missing is the share of a flow's bytes that were lost. What was sent again although it had
// arrived tells of no loss.
func missing(f record.Flow) float64 { return resent(f) * (1 - needless(f)) }

// needless is the share of what a flow sent again that had arrived, as its receiver reported: at
// least so much.
func needless(f record.Flow) float64 {
	if f.SenderInfo == nil {
		return 0
	}
	return min(1, share(float64(f.SenderInfo.DsackDups), float64(f.SenderInfo.TotalRetrans)))
}
