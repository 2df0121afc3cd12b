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
	// List compares the whole list with the hosts as they are. Off compares the hosts after the list
	// was turned off again with the hosts as they are.
	List *Effect `json:"list,omitempty"`
	// Written is List for the list before it was corrected. Absent: it was not corrected.
	Written  *Effect       `json:"as_written,omitempty"`
	Off      *Effect       `json:"off_again,omitempty"`
	Settings []TuneSetting `json:"settings"`
	Search   *TuneSearch   `json:"search,omitempty"`
	// Figures has the response estimates of the baseline and the list in the first run, and of the
	// baseline, the list and the kept settings in the run of the proof.
	Figures []TuneFigure `json:"figures,omitempty"`
	// Proof is the effect of the kept settings by themselves.
	Proof *TuneProof `json:"proof,omitempty"`
	// Fewer is a smaller set of settings that gains as much as Proof in the first response but costs
	// more in another response than is accepted. Absent: none is known.
	Fewer *TuneProof `json:"fewer,omitempty"`
	// Offer is a set of settings that improves one response and worsens another by more than is
	// accepted. Absent: none is known.
	Offer *TuneOffer `json:"offer,omitempty"`
	// ByRank reports whether the first response is a percentile for which no treatment of the run has
	// enough requests.
	ByRank bool `json:"by_rank,omitempty"`
	// Partial reports whether only some of the list's settings were tried one by one.
	Partial bool `json:"partial,omitempty"`
	// Sender is the host that sends the first TCP flow; its congestion control applies. Empty: no flow
	// uses TCP.
	Sender string `json:"sender,omitempty"`
	// Unjudged is set if the budget ended the run before it had the blocks that a verdict needs.
	Unjudged *Unjudged `json:"unjudged,omitempty"`
	// Ended reports whether the budget ended the search for the proof; fewer settings may be enough.
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

// Text returns, for example, "ended by --budget 6m20s after 2 of 8 blocks: no verdicts; linerate
// run … continues it".
func (u *Unjudged) Text() string {
	return fmt.Sprintf("ended by --budget %s after %d of %d blocks: no verdicts; %s continues it",
		unit.Duration(u.BudgetS*float64(time.Second)), u.Blocks, u.Planned, u.Command)
}

// TuneFull says how close the baseline is to its limit. Share is its goodput divided by the limit
// (0.99: 99 %). Left and Most are the shares by which goodput could still rise, relative to the
// baseline's goodput: up to the baseline's limit, and up to the highest limit of any treatment,
// which is the one with the fewest header bytes.
type TuneFull struct {
	Share float64 `json:"share"`
	Left  float64 `json:"left"`
	Most  float64 `json:"most"`
	// WithoutTimestamps reports whether the highest limit belongs to flows without TCP timestamps
	// (RFC 7323), while the baseline's flows have them.
	WithoutTimestamps bool `json:"without_timestamps,omitempty"`
}

// Verdicts on a setting of a list, besides NoDifference and Inconclusive.
const (
	Helps    = "helps"
	Harms    = "harms"
	Mixed    = "mixed"  // helps alone and harms in the list, or the reverse
	Trades   = "trades" // improves one response and worsens another
	NotTried = "not tried"
	Together = "not tried alone" // only tried together with others
)

// TuneSetting is a setting of the list.
type TuneSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	// Corrected and Added are of runs of earlier versions, which tried corrections: the line of the list
	// that was corrected ("net.ipv4.tcp_rmem = 4096 131072 64M"), and why the setting was tried although
	// the list does not have it. With Corrected, it replaced that line.
	Corrected string `json:"corrected,omitempty"`
	Added     string `json:"added,omitempty"`
	// Prior is the value on each host before the trials.
	Prior   map[string]string `json:"prior,omitempty"`
	Verdict string            `json:"verdict"`
	// Reasons says why the setting has its verdict, or why it was not tried. Why is the same in words,
	// which package wording adds; untried settings that are read from the record of a run have only
	// Why.
	Reasons []Statement `json:"reasons,omitempty"`
	Why     string      `json:"why,omitempty"`
	// Alone compares the setting by itself with the hosts as they are. Removed compares the list
	// without the setting with the list.
	Alone   *Effect `json:"alone,omitempty"`
	Removed *Effect `json:"removed,omitempty"`
	// Needed reports whether the kept settings are worse in the first response without this one,
	// although Alone and Removed do not show that it helps. Beside is the effect in another response
	// because of which the setting is kept. Nil: it is not kept for that reason.
	Needed bool    `json:"needed,omitempty"`
	Beside *Effect `json:"beside,omitempty"`
	// Keep reports whether the setting is one of those that are proven to help.
	Keep bool `json:"keep"`
	// Judged is the original verdict on a setting that is kept as part of the proven set although by
	// itself it harms, or may harm. Nil: the verdict was not replaced.
	Judged *TuneJudged `json:"-"`
}

// TuneJudged is a verdict on a setting with its reasons.
type TuneJudged struct {
	Verdict string
	Reasons []Statement
}

// IsAdded reports whether linerate added the setting: the list does not have it, or has another one
// in its place.
func (s *TuneSetting) IsAdded() bool { return s.Added != "" }

// Own reports whether the list sets the parameter, to any value.
func (s *TuneSetting) Own() bool { return !s.IsAdded() || s.Corrected != "" }

// TuneSearch is the search for the smallest value that is sufficient.
type TuneSearch struct {
	Key    string      `json:"key"`
	Values []TuneValue `json:"values"` // from the smallest to the largest
	// Enough is the smallest value that carries as much as the largest, if all values above it also
	// do. Empty: only the largest does.
	Enough string `json:"enough,omitempty"`
	// Unsure is the value below Enough that is inconclusive or was not tried; a smaller one may
	// therefore be enough. Empty: there is none.
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
	// Gain is the share of the list's best gain in the first response that the set achieves; 1 is all
	// of it. Absent: the list gains nothing.
	Gain *float64 `json:"gain,omitempty"`
}

// TuneOffer is a set of settings that improves some responses (Gains) and worsens others (Costs).
type TuneOffer struct {
	TuneProof
	Gains []TuneTrade `json:"gains"`
	Costs []TuneTrade `json:"costs"`
	// Accept are the flags that accept the costs: "--accept-latency 10%". Empty: no flag does.
	Accept []string `json:"accept,omitempty"`
	// Command is the command that keeps the settings. Empty: there is none.
	Command string `json:"command,omitempty"`
}

// TuneTrade is the change of one response.
type TuneTrade struct {
	Response string           `json:"response"`
	From     ResponseEstimate `json:"from"`
	To       ResponseEstimate `json:"to"`
	Effect   *Effect          `json:"effect"`
	// Worst is the unfavourable end of the effect's interval, as a share of From: 0.06 is 6 % worse.
	// Absent: there is no ratio.
	Worst *float64 `json:"worst,omitempty"`
}
