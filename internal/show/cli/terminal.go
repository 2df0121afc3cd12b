package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"linerate/internal/show/text"
)

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
