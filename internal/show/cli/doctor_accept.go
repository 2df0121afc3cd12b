package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/accepted"
	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/present"
	"linerate/internal/show/words"
)

// acceptFlags are the flags of doctor that say which findings the user accepts.
type acceptFlags struct {
	accept, unaccept string
	until, because   string
	list             bool
}

func (f *acceptFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.accept, "accept", "",
		"accept findings of a `rule`, on every host or on --host, until the end of a date")
	valueVar(flags, &f.until, day, "until", "date", "", "with --accept: the last day, such as 2027-01-31")
	flags.StringVar(&f.because, "because", "", "with --accept: the reason, as a `text`")
	flags.StringVar(&f.unaccept, "unaccept", "", "accept findings of a `rule` no longer, as --accept named them")
	flags.BoolVar(&f.list, "accepted", false, "list what is accepted")
}

func day(text string) (string, error) { return text, record.CheckDay(text) }

// given reports whether the command only changes or lists what is accepted, instead of diagnosing.
func (f acceptFlags) given() bool { return f.accept != "" || f.unaccept != "" || f.list }

// check returns everything that is wrong with the combination of flags.
func (f acceptFlags) check(flags *pflag.FlagSet, args []string) (problems []error) {
	add := func(format string, words ...any) { problems = append(problems, fmt.Errorf(format, words...)) }
	for _, name := range []string{"until", "because"} {
		switch given := flags.Changed(name); {
		case given && f.accept == "":
			add("--%s: expected with --accept", name)
		case !given && f.accept != "":
			add("--accept %s: expected with --until DATE and --because TEXT", f.accept)
			return problems
		}
	}
	if f.given() && len(args) > 0 {
		add("%s: with --accept, --unaccept and --accepted no snapshot is read", args[0])
	}
	if n := len(slices.DeleteFunc([]bool{f.accept != "", f.unaccept != "", f.list}, func(is bool) bool {
		return !is
	})); n > 1 {
		add("--accept, --unaccept and --accepted: expected one of them")
	}
	return problems
}

// run accepts a finding, removes an acceptance, or lists what is accepted.
func (f acceptFlags) run(s streams, hosts []string, asJSON bool) error {
	if len(hosts) == 0 {
		hosts = []string{""} // all
	}
	today := time.Now().Format(time.DateOnly)
	if !f.list {
		if err := f.change(hosts, today); err != nil {
			return err
		}
	}
	rules, err := accepted.Read(os.Getenv)
	if err != nil {
		return usageError(err)
	}
	return s.answer(asJSON, rules, asText(present.Accepted(rules, today)))
}

func (f acceptFlags) change(hosts []string, today string) error {
	if f.accept != "" && f.until < today {
		return usageError(fmt.Errorf("--until %s: it has passed; today is %s", f.until, today))
	}
	if f.accept != "" {
		if err := knownRule("--accept", f.accept); err != nil {
			return usageError(err)
		}
	}
	var wrong error
	err := accepted.Change(os.Getenv, func(r *record.AcceptedRules) error {
		for _, host := range hosts {
			if f.unaccept != "" {
				if !r.Remove(f.unaccept, host) {
					on := "on every host"
					if host != "" {
						on = "on " + host
					}
					wrong = errors.Join(wrong,
						fmt.Errorf("--unaccept %s: it is not accepted %s; linerate doctor --accepted lists what is",
							f.unaccept, on))
				}
				continue
			}
			a := record.AcceptedRule{Rule: f.accept, Host: host, Until: f.until, Because: f.because}
			if err := a.Check(); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("--accept %s: %w", f.accept, err))
			} else if err := r.Put(a); err != nil {
				wrong = errors.Join(wrong, err)
			}
		}
		return wrong
	})
	if wrong != nil {
		return usageError(wrong)
	}
	return err
}

// knownRule returns an error unless there is a rule of that name.
func knownRule(flag, id string) error {
	var ids []string
	for _, r := range diagnose.Rules() {
		ids = append(ids, r.ID)
	}
	if slices.Contains(ids, id) {
		return nil
	}
	return fmt.Errorf("%s %s: no such rule%s (linerate doctor --list has them)", flag, words.Shorten(id, 60),
		source.DidYouMean(id, ids))
}

// applyAccepted removes accepted findings from an evaluation. Nothing is accepted if there is no
// place for a notebook, or if another user's may not be read.
func applyAccepted(said io.Writer, e *record.Evaluation) error {
	if _, err := notebook.Directory(os.Getenv); err != nil {
		return nil
	}
	rules, err := accepted.Read(os.Getenv)
	switch {
	case errors.Is(err, fs.ErrPermission):
		say(said, "linerate: no finding is taken as accepted: %v\n", err)
		return nil
	case err != nil:
		return usageError(err)
	}
	diagnose.Accept(e, rules.Accepted, time.Now().Format(time.DateOnly))
	return nil
}
