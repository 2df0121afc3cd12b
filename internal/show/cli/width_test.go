package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/show/words"
)

// toCopy are the beginnings of lines that stay whole, however long: commands, and what
// a shell runs.
var toCopy = []string{"linerate ", "iperf3 ", "sysctl ", "# yaml-language-server", "source ", "echo ", "$ ", "\t"}

// tooWide lists the lines of a text that are wider than a terminal.
func tooWide(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		copied := strings.HasPrefix(line, "\t")
		for _, start := range toCopy {
			copied = copied || strings.HasPrefix(strings.TrimLeft(line, " "), start)
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

// TestOutputFits: no verb that needs no network prints a line wider than the terminal.
func TestOutputFits(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(notebook.Variable, filepath.Join(dir, "notebook.db"))
	for _, line := range []string{
		"studies", "check arp-flux --seed 7", "check long-fat", "check ecmp-bgp", "check ip-alias --set workload.tool=linerate",
		"limits goodput", "limits goodput --vlan 1 --json=false", "limits bdp --rate 10G --rtt 30ms --window 64K --answer 64kB",
		"limits ecmp --links 4", "limits ecmp --links 4 --flows 32", "limits ecmp --links 4 --flows 64 --tiers 2", "limits ecmp --links 4 --hosts 64 --flows 1000",
		"tune linux-10g --lint --elsewhere", "tune --lists", "runs", "recover --list",
	} {
		for _, width := range testedWidths {
			t.Setenv("COLUMNS", fmt.Sprint(width))
			var out, errs strings.Builder
			if status := Main(strings.Fields(line), strings.NewReader(""), &out, &errs); status != ExitOK && status != ExitDoubt {
				t.Errorf("%s: status %d, %s", line, status, errs.String())
			}
			for _, wide := range tooWide(out.String(), width) {
				t.Errorf("%s at %d columns: %q", line, width, wide)
			}
		}
	}
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
