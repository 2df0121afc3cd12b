package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Redesign has new values for parts of a study's design, for example from options of the command
// line. A nil field leaves that part unchanged.
type Redesign struct {
	Replicates *int
	Until      *unit.Ratio
	Budget     *unit.Duration
}

// Redesign changes the design of the plan's study. It applies the rules for study files and returns
// mistakes as source.Problems with the names of the options; the study is then unchanged.
func (p *Plan) Redesign(r Redesign) error {
	changed := *p.Study
	var given []string
	if r.Replicates != nil {
		changed.Design.Replicates, given = *r.Replicates, append(given, "design.replicates")
	}
	if r.Until != nil {
		changed.Design.Until, given = *r.Until, append(given, "design.until")
	}
	if r.Budget != nil {
		changed.Design.Budget, given = *r.Budget, append(given, "design.budget")
	}
	var problems source.Problems
	report := func(path, format string, args ...any) {
		option := "--" + strings.TrimPrefix(path, "design.")
		problems = append(problems, source.Problem{Position: source.Position{Option: option},
			Text: fmt.Sprintf(format, args...)})
	}
	changed.Design.check(func(path string) bool { return slices.Contains(given, path) }, report)
	if r.Budget != nil {
		(&Plan{Study: &changed, Treatments: p.Treatments}).checkBudget(report)
	}
	if len(problems) > 0 {
		return problems.Err()
	}
	p.Study = &changed
	return nil
}
