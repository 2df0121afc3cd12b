package bottleneck

import (
	"math"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
)

const (
	// A flow with a queue before a full link has that link's goodput in each part of the window, which
	// varies by at most constant, depending on the receiver's reads. That of a busy CPU varies more.
	windowParts, constant = 5, 0.03
	// With fewer segments in flight, round trips contain the receiver's delayed acknowledgements, 40 ms
	// and more (RFC 1122, section 4.2.3.2).
	undelayed = 4
	// far is how many times the least one round trips take if a queue holds nearly all that is in
	// flight.
	far = 10
	// wakeUs is the time within which a host answers if each of its CPUs has idle time, and aWhileUs
	// otherwise.
	wakeUs, aWhileUs = 300, 1000
	// loses is the share that a queue drops at most if only this flow fills it.
	loses = 0.01
)

// roundTrip is how long a flow's round trips took, and by how much that exceeds those without a
// queue, in microseconds.
type roundTrip struct {
	us, longerUs float64
	mean         bool // of readings in the window; false: at its end
	grown        bool // there is a queue on the path, or hosts are slow to answer
	few          bool // too few segments were in flight to conclude anything
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

// behindLink returns the evidence that a flow fills a link that is not described here, such as one
// behind a router; nil: there is none. Then nearly all that it has in flight waits in a queue of
// its own direction and arrives at an even rate, that of the link. A larger buffer or window would
// only lengthen the wait, and CPUs that keep a queue filled are fast enough. sure reports whether
// it is a link's queue; otherwise it may be a CPU's.
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

// idleTime reports whether each CPU of a flow's hosts was idle for a part of the window. Packets
// that always wait for a CPU, not only until it wakes, wait for one that is never idle.
func (s scene) idleTime(f record.Flow) bool {
	for _, name := range []string{f.From, f.To} {
		h, _ := s.Reading(name)
		if c, read := hostload.BusiestOf(h); !read || c.Busy-c.Niced >= Spent {
			return false
		}
	}
	return true
}

// generating reports whether linerate's own program at an end of the flow used at least half of a
// CPU.
func (s scene) generating(f record.Flow) bool {
	from, _ := s.Reading(f.From)
	to, _ := s.Reading(f.To)
	return max(from.GeneratorCPU, to.GeneratorCPU) >= most
}

// queue returns the queue in which packets of a flow waited. A flow with a queue before a full link
// may lose packets as well: after each loss it sends less for a while, and the link may not be full
// then.
func (s scene) queue(f record.Flow, trip roundTrip) *fact.QueueAt {
	q := fact.QueueAt{RoundTrip: trip.fact(), Interface: s.waitsAt(f)}
	if missing(f) >= loses {
		q.Resent = resent(f)
	}
	return &q
}

// steady reports whether the same was received in each part of the window.
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

// alike reports whether all parts are about equal.
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

// missing returns the share of a flow's bytes that were lost. It does not include bytes that were
// sent again although they had arrived.
func missing(f record.Flow) float64 { return resent(f) * (1 - needless(f)) }

// needless returns at least which share of what a flow sent again had arrived, as its receiver
// reported.
func needless(f record.Flow) float64 {
	if f.SenderInfo == nil {
		return 0
	}
	return min(1, share(float64(f.SenderInfo.DsackDups), float64(f.SenderInfo.TotalRetrans)))
}
