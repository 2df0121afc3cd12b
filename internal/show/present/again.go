package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// environment describes the machines and programs of the run.
func environment(v *view.View) []document.Block {
	e := v.Run.Environment
	text := "linerate " + e.Version
	if e.Mode != "" {
		text += ", " + e.Mode
	}
	blocks := []document.Block{document.Statement{Text: text}}
	if len(e.Hosts) > 0 {
		t := &document.Table{Columns: []document.Column{{Head: "host"}, {Head: "system"}, {Head: "kernel"},
			{Head: "CPUs", Align: document.Right}, {Head: "congestion control of flows"}}}
		var missing []document.Cell
		for _, h := range e.Hosts {
			t.Add(h.Host, h.OS+" "+h.Arch, h.Kernel, fmt.Sprint(h.CPUs), h.CongestionControl)
			missing = append(missing, document.Cell{Text: strings.Join(h.Missing, "; ")})
		}
		if slices.ContainsFunc(missing, func(c document.Cell) bool { return c.Text != "" }) {
			t.AddColumn(document.Column{Head: "missing", Wrap: true}, missing)
		}
		blocks = append(blocks, t)
	}
	return append(append(blocks, snapshotsKept(v.Run)...),
		slices.Concat(evidence.Routes(v), evidence.Services(v.Run))...)
}

// snapshotsKept says of which hosts the run has snapshots, and why others have none.
func snapshotsKept(run *record.Run) (list []document.Block) {
	var hosts []string
	for _, s := range run.Snapshots {
		if s.Before != nil {
			hosts = append(hosts, s.Host)
		}
		if s.Missing != "" {
			list = append(list, document.Statement{Text: "No snapshot of " + s.Host + ": " + s.Missing,
				Tone: document.Quiet})
		}
	}
	if len(hosts) > 0 {
		list = append(list, document.Statement{Text: "Snapshots of " + words.Join(hosts, "and") +
			", from before the first trial and after the last, are in the notebook: linerate export " + run.ID +
			" --snapshots -o DIR/", Tone: document.Quiet})
	}
	return list
}

// rerun says how to repeat the run.
func rerun(run *record.Run) []document.Block {
	blocks := []document.Block{document.Listing{Lines: []string{run.Again}},
		document.Statement{Text: fmt.Sprintf("Run %s%s, begun %s, %s.", run.ID, seed(run.Seed, ", "),
			number.Moment(run.Started), number.Seconds(run.DurationS)), Tone: document.Quiet}}
	if run.StudyFile != "" {
		blocks = append(blocks, document.Fold{Summary: "The study's file",
			Blocks: []document.Block{
				document.Listing{Lines: strings.Split(strings.TrimRight(run.StudyFile, "\n"), "\n")}}})
	}
	return blocks
}

// seed formats the seed of a run after before. Empty: nothing was random.
func seed(n uint64, before string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%sseed %d", before, n)
}
