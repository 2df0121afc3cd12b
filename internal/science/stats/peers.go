package stats

import "math"

const (
	// LeastPeers is the least number of values, all included, from which one may stand apart.
	LeastPeers = 8
	// peersRatio is the least ratio to the median at which a value may stand apart, and peersScatter the
	// least standard deviation that is assumed, as a share.
	peersRatio, peersScatter = 1.5, 0.05
)

// AmongPeers returns the indices of values that stand apart from the others, which should be alike, and
// the median. It returns none of fewer than LeastPeers values, and none if more than a quarter stand
// apart: they are then not alike.
//
// The distance of a value is that of its logarithm from the median's, in standard deviations estimated
// by the median of all such distances, which a few values cannot change. The limit of 4 + 33/n for n
// values is exceeded by one of them in at most 1 % of cases if they are log-normal; fewer if they are
// closer together than peersScatter.
func AmongPeers(values []float64) (apart []int, median float64) {
	median = Median(values)
	if len(values) < LeastPeers || median <= 0 {
		return nil, median
	}
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(math.Log(max(v, median*1e-6) / median))
	}
	const normal = 1.4826 // standard deviations in a median distance
	scatter := max(normal*Median(distances), peersScatter)
	limit := max((4+33/float64(len(values)))*scatter, math.Log(peersRatio))
	for i, d := range distances {
		if d > limit {
			apart = append(apart, i)
		}
	}
	if 4*len(apart) > len(values) {
		return nil, median
	}
	return apart, median
}
