package record

import (
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
)

// Check is the result of one trust check on one trial or, with Trial 0, on the whole run.
type Check struct {
	// Check is the check's name (package trust has them), such as "conservation".
	Check string `json:"check"`
	Pass  bool   `json:"pass"`
	// Unevaluated reports whether the records allow no verdict. Facts has the reason, and
	// Pass is true.
	Unevaluated bool `json:"unevaluated,omitempty"`
	// Subject says which figure is checked. Empty: one that linerate measured. With
	// SubjectReported a failed check is a result of the run: it casts no doubt on
	// what linerate measured.
	Subject string `json:"subject,omitempty"`
	// Trial is the trial's Order, or 0.
	Trial int `json:"trial"`
	// Facts has the figures and their bounds. A check that no trial of the run failed has those of
	// the trial that came closest to failing. Nearest is the Order of that trial; 0: none came
	// closer than the others. Trials is the number of checked trials; 0: one. Repeated counts
	// further trials that were replaced because they failed this check.
	Facts    []fact.Fact `json:"facts,omitempty"`
	Trials   int         `json:"trials,omitempty"`
	Nearest  int         `json:"nearest,omitempty"`
	Repeated int         `json:"repeated,omitempty"`
	// Detail is Facts in words, which package wording adds. Checks that an earlier version stored
	// have only Detail.
	Detail string `json:"detail,omitempty"`
}

// SubjectReported is the Subject of checks of Treatment.ToolReported: a figure that was
// counted at the sender or printed by another program.
const SubjectReported = "tool_reported"

// Doubts returns the failed checks of figures that linerate measured.
func Doubts(checks []Check) []Check { return failed(checks, "") }

// Refuted returns the failed checks of figures that others reported (SubjectReported).
func Refuted(checks []Check) []Check { return failed(checks, SubjectReported) }

func failed(checks []Check, subject string) (list []Check) {
	return lists.Where(checks, func(c Check) bool { return !c.Pass && c.Subject == subject })
}
