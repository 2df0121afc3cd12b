package trust

import (
	"maps"
	"math"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/stats"
)

// steady checks that the first and the last third of the window carried the same number of bytes;
// if all flows are requests and responses, of transactions; and that the flows never stood still. A
// sample may be off by some milliseconds, which matters if thirds are short.
func steady(v view) (judged, bool) {
	n := math.MaxInt
	for _, f := range v.Flows {
		if f.Connected && len(f.Bins) > 0 {
			n = min(n, len(f.Bins))
		}
	}
	// What happens in a window changes what it carries: that is what is studied.
	if n < 3 || n == math.MaxInt || len(v.Events) > 0 || len(v.Attacks) > 0 {
		return judged{}, false
	}
	requests := !slices.ContainsFunc(v.Flows, func(f record.Flow) bool { return f.Connected && f.Transactions == nil })
	var first, last float64
	senders := map[string][2]float64{} // first and last, by sender
	for _, f := range v.Flows {
		if len(f.Bins) < n {
			continue
		}
		each := 1.0
		if requests {
			each = float64(f.Transactions.Done) / float64(max(f.ReceivedBytes, 1))
		}
		p := v.progress(f)
		begin, end := each*p.until(v.WindowS/3), each*(p.until(v.WindowS)-p.until(v.WindowS*2/3))
		first, last = first+begin, last+end
		of := senders[f.From]
		senders[f.From] = [2]float64{of[0] + begin, of[1] + end}
	}
	if first == 0 && last == 0 {
		return judged{}, false
	}
	const sampleDoubt = 0.005
	allowed := driftShare + 2*sampleDoubt/(v.WindowS/3)
	// which may arrive independently of each other: three standard deviations of the ratio of two
	// such counts
	if requests {
		allowed += 3 * math.Sqrt(1/max(first, 1)+1/max(last, 1))
	}
	scatter := v.sawtooth()
	allowed += scatter
	drift := last/max(first, 1) - 1
	// With a tolerance as large as that of losses, half as much is as far off as twice as much.
	off := math.Abs(drift)
	if scatter > 0 {
		off = max(first, last)/max(min(first, last), 1) - 1
	}
	thirds := fact.Thirds{First: first, Last: last, Transactions: requests, Change: drift, Allowed: allowed,
		Losses: scatter > 0}
	thirds.StoodAtS, thirds.StoodS = v.stood(n, requests)
	c := record.Check{Check: Steady, Pass: off <= allowed && thirds.StoodS == 0}
	if names := slices.Sorted(maps.Keys(senders)); len(names) == 2 && !c.Pass {
		for _, name := range names {
			own := senders[name][1]/max(senders[name][0], 1) - 1
			thirds.Senders = append(thirds.Senders, fact.HostChange{Host: name, Change: own})
		}
	}
	c.Facts = facts("", thirds)
	used := off / allowed
	if thirds.StoodS > 0 {
		used = max(used, 2)
	}
	return judged{c, used}, true
}

const (
	// epochScatter is the standard deviation of the goodput between two losses, as a share, of a flow
	// whose congestion control reacts to losses that come at random. Its window then varies by 0.5, and
	// half of what one loss has left is there at the next, which counts as √3 times as much.
	epochScatter = 0.87
	// mostScatter bounds the tolerance that losses give: of few losses the thirds tell little, but a
	// change to twice as much is none of them.
	mostScatter = 1
)

// sawtooth returns by how much, as a share, the thirds of a window may differ because congestion
// control reacts to losses: its rate rises and falls as a sawtooth, and that is its steady state. A
// third with N losses has a mean that varies by epochScatter/√N. Only flows that losses hold back
// count (package bottleneck), and not bbr, which does not react to single losses.
func (v view) sawtooth() float64 {
	total, variance := 0.0, 0.0
	for _, f := range v.Flows {
		total += float64(f.ReceivedBytes)
	}
	for _, f := range v.Flows {
		if f.LimitedBy != bottleneck.CongestionWindow || f.RetransSegments == 0 || f.CongestionControl == "bbr" ||
			f.Transactions != nil {
			continue
		}
		share, losses := float64(f.ReceivedBytes)/total, float64(f.RetransSegments)/3
		variance += 2 * share * share * epochScatter * epochScatter / losses
	}
	return min(3*math.Sqrt(variance), mostScatter)
}

const (
	// stoodShare is the share of the median rate below which flows stand still, and stoodS the shortest
	// such time, in seconds, that fails the check. A retransmission timeout is shorter.
	stoodShare, stoodS = 0.1, 1
	// stoodDue is how many transactions must have been due in that time.
	stoodDue = 20
)

// stood returns when all flows together stood still for the longest time, and for how long; 0: they did
// not. n is the number of samples that every flow has.
func (v view) stood(n int, requests bool) (at, seconds float64) {
	sums, ends := make([]float64, n), []float64(nil)
	for _, f := range v.Flows {
		if len(f.Bins) < n || !f.Connected {
			continue
		}
		if f.Process != "" {
			return 0, 0 // programs pause as they please
		}
		if ends == nil {
			ends, _ = v.BinEnds(f)
		}
		each := 1.0
		if requests {
			each = float64(f.Transactions.Done) / float64(max(f.ReceivedBytes, 1))
		}
		for i := range sums {
			sums[i] += each * float64(f.Bins[i])
		}
	}
	rates, began := make([]float64, n), 0.0
	for i := range rates {
		rates[i] = sums[i] / max(ends[i]-began, 1e-9)
		began = ends[i]
	}
	median := stats.Median(rates)
	from, samples := 0.0, 0
	for i, rate := range rates {
		if rate >= stoodShare*median {
			from, samples = ends[i], 0
		} else if samples++; samples >= 2 && ends[i]-from >= stoodS && ends[i]-from > seconds &&
			(!requests || median*(ends[i]-from) >= stoodDue) {
			at, seconds = from, ends[i]-from
		}
	}
	return at, seconds
}
