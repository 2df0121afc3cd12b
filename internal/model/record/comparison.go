package record

import "time"

// ComparisonSchema is the schema name and version of a Comparison.
const ComparisonSchema = "linerate.compare/v1"

// Comparison is the result document of `linerate compare FROM TO`. For each treatment it compares
// the second run's response, goodput by default, with the first run's.
type Comparison struct {
	Schema string      `json:"schema"`
	From   ComparedRun `json:"from"`
	To     ComparedRun `json:"to"`
	// Comparable reports whether at least one treatment is the same in both runs.
	Comparable bool `json:"comparable"`
	// Answer is the conclusion in one or two sentences.
	Answer string `json:"answer"`
	Unit   string `json:"unit"`
	// Response names the metric of the ratios and verdicts: the first response of the second run.
	Response string `json:"response"`

	// Snapshots has the differences between the snapshots that both runs took of hosts of the same
	// name before the first trial. Hosts without a difference are left out. Only real hosts have
	// Counters.
	Snapshots []SnapshotDiff `json:"snapshots,omitempty"`
	// Differences lists what else differs between the runs. Each can be the real cause of a
	// difference in goodput.
	Differences []Difference `json:"differences"`
	// Hosts lists the hosts that linerate did not create and of which both runs recorded more than
	// kernel and CPUs, with the parts that were compared.
	Hosts []ComparedHost `json:"hosts,omitempty"`
	// StudyLines are the lines of the study file that differ, without comments. "- " begins a line
	// of the first run only, "+ " one of the second run only.
	StudyLines []string `json:"study_lines"`

	Treatments []ComparedTreatment `json:"treatments"`
	// OnlyFrom and OnlyTo name treatments that only one of the runs has.
	OnlyFrom []string `json:"only_from"`
	OnlyTo   []string `json:"only_to"`

	// Mesh is what changed between two meshes, which have no treatments. Nil: they are none.
	Mesh *MeshComparison `json:"mesh,omitempty"`

	// Confidence is the family-wise confidence level of the intervals of all ratios.
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
}

// ComparedHost names the compared parts of a host.
type ComparedHost struct {
	Host  string   `json:"host"`
	Parts []string `json:"parts"` // "interfaces", "13 kernel parameters"
}

// ComparedRun identifies one of the compared runs.
type ComparedRun struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Study   string    `json:"study"`
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Status  string    `json:"status"`
	Answer  string    `json:"answer"` // added when the comparison is shown, as in Run
	Trials  int       `json:"trials"`
	// Doubts lists the trust checks that failed, as "check: detail".
	Doubts []string `json:"doubts"`
}

// Difference is a property in which the runs differ. An empty value means that the run does not
// have the property.
type Difference struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

// NotComparable is the verdict on treatments that have the same name and nothing else in common.
const NotComparable = "not comparable"

// ComparedTreatment compares a treatment that both runs have.
type ComparedTreatment struct {
	Name       string   `json:"name"`
	From       Estimate `json:"from"`
	To         Estimate `json:"to"`
	FromTrials int      `json:"from_trials"`
	ToTrials   int      `json:"to_trials"`
	// FromLimitBps and ToLimitBps are the limits of goodput. 0: unknown.
	FromLimitBps float64 `json:"from_limit_bps"`
	ToLimitBps   float64 `json:"to_limit_bps"`
	// Ratio is To divided by From.
	Ratio EffectSize `json:"ratio"`
	// Difference is To minus From, in the unit of the response. It replaces Ratio for responses
	// that can be negative; the verdict is then about Difference.
	Difference *EffectSize `json:"difference,omitempty"`
	// FromResponse and ToResponse are the compared estimates.
	FromResponse ResponseEstimate `json:"from_response"`
	ToResponse   ResponseEstimate `json:"to_response"`
	P            float64          `json:"p"` // corrected for the number of treatments (Holm)
	Verdict      string           `json:"verdict"`
	// Why explains the verdict. Empty: the interval alone explains it.
	Why string `json:"why,omitempty"`
	// Others compares the further responses that both runs have. They get no verdict.
	Others []ComparedResponse `json:"others,omitempty"`
}

// ComparedResponse has the estimates of one response of a treatment in both runs.
type ComparedResponse struct {
	Response string           `json:"response"`
	From     ResponseEstimate `json:"from"`
	To       ResponseEstimate `json:"to"`
}

// SnapshotDiff lists the differences between two snapshots of hosts.
type SnapshotDiff struct {
	Schema   string   `json:"schema,omitempty"` // linerate.diff/v1; empty if part of another document
	From     string   `json:"from"`
	To       string   `json:"to"`
	Changes  []Change `json:"changes"`
	Counters []Change `json:"counters,omitempty"`
}

// Change is a value that differs between two snapshots. An empty value means that the snapshot
// does not have it.
type Change struct {
	Section string `json:"section"`
	What    string `json:"what"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	// Grew is the increase of a counter.
	Grew int64 `json:"grew,omitempty"`
	// Parameters counts the kernel parameters that appeared or disappeared together with an
	// interface.
	Parameters int `json:"parameters,omitempty"`
}

// Present is the value of an element that is in a list. An element that is not has the value "".
const Present = "present"

// Added and Removed report whether an element is only in the second snapshot, or only in the first.
func (c Change) Added() bool   { return c.From == "" && c.To == Present }
func (c Change) Removed() bool { return c.From == Present && c.To == "" }
