package cli

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// parsed are the flags that a command line sets, and what is left of it.
func parsed(t *testing.T, words ...string) runFlags {
	t.Helper()
	var f runFlags
	f.define(pflag.NewFlagSet("run", pflag.ContinueOnError))
	if err := f.flags.Parse(words); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return f
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
		asked := parsed(t, words...)
		line := asked.again(asked.flags.Arg(0))
		split := shellWords(t, line)
		if split[0] != "linerate" || split[1] != "run" {
			t.Fatalf("%s", line)
		}
		got := parsed(t, split[2:]...)
		if !slices.Equal(got.flags.Args(), asked.flags.Args()) || !reflect.DeepEqual(got.planFlags, asked.planFlags) ||
			!reflect.DeepEqual(got.options, asked.options) {
			t.Errorf("%q prints\n%s\nwhich asks for %q %+v, not %q %+v", words, line, got.flags.Args(), got,
				asked.flags.Args(), asked)
		}
		got.flags.Visit(func(flag *pflag.Flag) {
			if !asked.given(flag.Name) {
				t.Errorf("%s: --%s was not asked for", line, flag.Name)
			}
		})
	}
}

// TestResumeCommand: a run is carried on under the permission that it has.
func TestResumeCommand(t *testing.T) {
	if got := parsed(t).resumeCommand("x-7"); got != "linerate run --resume x-7" {
		t.Error(got)
	}
	if got := parsed(t, "--allow-machine-settings").resumeCommand(
		"x-7"); got != "linerate run --resume x-7 --allow-machine-settings" {
		t.Error(got)
	}
}

// TestTuneAgain: the command that a tuning prints has the same hosts, settings and files.
func TestTuneAgain(t *testing.T) {
	f := tuneFlags{}
	f.flags = newTuneCommand(streams{}).Flags()
	if err := f.flags.Parse([]string{"a b.conf", "--host", "x,y", "--set", "a=1,2", "--keep", "new.conf", "--seed",
		"3"}); err != nil {
		t.Fatal(err)
	}
	if got, want := f.again(f.flags.Args()), "linerate tune --host x,y --ablate --set a=1,2 'a b.conf'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
