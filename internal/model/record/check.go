package record

import "linerate/internal/model/fact"

// Check is one trust check: on one trial, or (Trial 0) on the whole run.
type Check struct {
	// Check is the check's name (package trust has them), such as "conservation".
	Check string `json:"check"`
	Pass  bool   `json:"pass"`
	// Unevaluated: what was recorded allows no verdict, for the reason in Facts. Pass is
	// true then.
	Unevaluated bool `json:"unevaluated,omitempty"`
	// Subject is whose figure the check is about; empty: linerate's own. One that
	// fails on another's figure, SubjectReported, is a result of the run and puts
	// none of its measurements in doubt.
	Subject string `json:"subject,omitempty"`
	// Trial is the trial's Order, or 0.
	Trial int `json:"trial"`
	// Facts are the figures and their bounds. Where no trial failed, they are those of the trial
	// Nearest to it (0: of any) of so many Trials (0: of one). So many more trials were Repeated,
	// as they failed it.
	Facts    []fact.Fact `json:"facts,omitempty"`
	Trials   int         `json:"trials,omitempty"`
	Nearest  int         `json:"nearest,omitempty"`
	Repeated int         `json:"repeated,omitempty"`
	// Detail are the facts in words, which package wording adds; checks of an earlier version have
	// nothing else.
	Detail string `json:"detail,omitempty"`
}

// SubjectReported is the Subject of checks of a figure that was counted at the sender
// or printed by another program: Treatment.ToolReported.
const SubjectReported = "tool_reported"

// Doubts are the failed checks of linerate's own figures.
func Doubts(checks []Check) []Check { return failed(checks, "") }

// Refuted are the failed checks of figures that are not linerate's own.
func Refuted(checks []Check) []Check { return failed(checks, SubjectReported) }

func failed(checks []Check, subject string) (list []Check) {
	for _, c := range checks {
		if !c.Pass && c.Subject == subject {
			list = append(list, c)
		}
	}
	return list
}
