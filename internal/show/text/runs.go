package text

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/show/figure"
	"linerate/internal/show/words"
)

const (
	mostID      = 30  // cells: a longer ID has a line of its own
	mostRunName = 20  // cells: a longer name is cut
	leastAnswer = 16  // cells: an answer with less room has a line of its own
	timedWidth  = 100 // of a terminal with room for the time of day
)

// Runs writes one line per run, its notes below it. All but IDs are cut to the width:
// those are for copying.
func Runs(w io.Writer, runs []notebook.Summary, o Options) error {
	t := o.terminal()
	dates := time.DateOnly
	if t.width >= timedWidth {
		dates = "2006-01-02 15:04"
	}
	id, name := len("run"), 0
	for _, r := range runs {
		if len(r.ID) <= min(mostID, t.width/3) {
			id = max(id, len(r.ID))
		}
		name = max(name, min(words.Width(figure.Plain(r.Name)), mostRunName, t.width/4))
	}
	if name > 0 {
		name = max(name, len("name"))
	}
	line := func(run, date, named, trials, said string) {
		text := pad(run, id) + "  " + pad(date, max(len(dates), len("date (UTC)"))) + "  "
		if name > 0 {
			text += pad(words.Shorten(figure.Plain(named), name), name) + "  "
		}
		text += fmt.Sprintf("%6s  ", trials)
		if room := t.width - words.Width(text); room >= leastAnswer {
			t.line("", text+words.Shorten(figure.Plain(said), room))
			return
		}
		t.line("", text)
		t.line("", words.Shorten("    "+figure.Plain(said), t.width))
	}
	line("run", "date (UTC)", "name", "trials", "answer")
	for _, r := range runs {
		run := r.ID
		if len(run) > id {
			t.out.WriteString(run + "\n")
			run = ""
		}
		line(run, r.Started.UTC().Format(dates), r.Name, strconv.Itoa(r.Trials), outcome(r))
		for _, note := range r.NoteList {
			t.line(dim, words.Shorten("    note: "+figure.Plain(note.Text), t.width))
		}
	}
	return t.flush(w)
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
