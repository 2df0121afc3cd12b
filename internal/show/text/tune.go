package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/tuning"
	"linerate/internal/show/present"
)

// Tune writes the result of trying a list of settings: the answer, and under it what
// each setting did. runs are those that were made for it, and pages their pages, in
// the order of the runs that have one.
func Tune(w io.Writer, result *record.Tune, name string, runs []*record.Run, pages []string) error {
	if len(runs) > 0 {
		r, took := runs[0], 0.0
		for _, one := range runs {
			took += one.DurationS
		}
		fmt.Fprintf(w, "tune · %s · %s × %s · seed %d · %s\n\n", name,
			present.Count(len(r.Treatments), "treatment"), present.Count(r.Design.Replicates, "block"), r.Seed, present.Seconds(took))
	}
	for _, c := range append([]*record.Tune{result}, result.Conditions...) {
		if err := tuneCondition(w, c); err != nil {
			return err
		}
	}
	for i, s := range untried(result.Settings) {
		if i == 0 {
			fmt.Fprintf(w, "\n  Not tried\n")
		}
		indented(w, "    ", fmt.Sprintf("%s = %s: %s", s.Key, s.Value, s.Why))
	}
	fmt.Fprintln(w)
	n := 0
	for _, r := range runs {
		n += len(r.Trials)
	}
	if n > 0 && len(result.Trust) == 0 {
		indented(w, "  Trust  ", fmt.Sprintf("all %s passed every check", present.Count(n, "trial")))
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
	for _, page := range pages {
		fmt.Fprintf(w, "  Page   %s\n", page)
	}
	if len(runs) > 0 {
		fmt.Fprintf(w, "  Again  %s\n", runs[0].Again)
	}
	return nil
}

// tuneCondition writes what came of one condition: the answer and a table.
func tuneCondition(w io.Writer, c *record.Tune) error {
	at := strings.Join(slices.Sorted(maps.Values(c.At)), ", ")
	switch {
	case at != "":
		indented(w, "  ", at+": "+c.Answer)
	default:
		indented(w, "  ", c.Answer)
	}
	fmt.Fprintln(w)
	var err error
	switch {
	case c.Run == "":
	case c.Search == nil:
		err = Table(w, present.Settings(c), Options{})
	default:
		table := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
		searchTable(table, c)
		err = table.Flush()
	}
	if at != "" {
		fmt.Fprintln(w)
	}
	return err
}

func untried(settings []record.TuneSetting) (list []record.TuneSetting) {
	for _, s := range settings {
		if s.Verdict == record.NotTried {
			list = append(list, s)
		}
	}
	return list
}

// effectSize spells an effect in one of the responses that the list is judged by.
func effectSize(result *record.Tune, i int, e *record.Effect) string {
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
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, effectSize(result, 0, e), verdict)
		for i, name := range result.Responses {
			r, known := metric.Find(name)
			if b := r.Effect(e); known && i > 0 && b != nil && (b.Verdict == record.Improves || b.Verdict == record.Worsens) {
				fmt.Fprintf(table, "    %s\t%s\t%s\n", r.Label, effectSize(result, i, e), b.Verdict)
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

// indented writes prose in lines of 80 columns that begin below its own beginning.
func indented(w io.Writer, start, text string) {
	room := 80 - present.Width(start)
	for i, line := range wrap(text, room, room) {
		if i > 0 {
			start = strings.Repeat(" ", present.Width(start))
		}
		fmt.Fprintln(w, strings.TrimRight(start+line, " "))
	}
}
