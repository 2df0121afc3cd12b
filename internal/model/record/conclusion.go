package record

import "slices"

// Conclusion is what follows from a run, as values: package show/answer words it. It
// holds the figures that its words need, so that a list of runs can be worded without
// their documents.
type Conclusion struct {
	// Response is what the run is judged by; empty: goodput. Others are its further
	// responses.
	Response string   `json:"response,omitempty"`
	Others   []string `json:"others,omitempty"`
	// Unit is how people want goodput shown.
	Unit       string  `json:"unit"`
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
	// BothWays: in every trial bulk flows go from one host to another and back at once, so
	// that goodput is the sum of both directions.
	BothWays bool `json:"both_directions,omitempty"`
	// Measured is of a measurement; nil: the run is of a study.
	Measured *Measured `json:"measured,omitempty"`
	// Compared: levels are compared with a baseline; otherwise treatments are measured
	// side by side.
	Compared bool `json:"compared"`
	// Conditions are the combinations of the condition factors' levels, in their order.
	Conditions []ConditionResult `json:"conditions"`

	// At most one of these is set: a run about what hashing makes of equal-cost links,
	// about other programs' figures, about withdrawn paths, or about a list of settings
	// (one result for each condition) is answered by that.
	Hashing    *HashingResult    `json:"hashing,omitempty"`
	ToolReport *ToolReportResult `json:"tool_report,omitempty"`
	Outages    []LevelOutages    `json:"outages,omitempty"`
	Lists      []*Tune           `json:"lists,omitempty"`

	// Untried are settings of the list that the run could not try.
	Untried []Untried `json:"untried,omitempty"`

	// Doubts name the checks of linerate's own figures that failed, in DoubtedTrials of
	// Trials trials.
	Doubts        []string `json:"doubts,omitempty"`
	DoubtedTrials int      `json:"doubted_trials,omitempty"`
	Trials        int      `json:"trials"`
	Ending        Ending   `json:"ending"`

	// Missed: an event that hits less than this share of all trials can have been missed
	// (the chance is above 1 − Confidence) by the treatment with the fewest trials,
	// FewestTrials. 0: nothing was measured.
	Missed       float64 `json:"missed,omitempty"`
	FewestTrials int     `json:"fewest_trials,omitempty"`
	// Sensitivity is that of the run as it was; nil: it compares nothing, or has too few
	// blocks.
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"`
}

// Measured is of which flows a measurement is: Streams in each direction, which is that of
// their data. Latency: a probe sends requests beside them.
type Measured struct {
	Protocols []string `json:"protocols"`
	Direction string   `json:"direction"` // write, read or both
	Streams   int      `json:"streams"`
	Latency   bool     `json:"latency,omitempty"`
	Peer      string   `json:"peer,omitempty"` // iperf3: the server is iperf3's; absent: linerate's
}

// Ending is how a run ended: Run.Status, after Blocks of Planned blocks. Wide is how
// many estimates are known less narrowly than Until asked for.
type Ending struct {
	Status  string  `json:"status"`
	Blocks  int     `json:"blocks"`
	Planned int     `json:"planned"`
	Wide    int     `json:"wide,omitempty"`
	Until   float64 `json:"until,omitempty"`
}

// ConditionResult is what is shown side by side: the treatments at one combination of the
// condition factors' levels. Name is empty where only one was tried.
type ConditionResult struct {
	Name     string     `json:"name,omitempty"`
	Baseline *Candidate `json:"baseline,omitempty"` // nil: it was not measured
	// Candidates are the others, without those that only take a part away from another
	// level to see what it does there.
	Candidates []Candidate `json:"candidates,omitempty"`
	// PartMayReach: the interval of such a treatment does not show that it misses the limit.
	PartMayReach bool `json:"part_may_reach,omitempty"`
}

// Candidate is one treatment as it stands for choosing a fix.
type Candidate struct {
	Treatment string `json:"treatment"`
	// Label names the compared levels that differ from the baseline; of the baseline,
	// its levels.
	Label      string             `json:"label"`
	Settings   int                `json:"settings"` // changes that it makes
	Goodput    Estimate           `json:"goodput"`
	LimitBps   float64            `json:"limit_bps"`
	Limit      Limit              `json:"limit,omitzero"` // as a Treatment's
	LimitWhy   string             `json:"limit_why,omitempty"`
	Responses  []ResponseEstimate `json:"responses,omitempty"`
	Interfaces *InterfaceUse      `json:"interfaces,omitempty"`
	Chance     *Chance            `json:"chance,omitempty"` // as the treatment's
	// Effect is against the baseline; nil: not compared.
	Effect *Effect `json:"effect,omitempty"`
	Best   bool    `json:"best,omitempty"` // recommended
	// Reaches: its goodput's interval lies at the limit; a single trial has none. MayReach:
	// it is no fix, and its interval does not show that it misses the limit.
	Reaches  bool `json:"reaches,omitempty"`
	MayReach bool `json:"may_reach,omitempty"`
	// Exceeds: its goodput lies above the limit, which then is not its own, or bytes were
	// counted that did not arrive.
	Exceeds bool `json:"exceeds,omitempty"`
	// Fix: it reaches the limit, is shown to improve on the baseline, and no other fix
	// makes only a part of its changes.
	Fix bool `json:"fix,omitempty"`
	// Lifts: it takes the links' rates away, which the baseline has, and is no fix.
	Lifts bool `json:"lifts,omitempty"`
}

// InterfaceUse is how many of a host's interfaces carried data in a treatment's trials:
// at least Least (in LeastTrials of Trials) and at most Most of Of that the flows are meant
// to use.
type InterfaceUse struct {
	Host        string `json:"host"`
	Least       int    `json:"least"`
	LeastTrials int    `json:"least_trials"`
	Most        int    `json:"most"`
	Of          int    `json:"of"`
	Trials      int    `json:"trials"`
	// Direction is rx or tx where data flows in both directions and that one used fewer.
	Direction string `json:"direction,omitempty"`
}

// HashingResult is what became of flows that a hash placed on equal-cost links.
type HashingResult struct {
	Levels []HashingLevel `json:"levels,omitempty"` // none: nothing is compared
	// Inside of Cases treatments have a mean inside the band that chance leaves, all
	// but Outside; in IdleAsExpected a link was idle as often as chance has it.
	Cases          int      `json:"cases"`
	Inside         int      `json:"inside"`
	Outside        []string `json:"outside,omitempty"`
	IdleAsExpected int      `json:"idle_as_expected"`
	// Full are the trials whose flows were to use every link, as the kernels' route
	// lookups had said.
	Full []FullLinks `json:"full,omitempty"`
	// Chosen trials have source ports that were chosen to spread the flows, and carried
	// at least LeastChosen of what their links can.
	Chosen      int     `json:"chosen_trials,omitempty"`
	LeastChosen float64 `json:"least_chosen,omitempty"`
	// Known flows had their link predicted by the kernels' route lookups; Took took it.
	Known int `json:"known"`
	Took  int `json:"took"`
}

// FullLinks are trials on so many links; Least is the least number of links' worth that
// one of them carried.
type FullLinks struct {
	Links  int     `json:"links"`
	Trials int     `json:"trials"`
	Least  float64 `json:"least"`
}

// HashingLevel is one compared level over so many links.
type HashingLevel struct {
	Label string `json:"label"`
	Links int    `json:"links"`
	// GoodputBps and LimitBps are with the largest number of flows.
	GoodputBps float64 `json:"goodput_bps"`
	LimitBps   float64 `json:"limit_bps"`
	// Placed are the trials by number of flows, the smallest first, of those that can fill
	// more than one link. There is at least one.
	Placed []PlacedFlows `json:"placed"`
}

// PlacedFlows are the trials with one number of flows: in OneLink of them all flows shared
// a link, in Idle some link had none.
type PlacedFlows struct {
	Flows   int `json:"flows"`
	Trials  int `json:"trials"`
	OneLink int `json:"one_link"`
	Idle    int `json:"idle"`
	// ByChance: theory leaves the number of used links to chance (Trial.Chance). Excess: a
	// link was idle more often than chance has it in 999 of 1000 runs.
	ByChance bool `json:"by_chance,omitempty"`
	Excess   bool `json:"excess,omitempty"`
	// Filled: the intervals of goodput are at the limit.
	Filled bool `json:"filled,omitempty"`
}

// OneLink reports whether all flows share a link, whatever their number: they did in every
// trial, and nothing was left to chance.
func (l HashingLevel) OneLink() bool {
	return !slices.ContainsFunc(l.Placed, func(p PlacedFlows) bool { return p.ByChance || p.OneLink < p.Trials })
}

// AllFrom are the numbers of flows from which on every link is used: it was in every trial,
// and nothing was left to chance. Empty: there is none.
func (l HashingLevel) AllFrom() []PlacedFlows {
	from := len(l.Placed)
	for from > 0 && l.Placed[from-1].Idle == 0 && !l.Placed[from-1].ByChance {
		from--
	}
	return l.Placed[from:]
}

// ToolReportResult is what a factor does to goodput and to what another program reports.
type ToolReportResult struct {
	Factor     string        `json:"factor"`
	Level      string        `json:"level"`
	GoodputBps float64       `json:"goodput_bps"`
	LimitBps   float64       `json:"limit_bps"`
	Report     *ToolReported `json:"report"`
	// Over is the share by which the report exceeds what was received.
	Over ResponseEstimate `json:"over"`
	// Cost is the goodput at Level against the factor's baseline; nil: not asked.
	Cost *Effect `json:"cost,omitempty"`
	// Surplus are the effects on the surplus that lead to this treatment, one a factor;
	// Elsewhere those of other levels than the treatment's.
	Surplus   []Effect `json:"surplus,omitempty"`
	Elsewhere []Effect `json:"elsewhere,omitempty"`
	// FirstSumBps is the report at the factor's baseline; 0: there is none, as in a run
	// that was interrupted before.
	FirstSumBps float64 `json:"first_sum_bps,omitempty"`
	// Flat: goodput is shown not to rise along the factor by more than the margin. Rises:
	// the surplus is shown to rise.
	Flat  bool `json:"flat,omitempty"`
	Rises bool `json:"rises,omitempty"`
	// Predicted is the part of the surplus that follows from the kernel's counts, of
	// PredictedTrials together, with its interval, which a single one has not (both 0).
	Predicted       float64 `json:"predicted,omitempty"`
	PredictedLow    float64 `json:"predicted_low,omitempty"`
	PredictedHigh   float64 `json:"predicted_high,omitempty"`
	PredictedTrials int     `json:"predicted_trials,omitempty"`
	// Published are the first and last figures of the tables in question.
	Published [][2]float64 `json:"published_bps,omitempty"`
}

// LevelOutages are the outages with one combination of compared levels (empty: nothing
// is compared) in one condition.
type LevelOutages struct {
	Label     string    `json:"label,omitempty"`
	Condition string    `json:"condition,omitempty"`
	Outages   []Outages `json:"outages"`
}
