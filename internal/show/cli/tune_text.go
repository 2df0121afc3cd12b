package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
	"linerate/internal/science/tuning"
	"linerate/internal/show/report"
)

// print writes the result for people: the answer, and under it what each setting
// did.
func (t *tuner) print(result *record.Tune) error {
	w := t.out
	if len(t.runs) > 0 {
		r := t.runs[0]
		fmt.Fprintf(w, "tune · %s · %s × %s · seed %d · %s\n\n", t.name,
			count(len(r.Treatments), "treatment"), count(r.Design.Replicates, "block"), r.Seed, roundTime(t.took()))
	}
	for _, c := range append([]*record.Tune{result}, result.Conditions...) {
		if err := t.condition(c); err != nil {
			return err
		}
	}
	for i, s := range firstUntried(result.Settings) {
		if i == 0 {
			fmt.Fprintf(w, "\n  Not tried\n")
		}
		indented(w, "    ", fmt.Sprintf("%s = %s: %s", s.Key, s.Value, s.Why))
	}
	fmt.Fprintln(w)
	n := 0
	for _, r := range t.runs {
		n += len(r.Trials)
	}
	if n > 0 && len(result.Trust) == 0 {
		indented(w, "  Trust  ", fmt.Sprintf("all %s passed every check", trials(n)))
	}
	times := map[string]int{}
	for _, c := range result.Trust {
		times[c.Check]++
	}
	for _, c := range result.Trust {
		if n := times[c.Check]; n > 0 {
			indented(w, "  Trust  ", fmt.Sprintf("%s failed %d×, such as: %s", c.Check, n, c.Detail))
		}
		times[c.Check] = 0 // said
	}
	if p := result.Proof; p != nil && p.Effect != nil {
		indented(w, "  Proof  ", fmt.Sprintf("the settings that help, by themselves: %s (run %s)", tuning.Ratio(p.Effect), p.Run))
	}
	if result.Kept != "" {
		indented(w, "  Kept   ", result.Kept)
	}
	for i, r := range t.runs {
		if t.flags.run != "" && i == 0 {
			continue // linerate report makes it
		}
		fmt.Fprintf(w, "  Page   %s\n", filepath.Join(t.directory(r), "report.html"))
	}
	if len(t.runs) > 0 {
		fmt.Fprintf(w, "  Again  %s\n", t.runs[0].Again)
	}
	return nil
}

// condition writes what came of one condition: the answer and a table.
func (t *tuner) condition(c *record.Tune) error {
	at := strings.Join(slices.Sorted(maps.Values(c.At)), ", ")
	switch {
	case at != "":
		indented(t.out, "  ", at+": "+c.Answer)
	default:
		indented(t.out, "  ", c.Answer)
	}
	fmt.Fprintln(t.out)
	var err error
	switch {
	case c.Run == "":
	case c.Search == nil:
		err = report.Settings(t.out, c, 80)
	default:
		table := tabwriter.NewWriter(t.out, 2, 8, 2, ' ', 0)
		searchTable(table, c)
		err = table.Flush()
	}
	if at != "" {
		fmt.Fprintln(t.out)
	}
	return err
}

func firstUntried(settings []record.TuneSetting) (list []record.TuneSetting) {
	for _, s := range settings {
		if s.Verdict == record.NotTried {
			list = append(list, s)
		}
	}
	return list
}

// size spells an effect in one of the responses that the list is judged by.
func size(result *record.Tune, i int, e *record.Effect) string {
	r := metric.Goodput
	if i < len(result.Responses) {
		r, _ = metric.Find(result.Responses[i])
	}
	if e = r.Effect(e); e == nil {
		return ""
	}
	return tuning.Size(r, e)
}

// searchTable has a line for each value that was tried, and one for each other
// response in which it makes a difference.
func searchTable(table *tabwriter.Writer, result *record.Tune) {
	if result.Search == nil {
		return
	}
	fmt.Fprintf(table, "  %s\tagainst the largest\tverdict\n", result.Search.Key)
	row := func(name string, e *record.Effect) {
		verdict := ""
		if e != nil {
			verdict = e.Verdict
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, size(result, 0, e), verdict)
		for i, name := range result.Responses {
			r, known := metric.Find(name)
			if b := r.Effect(e); known && i > 0 && b != nil && (b.Verdict == record.Improves || b.Verdict == record.Worsens) {
				fmt.Fprintf(table, "    %s\t%s\t%s\n", r.Label, size(result, i, e), b.Verdict)
			}
		}
	}
	for _, v := range result.Search.Values {
		row(v.Name, v.Effect)
	}
	if e := result.List; e != nil {
		row("as it is", e)
	}
}
