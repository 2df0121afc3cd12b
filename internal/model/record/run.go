// Package record defines the documents that linerate stores and prints as JSON: the result of a run
// with its trials, findings and conclusion. What is read of a host is in package netstate.
//
// Field names contain units: _bps is bits per second, _bytes bytes, _s seconds, _us microseconds.
// Fields may be added at any time and are never renamed.
package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// RunSchema is the schema name and version of a Run.
const RunSchema = "linerate.run/v2"

// Run is the result document of `linerate run`.
type Run struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	// Name is the name that the user gave the run. Several runs may have the same one. Empty: it
	// has none.
	Name      string    `json:"name,omitempty"`
	Study     string    `json:"study"`
	Question  string    `json:"question,omitempty"`
	Seed      uint64    `json:"seed"`
	Started   time.Time `json:"started"`
	DurationS float64   `json:"duration_s"`
	// Status is complete, budget (stopped by the budget before the design was fulfilled), blocks
	// (stopped after the largest number of blocks, before `until` was reached), interrupted, or
	// running.
	Status string `json:"status"`
	// Error says why linerate itself interrupted the run. Empty: it did not.
	Error string `json:"error,omitempty"`
	// Answer is one sentence, and Statements are up to four more. They express the Conclusion.
	// Package answer adds them when a run is shown; they are not stored.
	Answer     string      `json:"answer,omitempty"`
	Statements []string    `json:"statements,omitempty"`
	Conclusion *Conclusion `json:"conclusion,omitempty"`
	// Unit is the unit in which goodput is shown: "bit/s" or "MB/s".
	Unit string `json:"unit"`
	// Responses are the metrics by which treatments are judged (package metric). The answer, the
	// effects and their verdicts are about the first. None: goodput.
	Responses []string `json:"responses,omitempty"`

	Factors    []Factor    `json:"factors"`
	Treatments []Treatment `json:"treatments"`
	Effects    []Effect    `json:"effects"`
	Trust      []Check     `json:"trust"`
	Findings   []Finding   `json:"findings"`
	Trials     []Trial     `json:"trials"`
	// Outliers are the trials whose values are far from those of the other trials of their
	// treatment.
	Outliers []Outlier `json:"outliers,omitempty"`
	// Hashing compares the treatments over equal-cost links with what theory predicts for a hash.
	// Empty: there are no such treatments.
	Hashing []Hashing `json:"hashing,omitempty"`

	Topology    topology.Topology `json:"topology"`
	Environment Environment       `json:"environment"`
	// Snapshots has the snapshots of hosts before and after the trials, in the order of the hosts.
	// Empty: an older version made the run, or it has not begun.
	Snapshots []netstate.HostSnapshots `json:"snapshots,omitempty"`
	// Design says how the trials were arranged, by the study and by flags.
	Design Design `json:"design"`
	// Confidence is the confidence level of the intervals, such as 0.95. Each estimate of a
	// treatment has this level individually; the intervals of the effects hold simultaneously at
	// this level.
	Confidence float64 `json:"confidence"`
	// Margin is the practical margin, such as 0.02: smaller relative differences do not matter.
	Margin float64 `json:"margin"`
	// StudyFile is the study as YAML. With it and Seed the run can be repeated.
	StudyFile string `json:"study_file"`
	// Published are the published tables that the study compares with.
	Published []Published `json:"published,omitempty"`
	// Address is the address of a measurement's server, as connected to, or its URL.
	Address string `json:"address,omitempty"`
	// Unfinished is the window of a measurement as far as it was measured when it was last saved. Nil: the
	// measurement has ended, or its window has not begun.
	Unfinished *Trial `json:"unfinished,omitempty"`
	// Expect is the result of a measurement's expectation. Nil: nothing was expected.
	Expect *Expectation `json:"expect,omitempty"`
	// Again is the command that repeats the run.
	Again string `json:"again"`
	// Proven are the settings of the run's list that tune --keep kept. Nil: it kept none.
	Proven *Proven `json:"proven,omitempty"`
	// Mesh is what is particular to a measurement between many hosts. Nil: the run is none.
	Mesh *Mesh `json:"mesh,omitempty"`
	// Notes are remarks on the run, the oldest first.
	Notes []Note `json:"notes,omitempty"`
}

// Proven is the set of settings that tune kept after a run had tried the set by itself.
type Proven struct {
	// Run is the run that tried them, together with the baseline and the whole list.
	Run      string   `json:"run"`
	Level    string   `json:"level,omitempty"` // the level of Run that makes the settings
	Settings []string `json:"settings"`        // parameter names
	// Open lists those of Settings that are not shown to be needed.
	Open []string `json:"open,omitempty"`
	// Added lists those of Settings that are not in the list.
	Added []string `json:"added,omitempty"`
	// Of is the number of settings in the list.
	Of int `json:"of"`
	// Gain is TuneProof.Gain of the proof.
	Gain *float64 `json:"gain,omitempty"`
	// Beside has, by parameter, the effect because of which a setting is kept although the trials
	// of the list do not show that it helps (TuneSetting.Beside).
	Beside map[string]*Effect `json:"beside,omitempty"`
	// Fewer and Offer are the other sets that the answer names (see Tune). Nil: there are none.
	Fewer *Proven `json:"fewer,omitempty"`
	Offer *Proven `json:"offer,omitempty"`
	// Ended: the budget ended the search, so fewer settings may be enough.
	Ended bool `json:"ended,omitempty"`
}

// Text says how many settings of the list are kept, and which were added: "2 of the list's 10
// settings".
func (p *Proven) Text() string {
	added := strings.Join(p.Added, " and ") + ", which linerate added"
	own := fmt.Sprintf("%d of the list's %d settings", len(p.Settings)-len(p.Added), p.Of)
	switch {
	case len(p.Added) == 0:
		return own
	case len(p.Added) == len(p.Settings):
		return added
	}
	return own + " and " + added
}

const (
	// StatusBudget and StatusBlocks: the run ended by itself before its design was fulfilled.
	StatusBudget = "budget"
	StatusBlocks = "blocks"
	// StatusRunning: the run's trials are being made.
	StatusRunning = "running"
)

// Design says how a run's trials were arranged: the study's design, changed by the command line.
type Design struct {
	Replicates int     `json:"replicates"`
	Until      float64 `json:"until,omitempty"`    // half-width of every effect's interval to be reached; 0: none
	BudgetS    float64 `json:"budget_s,omitempty"` // 0: none
	// Partial: not every combination of levels is tried, but only those of some parts of the
	// design. Parts are the parts that were requested. Empty: all except those that run only on
	// request.
	Partial bool     `json:"partial,omitempty"`
	Parts   []string `json:"parts,omitempty"`
	// Only are the levels that were requested. Empty: all.
	Only []string `json:"only,omitempty"`
	// Pairs: the study's flows name pairs of hosts, which are compared with each other.
	Pairs bool `json:"pairs,omitempty"`
	// LeftOut are treatments that are not tried, because the kernel of a host lacks what they need.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Set are the values of the study that were replaced, "workload.duration=5s".
	Set []string `json:"set,omitempty"`
	// Options are a measurement's options that its flows do not show, by their names in study
	// files, including those with default values: "duration": "10s".
	Options map[string]string `json:"options,omitempty"`
}

// LeftOut is a treatment that a run does not try, with the reason.
type LeftOut struct {
	Treatment string `json:"treatment"`
	Why       string `json:"why"`
}

// Factor repeats a factor of the study for readers of the result.
type Factor struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"` // compare or condition
	Baseline string  `json:"baseline"`
	Levels   []Level `json:"levels"`
	// Ablate is the level whose settings the levels with a Part try one by one.
	Ablate string `json:"ablate,omitempty"`
	// Untried lists settings of the list that could not be tried.
	Untried []Untried `json:"untried,omitempty"`
	// Amended lists settings that were tried with another value than in the list, or in addition
	// to it.
	Amended []Amended `json:"amended,omitempty"`
}

// Amended is a setting that was corrected, or added to a list.
type Amended struct {
	Key string `json:"key"`
	// Was is the value in the list. Empty: the list does not have the setting.
	Was string `json:"was,omitempty"`
	// Why says why the setting was added. Empty: it was corrected.
	Why string `json:"why,omitempty"`
}

// Untried is a setting of a list that could not be tried.
type Untried struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why"`
}

// Level is one level of a factor and the changes that it makes.
type Level struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Against is the level that this one is compared with. Empty: the baseline.
	Against string `json:"against,omitempty"`
	// Part is a setting of the level Factor.Ablate: the only one that this level makes or, if
	// Against is that level, the only one that it lacks.
	Part string `json:"part,omitempty"`
	// Settings is the number of reversible changes that the level makes. Of two sufficient fixes
	// the one with fewer is preferred.
	Settings int `json:"settings"`
	// SettingLines describes the changes, one each: "server: sysctl net…=1".
	SettingLines []string `json:"setting_lines,omitempty"`
	// FlowLines describes the options that the level gives all flows: "congestion_control bbr".
	FlowLines []string `json:"flow_lines,omitempty"`
}

// Treatment is one combination of levels, with its estimates over all trials.
type Treatment struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline"` // every compared factor is at its baseline level
	// Best marks the combination of levels that the answer recommends: one treatment in each
	// condition, or none if nothing is shown to improve on the baseline.
	Best       bool              `json:"best,omitempty"`
	Levels     map[string]string `json:"levels"`
	Trials     int               `json:"trials"`
	Goodput    Estimate          `json:"goodput"`
	LimitBps   float64           `json:"limit_bps"`  // 0: unknown, because no link of the path has a rate
	Efficiency float64           `json:"efficiency"` // goodput.mean_bps / limit_bps
	// Responses has the estimates of Run.Responses, in their order.
	Responses []ResponseEstimate `json:"responses,omitempty"`
	// TransactionsPerS and LostShare are means over the trials. Latency is that of the transactions
	// of all trials.
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	Latency          *Distribution `json:"latency_us,omitempty"`
	LostShare        *float64      `json:"lost_share,omitempty"`
	// Limit says how LimitBps is computed. LimitWhy is the same in one line, such as "4 × 1 Gbit/s
	// × 1448/1514"; records of older versions have only LimitWhy.
	Limit      Limit                `json:"limit,omitzero"`
	LimitWhy   string               `json:"limit_why,omitempty"`
	Interfaces []TreatmentInterface `json:"interfaces"`
	// ToolReported is a figure that was counted at the sender: the sum that another program
	// reports, or the sum of the flows' averages at the sender.
	ToolReported *ToolReported `json:"tool_reported,omitempty"`
	// Outages has the events in the windows of the trials and their effects on the flows.
	Outages []Outages `json:"outages,omitempty"`
	// Unconnected counts the flows that could not connect, over all trials.
	Unconnected int `json:"unconnected,omitempty"`
	// Chance is the range that contains Chance of all trials. Nil: no trial has one.
	Chance *Chance `json:"chance,omitempty"`
	// Effect compares the treatment with the baseline under the same conditions, in every response
	// of the run. Nil: the treatment is the baseline or was not compared with it, for example
	// because its level is compared with another one.
	Effect *Effect `json:"effect,omitempty"`
}

// Estimate is a mean with its interval. Confidence 0: the interval is unknown, for example because
// there is a single trial; Low and High are then 0.
type Estimate struct {
	MeanBps    float64 `json:"mean_bps"`
	LowBps     float64 `json:"low_bps"`
	HighBps    float64 `json:"high_bps"`
	Confidence float64 `json:"confidence"`
	// HalfBps is half the width of the interval before Low and High were bounded by what is
	// possible: by 0 and by the limit or, if larger, the largest trial.
	HalfBps float64 `json:"half_bps"`
}

// ResponseEstimate is the estimate of one response: a mean over trials with its interval, as in
// Estimate. For a percentile, Mean is the percentile of all trials' requests together.
type ResponseEstimate struct {
	Response   string  `json:"response"`
	Unit       string  `json:"unit"` // bps, per_s, us, share, count, s_per_gb
	Mean       float64 `json:"mean"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	Half       float64 `json:"half"` // like Estimate.HalfBps
	// Trials is the number of trials with a value. 0: none has, and there is no estimate.
	Trials int `json:"trials"`
	// Rank says what Mean is if all trials together have too few requests for the percentile: "8th
	// slowest of 800". Empty: Mean is the percentile.
	Rank string `json:"rank,omitempty"`
}

// TreatmentInterface is the mean load of one interface over a treatment's trials, by the
// interface's own counters (bytes on the wire, including headers).
type TreatmentInterface struct {
	Host      string  `json:"host"`
	Interface string  `json:"interface"`
	RxBps     float64 `json:"rx_bps"`
	TxBps     float64 `json:"tx_bps"`
	LimitBps  float64 `json:"limit_bps"` // rate of the link; 0: unknown
	// ShareRx and ShareTx are this interface's share of what its host received and sent, 0…1. A
	// share is set only if data flows in that direction, not if the host carried nothing or only
	// acknowledgements. On a host that only forwards, and on a switch, they are shares among
	// parallel interfaces.
	ShareRx *float64 `json:"share_rx,omitempty"`
	ShareTx *float64 `json:"share_tx,omitempty"`
	// Share is ShareRx or ShareTx. If both are set, it belongs to the direction in which the load
	// of the host's interfaces is less even. Direction says which it is, Rx or Tx. Empty: neither
	// is set.
	Share     float64 `json:"share"`
	Direction string  `json:"direction,omitempty"`
}

// Directions of an interface's traffic.
const (
	Rx = "rx"
	Tx = "tx"
)

// ToolReported is a figure obtained by counting at the sender, or by another program with its own
// method.
type ToolReported struct {
	SumBps float64 `json:"sum_bps"`
	Method string  `json:"method,omitempty"`
	// The remaining fields are set for other programs. Tool is the name of the program, CountedBy
	// the end that counted, and Processes the number of figures in the sum.
	Tool      string `json:"tool,omitempty"`
	CountedBy string `json:"counted_by,omitempty"`
	Processes int    `json:"processes,omitempty"`
	// GoodputBps is the rate at which the receivers of the same connections read data in the common
	// window. SurplusBps is the reported rate minus GoodputBps.
	GoodputBps float64 `json:"goodput_bps,omitempty"`
	SurplusBps float64 `json:"surplus_bps,omitempty"`
	// PredictedBps is the surplus that follows from what the kernel counts for each connection: the
	// sum of its bytes divided by its own time, minus the goodput.
	PredictedBps float64 `json:"predicted_surplus_bps,omitempty"`
	// UnsentBytes were in the send buffers at the end of the window. UnsentBps is UnsentBytes as a
	// rate, over the time in which the connections were written to: the surplus of a tool that
	// stops its clock with its last write.
	UnsentBytes int64   `json:"unsent_bytes,omitempty"`
	UnsentBps   float64 `json:"unsent_surplus_bps,omitempty"`
	Seconds     float64 `json:"seconds,omitempty"`
	// TransactionsPerS is the rate of transactions that the tool reports. CountedTransactionsPerS
	// is the rate that linerate computes from the bytes on their connections.
	TransactionsPerS        float64 `json:"transactions_per_s,omitempty"`
	CountedTransactionsPerS float64 `json:"counted_transactions_per_s,omitempty"`
}

// Verdicts of an effect.
const (
	Improves     = "improves"
	Worsens      = "worsens"
	NoDifference = "no difference"
	Inconclusive = "inconclusive"
)

// Effect is the ratio of one level's response to that of the baseline level, all else equal. For a
// treatment that differs from the baseline in several factors, Factor is empty, and From and To are
// treatment names.
type Effect struct {
	// Response is the response that the ratio and the verdict are about. Empty: goodput.
	Response string `json:"response,omitempty"`
	Factor   string `json:"factor,omitempty"`
	From     string `json:"from"`
	To       string `json:"to"`
	// At has the levels of the other factors at which the comparison was made.
	At    map[string]string `json:"at,omitempty"`
	Ratio EffectSize        `json:"ratio"`
	// Difference is level minus baseline in the response's unit, set if there is no ratio. The
	// verdict is then about it.
	Difference *EffectSize `json:"difference,omitempty"`
	P          float64     `json:"p"` // corrected for the number of effects (Holm)
	Verdict    string      `json:"verdict"`
	// Reason says why the effect has its verdict, if that needs a reason. Why is its text, such as
	// "1 to 4 interfaces by chance".
	Reason Reason `json:"reason,omitzero"`
	Why    string `json:"why,omitempty"`
	// Blocks is the number of paired blocks.
	Blocks int `json:"blocks"`
	// Beside is the same comparison in the run's other responses.
	Beside []Effect `json:"beside,omitempty"`
}

// EffectSize is a ratio or a difference with its interval. With fewer than two blocks the interval
// is unknown, and Low and High are 0. None reports whether there is no ratio because the baseline
// carried nothing; the ratio is then null in JSON.
type EffectSize struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Half float64 `json:"half"` // half the width, before Low and High were bounded
	None bool    `json:"-"`
}

// MarshalJSON encodes r as null if there is no ratio.
func (r EffectSize) MarshalJSON() ([]byte, error) {
	type plain EffectSize
	if r.None {
		return []byte("null"), nil
	}
	return json.Marshal(plain(r))
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (r *EffectSize) UnmarshalJSON(text []byte) error {
	type plain EffectSize
	*r = EffectSize{None: string(text) == "null"}
	return json.Unmarshal(text, (*plain)(r))
}

// Note is a remark on a run, by a user or by linerate tune on what it kept.
type Note struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// Environment says where and with what the run was made.
type Environment struct {
	Version string `json:"version"` // of linerate
	// Mode is "lab as root", "lab, rootless" or "real hosts", with ImpairedBy appended if it is not
	// empty.
	Mode string `json:"mode"`
	// ImpairedBy says what applies the delay, loss and marks of a lab's links. Empty: no link has
	// any.
	ImpairedBy string                     `json:"impaired_by,omitempty"`
	Hosts      []netstate.HostEnvironment `json:"hosts"`
	// Routing says how hosts obtained their learned routes. Nil: they have none.
	Routing *Routing `json:"routing,omitempty"`
	// Services are the server programs on the hosts.
	Services []Service `json:"services,omitempty"`
}

// Service is a server program that ran on a host.
type Service struct {
	Host    string `json:"host"`
	Name    string `json:"name"`
	Version string `json:"version"` // of the program, "nginx 1.22.1"
	Port    int    `json:"port"`
	// Settings are its settings in the study, each KEY=VALUE.
	Settings []string `json:"settings,omitempty"`
}

// Blocks returns the number of blocks that a run has begun.
func (r *Run) Blocks() int {
	n := 0
	for i := range r.Trials {
		n = max(n, r.Trials[i].Block)
	}
	return n
}

// TrialsOf lists a treatment's trials, as in Split.
func (r *Run) TrialsOf(treatment string) []*Trial {
	return slices.DeleteFunc(r.Split(), func(t *Trial) bool { return t.Treatment != treatment })
}

// Real reports whether a host or switch of the run was not created by linerate.
func (r *Run) Real(host string) bool { return r.Study == MeasureStudy || r.Topology.Real(host) }
