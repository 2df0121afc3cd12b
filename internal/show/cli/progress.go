package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"linerate/internal/control/run"
	"linerate/internal/show/text"
)

// progress shows on stderr how far a run is: one line that is drawn anew on a
// terminal, a line now and then elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	quiet    bool
	said     time.Time
	drawn    bool
}

// every is how often progress is printed where the line cannot be redrawn.
const every = 15 * time.Second

func newProgress(w io.Writer, quiet bool) *progress {
	width, terminal := terminalWidth(w)
	if width <= 20 { // unknown, or too narrow for a bar
		width = 80
	}
	return &progress{w: w, quiet: quiet, terminal: terminal, width: width}
}

func (p *progress) show(s run.Progress) {
	if !p.quiet && p.said.IsZero() {
		fmt.Fprintf(p.w, "run %s\n", s.Run)
	}
	if p.quiet || (!p.terminal && time.Since(p.said) < every) {
		return
	}
	p.said = time.Now()
	left := "about " + roundTime(s.Remaining) + " left"
	if !p.terminal {
		fmt.Fprintf(p.w, "%d of %d trials, %s: %s\n", s.Done, s.Total, left, s.Phase)
		return
	}
	const cells = 20
	full := 0
	if s.Total > 0 {
		full = cells * s.Done / s.Total
	}
	p.draw(fmt.Sprintf("%s%s %d/%d · %s · %s", strings.Repeat("█", full), strings.Repeat("░", cells-full), s.Done, s.Total, left, s.Phase))
}

// replace shows a line in place of the one before; elsewhere than on a terminal,
// under it.
func (p *progress) replace(line string) {
	switch {
	case p.quiet:
	case p.terminal:
		p.draw(line)
	default:
		fmt.Fprintln(p.w, line)
	}
}

func (p *progress) draw(line string) {
	if runes := []rune(line); len(runes) > p.width-1 {
		line = string(runes[:p.width-2]) + "…"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	p.drawn = true
}

func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// roundTime says a duration as people do.
func roundTime(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	}
	return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
}

// terminalWidth is how many columns the terminal has that is written to; 0: unknown.
func terminalWidth(w io.Writer) (width int, terminal bool) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	width, _, _ = term.GetSize(int(file.Fd()))
	return width, true
}

// textOptions fit a report to where it goes: the terminal's width, and colour
// unless NO_COLOR (no-color.org) is set.
func textOptions(w io.Writer, page string) text.Options {
	width, terminal := terminalWidth(w)
	return text.Options{Page: page, Width: min(width, 120), Color: terminal && os.Getenv("NO_COLOR") == ""}
}
