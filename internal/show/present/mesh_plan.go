package present

import (
	"fmt"
	"time"

	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// mostPlanned is up to how many tests a terminal shows a plan with every pair.
const mostPlanned = 60

// MeshPlan arranges a plan, which takes a time, for display.
func MeshPlan(p *mesh.Plan, takes time.Duration) document.Document {
	tests := lists.Sum(p.Rounds, func(round []mesh.Pair) int { return len(round) })
	text := fmt.Sprintf("%s of %s: %s in %s (at least %d), about %s", p.Pattern, words.Count(len(p.Hosts), "host"),
		words.Count(tests, "test"), words.Count(len(p.Rounds), "round"), p.AtLeast, unit.FormatTime(takes))
	if p.Hours != (mesh.Hours{}) {
		text += ", between " + p.Hours.String()
	}
	d := document.Document{Title: text, About: []string{fmt.Sprintf("seed %d", p.Seed)}}
	if tests > mostPlanned {
		return d
	}
	t := &document.Table{Name: "rounds", Columns: []document.Column{{Head: "round", Align: document.Right},
		{Head: "from → to", Wrap: true}}}
	for i, round := range p.Rounds {
		pairs := lists.Map(round, func(pair mesh.Pair) string {
			return p.Hosts[pair[0]].Name + " → " + p.Hosts[pair[1]].Name
		})
		t.Add(fmt.Sprint(i+1), words.List(pairs))
	}
	d.Summary = [][]document.Block{{t}}
	return d
}
