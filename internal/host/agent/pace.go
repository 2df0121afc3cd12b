package agent

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// pace divides a rate in bit/s among the flows for which this host sends data, so that they
// keep to it together: evenly, but a flow of requests with a pace leaves what its responses do
// not need to the others.
func pace(list []message.FlowRequest, rate float64) {
	const headers = 100 // bytes of a response, at most
	needs := func(o *message.FlowRequest) float64 {
		if !transacts(*o) || o.Pace == 0 || flow.Of(o.Protocol).Application {
			return math.Inf(1)
		}
		return 2 * o.Pace * 8 * float64(max(1, o.Response)+headers) // twice what they have on average
	}
	var sending []*message.FlowRequest
	for i := range list {
		if sends(list[i]) {
			sending = append(sending, &list[i])
		}
	}
	slices.SortFunc(sending, func(a, b *message.FlowRequest) int { return cmp.Compare(needs(a), needs(b)) })
	for i, o := range sending {
		share := min(needs(o), rate/float64(len(sending)-i))
		rate -= share
		if each := unit.BitRate(share / float64(o.Paced())); o.RateCap == 0 || o.RateCap > each {
			o.RateCap = each
		}
	}
}
