package record

import "time"

// ComparisonSchema is the schema name and version of a Comparison.
const ComparisonSchema = "linerate.compare/v1"

// Comparison is the result document of `linerate compare FROM TO`: how the
// second run's goodput, or whatever it is judged by, relates to the first's,
// treatment by treatment.
type Comparison struct {
	Schema string      `json:"schema"`
	From   ComparedRun `json:"from"`
	To     ComparedRun `json:"to"`
	// Comparable: at least one treatment of both is the same.
	Comparable bool `json:"comparable"`
	// Answer is one or two sentences.
	Answer string `json:"answer"`
	Unit   string `json:"unit"`
	// Response is what ratios and verdicts are about: the first of the second
	// run's.
	Response string `json:"response"`

	// Snapshots are in what hosts of one name differ before the first trials, those without a
	// difference left out. Counters are of real hosts only.
	Snapshots []SnapshotDiff `json:"snapshots,omitempty"`
	// Differences are what else the runs differ in: with them a difference of
	// goodput may have another cause than the reader thinks of.
	Differences []Difference `json:"differences"`
	// Hosts are what both runs recorded of hosts that linerate did not make, and was compared.
	Hosts []ComparedHost `json:"hosts,omitempty"`
	// StudyLines are the lines of the study file that differ, comments aside:
	// "- " only in the first, "+ " only in the second.
	StudyLines []string `json:"study_lines"`

	Treatments []ComparedTreatment `json:"treatments"`
	// OnlyFrom and OnlyTo name treatments that the other run does not have.
	OnlyFrom []string `json:"only_from"`
	OnlyTo   []string `json:"only_to"`

	// Confidence is the family-wise level of the ratios' intervals.
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
}

// ComparedHost is a host of which both runs recorded more than its kernel and CPUs.
type ComparedHost struct {
	Host  string   `json:"host"`
	Parts []string `json:"parts"` // "interfaces", "13 kernel parameters"
}

// ComparedRun says which run is compared.
type ComparedRun struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Study   string    `json:"study"`
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Status  string    `json:"status"`
	Answer  string    `json:"answer"` // where it is shown, as of a Run
	Trials  int       `json:"trials"`
	// Doubts are the trust checks that failed, "check: detail".
	Doubts []string `json:"doubts"`
}

// Difference is something in which two runs differ; empty: there is none.
type Difference struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

// NotComparable is the verdict on treatments that share no more than a name.
const NotComparable = "not comparable"

// ComparedTreatment is a treatment that both runs have.
type ComparedTreatment struct {
	Name       string   `json:"name"`
	From       Estimate `json:"from"`
	To         Estimate `json:"to"`
	FromTrials int      `json:"from_trials"`
	ToTrials   int      `json:"to_trials"`
	// Limits; 0: unknown.
	FromLimitBps float64 `json:"from_limit_bps"`
	ToLimitBps   float64 `json:"to_limit_bps"`
	// Ratio is To over From.
	Ratio EffectSize `json:"ratio"`
	// Difference is To less From, in the response's unit, where that may be below zero:
	// there is no ratio then, and the verdict is about it.
	Difference *EffectSize `json:"difference,omitempty"`
	// FromResponse and ToResponse are the estimates that are compared.
	FromResponse ResponseEstimate `json:"from_response"`
	ToResponse   ResponseEstimate `json:"to_response"`
	P            float64          `json:"p"` // corrected for the number of treatments (Holm)
	Verdict      string           `json:"verdict"`
	// Why explains a verdict that needs it.
	Why string `json:"why,omitempty"`
	// Others are what both runs have in their further responses: figures, which are not
	// judged.
	Others []ComparedResponse `json:"others,omitempty"`
}

// ComparedResponse is a response of a treatment in both runs.
type ComparedResponse struct {
	Response string           `json:"response"`
	From     ResponseEstimate `json:"from"`
	To       ResponseEstimate `json:"to"`
}

// SnapshotDiff is what differs between two snapshots of hosts.
type SnapshotDiff struct {
	Schema   string   `json:"schema,omitempty"` // linerate.diff/v1; empty: it is part of another document
	From     string   `json:"from"`
	To       string   `json:"to"`
	Changes  []Change `json:"changes"`
	Counters []Change `json:"counters,omitempty"`
}

// Change is one value that differs. An empty value is absent.
type Change struct {
	Section string `json:"section"`
	What    string `json:"what"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	// Grew is by how much a counter grew.
	Grew int64 `json:"grew,omitempty"`
	// Parameters is how many kernel parameters came or went with an interface.
	Parameters int `json:"parameters,omitempty"`
}

// Present is the value of a member of a list that is there.
const Present = "present"

// Added and Removed report whether a member of a list is in the second or the first document
// alone.
func (c Change) Added() bool   { return c.From == "" && c.To == Present }
func (c Change) Removed() bool { return c.From == Present && c.To == "" }
