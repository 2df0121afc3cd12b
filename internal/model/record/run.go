// Package record holds what is written down: the result of a run, its trials,
// samples, snapshots and findings, as JSON on disk and on stdout.
//
// Units are in the names: _bps is bits per second, _bytes bytes, _s seconds,
// _us microseconds. Fields are added freely and never renamed.
package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/topology"
)

// RunSchema is the schema name and version of a Run.
const RunSchema = "linerate.run/v2"

// Run is the result document of `linerate run`.
type Run struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	// Name is the user's for the run; several may have the same. Empty: it has none.
	Name      string    `json:"name,omitempty"`
	Study     string    `json:"study"`
	Question  string    `json:"question,omitempty"`
	Seed      uint64    `json:"seed"`
	Started   time.Time `json:"started"`
	DurationS float64   `json:"duration_s"`
	// Status is complete, budget (stopped by the budget before the design was
	// fulfilled), blocks (stopped after the greatest number of blocks, before
	// `until` held), interrupted, or running.
	Status string `json:"status"`
	// Error is why linerate itself interrupted the run; empty: it did not.
	Error string `json:"error,omitempty"`
	// Answer is one sentence, and Statements are up to four more: the Conclusion in
	// words, which package answer adds where a run is shown. They are not stored.
	Answer     string      `json:"answer,omitempty"`
	Statements []string    `json:"statements,omitempty"`
	Conclusion *Conclusion `json:"conclusion,omitempty"`
	// Unit is how people want goodput shown: "bit/s" or "MB/s".
	Unit string `json:"unit"`
	// Responses are what the treatments are judged by (package metric): the
	// answer, the effects and their verdicts are about the first. None: goodput.
	Responses []string `json:"responses,omitempty"`

	Factors    []Factor    `json:"factors"`
	Treatments []Treatment `json:"treatments"`
	Effects    []Effect    `json:"effects"`
	Trust      []Check     `json:"trust"`
	Findings   []Finding   `json:"findings"`
	Trials     []Trial     `json:"trials"`
	// Outliers are trials that stand apart from their treatment's others.
	Outliers []Outlier `json:"outliers,omitempty"`
	// Hashing holds treatments over equal-cost links against what chance makes of
	// them; none: no treatment is of that kind.
	Hashing []Hashing `json:"hashing,omitempty"`

	Topology    topology.Topology `json:"topology"`
	Environment Environment       `json:"environment"`
	// Snapshots are those of hosts around the trials, in the order of the hosts; none: the run
	// is of a version that took none, or has not begun.
	Snapshots []HostSnapshots `json:"snapshots,omitempty"`
	// Design is how the trials were arranged, flags included.
	Design Design `json:"design"`
	// Confidence is the level of the intervals, such as 0.95: each treatment's
	// estimate has it by itself, the effects' intervals have it together.
	Confidence float64 `json:"confidence"`
	// Margin is the practical margin, such as 0.02.
	Margin float64 `json:"margin"`
	// StudyFile is the study as YAML: run it again with the seed.
	StudyFile string `json:"study_file"`
	// Published are tables of others that the study is about.
	Published []Published `json:"published,omitempty"`
	// Address is that of a measurement's server, as connected to, or its URL.
	Address string `json:"address,omitempty"`
	// Expect is what a measurement was expected to show; nil: nothing.
	Expect *Expectation `json:"expect,omitempty"`
	// Again is the command that repeats the run.
	Again string `json:"again"`
	// Proven are the settings of the list that the run is about which tune --keep kept; nil:
	// it kept none.
	Proven *Proven `json:"proven,omitempty"`
	// Notes are remarks on it, oldest first.
	Notes []Note `json:"notes,omitempty"`
}

// Proven are settings of a list that tune kept, after they were tried by themselves.
type Proven struct {
	// Run is the one that tried them, beside the baseline and the whole list.
	Run      string   `json:"run"`
	Level    string   `json:"level,omitempty"` // of that run
	Settings []string `json:"settings"`        // keys
	// Open are those of Settings that are not shown to be needed.
	Open []string `json:"open,omitempty"`
	// Added are those of Settings that the list does not have.
	Added []string `json:"added,omitempty"`
	// Of is how many settings the list has.
	Of int `json:"of"`
	// Gain is the proof's (TuneProof).
	Gain *float64 `json:"gain,omitempty"`
	// Beside is why settings are kept that the trials of the list do not show to help
	// (TuneSetting), by key.
	Beside map[string]*Effect `json:"beside,omitempty"`
	// Fewer and Offer are the other sets that the answer names (Tune); nil: there are none.
	Fewer *Proven `json:"fewer,omitempty"`
	Offer *Proven `json:"offer,omitempty"`
	// Ended: the budget ended the search, and fewer settings may be enough.
	Ended bool `json:"ended,omitempty"`
}

// Text counts the settings as parts of the list: "2 of the list's 10 settings".
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
	// StatusBudget and StatusBlocks: it ended by itself before its design was fulfilled.
	StatusBudget = "budget"
	StatusBlocks = "blocks"
	// StatusRunning: its trials are being made.
	StatusRunning = "running"
)

// Design says how a run's trials were arranged: the study's design with what
// was asked for at the command line.
type Design struct {
	Replicates int     `json:"replicates"`
	Until      float64 `json:"until,omitempty"`    // half-width of every effect's interval
	BudgetS    float64 `json:"budget_s,omitempty"` // 0: none
	// Partial: not every combination of levels is tried, only those of some parts of
	// the design. Parts are those that were asked for; empty: all that are not on
	// demand.
	Partial bool     `json:"partial,omitempty"`
	Parts   []string `json:"parts,omitempty"`
	// Only are the levels that were asked for; empty: all.
	Only []string `json:"only,omitempty"`
	// Set are the values of the study that were replaced, "workload.duration=5s".
	Set []string `json:"set,omitempty"`
	// Options are those of a measurement that its flows do not show, by their names in study
	// files, with their values, also where they are the defaults: "duration": "10s".
	Options map[string]string `json:"options,omitempty"`
}

// Factor restates a factor of the study for readers of the result.
type Factor struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"` // compare or condition
	Baseline string  `json:"baseline"`
	Levels   []Level `json:"levels"`
	// Ablate is the level that others take apart, those with a Part.
	Ablate string `json:"ablate,omitempty"`
	// Untried are settings of the list that no level has.
	Untried []Untried `json:"untried,omitempty"`
	// Amended are settings that levels have otherwise than the list, or beside it.
	Amended []Amended `json:"amended,omitempty"`
}

// Amended is a setting that was corrected, or added to a list.
type Amended struct {
	Key string `json:"key"`
	// Was is what the list has instead; empty: nothing.
	Was string `json:"was,omitempty"`
	// Why is why it was added; empty: it was corrected.
	Why string `json:"why,omitempty"`
}

// Untried is a setting of a list that could not be tried.
type Untried struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why"`
}

// Level names one value of a factor and says what it stands for.
type Level struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Against is the level that this one is compared with; empty: the baseline.
	Against string `json:"against,omitempty"`
	// Part is the setting of the factor's ablated level that this level has alone
	// or, where it is against that level, lacks.
	Part string `json:"part,omitempty"`
	// Settings is how many reversible changes the level makes: the cheaper of
	// two sufficient fixes has fewer.
	Settings int `json:"settings"`
	// SettingLines spell the changes, one each: "server: sysctl net…=1".
	SettingLines []string `json:"setting_lines,omitempty"`
	// FlowLines spell the options that the level gives all flows: "congestion_control bbr".
	FlowLines []string `json:"flow_lines,omitempty"`
}

// Treatment is one combination of levels with its estimate over all trials.
type Treatment struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline"` // every compared factor is at its baseline level
	// Best marks the combination of levels that the answer recommends, one treatment
	// in each condition; none when nothing is shown to improve on the baseline.
	Best       bool              `json:"best,omitempty"`
	Levels     map[string]string `json:"levels"`
	Trials     int               `json:"trials"`
	Goodput    Estimate          `json:"goodput"`
	LimitBps   float64           `json:"limit_bps"`  // 0: unknown, no link of the path has a rate
	Efficiency float64           `json:"efficiency"` // goodput.mean_bps / limit_bps
	// Responses are the run's, in its order.
	Responses []ResponseEstimate `json:"responses,omitempty"`
	// TransactionsPerS and LostShare are means over the trials, Latency is that of
	// the transactions of all of them.
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	Latency          *Distribution `json:"latency_us,omitempty"`
	LostShare        *float64      `json:"lost_share,omitempty"`
	// Limit is what LimitBps is made of. LimitWhy says it in a line, "4 × 1 Gbit/s × 1448/1514", in
	// documents and in records of older versions.
	Limit      Limit                `json:"limit,omitzero"`
	LimitWhy   string               `json:"limit_why,omitempty"`
	Interfaces []TreatmentInterface `json:"interfaces"`
	// ToolReported is what counting at the sender gave: a foreign tool's sum,
	// or the sum of the flows' own averages at the sender.
	ToolReported *ToolReported `json:"tool_reported,omitempty"`
	// Outages are what happened in the window of its trials, and what that did to
	// running flows.
	Outages []Outages `json:"outages,omitempty"`
	// Unconnected counts flows that could not connect, over all trials.
	Unconnected int `json:"unconnected,omitempty"`
	// Chance is from the least to the most of its trials'; nil: none has one.
	Chance *Chance `json:"chance,omitempty"`
	// Effect compares the treatment with the baseline of its conditions, in every
	// response of the run; nil: it is the baseline, or no such comparison was made, as
	// of a level that is compared with another one than the baseline.
	Effect *Effect `json:"effect,omitempty"`
}

// Estimate is a mean with its interval. Confidence 0 says that the interval is
// unknown, as a single trial has none; Low and High are then 0.
type Estimate struct {
	MeanBps    float64 `json:"mean_bps"`
	LowBps     float64 `json:"low_bps"`
	HighBps    float64 `json:"high_bps"`
	Confidence float64 `json:"confidence"`
	// HalfBps is half the interval's width before Low and High were bounded by what is
	// possible: by 0 and by the limit or, above it, the largest trial.
	HalfBps float64 `json:"half_bps"`
}

// ResponseEstimate is the estimate of one response: a mean over trials with its
// interval, as in Estimate; of a percentile that of all trials' requests together.
type ResponseEstimate struct {
	Response   string  `json:"response"`
	Unit       string  `json:"unit"` // bps, per_s, us, share, count, s_per_gb
	Mean       float64 `json:"mean"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	Half       float64 `json:"half"` // as Estimate.HalfBps
	// Trials have a value; 0: none has, and there is no estimate.
	Trials int `json:"trials"`
	// Rank is what a percentile's Mean is where the requests of all trials together are
	// fewer than it needs: "8th slowest of 800"; empty: it is the percentile.
	Rank string `json:"rank,omitempty"`
}

// TreatmentInterface is the mean load of one interface over a treatment's trials, as the
// interface's own counters saw it (wire bytes, headers included).
type TreatmentInterface struct {
	Host      string  `json:"host"`
	Interface string  `json:"interface"`
	RxBps     float64 `json:"rx_bps"`
	TxBps     float64 `json:"tx_bps"`
	LimitBps  float64 `json:"limit_bps"` // the link's rate; 0: unknown
	// ShareRx and ShareTx are this interface's part of what its host received and
	// sent, 0…1, each where data flows in that direction: there are none where
	// the host carried no data, or only acknowledgements. Of a host that only
	// forwards, and of a switch, shares are among parallel interfaces.
	ShareRx *float64 `json:"share_rx,omitempty"`
	ShareTx *float64 `json:"share_tx,omitempty"`
	// Share is the one of the two that there is; where there are both, that of
	// the direction in which the host's interfaces share less evenly. Direction says
	// which, Rx or Tx; empty: there is no share.
	Share     float64 `json:"share"`
	Direction string  `json:"direction,omitempty"`
}

// Directions of an interface's traffic.
const (
	Rx = "rx"
	Tx = "tx"
)

// ToolReported is a figure obtained by counting at the sender, or by another
// program by its own method.
type ToolReported struct {
	SumBps float64 `json:"sum_bps"`
	Method string  `json:"method,omitempty"`
	// The rest is of other programs. Tool is which one, CountedBy the end that
	// counted, Processes how many figures the sum has.
	Tool      string `json:"tool,omitempty"`
	CountedBy string `json:"counted_by,omitempty"`
	Processes int    `json:"processes,omitempty"`
	// GoodputBps is what the receivers of the same connections read in the common
	// window, and SurplusBps how much more the tool says.
	GoodputBps float64 `json:"goodput_bps,omitempty"`
	SurplusBps float64 `json:"surplus_bps,omitempty"`
	// PredictedBps is the surplus that follows from what the kernel counts of each
	// connection: its bytes over its own time, summed up, less the goodput.
	PredictedBps float64 `json:"predicted_surplus_bps,omitempty"`
	// UnsentBytes lay in the send buffers at the window's end, and UnsentBps is what
	// they make over the time in which the connections were written to: the surplus
	// of a tool that stops its clock with its last write.
	UnsentBytes int64   `json:"unsent_bytes,omitempty"`
	UnsentBps   float64 `json:"unsent_surplus_bps,omitempty"`
	Seconds     float64 `json:"seconds,omitempty"`
	// TransactionsPerS is what the tool says of requests and responses, and
	// CountedTransactionsPerS what follows from the bytes on their connections.
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

// Effect is the ratio of one level's response to the baseline level's, all else
// equal. Of a treatment that differs from the baseline in several factors, Factor is
// empty and From and To are the treatments' names.
type Effect struct {
	// Response is what the ratio and the verdict are about; empty: goodput.
	Response string `json:"response,omitempty"`
	Factor   string `json:"factor,omitempty"`
	From     string `json:"from"`
	To       string `json:"to"`
	// At holds the levels of the other factors at which the comparison was made.
	At    map[string]string `json:"at,omitempty"`
	Ratio EffectSize        `json:"ratio"`
	// Difference is level less baseline, in the response's unit, where there is no
	// ratio; the verdict is then about it.
	Difference *EffectSize `json:"difference,omitempty"`
	P          float64     `json:"p"` // corrected for the number of effects (Holm)
	Verdict    string      `json:"verdict"`
	// Reason is why it has its verdict, where that needs one, and Why says it: "1 to 4 interfaces by
	// chance".
	Reason Reason `json:"reason,omitzero"`
	Why    string `json:"why,omitempty"`
	// Blocks is the number of paired blocks.
	Blocks int `json:"blocks"`
	// Beside is the same comparison in the run's other responses.
	Beside []Effect `json:"beside,omitempty"`
}

// EffectSize is a ratio, or a difference, with its interval, which is unknown (Low and
// High 0) with fewer than two blocks. None: there is no ratio, because the baseline
// carried nothing; that is null in JSON.
type EffectSize struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Half float64 `json:"half"` // half the width, before Low and High were bounded
	None bool    `json:"-"`
}

// MarshalJSON writes null where there is no ratio.
func (r EffectSize) MarshalJSON() ([]byte, error) {
	type plain EffectSize
	if r.None {
		return []byte("null"), nil
	}
	return json.Marshal(plain(r))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *EffectSize) UnmarshalJSON(text []byte) error {
	type plain EffectSize
	*r = EffectSize{None: string(text) == "null"}
	return json.Unmarshal(text, (*plain)(r))
}

// Note is a remark on a run: a user's, or that of linerate tune on what it kept.
type Note struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// Environment is where and with what the run was made.
type Environment struct {
	Version string `json:"version"` // of linerate
	// Mode is "lab as root", "lab, rootless" or "real hosts"; with ImpairedBy, if there
	// is such.
	Mode string `json:"mode"`
	// ImpairedBy is what applies the delay, loss and marks of a lab's links; empty: none
	// has any.
	ImpairedBy string            `json:"impaired_by,omitempty"`
	Hosts      []HostEnvironment `json:"hosts"`
	// Routing is how hosts came by their learned routes; nil: they have none.
	Routing *Routing `json:"routing,omitempty"`
	// Services are the server programs of the hosts.
	Services []Service `json:"services,omitempty"`
}

// Service is a server program that ran on a host.
type Service struct {
	Host    string `json:"host"`
	Name    string `json:"name"`
	Version string `json:"version"` // of its program, "nginx 1.22.1"
	Port    int    `json:"port"`
	// Settings are those of the study, KEY=VALUE each.
	Settings []string `json:"settings,omitempty"`
}

// HostEnvironment describes one host.
type HostEnvironment struct {
	Host   string `json:"host"`
	OS     string `json:"os"`
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"`
	CPUs   int    `json:"cpus"`
	// CongestionControl is the one the flows used.
	CongestionControl string `json:"congestion_control,omitempty"`
	// Missing are capabilities that were probed and not found, with the reason.
	Missing []string `json:"missing,omitempty"`
	// Version is that of linerate there, where the host is the other end of a measurement's.
	Version string `json:"version,omitempty"`
}

// Blocks is how many blocks a run has begun.
func (r *Run) Blocks() int {
	n := 0
	for i := range r.Trials {
		n = max(n, r.Trials[i].Block)
	}
	return n
}

// TrialsOf lists a treatment's trials, as Split has them.
func (r *Run) TrialsOf(treatment string) []*Trial {
	return slices.DeleteFunc(r.Split(), func(t *Trial) bool { return t.Treatment != treatment })
}

// Real reports whether a host of the run, or a switch, was not made by linerate.
func (r *Run) Real(host string) bool { return r.Study == MeasureStudy || r.Topology.Real(host) }
