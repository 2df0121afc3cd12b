package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"linerate/internal/control/run"
	"linerate/internal/model/metric"
	"linerate/internal/model/plain"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
	"linerate/internal/show/words"
)

// progress prints the progress of a run on stderr: on a terminal one line that is redrawn,
// elsewhere a new line from time to time.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	now      func() time.Time
	begun    bool
	said     time.Time // when last was printed
	last     string    // what was printed last
	drawn    bool
}

// every is how often progress is printed, at most, if the line cannot be redrawn.
const every = 10 * time.Second

func newProgress(w io.Writer) *progress {
	width, terminal := terminalWidth(w)
	if width <= 20 { // unknown, or too narrow for a bar
		width = 80
	}
	return &progress{w: w, terminal: terminal, width: width, now: time.Now}
}

func (p *progress) show(s run.Progress) {
	if !p.begun {
		say(p.w, "run %s\n", s.Run)
	}
	p.begun = true
	left := "about " + unit.FormatTime(s.Remaining) + " left"
	total := s.Total
	if s.Fits > 0 {
		total = max(s.Done, total*s.Fits/s.Blocks)
		few := ""
		if s.Fits < stats.LeastBlocks && s.Blocks >= stats.LeastBlocks {
			few = fmt.Sprintf(", and verdicts take %d", stats.LeastBlocks)
		}
		left = fmt.Sprintf("at most %s left (budget: %d of %s%s)", unit.FormatTime(s.Remaining), s.Fits,
			unit.Plural(s.Blocks, "block"), few)
	}
	news := cmp.Or(lastFigure(s), s.Phase)
	line := fmt.Sprintf("%d of %d trials, %s · %s", s.Done, total, left, news)
	if !p.terminal {
		p.under(line)
		return
	}
	short, _, _ := strings.Cut(strings.TrimPrefix(left, "about "), " (")
	short = fmt.Sprintf("%d/%d, %s", s.Done, total, short)
	const cells = 10
	full := 0
	if total > 0 {
		full = min(cells, cells*s.Done/total)
	}
	p.draw(
		strings.Repeat("█", full)+strings.Repeat("░", cells-full)+" "+line,
		line,
		short+" · "+news,
		news+" · "+short,
	)
}

// lastFigure describes the result of the trial that ended last: "arp_ignore=1, reads: 957 Mbit/s".
func lastFigure(s run.Progress) string {
	if s.Last == nil {
		return ""
	}
	response, known := metric.Find(s.Response)
	if !known {
		return ""
	}
	value, measured := response.Value(s.Last)
	if !measured {
		return ""
	}
	return s.Last.Treatment + ": " + response.FormatIn(s.Unit, value)
}

// replace prints a line in place of the one before or, if the output is no terminal, below it.
func (p *progress) replace(line string) {
	if p.terminal {
		p.draw(line)
	} else {
		p.under(line)
	}
}

// under prints a line below the others, unless it repeats the latest one or comes too soon after it.
func (p *progress) under(line string) {
	if line == p.last || !p.said.IsZero() && p.now().Sub(p.said) < every {
		return
	}
	say(p.w, "%s\n", line)
	p.last, p.said = line, p.now()
}

// draw draws the first of several wordings that fits. If none fits, it cuts the last one, which
// begins with what changes: a treatment's name and its figure.
func (p *progress) draw(wordings ...string) {
	line := wordings[len(wordings)-1]
	if i := slices.IndexFunc(wordings, func(text string) bool {
		return words.Width(plain.Line(text)) < p.width
	}); i >= 0 {
		line = wordings[i]
	}
	fmt.Fprintf(unfiltered(p.w), "\r\x1b[K%s", words.Shorten(plain.Line(line), p.width-1))
	p.drawn = true
}

func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(unfiltered(p.w), "\r\x1b[K")
	}
}
