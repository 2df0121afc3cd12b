package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"linerate/internal/show/text"
)

// Lines of output have at least and at most so many columns, and defaultWidth where
// nothing says how many there are.
const (
	leastWidth, mostWidth = 60, 200
	defaultWidth          = 80
)

// columns is how wide the lines are that go to w: $COLUMNS, as POSIX has it, or else the
// width of the terminal that w is.
func columns(w io.Writer) int {
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width, _ = terminalWidth(w)
	}
	if width <= 0 {
		width = defaultWidth
	}
	return min(max(width, leastWidth), mostWidth)
}

// terminalWidth is how many columns the terminal has that is written to; 0: unknown. A
// terminal that TERM=dumb says cannot move its cursor, or show colours, counts as none.
func terminalWidth(w io.Writer) (width int, terminal bool) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	width, _, _ = term.GetSize(int(file.Fd()))
	return width, os.Getenv("TERM") != "dumb"
}

// say writes what is not an answer: notes, errors, what was written where. On a terminal, and
// where $COLUMNS is set, it fits the width; in a pipe or a log a message is a line.
func say(w io.Writer, format string, args ...any) {
	width := 0
	if terminal, _ := terminalWidth(w); terminal > 0 || os.Getenv("COLUMNS") != "" {
		width = columns(w)
	}
	_, _ = io.WriteString(w, text.Message(fmt.Sprintf(format, args...), width)) // no error can be reported
}

// textOptions fit a report to where it goes: its width, and colour on a terminal unless
// NO_COLOR (no-color.org) is set.
func textOptions(w io.Writer, page string) text.Options {
	_, terminal := terminalWidth(w)
	return text.Options{Page: page, Width: columns(w), Color: terminal && os.Getenv("NO_COLOR") == ""}
}
