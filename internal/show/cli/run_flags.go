package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// redesign is what the flags ask of the design in place of the study.
func (f runFlags) redesign() (study.Redesign, error) {
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
func (f runFlags) designWords() []string {
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
	if f.allowMachine {
		words = append(words, allowMachineFlag)
	}
	return words
}

const allowMachineFlag = "--allow-machine-settings"

// resumeCommand carries a run on under the same permission.
func resumeCommand(id string, f runFlags) string {
	command := "linerate run --resume " + id
	if f.allowMachine {
		command += " " + allowMachineFlag
	}
	return command
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

func isAny(err error, kinds ...error) bool {
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
