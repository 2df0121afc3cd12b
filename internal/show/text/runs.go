package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"linerate/internal/control/notebook"
	"linerate/internal/model/plain"
	"linerate/internal/show/words"
)

const (
	mostID      = 30 // width; a longer ID has its own line
	mostRunName = 20 // width; a longer name is truncated
	// leastAnswer is the width for the answer of a measurement: its flows and figure, besides its
	// mark and loss. If there is less room, a longer answer has its own line.
	leastAnswer = 35
	datedWidth  = 100 // width of a terminal with room for the year on each line
)

// Runs writes one line per run, with its notes below. Everything except IDs, which users copy, is
// truncated to the width. If lines have no room for the year, the year of all runs is in the head.
// Latest is the ID that is marked as the latest run; empty: none.
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
	line := func(run, date, named, trials, mark, said string) {
		text := pad(run, id) + "  " + pad(date, max(len(dates), len(dated))) + "  "
		if name > 0 {
			text += pad(words.Shorten(plain.Line(named), name), name) + "  "
		}
		text += fmt.Sprintf("%6s  ", trials)
		least := leastAnswer
		if figure, _, is := strings.Cut(said, " lost"); is {
			least = words.Width(figure+" lost") + 1
		}
		if room := t.width - words.Width(text); room >= least+words.Width(mark) ||
			words.Width(plain.Line(mark+said)) <= room {
			t.line("", text+words.Shorten(plain.Line(mark+said), room))
			return
		}
		t.line("", text)
		t.line("", words.Shorten("    "+plain.Line(mark+said), t.width))
	}
	line("run", dated, "name", "trials", "", "answer")
	for _, r := range runs {
		run := r.ID
		if len(run) > id {
			t.out.WriteString(run + "\n")
			run = ""
		}
		mark, said := outcome(r)
		line(run, r.Started.UTC().Format(dates), r.Name, strconv.Itoa(r.Trials), mark, said)
		for _, note := range r.NoteList {
			t.line(Dim, words.Shorten("    note: "+plain.Line(note.Text), t.width))
		}
	}
	if latest != "" {
		t.line(Dim, "latest is "+latest)
	}
	return t.flush(w)
}

// yearOf returns the year in which all runs began. It returns false if there are several.
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

// RunLine returns what a list says about a run's outcome, before truncation.
func RunLine(r notebook.Summary) string {
	mark, said := outcome(r)
	return mark + said
}

// outcome returns a run's answer, and a mark before it if it was interrupted or trust checks
// failed: "interrupted, in doubt: ".
func outcome(r notebook.Summary) (mark, said string) {
	if r.Error != "" {
		return "failed: ", r.Error
	}
	var marks []string
	if r.Status == notebook.Running || r.Status == notebook.Interrupted {
		marks = append(marks, r.Status)
	}
	if c := r.Conclusion; c != nil && len(c.Doubts) > 0 {
		marks = append(marks, "in doubt")
	}
	switch mark = strings.Join(marks, ", "); {
	case mark == "" || r.Answer == "":
		return mark, r.Answer
	}
	return mark + ": ", r.Answer
}
