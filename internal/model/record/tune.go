package record

import (
	"fmt"
	"time"

	"linerate/internal/model/unit"
)

// TuneSchema is the schema name and version of a Tune.
const TuneSchema = "linerate.tune/v1"

// Tune is the result of trying a list of settings.
type Tune struct {
	Schema string `json:"schema"`
	// Answer is the conclusion in sentences. Package answer adds it when the result is shown; only a
	// result of an earlier version is stored with it.
	Answer string `json:"answer"`
	// Run is the run in the notebook in which the list was tried. Empty: nothing was left to try.
	Run string `json:"run,omitempty"`
	// At has the levels of the run's other factors that this result is about. Conditions has the
	// results at the other levels.
	At         map[string]string `json:"at,omitempty"`
	Conditions []*Tune           `json:"conditions,omitempty"`
	// Hosts are the hosts that were changed and restored.
	Hosts      []string `json:"hosts"`
	Margin     float64  `json:"margin"`
	Confidence float64  `json:"confidence"`
	// Responses are the metrics by which the list is judged. Effects are about the first and have
	// the others beside them.
	Responses []string `json:"responses,omitempty"`
	// Lint has the remarks on the files from before the trials.
	Lint *Lint `json:"lint,omitempty"`
	// List compares the whole list with the hosts as they are, and Off compares the list turned off
	// again with them.
	List *Effect `json:"list,omitempty"`
	// Written is List for the list before it was corrected. Absent: it was not corrected.
	Written  *Effect       `json:"as_written,omitempty"`
	Off      *Effect       `json:"off_again,omitempty"`
	Settings []TuneSetting `json:"settings"`
	Search   *TuneSearch   `json:"search,omitempty"`
	// Figures are the response estimates of the baseline and the list in the first run, and of
	// these and what is kept in the run of the proof.
	Figures []TuneFigure `json:"figures,omitempty"`
	// Proof is the effect of the kept settings by themselves.
	Proof *TuneProof `json:"proof,omitempty"`
	// Fewer are settings that gain as much as those of the proof in the first response but cost
	// more in another one than is accepted. Absent: none are known.
	Fewer *TuneProof `json:"fewer,omitempty"`
	// Offer are settings that improve one response and worsen another by more than was accepted.
	Offer *TuneOffer `json:"offer,omitempty"`
	// Partial: only some of the list's changes were tried one by one.
	Partial bool `json:"partial,omitempty"`
	// Sender is the host that sends the first flow over TCP, which uses its congestion control. Empty:
	// no flow is TCP's.
	Sender string `json:"sender,omitempty"`
	// Unjudged is set if the budget ended the run before it had the blocks that a verdict needs.
	Unjudged *Unjudged `json:"unjudged,omitempty"`
	// Ended: the budget ended the search for the proof, so fewer settings may be enough.
	Ended bool `json:"ended,omitempty"`
	// Unwritten is why no file was written: one of the Unwritten codes. Empty: one was, or none was
	// requested.
	Unwritten string `json:"unwritten,omitempty"`
	// Removed are the settings that the run is noted to have kept, if the run that proved them is no
	// longer in the notebook. Nil: it is there, or nothing was kept.
	Removed *Proven `json:"removed_proof,omitempty"`
	// Full is set if the baseline's goodput is at the limit of the path, so that no setting can
	// raise it by much. Nil: it is not, or there is no limit.
	Full *TuneFull `json:"full,omitempty"`
	// Continue is the command that adds the blocks for which the budget had no time.
	Continue string `json:"continue,omitempty"`
	// Kept is the file that the kept settings were written to. Empty: none was written.
	Kept string `json:"kept,omitempty"`
	// Trust lists the failed checks of all runs.
	Trust []Check `json:"trust"`
}

// Values of Tune.Unwritten.
const (
	UnwrittenUnjudged  = "unjudged"  // the run has no verdicts (Tune.Unjudged)
	UnwrittenBudget    = "budget"    // the rest of the budget is too short for the proof
	UnwrittenWorthless = "worthless" // no set of settings is better than the baseline
	UnwrittenTrade     = "trade"     // the gain has a cost that was not accepted (Tune.Offer)
	UnwrittenUnproven  = "unproven"  // the settings by themselves are not shown to gain without a loss
)

// Unjudged describes a run that its budget ended before it had the blocks that a verdict needs.
type Unjudged struct {
	BudgetS float64 `json:"budget_s"` // seconds
	Blocks  int     `json:"blocks"`   // that were made
	Planned int     `json:"planned"`  // blocks
	Command string  `json:"command"`  // continues the run
}

// Text says it with the command: "ended by --budget 6m20s after 2 of 8 blocks: no verdicts; linerate
// run … continues it".
func (u *Unjudged) Text() string {
	return fmt.Sprintf("ended by --budget %s after %d of %d blocks: no verdicts; %s continues it",
		unit.Duration(u.BudgetS*float64(time.Second)), u.Blocks, u.Planned, u.Command)
}

// TuneFull says how close to its limit the baseline is: Share of it (0.99: 99 %). Left and Most are
// how much can be added, relative to the baseline: up to the baseline's limit, and up to the
// highest limit of any treatment, which is the one with the fewest header bytes.
type TuneFull struct {
	Share float64 `json:"share"`
	Left  float64 `json:"left"`
	Most  float64 `json:"most"`
	// WithoutTimestamps: the highest limit is that of flows without TCP timestamps (RFC 7323),
	// which the baseline's flows have.
	WithoutTimestamps bool `json:"without_timestamps,omitempty"`
}

// Verdicts on a setting of a list, besides NoDifference and Inconclusive.
const (
	Helps    = "helps"
	Harms    = "harms"
	Mixed    = "mixed"  // helps in one place and harms in the other
	Trades   = "trades" // better by one response, worse by another
	NotTried = "not tried"
	Together = "not tried alone" // only tried together with others
)

// TuneSetting is a setting of the list.
type TuneSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	// Corrected is what the list has instead: "net.ipv4.tcp_rmem = 4096 131072 64M".
	Corrected string `json:"corrected,omitempty"`
	// AddedFor is why the setting is tried although the list does not have it. With Corrected, it
	// replaces that line. Nil: the list has it. Added is the same in words, which package wording adds;
	// the settings of a run that is concluded again have nothing else.
	AddedFor *Statement `json:"added_for,omitempty"`
	Added    string     `json:"added,omitempty"`
	// Prior is the value on each host before.
	Prior   map[string]string `json:"prior,omitempty"`
	Verdict string            `json:"verdict"`
	// Reasons are why the verdict is as it is, or why the setting was not tried. Why are the same in
	// words, which package wording adds; settings that a run did not try have nothing else when it is
	// concluded again.
	Reasons []Statement `json:"reasons,omitempty"`
	Why     string      `json:"why,omitempty"`
	// Alone compares the setting by itself with the hosts as they are. Removed compares the list
	// without the setting with the list.
	Alone   *Effect `json:"alone,omitempty"`
	Removed *Effect `json:"removed,omitempty"`
	// Needed: without the setting the kept settings are worse in the first response, although Alone
	// and Removed do not show it. Beside is the effect in another response, if the setting is kept
	// because of that.
	Needed bool    `json:"needed,omitempty"`
	Beside *Effect `json:"beside,omitempty"`
	// Keep: the setting is proven to help.
	Keep bool `json:"keep"`
	// Judged is the verdict with its reasons before the setting was kept as a part of what is proven
	// although it harms, or may harm. Nil: it was not kept for that reason.
	Judged *TuneJudged `json:"-"`
}

// TuneJudged is a verdict on a setting with its reasons.
type TuneJudged struct {
	Verdict string
	Reasons []Statement
}

// IsAdded reports whether the list does not have the setting, or has another one in its place.
func (s *TuneSetting) IsAdded() bool { return s.AddedFor != nil || s.Added != "" }

// Own reports whether the list has the setting, with any value.
func (s *TuneSetting) Own() bool { return !s.IsAdded() || s.Corrected != "" }

// TuneSearch is the search for the smallest value that is sufficient.
type TuneSearch struct {
	Key    string      `json:"key"`
	Values []TuneValue `json:"values"` // from the smallest to the largest
	// Enough is the smallest value that carries as much as the largest, if all values above it also
	// do. Empty: only the largest does.
	Enough string `json:"enough,omitempty"`
	// Unsure is the value below Enough that is inconclusive, or was not tried, so that smaller ones do
	// not count. Empty: there is none.
	Unsure string `json:"unsure,omitempty"`
}

// TuneValue is one of the values that were tried.
type TuneValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Effect compares it with the largest value. It is absent for the largest itself.
	Effect *Effect `json:"effect,omitempty"`
}

// TuneFigure has the results of a set of settings in absolute units.
type TuneFigure struct {
	Run       string             `json:"run"`
	Name      string             `json:"name"` // a level of the run
	Responses []ResponseEstimate `json:"responses"`
}

// TuneProof is a set of settings that was tried by itself, together with the baseline and the whole
// list.
type TuneProof struct {
	Run      string   `json:"run"`
	Settings []string `json:"settings"` // parameter names
	// Effect compares it with the baseline.
	Effect *Effect `json:"effect"`
	// AgainstList compares it with the whole list. Absent: it is the whole list.
	AgainstList *Effect `json:"against_list,omitempty"`
	// Gain is its share of what the best of the list gains in the first response: 1 is all of it.
	// Absent: there is no such gain.
	Gain *float64 `json:"gain,omitempty"`
}

// TuneOffer is a set of settings that gains something and costs something else.
type TuneOffer struct {
	TuneProof
	Gains []TuneTrade `json:"gains"`
	Costs []TuneTrade `json:"costs"`
	// Accept are the flags that accept the costs: "--accept-latency 10%". Empty: no flag does.
	Accept []string `json:"accept,omitempty"`
	// Command keeps it.
	Command string `json:"command,omitempty"`
}

// TuneTrade is the change of one response.
type TuneTrade struct {
	Response string           `json:"response"`
	From     ResponseEstimate `json:"from"`
	To       ResponseEstimate `json:"to"`
	Effect   *Effect          `json:"effect"`
	// Worst is the bad end of the effect's interval, as a share of From: 0.06 is 6 % worse. Absent:
	// there is no ratio.
	Worst *float64 `json:"worst,omitempty"`
}
