package record

import "slices"

// Conclusion is the conclusion from a run, as values that package show/answer puts into words. It
// contains every figure that these words need, so that a list of runs can be shown without loading
// the runs themselves.
type Conclusion struct {
	// Response is the response that the run is judged by. Empty: goodput. Others are its further
	// responses.
	Response string   `json:"response,omitempty"`
	Others   []string `json:"others,omitempty"`
	// Unit is the unit in which goodput is shown.
	Unit       string  `json:"unit"`
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
	// BothWays reports whether every trial has bulk flows in both directions between two hosts at
	// the same time. Goodput is then the sum of both directions.
	BothWays bool `json:"both_directions,omitempty"`
	// Measured describes the flows of a measurement. Nil: the run executes a study.
	Measured *Measured `json:"measured,omitempty"`
	// Compared reports whether levels are compared with a baseline. False: treatments are shown
	// side by side.
	Compared bool `json:"compared"`
	// Conditions has an entry for each combination of levels of the condition factors, in the order
	// of the levels.
	Conditions []ConditionResult `json:"conditions"`

	// Mesh is what a measurement between many hosts says, without its lists of hosts and pairs. Nil: the
	// run is none.
	Mesh *MeshConclusion `json:"mesh,omitempty"`

	// At most one of these is set, for runs that answer another question than which level is best:
	// which hosts differ from the others, how hashing places flows on equal-cost links, what other
	// programs report, how long paths are interrupted, or which settings of a list help (one entry for
	// each condition).
	Pairs      *MeshConclusion   `json:"pairs,omitempty"`
	Hashing    *HashingResult    `json:"hashing,omitempty"`
	ToolReport *ToolReportResult `json:"tool_report,omitempty"`
	Outages    []LevelOutages    `json:"outages,omitempty"`
	Lists      []*Tune           `json:"lists,omitempty"`

	// Untried lists settings that the run could not try.
	Untried []Untried `json:"untried,omitempty"`
	// LeftOut are treatments that the run does not try (Design.LeftOut).
	LeftOut []LeftOut `json:"left_out,omitempty"`

	// Doubts names the failed checks of figures that linerate measured. DoubtedTrials of the
	// Trials trials failed at least one of them.
	Doubts        []string `json:"doubts,omitempty"`
	DoubtedTrials int      `json:"doubted_trials,omitempty"`
	Trials        int      `json:"trials"`
	Ending        Ending   `json:"ending"`
	// Odd are the findings that name what stands apart from its peers or its declaration, which a sum
	// hides, without what others explain.
	Odd []Finding `json:"odd,omitempty"`
	// Silent are flows that were opened and carried nothing. Nil: every flow carried something.
	Silent *SilentFlows `json:"silent_flows,omitempty"`

	// Missed is the smallest share of trials that an event must affect to be noticed with
	// probability Confidence in FewestTrials trials, the number of trials of the treatment that has
	// the fewest. 0: nothing was measured.
	Missed       float64 `json:"missed,omitempty"`
	FewestTrials int     `json:"fewest_trials,omitempty"`
	// Sensitivity is the smallest difference that this run can show. Nil: the run compares nothing
	// or has too few blocks.
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"`
}

// SilentFlows are the Flows flows, of Of, that carried nothing in the window of the trial with the
// most of them, and one of these flows. Trials counts the trials that have such flows.
type SilentFlows struct {
	Flows  int    `json:"flows"`
	Of     int    `json:"of"`
	Trials int    `json:"trials"`
	Flow   string `json:"flow"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Measured describes the flows of a measurement: Streams flows in each direction in which data
// flows. Latency reports whether a probe sends requests beside them.
type Measured struct {
	Protocols []string `json:"protocols"`
	Direction string   `json:"direction"` // write, read or both
	Streams   int      `json:"streams"`
	Latency   bool     `json:"latency,omitempty"`
	Peer      string   `json:"peer,omitempty"` // "iperf3" for an iperf3 server; absent for linerate's
}

// Ending is how a run ended: its Status after Blocks of Planned blocks. Wide counts the estimates
// whose interval is still wider than Until.
type Ending struct {
	Status  string  `json:"status"`
	Blocks  int     `json:"blocks"`
	Planned int     `json:"planned"`
	Wide    int     `json:"wide,omitempty"`
	Until   float64 `json:"until,omitempty"`
}

// ConditionResult has the treatments at one combination of levels of the condition factors. Name is
// empty if there is only one combination.
type ConditionResult struct {
	Name     string     `json:"name,omitempty"`
	Baseline *Candidate `json:"baseline,omitempty"` // nil: not measured
	// Candidates are the other treatments. Levels that only take a part away from another level, to
	// show what that part does, are left out.
	Candidates []Candidate `json:"candidates,omitempty"`
	// PartMayReach reports whether the interval of a treatment that was left out does not exclude
	// the limit.
	PartMayReach bool `json:"part_may_reach,omitempty"`
}

// Candidate is a treatment from which the answer selects a fix.
type Candidate struct {
	Treatment string `json:"treatment"`
	// Label names the compared levels that differ from the baseline. For the baseline it names the
	// baseline's own levels.
	Label      string             `json:"label"`
	Settings   int                `json:"settings"` // number of changes that it makes
	Goodput    Estimate           `json:"goodput"`
	LimitBps   float64            `json:"limit_bps"`
	Limit      Limit              `json:"limit,omitzero"` // as in Treatment
	LimitWhy   string             `json:"limit_why,omitempty"`
	Responses  []ResponseEstimate `json:"responses,omitempty"`
	Interfaces *InterfaceUse      `json:"interfaces,omitempty"`
	Chance     *Chance            `json:"chance,omitempty"` // as in Treatment
	// Effect is relative to the baseline. Nil: not compared.
	Effect *Effect `json:"effect,omitempty"`
	Best   bool    `json:"best,omitempty"` // recommended by the answer
	// Reaches reports whether the interval of goodput lies at the limit; a single trial has no
	// interval. MayReach reports whether the interval does not exclude the limit although the
	// candidate is no fix.
	Reaches  bool `json:"reaches,omitempty"`
	MayReach bool `json:"may_reach,omitempty"`
	// Exceeds reports whether goodput is above the limit. Either the limit belongs to something
	// else, or bytes were counted that did not arrive.
	Exceeds bool `json:"exceeds,omitempty"`
	// Fix reports whether the candidate reaches the limit, is shown to improve on the baseline, and
	// no other fix makes a subset of its changes.
	Fix bool `json:"fix,omitempty"`
	// Lifts reports whether the candidate removes the rates of links that the baseline has. It is
	// then no fix.
	Lifts bool `json:"lifts,omitempty"`
}

// InterfaceUse is the number of interfaces of a host that carried data in the trials of a
// treatment. Of is the number that the flows should use, Least and Most the fewest and the most
// that they did use, and LeastTrials the number of trials, of Trials, that used the fewest.
type InterfaceUse struct {
	Host        string `json:"host"`
	Least       int    `json:"least"`
	LeastTrials int    `json:"least_trials"`
	Most        int    `json:"most"`
	Of          int    `json:"of"`
	Trials      int    `json:"trials"`
	// Direction is rx or tx if data flows in both directions and one of them used fewer interfaces.
	Direction string `json:"direction,omitempty"`
}

// HashingResult is how a hash placed flows on equal-cost links.
type HashingResult struct {
	Levels []HashingLevel `json:"levels,omitempty"` // empty: nothing is compared
	// Of Cases treatments, Inside have a mean within the interval that chance predicts; Outside
	// names the others. In IdleAsExpected treatments a link was idle as often as chance predicts.
	Cases          int      `json:"cases"`
	Inside         int      `json:"inside"`
	Outside        []string `json:"outside,omitempty"`
	IdleAsExpected int      `json:"idle_as_expected"`
	// Full summarises the trials in which, by the kernels' route lookups, the flows should use
	// every link, with one entry for each number of links.
	Full []FullLinks `json:"full,omitempty"`
	// Chosen counts trials whose source ports were chosen to spread the flows. They carried at
	// least the share LeastChosen of the capacity of their links.
	Chosen      int     `json:"chosen_trials,omitempty"`
	LeastChosen float64 `json:"least_chosen,omitempty"`
	// Known counts flows whose link the kernels' route lookups predicted. Took counts those that
	// used the predicted link.
	Known int `json:"known"`
	Took  int `json:"took"`
}

// FullLinks summarises the trials whose flows should use all of the given number of links. Least
// is the lowest goodput of these trials, as a multiple of what one link can carry.
type FullLinks struct {
	Links  int     `json:"links"`
	Trials int     `json:"trials"`
	Least  float64 `json:"least"`
}

// HashingLevel has the results of one compared level over the given number of links.
type HashingLevel struct {
	Label string `json:"label"`
	Links int    `json:"links"`
	// GoodputBps and LimitBps belong to the treatment with the largest number of flows.
	GoodputBps float64 `json:"goodput_bps"`
	LimitBps   float64 `json:"limit_bps"`
	// Placed has an entry for each number of flows that can fill more than one link, in ascending
	// order, and at least one.
	Placed []PlacedFlows `json:"placed"`
}

// PlacedFlows counts the trials with the given number of flows. In OneLink of them all flows shared
// one link; in Idle of them at least one link carried no flow.
type PlacedFlows struct {
	Flows   int `json:"flows"`
	Trials  int `json:"trials"`
	OneLink int `json:"one_link"`
	Idle    int `json:"idle"`
	// ByChance reports whether chance decides how many links are used (Trial.Chance). Excess
	// reports whether a link was idle more often than in 999 of 1000 runs by chance.
	ByChance bool `json:"by_chance,omitempty"`
	Excess   bool `json:"excess,omitempty"`
	// Filled reports whether the intervals of goodput are at the limit.
	Filled bool `json:"filled,omitempty"`
}

// OneLink reports whether all flows share one link regardless of their number: they did so in every
// trial, and not by chance.
func (l HashingLevel) OneLink() bool {
	return !slices.ContainsFunc(l.Placed, func(p PlacedFlows) bool { return p.ByChance || p.OneLink < p.Trials })
}

// AllFrom returns the entries of Placed from the smallest number of flows from which on every
// trial uses every link, and not by chance. Empty: there is no such number.
func (l HashingLevel) AllFrom() []PlacedFlows {
	from := len(l.Placed)
	for from > 0 && l.Placed[from-1].Idle == 0 && !l.Placed[from-1].ByChance {
		from--
	}
	return l.Placed[from:]
}

// ToolReportResult is the effect of a factor on goodput and on the figure that another program
// reports.
type ToolReportResult struct {
	Factor     string        `json:"factor"`
	Level      string        `json:"level"`
	GoodputBps float64       `json:"goodput_bps"`
	LimitBps   float64       `json:"limit_bps"`
	Report     *ToolReported `json:"report"`
	// Over is how much the reported figure exceeds the goodput, as a share of the goodput.
	Over ResponseEstimate `json:"over"`
	// Cost compares the goodput at Level with that at the baseline of the factor. Nil: not
	// compared.
	Cost *Effect `json:"cost,omitempty"`
	// Surplus has the effects on the surplus of the factors in which this treatment differs from
	// the baseline, one for each. Elsewhere has the effects of changing one of this treatment's
	// levels to another one.
	Surplus   []Effect `json:"surplus,omitempty"`
	Elsewhere []Effect `json:"elsewhere,omitempty"`
	// FirstSumBps is the reported figure at the baseline of the factor. 0: none, as in a run that
	// was interrupted before.
	FirstSumBps float64 `json:"first_sum_bps,omitempty"`
	// Flat reports whether goodput is shown not to rise along the factor by more than the margin.
	// Rises reports whether the surplus is shown to rise.
	Flat  bool `json:"flat,omitempty"`
	Rises bool `json:"rises,omitempty"`
	// Predicted is the share of the surplus that follows from the kernel's counters, over
	// PredictedTrials trials. PredictedLow and PredictedHigh are its interval; both are 0 for a
	// single trial.
	Predicted       float64 `json:"predicted,omitempty"`
	PredictedLow    float64 `json:"predicted_low,omitempty"`
	PredictedHigh   float64 `json:"predicted_high,omitempty"`
	PredictedTrials int     `json:"predicted_trials,omitempty"`
	// Published has the first and the last figure of the first series of each published table.
	Published [][2]float64 `json:"published_bps,omitempty"`
}

// LevelOutages are the outages at one combination of compared levels in one condition. Label is
// empty if nothing is compared.
type LevelOutages struct {
	Label     string    `json:"label,omitempty"`
	Condition string    `json:"condition,omitempty"`
	Outages   []Outages `json:"outages"`
}
