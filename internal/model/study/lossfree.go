package study

import (
	"slices"
	"time"

	"linerate/internal/model/metric"
	"linerate/internal/model/unit"
)

// LossFree requests a search for the highest rate of datagrams at which at most a given share is
// lost (RFC 2544, section 26.1), instead of a fixed rate.
type LossFree struct {
	Loss       unit.Ratio `yaml:"loss,zero" json:"loss,omitempty" doc:"share of the datagrams that may be lost, such as 0.1%; 0% or absent: none"`
	Resolution unit.Ratio `yaml:"resolution" json:"resolution,omitempty" doc:"largest relative distance of the result from a rate with loss; 1% when absent"`
	Repeats    int        `yaml:"repeats" json:"repeats,omitempty" doc:"how many windows of the whole duration must confirm the rate; 2 when absent"`
}

// Defaults and bounds of a search.
const (
	DefaultResolution = unit.Ratio(0.01)
	DefaultRepeats    = 2

	minResolution, maxResolution = unit.Ratio(0.001), unit.Ratio(0.5)
	maxLoss                      = unit.Ratio(0.5)
	maxRepeats                   = 10
)

// Check reports invalid values, by name.
func (l LossFree) Check(report func(name, format string, args ...any)) {
	if l.Loss < 0 || l.Loss > maxLoss {
		report("loss", "loss %s: expected 0%% to %s", l.Loss, maxLoss)
	}
	if l.Resolution < minResolution || l.Resolution > maxResolution {
		report("resolution", "resolution %s: expected %s to %s", l.Resolution, minResolution, maxResolution)
	}
	if l.Repeats < 1 || l.Repeats > maxRepeats {
		report("repeats", "repeats %d: expected 1 to %d", l.Repeats, maxRepeats)
	}
}

// lossFree checks the parameters of a search.
func (c *checker) lossFree() {
	if c.Workload.LossFree == nil {
		return
	}
	const path = "workload.loss_free"
	search := *c.Workload.LossFree
	if !c.has(path + ".resolution") {
		search.Resolution = DefaultResolution
	}
	if !c.has(path + ".repeats") {
		search.Repeats = DefaultRepeats
	}
	search.Check(func(name, format string, args ...any) { c.report(path+"."+name, format, args...) })
}

// searchable reports whether each treatment has flows whose rate can be searched, in windows that
// are all alike. It reports problems otherwise.
func (c *checker) searchable(p *Plan) bool {
	const path = "workload.loss_free"
	for _, t := range p.Treatments {
		foreign := slices.IndexFunc(t.Flows, func(f PlannedFlow) bool { return f.Process != "" })
		searched := slices.DeleteFunc(slices.Clone(t.Flows), func(f PlannedFlow) bool {
			return !metric.LossFree.From(f.Protocol)
		})
		other := slices.IndexFunc(searched, func(f PlannedFlow) bool { return f.RateCap != searched[0].RateCap })
		switch {
		case len(searched) == 0:
			c.report(path, "loss_free: treatment %q has no udp flow whose rate could be searched", t.Name)
		case foreign >= 0:
			c.report(path,
				"loss_free: %s makes a flow of treatment %q, and only linerate's own can be sent at one rate after "+
					"another",
				t.Flows[foreign].Tool, t.Name)
		case other > 0:
			c.report(path,
				"loss_free: the udp flows of treatment %q share the rate equally, but rate_cap is %s for %s and %s "+
					"for %s", t.Name,
				capped(searched[0].RateCap), searched[0].ID, capped(searched[other].RateCap), searched[other].ID)
		case len(t.Workload.Events) > 0:
			c.report(path, "loss_free: a search has many windows, and the events of treatment %q happen in one", t.Name)
		default:
			continue
		}
		return false
	}
	return true
}

func capped(rate unit.BitRate) string {
	if rate == 0 {
		return "none"
	}
	return rate.String()
}

// SearchWindow returns the length of the trials of a search. Trials that confirm its result take
// the full time.
func SearchWindow(full time.Duration) time.Duration {
	const least = 500 * time.Millisecond
	return max(full/10, min(full, least))
}

// typicalTrials is the number of trials before the result of a search is confirmed, for estimates
// only.
const typicalTrials = 4

// Time estimates how long a search takes. Full is the length of the windows that confirm its
// result. Each window has its own warm-up.
func (l LossFree) Time(warmup, full time.Duration) time.Duration {
	each := warmup + trialOverhead
	return time.Duration(l.Repeats)*(each+full) + typicalTrials*(each+SearchWindow(full))
}
