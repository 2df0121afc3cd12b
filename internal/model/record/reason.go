package record

import "strings"

// Reason is why an effect has its verdict. The zero value: its interval alone says it.
type Reason struct {
	Code string `json:"code"` // one of the Reason codes
	// N of Of, where a code has them.
	N  int64 `json:"n,omitempty"`
	Of int64 `json:"of,omitempty"`
}

// Codes of reasons.
const (
	ReasonSpans        = "spans"        // the interval contains no difference and one that matters
	ReasonNoInterval   = "no-interval"  // too few trials for an interval
	ReasonNotMeasured  = "not-measured" // not both sides are measured
	ReasonFewBlocks    = "few-blocks"   // N blocks or trials of the Of that a verdict takes
	ReasonFewRequests  = "few-requests" // a trial has N requests, too few for the percentile
	ReasonTrifle       = "trifle"       // the two differ by less than what matters in practice
	ReasonUnequal      = "unequal"      // N requests of the level, Of of the baseline
	ReasonZeroBase     = "zero-base"    // the baseline is zero in N of Of blocks: there is no ratio
	ReasonBothZero     = "both-zero"    // both sides are zero in all blocks
	ReasonApart        = "apart"        // N trials, so far from the others, make the difference
	ReasonNoValue      = "no-value"     // in N of Of blocks not both sides have a value
	ReasonNotSettled   = "not-settled"  // the interval is wider than the run was to make it
	ReasonNoLimit      = "no-limit"     // the level takes the links' rates away
	ReasonChance       = "chance"       // one side used now more, now fewer interfaces by chance
	ReasonWorded       = "worded"       // a record of an older version says it in words alone
	oldSpans           = "the interval spans "
	oldInterfaceChance = " by chance"
)

// Reasoned is the effect's reason, that of a record of an older version read from its words.
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

// ByInterval reports whether nothing but its interval decides an effect's verdict.
func (e *Effect) ByInterval() bool {
	code := e.Reasoned().Code
	return code == "" || code == ReasonSpans
}
