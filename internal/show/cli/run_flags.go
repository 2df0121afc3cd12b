package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// planFlags say which trials of a study are planned.
type planFlags struct{ set, only, parts []string }

const setUsage = "replace a value of the study, such as workload.duration=5s (may be repeated)"

func (f *planFlags) define(flags *pflag.FlagSet, verb string) {
	flags.StringArrayVar(&f.set, "set", nil, setUsage)
	flags.StringSliceVar(&f.only, "only", nil, verb+" only these levels (and the baseline)")
	flags.StringSliceVar(&f.parts, "part", nil, verb+" these parts of the study's design, or all (default: those that are not on demand)")
}

// plan loads a study, with the text that it was read from and the tables that it names,
// and derives the plan that was asked for.
func (f planFlags) plan(nameOrFile string, r study.Redesign) (*study.Plan, string, []record.Published, error) {
	s, text, err := loadStudyWith(nameOrFile, f.set)
	if err != nil {
		return nil, "", nil, err
	}
	tables, err := published(nameOrFile, s)
	if err != nil {
		return nil, "", nil, err
	}
	plan, err := study.NewPlan(s, f.parts...)
	if err == nil {
		plan, err = plan.Only(f.only)
	}
	if err == nil {
		err = plan.Redesign(r)
	}
	if err != nil {
		return nil, "", nil, usageError(err)
	}
	return plan, string(text), tables, nil
}

// trialFlags are those of the commands that make trials: how many, and where the result
// goes.
type trialFlags struct {
	seed          uint64
	until, budget string
	replicates    int
	out           string
	asJSON, quiet bool
	allowMachine  bool
	given         func(flag string) bool
}

func (f *trialFlags) define(flags *pflag.FlagSet, out, json string) {
	f.given = flags.Changed
	flags.Uint64Var(&f.seed, "seed", 0, "order of the trials (default: drawn and printed)")
	flags.StringVar(&f.until, "until", "", "add blocks until every effect's interval is this narrow, such as 2%")
	flags.StringVar(&f.budget, "budget", "", "begin no block that would end after this time, such as 10m (the first is made in any case)")
	flags.IntVar(&f.replicates, "replicates", 0, "blocks: how often each treatment is tried")
	flags.StringVar(&f.out, "out", "", out)
	flags.BoolVar(&f.asJSON, "json", false, json)
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
	flags.BoolVar(&f.allowMachine, "allow-machine-settings", false, "permit settings that change more than one network namespace")
}

// directory is where a run's page and result go by default.
func (f trialFlags) directory(run string) string { return filepath.Join(cmp.Or(f.out, "runs"), run) }

// redesign is what the flags ask of the design in place of the study.
func (f trialFlags) redesign() (study.Redesign, error) {
	var r study.Redesign
	var problems []error
	if f.given("replicates") {
		r.Replicates = &f.replicates
	}
	if f.given("until") {
		until, err := unit.ParseRatio(f.until)
		if err != nil {
			problems = append(problems, fmt.Errorf("--until: %w", err))
		}
		r.Until = &until
	}
	if f.given("budget") {
		budget, err := unit.ParseDuration(f.budget)
		if err != nil {
			problems = append(problems, fmt.Errorf("--budget: %w", err))
		}
		r.Budget = &budget
	}
	return r, errors.Join(problems...)
}

type runFlags struct {
	planFlags
	trialFlags
	resume string
}

// fitsResume refuses what would make the trials of a run that is carried on
// different from those that it has.
func (f runFlags) fitsResume() error {
	var problems []error
	for _, c := range []struct{ flag, why string }{
		{"set", "its trials were made with the values that it has"},
		{"only", "its blocks have the treatments that they have"},
		{"part", "its blocks have the treatments that they have"},
		{"seed", "it orders the trials that are there already"},
	} {
		if f.given(c.flag) {
			problems = append(problems, fmt.Errorf("--%s with --resume: a run keeps what it was begun with, since %s; expected only --replicates, --until or --budget, or a new run", c.flag, c.why))
		}
	}
	return errors.Join(problems...)
}

// again spells the command that repeats a run, without its seed.
func again(what string, f runFlags) string {
	words := []string{"linerate", "run", quote(what)}
	for _, v := range f.set {
		words = append(words, "--set", quote(v))
	}
	if len(f.only) > 0 {
		words = append(words, "--only", quote(list(f.only)))
	}
	if len(f.parts) > 0 {
		words = append(words, "--part", quote(list(f.parts)))
	}
	return strings.Join(append(words, f.designWords()...), " ")
}

// designWords spell the flags that may be given again when a run is resumed.
func (f trialFlags) designWords() []string {
	var words []string
	if f.given("replicates") {
		words = append(words, "--replicates", fmt.Sprint(f.replicates))
	}
	if f.given("until") {
		words = append(words, "--until", quote(f.until))
	}
	if f.given("budget") {
		words = append(words, "--budget", quote(f.budget))
	}
	return append(words, f.permission()...)
}

// permission is the flag that permits what this command was permitted.
func (f trialFlags) permission() []string {
	if f.allowMachine {
		return []string{"--allow-machine-settings"}
	}
	return nil
}

// resumeCommand carries a run on under the same permission.
func (f trialFlags) resumeCommand(id string) string {
	return strings.Join(append([]string{"linerate run --resume", id}, f.permission()...), " ")
}

// list spells the value of a flag that takes several, which is read as a line of
// CSV (RFC 4180): a name may have a comma or a quote in it.
func list(values []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a builder takes everything
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// quote protects a word from the shell where it needs it.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,%+@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
