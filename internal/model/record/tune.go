package record

// TuneSchema is the schema of a Tune.
const TuneSchema = "linerate.tune/v1"

// Tune is the result of trying a list of settings.
type Tune struct {
	Schema string `json:"schema"`
	// Answer is the conclusion in a sentence or two.
	Answer string `json:"answer"`
	// Run is the run in the notebook that the list was tried in; empty: nothing
	// was left to try.
	Run string `json:"run,omitempty"`
	// At holds the levels of the run's other factors that this is about, and
	// Conditions the results at the other ones.
	At         map[string]string `json:"at,omitempty"`
	Conditions []*Tune           `json:"conditions,omitempty"`
	// Hosts are those that were changed, and put back.
	Hosts      []string `json:"hosts"`
	Margin     float64  `json:"margin"`
	Confidence float64  `json:"confidence"`
	// Responses are what it is judged by: effects are about the first, and have the
	// others beside them.
	Responses []string `json:"responses,omitempty"`
	// Lint is what was to be said about the files before.
	Lint *Lint `json:"lint,omitempty"`
	// List is the whole list against as it is, and Off the list turned off again.
	List *Effect `json:"list,omitempty"`
	// Written is the list before it was corrected; absent: it was not.
	Written  *Effect       `json:"as_written,omitempty"`
	Off      *Effect       `json:"off_again,omitempty"`
	Settings []TuneSetting `json:"settings"`
	Search   *TuneSearch   `json:"search,omitempty"`
	// Figures are the response estimates of the baseline and the list in the first run, and
	// of these and what is kept in that of the proof.
	Figures []TuneFigure `json:"figures,omitempty"`
	// Proof is what the kept settings do by themselves.
	Proof *TuneProof `json:"proof,omitempty"`
	// Fewer are settings that gain as much as those of the proof by the first response, and
	// cost more by another one than is accepted; absent: none are known.
	Fewer *TuneProof `json:"fewer,omitempty"`
	// Offer is what improves one response and worsens another by more than was accepted.
	Offer *TuneOffer `json:"offer,omitempty"`
	// Full: the baseline's goodput is at the path's limit, so that no setting can raise it by
	// much; nil: it is not, or has no limit.
	Full *TuneFull `json:"full,omitempty"`
	// Continue is the command that adds the blocks for which the budget had no time.
	Continue string `json:"continue,omitempty"`
	// Kept is the file that they were written to; empty: none was.
	Kept string `json:"kept,omitempty"`
	// Trust lists the checks that failed, of all runs.
	Trust []Check `json:"trust"`
}

// TuneFull is how near to its limit the baseline is: Share of it (0.99: 99 %). Left and Most
// are what can be added, relative to the baseline: up to the baseline's limit, and up to the
// highest limit of any treatment, which has the fewest headers.
type TuneFull struct {
	Share float64 `json:"share"`
	Left  float64 `json:"left"`
	Most  float64 `json:"most"`
	// WithoutTimestamps: the highest limit is that of flows without the TCP timestamps
	// (RFC 7323) that the baseline's have.
	WithoutTimestamps bool `json:"without_timestamps,omitempty"`
}

// Verdicts on a setting of a list, beside NoDifference and Inconclusive.
const (
	Helps    = "helps"
	Harms    = "harms"
	Mixed    = "mixed"  // helps in one place and harms in the other
	Trades   = "trades" // better by one response, worse by another
	NotTried = "not tried"
	Together = "not tried alone" // tried with the others only
)

// TuneSetting is a setting of the list.
type TuneSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	// Corrected is what the list has instead: "net.ipv4.tcp_rmem = 4096 131072 64M".
	Corrected string `json:"corrected,omitempty"`
	// Added is why it is tried although the list does not have it; with Corrected, which it
	// replaces.
	Added string `json:"added,omitempty"`
	// Prior is what it was on each host.
	Prior   map[string]string `json:"prior,omitempty"`
	Verdict string            `json:"verdict"`
	Why     string            `json:"why,omitempty"`
	// Alone is the setting by itself against as it is, and Removed the list
	// without it against the list.
	Alone   *Effect `json:"alone,omitempty"`
	Removed *Effect `json:"removed,omitempty"`
	// Needed: without it the kept settings are worse by the first response, which the effects
	// above do not show. Beside is that effect in another response, if it is kept for that.
	Needed bool    `json:"needed,omitempty"`
	Beside *Effect `json:"beside,omitempty"`
	// Keep: it is proven to do good.
	Keep bool `json:"keep"`
	// Judged is its verdict and why before it was kept as a part of what is proven, although it
	// harms, or may; nil: it was not.
	Judged *TuneJudged `json:"-"`
}

// TuneJudged is a verdict on a setting with its reason in words.
type TuneJudged struct{ Verdict, Why string }

// Own reports whether the list has the setting, with whatever value.
func (s *TuneSetting) Own() bool { return s.Added == "" || s.Corrected != "" }

// TuneSearch is the search for the smallest value that is good enough.
type TuneSearch struct {
	Key    string      `json:"key"`
	Values []TuneValue `json:"values"` // from the smallest to the largest
	// Enough is the smallest that carries as much as the largest, and so do all
	// above it; empty: only the largest is.
	Enough string `json:"enough,omitempty"`
}

// TuneValue is one of the values that were tried.
type TuneValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Effect is against the largest; absent of the largest itself.
	Effect *Effect `json:"effect,omitempty"`
}

// TuneFigure is what a set of settings gives, in absolute units.
type TuneFigure struct {
	Run       string             `json:"run"`
	Name      string             `json:"name"` // a level of the run
	Responses []ResponseEstimate `json:"responses"`
}

// TuneProof is a set of settings, tried by itself beside the baseline and the whole list.
type TuneProof struct {
	Run      string   `json:"run"`
	Settings []string `json:"settings"` // keys
	// Effect is against the baseline.
	Effect *Effect `json:"effect"`
	// AgainstList is against the list as a whole; absent: it is the whole list.
	AgainstList *Effect `json:"against_list,omitempty"`
	// Gain is its share of what the best of the list gains in the first response: 1 is
	// all of it. Absent: there is no such gain.
	Gain *float64 `json:"gain,omitempty"`
}

// TuneOffer is a set of settings that gains something and costs something else.
type TuneOffer struct {
	TuneProof
	Gains []TuneTrade `json:"gains"`
	Costs []TuneTrade `json:"costs"`
	// Accept are the flags that accept the costs: "--accept-latency 10%"; empty: no
	// flag does.
	Accept []string `json:"accept,omitempty"`
	// Command keeps it.
	Command string `json:"command,omitempty"`
}

// TuneTrade is what a response was and what it becomes.
type TuneTrade struct {
	Response string           `json:"response"`
	From     ResponseEstimate `json:"from"`
	To       ResponseEstimate `json:"to"`
	Effect   *Effect          `json:"effect"`
	// Worst is the bad end of the effect's interval, as a share of From: 0.06 is 6 %
	// worse. Absent: there is no ratio.
	Worst *float64 `json:"worst,omitempty"`
}
