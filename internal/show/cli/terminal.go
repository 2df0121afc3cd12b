package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"linerate/internal/show/text"
)

// textOptions fit a report to where it goes: the terminal's width, and colour
// unless NO_COLOR (no-color.org) is set.
func textOptions(w io.Writer, page string) text.Options {
	options := text.Options{Page: page}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return options
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		options.Width = min(width, 120)
	}
	options.Color = os.Getenv("NO_COLOR") == ""
	return options
}
