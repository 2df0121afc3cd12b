package record

// FindMax is the result of the search for the highest rate of requests that meets an
// objective. Rates are requests a second, all flows together.
type FindMax struct {
	// Objective are the conditions that a trial has to meet, as they were given.
	Objective string `json:"objective"`
	// RatePerS is the highest rate below FailedAtPerS that was asked for and met the
	// objective; 0: none did. Confirmed is how many of the Repeats trials that were to
	// confirm it did.
	RatePerS  float64 `json:"rate_per_s"`
	Confirmed int     `json:"confirmed"`
	// FailedAtPerS is the lowest rate that failed, and BoundedBy, one of the words below, why;
	// 0: no rate did. FailedAnsweredPerS were answered there, and Failed are the conditions
	// that were not met.
	FailedAtPerS       float64     `json:"failed_at_per_s,omitempty"`
	FailedAnsweredPerS float64     `json:"failed_answered_per_s,omitempty"`
	Failed             []Condition `json:"failed,omitempty"`
	BoundedBy          string      `json:"bounded_by,omitempty"`
	// Busy is the trust check that failed there, where BoundedBy is the generator, and Generator the
	// same in words, which package wording adds.
	Busy      *GeneratorCheck `json:"busy,omitempty"`
	Generator string          `json:"generator,omitempty"`
	// Why says why no rate was confirmed.
	Why string `json:"why,omitempty"`
	// ClosedLoopPerS were answered when each request followed the answer before it.
	ClosedLoopPerS float64 `json:"closed_loop_per_s"`
	// NeededRequests is how many requests a trial needs for the percentiles of the
	// objective; 0: it has none.
	NeededRequests int64 `json:"needed_requests,omitempty"`
	// Resolution is how far apart, relatively, RatePerS and FailedAtPerS may be. Trials of
	// the search take TrialS seconds, and those that confirm its result ConfirmS, unless
	// they are Lengthened.
	Resolution float64 `json:"resolution"`
	Repeats    int     `json:"repeats"`
	TrialS     float64 `json:"trial_s"`
	ConfirmS   float64 `json:"confirm_s"`
	// Trials are all that were made, in their order: first the closed loop.
	Trials []FindMaxTrial `json:"trials"`
}

// Found says that the highest rate was confirmed.
func (f *FindMax) Found() bool { return f.RatePerS > 0 && f.Why == "" }

// What a trial failed by, and what bounds a search.
const (
	// BoundedByObjective: what was asked for was answered, and a condition was not met.
	BoundedByObjective = "objective"
	// BoundedByAnswers: fewer requests were answered than asked for. The server, the path, or
	// the connections that there are carry no more.
	BoundedByAnswers = "answers"
	// BoundedByGenerator: the hosts that make the traffic may have been the limit.
	BoundedByGenerator = "generator"
	// BoundedBySearch: no higher rate was tried.
	BoundedBySearch = "search"
)

// FindMaxTrial is one trial of the search.
type FindMaxTrial struct {
	// AskedPerS is the rate of the schedule; 0: there was none, each request followed the
	// answer before it. Such a trial neither passes nor fails.
	AskedPerS    float64 `json:"asked_per_s"`
	AnsweredPerS float64 `json:"answered_per_s"`
	// ErrorsPerS are the answers among these that say that the request failed.
	ErrorsPerS float64 `json:"errors_per_s,omitempty"`
	WindowS    float64 `json:"window_s"`
	// Lengthened: a shorter window would have had too few requests for the objective.
	Lengthened bool `json:"lengthened,omitempty"`
	// Confirms: it was to confirm the rate.
	Confirms bool `json:"confirms,omitempty"`
	Pass     bool `json:"pass"`
	// FailedBy is why it did not pass.
	FailedBy string `json:"failed_by,omitempty"`
	// Conditions are those of the objective, with what was measured.
	Conditions []Condition `json:"conditions,omitempty"`
	// Busy is the failed trust check by which the generator, and not the server, may have been the
	// limit; also of a trial that passed nevertheless. Generator is the same in words, which package
	// wording adds; trials of an earlier version have nothing else.
	Busy      *GeneratorCheck `json:"busy,omitempty"`
	Generator string          `json:"generator,omitempty"`
}

// GeneratorCheck is a failed trust check of a trial of a search, or of its closed loop.
type GeneratorCheck struct {
	Check
	InClosedLoop bool `json:"in_closed_loop,omitempty"`
}

// Unmet are the conditions that were not met.
func (t *FindMaxTrial) Unmet() (list []Condition) {
	for _, c := range t.Conditions {
		if !c.Met {
			list = append(list, c)
		}
	}
	return list
}
