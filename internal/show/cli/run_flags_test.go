package cli

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// parsed are the flags that a command line sets, and what is left of it.
func parsed(t *testing.T, words []string) (runFlags, []string, *pflag.FlagSet) {
	t.Helper()
	cmd := newRunCommand(streams{})
	if err := cmd.ParseFlags(words); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	flags := cmd.Flags()
	var f runFlags
	f.given = flags.Changed
	f.set, _ = flags.GetStringArray("set")
	f.only, _ = flags.GetStringSlice("only")
	f.replicates, _ = flags.GetInt("replicates")
	f.until, _ = flags.GetString("until")
	f.budget, _ = flags.GetString("budget")
	f.allowMachine, _ = flags.GetBool("allow-machine-settings")
	return f, flags.Args(), flags
}

// shellWords are what a shell makes of a line.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatalf("sh: %v: %s", err, line)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// TestAgain: the command that a run prints asks for the same again, whatever
// characters names have.
func TestAgain(t *testing.T) {
	for _, words := range [][]string{
		{"arp-flux"},
		{"my study's.yaml", "--only", `"a, b","say ""yes""",plain,it's`, "--only", "$HOME `x`"},
		{"x.yaml", "--set", "a=b c", "--set", `q="1,2"`, "--replicates", "5", "--until", "2 %", "--budget", "1m 30s"},
		{"x.yaml", "--only", `""`, "--only", `\a`, "--only", "über*"},
		{"x.yaml", "--allow-machine-settings"},
	} {
		asked, left, _ := parsed(t, words)
		line := again(left[0], asked)
		split := shellWords(t, line)
		if split[0] != "linerate" || split[1] != "run" {
			t.Fatalf("%s", line)
		}
		got, gotLeft, flags := parsed(t, split[2:])
		if !slices.Equal(gotLeft, left) || !slices.Equal(got.set, asked.set) || !slices.Equal(got.only, asked.only) ||
			got.replicates != asked.replicates || got.until != asked.until || got.budget != asked.budget || got.allowMachine != asked.allowMachine {
			t.Errorf("%q prints\n%s\nwhich asks for %q %+v, not %q %+v", words, line, gotLeft, got, left, asked)
		}
		flags.Visit(func(flag *pflag.Flag) {
			if !asked.given(flag.Name) {
				t.Errorf("%s: --%s was not asked for", line, flag.Name)
			}
		})
	}
}

// TestResumeCommand: a run is carried on under the permission that it has.
func TestResumeCommand(t *testing.T) {
	if got := (trialFlags{}).resumeCommand("x-7"); got != "linerate run --resume x-7" {
		t.Error(got)
	}
	if got := (trialFlags{allowMachine: true}).resumeCommand("x-7"); got != "linerate run --resume x-7 --allow-machine-settings" {
		t.Error(got)
	}
}
