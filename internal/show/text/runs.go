package text

import (
	"fmt"
	"io"
	"strconv"

	"linerate/internal/control/notebook"
	"linerate/internal/model/plain"
	"linerate/internal/show/words"
)

const (
	mostID      = 30  // cells: a longer ID has a line of its own
	mostRunName = 20  // cells: a longer name is cut
	leastAnswer = 35  // cells, for a measurement's flows and figure: a longer answer with less room has a line of its own
	datedWidth  = 100 // of a terminal with room for the year in each line
)

// Runs writes one line per run, its notes below it. All but IDs are cut to the width:
// those are for copying. The year of all runs is in the head where lines have no room for it.
// latest is the ID of the run that is called that; empty: none.
func Runs(w io.Writer, runs []notebook.Summary, latest string, o Options) error {
	t := o.terminal()
	dates, dated := "2006-01-02 15:04", "date (UTC)"
	if year, one := yearOf(runs); one && t.width < datedWidth {
		dates, dated = "01-02 15:04", fmt.Sprintf("%d (UTC)", year)
	}
	id, name := len("run"), 0
	for _, r := range runs {
		if len(r.ID) <= min(mostID, t.width/3) {
			id = max(id, len(r.ID))
		}
		name = max(name, min(words.Width(plain.Line(r.Name)), mostRunName, t.width/4))
	}
	if name > 0 {
		name = max(name, len("name"))
	}
	line := func(run, date, named, trials, said string) {
		text := pad(run, id) + "  " + pad(date, max(len(dates), len(dated))) + "  "
		if name > 0 {
			text += pad(words.Shorten(plain.Line(named), name), name) + "  "
		}
		text += fmt.Sprintf("%6s  ", trials)
		if room := t.width - words.Width(text); room >= leastAnswer || words.Width(plain.Line(said)) <= room {
			t.line("", text+words.Shorten(plain.Line(said), room))
			return
		}
		t.line("", text)
		t.line("", words.Shorten("    "+plain.Line(said), t.width))
	}
	line("run", dated, "name", "trials", "answer")
	for _, r := range runs {
		run := r.ID
		if len(run) > id {
			t.out.WriteString(run + "\n")
			run = ""
		}
		line(run, r.Started.UTC().Format(dates), r.Name, strconv.Itoa(r.Trials), outcome(r))
		for _, note := range r.NoteList {
			t.line(Dim, words.Shorten("    note: "+plain.Line(note.Text), t.width))
		}
	}
	if latest != "" {
		t.line(Dim, "latest is "+latest)
	}
	return t.flush(w)
}

// yearOf is the year in which all runs began; false: there are several.
func yearOf(runs []notebook.Summary) (year int, one bool) {
	for i, r := range runs {
		if began := r.Started.UTC().Year(); i == 0 {
			year = began
		} else if began != year {
			return 0, false
		}
	}
	return year, len(runs) > 0
}

// outcome is a run's answer, with its status where it did not end by itself.
func outcome(r notebook.Summary) string {
	switch {
	case r.Error != "":
		return "failed: " + r.Error
	case r.Status != notebook.Running && r.Status != notebook.Interrupted:
		return r.Answer
	case r.Answer == "":
		return r.Status
	}
	return r.Status + ": " + r.Answer
}
