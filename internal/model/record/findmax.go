package record

import "linerate/internal/model/lists"

// FindMax is the result of the search for the highest request rate that meets an objective. Rates
// are requests per second of all flows together.
type FindMax struct {
	// Objective is the list of conditions that a trial must meet, as the user gave it.
	Objective string `json:"objective"`
	// RatePerS is the highest scheduled rate below FailedAtPerS that met the objective. 0: none
	// did. Confirmed is the number of the Repeats confirmation trials that passed.
	RatePerS  float64 `json:"rate_per_s"`
	Confirmed int     `json:"confirmed"`
	// FailedAtPerS is the lowest rate that failed, 0 if none did. BoundedBy is why it failed, one
	// of the constants below. FailedAnsweredPerS is the rate of answers there, and Failed has the
	// conditions that were not met.
	FailedAtPerS       float64     `json:"failed_at_per_s,omitempty"`
	FailedAnsweredPerS float64     `json:"failed_answered_per_s,omitempty"`
	Failed             []Condition `json:"failed,omitempty"`
	BoundedBy          string      `json:"bounded_by,omitempty"`
	// Busy is the trust check that failed if BoundedBy is BoundedByGenerator. Generator is the same
	// in words, which package wording adds.
	Busy      *GeneratorCheck `json:"busy,omitempty"`
	Generator string          `json:"generator,omitempty"`
	// Why is why no rate was confirmed.
	Why string `json:"why,omitempty"`
	// ClosedLoopPerS is the rate of answers when each request is sent after the previous answer.
	ClosedLoopPerS float64 `json:"closed_loop_per_s"`
	// NeededRequests is the number of requests that a trial needs for the percentiles of the
	// objective. 0: the objective has no percentile.
	NeededRequests int64 `json:"needed_requests,omitempty"`
	// Resolution is the relative difference between FailedAtPerS and RatePerS at which the search
	// ends. Trials of the search take TrialS seconds, confirmation trials ConfirmS seconds, unless
	// they are Lengthened.
	Resolution float64 `json:"resolution"`
	Repeats    int     `json:"repeats"`
	TrialS     float64 `json:"trial_s"`
	ConfirmS   float64 `json:"confirm_s"`
	// Trials lists all trials in order. The first is the closed loop.
	Trials []FindMaxTrial `json:"trials"`
}

// Found reports whether the highest rate was confirmed.
func (f *FindMax) Found() bool { return f.RatePerS > 0 && f.Why == "" }

// Why a trial failed, and what bounds a search.
const (
	// BoundedByObjective: the requested rate was answered, and a condition was not met.
	BoundedByObjective = "objective"
	// BoundedByAnswers: fewer requests were answered than scheduled. The server, the path or the
	// connections carry no more.
	BoundedByAnswers = "answers"
	// BoundedByGenerator: the hosts that generate the traffic may have been the limit.
	BoundedByGenerator = "generator"
	// BoundedBySearch: no higher rate was tried.
	BoundedBySearch = "search"
)

// FindMaxTrial is one trial of a FindMax search.
type FindMaxTrial struct {
	// AskedPerS is the scheduled rate. 0: no schedule, each request was sent after the previous
	// answer. Such a trial neither passes nor fails.
	AskedPerS    float64 `json:"asked_per_s"`
	AnsweredPerS float64 `json:"answered_per_s"`
	// ErrorsPerS is the part of AnsweredPerS whose answers report an error.
	ErrorsPerS float64 `json:"errors_per_s,omitempty"`
	WindowS    float64 `json:"window_s"`
	// Lengthened reports whether WindowS was extended so that there are enough requests for the
	// objective.
	Lengthened bool `json:"lengthened,omitempty"`
	// Confirms reports whether this was a confirmation trial.
	Confirms bool `json:"confirms,omitempty"`
	Pass     bool `json:"pass"`
	// FailedBy is why the trial did not pass: one of the BoundedBy constants.
	FailedBy string `json:"failed_by,omitempty"`
	// Conditions are those of the objective with the measured values.
	Conditions []Condition `json:"conditions,omitempty"`
	// Busy is the failed trust check that suggests that the generator, not the server, was the
	// limit. A trial that passed can have one too. Generator is the same in words, which package
	// wording adds; trials of an older version only have Generator.
	Busy      *GeneratorCheck `json:"busy,omitempty"`
	Generator string          `json:"generator,omitempty"`
}

// GeneratorCheck is a trust check that failed in a trial of a search, or in its closed loop.
type GeneratorCheck struct {
	Check
	InClosedLoop bool `json:"in_closed_loop,omitempty"`
}

// Unmet returns the conditions that were not met.
func (t *FindMaxTrial) Unmet() (list []Condition) {
	return lists.Where(t.Conditions, func(c Condition) bool { return !c.Met })
}
