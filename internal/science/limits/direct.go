package limits

import (
	"math"
	"strings"

	"linerate/internal/model/unit"
)

// Direct is the most that alike flows carry together in one direction between two
// hosts of whose path only the ends are known: the slower end's rate, and the
// flows' own caps. 0: no such bound is known.
func Direct(rate float64, frame Frame, flows int, rateCap float64) Limit {
	best := Limit{Bps: math.Inf(1)}
	if rate > 0 && frame.Fraction() > 0 {
		best = Limit{rate * frame.Fraction(), linkTerm(rate, frame.Fraction(), frame)}
	}
	if capped := float64(flows) * rateCap; capped > 0 && capped < best.Bps {
		best = Limit{Bps: capped, Why: multiple(flows) + flowCap + unit.FormatRate(rateCap)}
	}
	if math.IsInf(best.Bps, 1) {
		return Limit{Why: "unknown: neither end's interface has hardware that reports a speed"}
	}
	return best
}

const flowCap = "cap of "

// Capped reports whether flows' own caps are a term of the limit that why explains.
func Capped(why string) bool { return strings.Contains(why, flowCap) }

// Measured names what a measurement's limit is, which why explains: of the path between the two
// ends it knows their interfaces and the flows' caps, and with a peer that is not linerate's this
// host's interface alone.
func Measured(why, peer string) string {
	links := "the ends' interfaces"
	if peer != "" {
		links = "this host's interface"
	}
	terms := strings.Split(why, " + ") // links before caps
	switch {
	case Capped(terms[0]):
		return "the flows' caps"
	case Capped(terms[len(terms)-1]):
		return "the limit of " + links + " and the flows' caps"
	}
	return "the limit of " + links
}
