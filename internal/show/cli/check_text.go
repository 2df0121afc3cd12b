package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/unit"
	"linerate/internal/show/evidence"
)

// print writes the plan for people.
func (d *planDocument) print(w io.Writer) error {
	fmt.Fprintf(w, "%s · %s × %s = %s · about %s\n", d.Study,
		unit.Plural(len(d.Treatments), "treatment"), unit.Plural(d.Blocks, "block"), unit.Plural(d.Trials, "trial"), estimate(d.EstimateS))
	if d.Question != "" {
		fmt.Fprintf(w, "\n  %s\n", d.Question)
	}
	fmt.Fprintf(w, "  %s, %s, %s%s\n\n", unit.Plural(d.Hosts, "host"), unit.Plural(d.Switches, "switch"), unit.Plural(d.Links, "link"), d.judgedBy())
	table := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(table, "  \ttreatment\ttrial\tflows\tlimit")
	for i, t := range d.Treatments {
		name, limit := t.Name, "unknown"
		if t.Baseline {
			name += " (baseline)"
		}
		switch {
		case t.LimitBps > 0:
			limit = unit.FormatRate(t.LimitBps) + " = " + t.LimitWhy
		case t.LimitWhy != "":
			limit = t.LimitWhy
		}
		fmt.Fprintf(table, "  %d\t%s\t%.1f s\t%s\t%s\n", i+1, name, t.TrialS, summary(t.Flows), limit)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range d.Factors {
		for _, l := range f.Levels {
			if len(l.SettingLines) > 0 {
				fmt.Fprintf(w, "\n  %s, %s\n    %s\n", l.Name, unit.Plural(len(l.SettingLines), "setting"), strings.Join(someLines(l.SettingLines), "\n    "))
			}
		}
	}
	for i, t := range d.Treatments {
		if len(t.Events) > 0 && (i == 0 || !slices.Equal(t.Events, d.Treatments[i-1].Events)) {
			fmt.Fprintf(w, "\n  %s, while it is measured\n    %s\n", t.Name, strings.Join(someLines(t.Events), "\n    "))
		}
	}
	d.printOrder(w)
	return nil
}

// someLines are the lines, or of many the first ones and the last.
func someLines(lines []string) []string {
	const most = 8
	if len(lines) <= most+1 {
		return lines
	}
	return append(append([]string{}, lines[:most-1]...), fmt.Sprintf("… and %d more, to", len(lines)-most), lines[len(lines)-1])
}

// judgedBy says so of a study that is not about goodput alone.
func (d *planDocument) judgedBy() string {
	var labels []string
	for _, name := range d.Responses {
		if r, ok := metric.Find(name); ok {
			labels = append(labels, r.Label)
		}
	}
	if len(d.Responses) == 1 && d.Responses[0] == metric.Goodput.Name {
		return ""
	}
	return "; judged by " + strings.Join(labels, ", then ")
}

func (d *planDocument) printOrder(w io.Writer) {
	if d.Sensitivity != nil {
		fmt.Fprintf(w, "\n  Detects %s.\n", evidence.Sensitivity(d.Sensitivity))
	}
	for _, text := range d.Warnings {
		fmt.Fprintf(w, "\n  %s.\n", text)
	}
	if d.Until > 0 {
		fmt.Fprintf(w, "\n  More blocks are added until every effect is known to ±%.3g %%.\n", d.Until*100)
	}
	if d.BudgetS > 0 {
		fmt.Fprintf(w, "\n  No block is begun that would end after %s.\n", estimate(d.BudgetS))
	}
	if d.Seed == 0 {
		fmt.Fprint(w, "\n  The order is drawn for each run; --seed N chooses it.\n")
		return
	}
	place := map[string]int{}
	for i, t := range d.Treatments {
		place[t.Name] = i + 1
	}
	fmt.Fprintf(w, "\n  order with seed %d\n", d.Seed)
	for i, block := range d.Order {
		fmt.Fprintf(w, "    block %d:", i+1)
		for _, name := range block {
			fmt.Fprintf(w, " %d", place[name])
		}
		fmt.Fprintln(w)
	}
}

// summary counts flows by who sends to whom: "8: client1 → server ×4, …".
func summary(flows []planFlow) string {
	var pairs []string
	times := map[string]int{}
	for _, f := range flows {
		pair := f.From + " → " + f.To
		if f.Protocol != flow.TCP {
			pair += " " + f.Protocol
		}
		if times[pair]++; times[pair] == 1 {
			pairs = append(pairs, pair)
		}
	}
	const shown = 3
	more := ""
	if len(pairs) > shown {
		more = fmt.Sprintf(", … (%d pairs)", len(pairs))
		pairs = pairs[:shown]
	}
	for i, pair := range pairs {
		if n := times[pair]; n > 1 {
			pairs[i] += fmt.Sprintf(" ×%d", n)
		}
	}
	return fmt.Sprintf("%d: %s%s", len(flows), strings.Join(pairs, ", "), more)
}

// estimate spells a number of seconds as people say it.
func estimate(seconds float64) string {
	return roundTime(time.Duration(seconds * float64(time.Second)))
}
