package shellscript

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what scripts are expected to do anew")

// shown is what a script does, one event a line.
func shown(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		when := ""
		if len(e.When) > 0 {
			when = " when " + strings.Join(e.When, ", ")
		}
		switch {
		case e.Command != nil:
			fmt.Fprintf(&b, "%d:", e.At)
			for _, w := range e.Command.Words {
				if w.Depends != "" {
					fmt.Fprintf(&b, " <%s>", w.Depends)
				} else {
					fmt.Fprintf(&b, " %q", w.Text)
				}
			}
			if e.Command.Root {
				b.WriteString(" as root")
			}
			if e.Command.Input != nil {
				b.WriteString(" reading " + lines(e.Command.Input))
			}
		case e.Write != nil:
			fmt.Fprintf(&b, "%d: write %s%s %s", e.At, e.Write.File.Text,
				map[bool]string{true: "+"}[e.Write.Append], lines(e.Write.Lines))
			if e.Write.Unprivileged {
				b.WriteString(" unprivileged")
			}
		default:
			fmt.Fprintf(&b, "%d: %s%s", e.At, e.Skip, e.Odd)
		}
		b.WriteString(when + "\n")
	}
	return b.String()
}

func lines(list []Line) string {
	var parts []string
	for _, l := range list {
		if l.Depends != "" {
			parts = append(parts, fmt.Sprintf("%d:<%s>", l.At, l.Depends))
		} else {
			parts = append(parts, fmt.Sprintf("%d:%s", l.At, l.Text))
		}
	}
	return "[" + strings.Join(parts, "|") + "]"
}

// TestScripts compares what is followed of scripts with testdata/scripts.txt. A line that begins with
// "> " is a script; ¶ is the end of a line of it.
func TestScripts(t *testing.T) {
	const golden = "testdata/scripts.txt"
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for line := range strings.Lines(string(want)) {
		if !strings.HasPrefix(line, "> ") {
			continue
		}
		got += line
		text := strings.ReplaceAll(strings.TrimSuffix(line[2:], "\n"), "¶", "\n")
		s := New(ShellOf(text), new(Budget))
		for said := range strings.Lines(shown(s.Run(text, nil)) + shown(s.Uncalled())) {
			got += "  " + said
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != string(want) {
		t.Errorf("got\n%s", got)
	}
}

// numbered returns n texts, joined, with a number in place of each #.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// TestBounded: no script takes much memory, or the whole stack, whatever it repeats or nests.
func TestBounded(t *testing.T) {
	const megabytes = 512 // in all, of which most is soon free again
	lines := "cat <<E > /x\n" + strings.Repeat("\n", 60000) + "E\n"
	text, variables := "x="+strings.Repeat("a", 60000)+"\n", numbered(16000, "a#= ")+"\n"
	for name, text := range map[string]string{
		"nested":         strings.Repeat("(", maxBytes),
		"some deep":      strings.Repeat("( ", maxNesting-1),
		"ifs":            strings.Repeat("if ", maxBytes/3),
		"pipes":          strings.Repeat("a|", maxNesting/2) + "a",
		"loops":          strings.Repeat("for i in {1..1000}; do ", 20) + "echo $i > /x; " + strings.Repeat("done; ", 20),
		"doubling":       "x=aaaaaaaaaa; " + strings.Repeat("x=$x$x$x$x; ", 5000),
		"much text":      text + "sysctl " + strings.Repeat("$x", 10000),
		"calls":          "f() { f; f; f; }; f",
		"forever":        "for ((;;)); do :; done; for ((i=0;1;i++)); do sysctl $i; done",
		"braces":         "sysctl {1..9999999}{1..9999999}; echo {a..z}{a..z}{a..z}{a..z} > /x",
		"branches":       strings.Repeat("x=1; if a; then x=2; fi; ", 8000),
		"variables":      strings.Repeat("x$i=1; ", 30000),
		"printf":         "printf '%s\\n' {1..16000} > /x",
		"widths":         "printf '" + strings.Repeat("%999999s", 20000) + "' > /x",
		"escapes":        "echo -e '" + strings.Repeat(`\\n`, 60000) + "' > /x",
		"exits":          "exit\n" + strings.Repeat("a\n", 60000),
		"returns":        "f() { return\n" + strings.Repeat("a\n", 60000) + "}\n" + strings.Repeat("f\n", 9000),
		"evals":          strings.Repeat("eval '", 30) + strings.Repeat("'", 30),
		"heredoc":        "cat <<E > /x\n" + strings.Repeat("a $x\n", 40000) + "E\n",
		"doubled files":  "echo a > a\n" + strings.Repeat("cat a a > b; cat b b > a\n", 15),
		"copied files":   lines + strings.Repeat("cat /x >> /y;", 9000),
		"input":          lines + strings.Repeat("sysctl -p - < /x\n", 9000),
		"a file often":   lines + "cat " + strings.Repeat("/x ", 40000) + " > /y\n",
		"many files":     "cat <<E | tee " + numbered(20000, "/f# ") + "\n" + strings.Repeat("\n", 60000) + "E\n",
		"substitutions":  lines + ": " + strings.Repeat("$(cat /x)", 9000),
		"empty lines":    "x='" + strings.Repeat("\n", 60000) + "'\n" + strings.Repeat("echo \"$x\" > /x\n", 250),
		"empty words":    "for i in {1..4000}; do : " + strings.Repeat("'' ", 4000) + "\ndone",
		"unknown words":  "for i in " + strings.Repeat("$a ", 4000) + "; do : " + strings.Repeat("$b ", 60000) + "\ndone",
		"nested ifs":     strings.Repeat("if a;then b\n", 9000) + strings.Repeat("fi\n", 9000),
		"subshells":      variables + strings.Repeat("(:)\n", 19000),
		"alternatives":   variables + strings.Repeat("a||b\n", 9000),
		"a line of them": variables + strings.Repeat("a||", 9000) + "b",
		"assignments":    variables + strings.Repeat("a=1 b\n", 9000),
		"names":          variables + ": " + strings.Repeat("${!a*}", 9000),
		"local names":    "f() { local " + numbered(20000, "a# ") + "\n}\n" + strings.Repeat("f\n", 6000),
		"defaults":       "x=" + numbered(5000, "${a#:-}") + "\n" + strings.Repeat("x+=$x;", 9000),
		"elements":       "x=(" + strings.Repeat("'' ", 4000) + ")\n" + strings.Repeat("x[1]=\n", 19000),
		"replacements":   text + ": " + strings.Repeat("${x//a/bbbb}", 9000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		events := New(Bash, new(Budget)).Run(text, nil)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > megabytes && !testing.Short() {
			t.Errorf("%s: %d MiB were allocated", name, took) // the race detector adds to it, which runs with -short
		} else {
			t.Logf("%s: %d MiB, %d events", name, took, len(events))
		}
	}
}

// FuzzRun: whatever a script is, following it ends, and every event has a line of the script.
func FuzzRun(f *testing.F) {
	seeds, err := os.ReadFile("testdata/scripts.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(seeds)) {
		if text, is := strings.CutPrefix(line, "> "); is {
			f.Add(strings.ReplaceAll(text, "¶", "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := New(ShellOf(text), new(Budget))
		last := strings.Count(text, "\n") + 1
		for _, e := range append(s.Run(text, nil), s.Uncalled()...) {
			parts := 0
			for _, is := range []bool{e.Command != nil, e.Write != nil, e.Skip != "", e.Odd != ""} {
				if is {
					parts++
				}
			}
			if parts != 1 || e.At < 1 || e.At > last || strings.Contains(e.Source, "\n") {
				t.Fatalf("%+v of %d lines", e, last)
			}
			if e.Write != nil {
				for _, l := range e.Write.Lines {
					if l.At < 1 || l.At > last || strings.Contains(l.Text, "\n") {
						t.Fatalf("%+v: %+v of %d lines", e, l, last)
					}
				}
			}
		}
	})
}
