package record

import "strings"

// Reason explains the verdict of an effect. Zero value: the interval alone explains it.
type Reason struct {
	Code string `json:"code"` // one of the Reason codes
	// N and Of are the numbers in the comments of the codes. 0 for other codes.
	N  int64 `json:"n,omitempty"`
	Of int64 `json:"of,omitempty"`
}

// Values of Reason.Code.
const (
	ReasonSpans        = "spans"        // the interval contains both no difference and one that matters
	ReasonNoInterval   = "no-interval"  // too few trials for an interval
	ReasonNotMeasured  = "not-measured" // at least one side is not measured
	ReasonFewBlocks    = "few-blocks"   // N blocks or trials of the Of that a verdict requires
	ReasonFewRequests  = "few-requests" // a trial has N requests, too few for the percentile
	ReasonTrifle       = "trifle"       // the two differ by less than what matters in practice
	ReasonUnequal      = "unequal"      // N requests of the level, Of of the baseline
	ReasonZeroBase     = "zero-base"    // the baseline is zero in N of Of blocks: there is no ratio
	ReasonBothZero     = "both-zero"    // both sides are zero in all blocks
	ReasonApart        = "apart"        // N trials, far from the others, cause the difference
	ReasonNoValue      = "no-value"     // in N of Of blocks at least one side has no value
	ReasonNotSettled   = "not-settled"  // the interval is wider than the run was to achieve
	ReasonNoLimit      = "no-limit"     // the level removes the rates of the links
	ReasonChance       = "chance"       // the number of interfaces that one side used varies by chance
	ReasonWorded       = "worded"       // a record of an older version, which only has words
	oldSpans           = "the interval spans "
	oldInterfaceChance = " by chance"
)

// Reasoned returns the reason of the effect. For a record of an older version it parses Why.
func (e *Effect) Reasoned() Reason {
	switch {
	case e.Reason.Code != "" || e.Why == "":
		return e.Reason
	case strings.HasPrefix(e.Why, oldSpans):
		return Reason{Code: ReasonSpans}
	case strings.HasSuffix(e.Why, oldInterfaceChance) && !strings.Contains(e.Why, "percentile"):
		return Reason{Code: ReasonChance}
	}
	return Reason{Code: ReasonWorded}
}

// ByInterval reports whether the interval alone determines the verdict.
func (e *Effect) ByInterval() bool {
	code := e.Reasoned().Code
	return code == "" || code == ReasonSpans
}
