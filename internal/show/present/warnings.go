package present

import (
	"fmt"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/science/compare"
	"linerate/internal/science/conclude"
	"linerate/internal/science/remedy"
	"linerate/internal/show/evidence"
	"linerate/internal/show/view"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// warnings returns what a reader must know to judge the answer.
func warnings(v *view.View) []string {
	run := v.Run
	var out []string
	if why := evidence.WhyInDoubt(run); why != "" {
		out = append(out, fmt.Sprintf("In doubt: %s. See Trust below.", why))
	} else if len(run.Trust) == 0 && len(run.Trials) > 0 && run.Mesh == nil {
		out = append(out, "Unchecked: the run holds no trust checks.")
	}
	if not := notJudged(run); not != "" {
		out = append(out, not)
	}
	if left := wording.LeftOut(run.Design.LeftOut); left != "" {
		out = append(out, left+".")
	}
	for _, t := range run.Trials {
		if t.PlannedS > 0 {
			out = append(out, endedAfter(t.Ended, t.WindowS, t.PlannedS)+".")
		}
	}
	out = append(out, changedHosts(run)...)
	switch run.Status {
	case "interrupted":
		if run.StudyFile == "" && run.Study == record.MeasureStudy {
			break // said above
		}
		if run.Error != "" {
			out = append(out, "linerate failed: "+run.Error)
		}
		if run.Error == "" || len(run.Trials) > 0 {
			out = append(out, fmt.Sprintf("Interrupted: the figures are of %s; more were planned.",
				words.Count(len(run.Trials), "finished trial")))
		}
	case record.StatusRunning:
		if run.StudyFile != "" {
			out = append(out, words.Sentence(remedy.BeingMade(run))+": the figures are of those that are finished.")
		}
	case record.StatusBudget:
		if wide := wide(run); wide != "" {
			out = append(out, "The budget ran out before every interval was as narrow as requested: "+wide)
		} else {
			out = append(out, fmt.Sprintf("The budget had time for %d of %s.", run.Blocks(),
				words.Count(max(run.Blocks(), run.Design.Replicates), "block")))
		}
	case record.StatusBlocks:
		out = append(out, fmt.Sprintf("The run ended after %s, the most that it may have: %s",
			words.Count(run.Blocks(), "block"), wide(run)))
	}
	for r, c := range v.Each() {
		if t := r.Treatments[c]; t.Unconnected > 0 && !evidence.AllowsUnconnected(v, t.Name) {
			out = append(out, fmt.Sprintf("%s: %s.", evidence.Unconnected(v, t), v.Label(r, c)))
		}
	}
	return out
}

// changedHosts lists what was changed on the run's hosts meanwhile, but not by the run.
func changedHosts(run *record.Run) (list []string) {
	const most = 2
	for _, d := range compare.Changed(run) {
		var changes []string
		for i, c := range d.Changes {
			if len(d.Changes) > most+1 && i == most {
				changes = append(changes, words.Count(len(d.Changes)-most, "more value"))
				break
			}
			changes = append(changes, changeLine(c))
		}
		list = append(list, d.To+" was changed while the run was made, and not by its settings: "+
			strings.Join(changes, "; ")+".")
	}
	return list
}

// wide says how many intervals are wider than requested. Empty: none.
func wide(run *record.Run) string {
	n, of := conclude.Wide(run), words.Count(len(run.Effects), "effect")
	if len(run.Effects) == 0 {
		of = words.Count(len(run.Treatments), "treatment")
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s wider than ±%.3g %%.", n, of, 100*run.Design.Until)
}

// notJudged says which tests of a mesh are not judged; empty: all are.
func notJudged(run *record.Run) string {
	var by words.ByText
	tests, not := 0, 0
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			tests++
			if f.Doubt != "" {
				not++
				by.Add(f.Doubt, f.From+" → "+f.To)
			}
		}
	}
	if run.Mesh == nil || not == 0 {
		return ""
	}
	why := lists.Map(by.Texts, func(check string) string {
		return fmt.Sprintf("%s in %d, such as %s", check, len(by.Names[check]), by.Names[check][0])
	})
	return fmt.Sprintf("Not judged: %d of %s, because a trust check failed in their window (%s).", not,
		words.Count(tests, "test"), strings.Join(why, "; "))
}
