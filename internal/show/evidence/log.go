package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/show/document"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// mostLogged is the maximum number of log lines on a page.
const mostLogged = 100

// KernelLog lists the network messages of the machines' kernels during trials, in the order of the
// trials. Nil: there are none.
func KernelLog(v *view.View) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "trial", Align: document.Right}, {Head: "treatment"},
		{Head: "host"}, {Head: "second", Align: document.Right}, {Head: "kernel log", Wrap: true}}}
	more := 0
	for _, trial := range v.Run.Trials {
		for _, h := range trial.Hosts {
			if h.Log == nil {
				continue
			}
			more += h.Log.More
			lines := slices.SortedStableFunc(slices.Values(h.Log.Lines), func(a, b netstate.LogLine) int {
				return cmp.Compare(a.AtNs, b.AtNs)
			})
			for _, line := range lines {
				if len(t.Rows) == mostLogged {
					more++
					continue
				}
				t.Add(fmt.Sprint(trial.Order), trial.Treatment, h.Host,
					fmt.Sprintf("%.2f", float64(line.AtNs-h.Begin.ScheduledNs)/1e9), line.Text)
			}
		}
	}
	if more > 0 {
		t.Notes = append(t.Notes, words.Sentence(words.Count(more, "further line"))+"; linerate export "+v.Run.ID+
			" --csv --table log has those that were kept.")
	}
	return t.OrNil()
}
