package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Outliers returns a table with a row for each trial whose value is far from those of its
// treatment's other trials. Nil: there is none.
func Outliers(v *view.View) *document.Table {
	t := &document.Table{Name: "outliers", Data: export.Rows(v.Run, "outliers"),
		Columns: []document.Column{{Head: "trial", Align: document.Right}, {Head: "block", Align: document.Right},
			{Head: "treatment", Wrap: true}, {Head: "of"},
			{Head: "value", Align: document.Right}, {Head: "median of the others", Align: document.Right},
			{Head: "what its records show, and the others' do not", Wrap: true}},
		Notes: []string{
			"Outliers count like all other trials. What the records show coincides with the value, and need not be " +
				"its cause."}}
	for _, o := range v.Run.Outliers {
		if m := measureOf(v, o); m != nil {
			t.Add(strconv.Itoa(o.Order), strconv.Itoa(o.Block), o.Treatment, m.Label, m.Shown.Spell(o.Value),
				m.Shown.Spell(o.Others), saw(o))
		}
	}
	return t.OrNil()
}

// OutliersTitle counts the outliers.
func OutliersTitle(v *view.View) string {
	trials := map[int]bool{} // a trial may be an outlier in several measures
	for _, o := range v.Run.Outliers {
		trials[o.Order] = true
	}
	n := len(trials)
	return words.Sentence(fmt.Sprintf("%s %s from the others of %s treatment", words.Count(n, "trial"),
		words.Verb(n, "differs", "differ"), words.Verb(n, "its", "their")))
}

// mostApart is the maximum number of outliers that a terminal lists.
const mostApart = 6

// OutlierStatement names the outliers with what was seen in them.
func OutlierStatement(v *view.View) []document.Block {
	if len(v.Run.Outliers) == 0 {
		return nil
	}
	s := document.Statement{Label: "Outliers", Text: OutliersTitle(v) + ":"}
	for i, o := range v.Run.Outliers {
		m := measureOf(v, o)
		switch {
		case m == nil:
		case i == mostApart:
			s.Items = append(s.Items,
				document.Item{Mark: "·", Text: fmt.Sprintf("%d more on the page", len(v.Run.Outliers)-i),
					Tone: document.Quiet})
		case i < mostApart:
			s.Items = append(s.Items,
				document.Item{Mark: "·", Text: fmt.Sprintf("trial %d (%s, block %d): %s %s, the others %s; %s", o.Order,
					o.Treatment, o.Block, m.Label, m.Shown.Spell(o.Value), m.Shown.Spell(o.Others), saw(o))})
		}
	}
	return []document.Block{s}
}

func saw(o record.Outlier) string {
	return cmp.Or(strings.Join(o.Saw, "; "), "nothing else distinguishes it")
}

// measureOf returns the measure in which a trial is an outlier. Nil: unknown.
func measureOf(v *view.View, o record.Outlier) *view.Measure {
	i := slices.IndexFunc(v.Measures, func(m *view.Measure) bool { return m.Name == o.Response })
	if i < 0 {
		return nil
	}
	return v.Measures[i]
}
