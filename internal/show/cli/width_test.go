package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/show/words"
)

// toCopy are the beginnings of lines that stay whole, however long: commands, and what
// a shell runs.
var toCopy = []string{"linerate ", "iperf3 ", "sysctl ", "# yaml-language-server", "source ", "echo ", "$ ", "\t"}

// longPath is a path, a URL, or the place of a mistake in a file.
var longPath = regexp.MustCompile(`^["“(]?(https?://|[\w.~-]*/)\S*$`)

// tooWide lists the lines of a text that are wider than a terminal. Commands and paths may be.
func tooWide(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		copied := strings.HasPrefix(line, "\t")
		for _, start := range toCopy {
			copied = copied || strings.HasPrefix(strings.TrimLeft(line, " "), start)
		}
		said := strings.Fields(line)
		if len(said) > 0 && len(said) <= 2 && longPath.MatchString(said[len(said)-1]) { // with its label
			copied = true
		}
		if words.Width(line) > width && !copied {
			lines = append(lines, line)
		}
	}
	return lines
}

var testedWidths = []int{60, 80, 200}

func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		everyCommand(c, visit)
	}
}

// TestHelpFits: no line of any --help is wider than the terminal, and what most readers
// need is on the first screen.
func TestHelpFits(t *testing.T) {
	tried := 0
	everyCommand(Command(), func(cmd *cobra.Command) {
		for _, width := range testedWidths {
			t.Setenv("COLUMNS", fmt.Sprint(width))
			tried++
			var out strings.Builder
			args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
			if status := Main(args, strings.NewReader(""), &out, io.Discard); status != ExitOK || out.Len() == 0 {
				t.Errorf("%q: status %d, %q", args, status, out.String())
			}
			for _, line := range tooWide(out.String(), width) {
				t.Errorf("%q at %d columns: %q", args, width, line)
			}
			first, _, _ := strings.Cut(out.String(), "\nMore flags\n")
			if lines := strings.Count(first, "\n"); width >= 80 && first != out.String() && lines > 46 {
				t.Errorf("%q: %d lines before More flags:\n%s", args, lines, first)
			}
		}
	})
	if tried < 60 {
		t.Errorf("%d helps were read", tried)
	}
}

// TestFlagSections: sections name flags that are there, each once.
func TestFlagSections(t *testing.T) {
	everyCommand(Command(), func(cmd *cobra.Command) {
		headings, sections := sectionsOf(cmd)
		if headings == nil {
			return
		}
		seen := map[string]bool{}
		for _, names := range sections {
			for _, name := range names {
				if cmd.LocalFlags().Lookup(name) == nil || seen[name] {
					t.Errorf("%s: --%s is no flag, or in two sections", cmd.CommandPath(), name)
				}
				seen[name] = true
			}
		}
	})
}

// TestWidth: COLUMNS counts before the terminal, within bounds, and 80 without either.
func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 80, "100": 100, "20": 60, "1000": 200, "wide": 80, "-5": 80} {
		t.Setenv("COLUMNS", text)
		if got := columns(io.Discard); got != want {
			t.Errorf("COLUMNS=%q gives %d, want %d", text, got, want)
		}
	}
}
