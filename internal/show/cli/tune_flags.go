package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/control/tune"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

type tuneFlags struct {
	pathFlags
	lint, elsewhere, lists bool
	system                 string
	ablate                 bool
	search, keep, run      string
	responses              []string
	margin                 unit.Ratio
	trialFlags
}

// pathFlags say where settings are tried: on the hosts of a study, or on a lab of
// two hosts with one link.
type pathFlags struct {
	on    string
	hosts []string
	rate  unit.BitRate
	rtt   unit.Duration
	loss  unit.Ratio
	set   []string
}

// somewhere to try settings was named.
func (f pathFlags) somewhere() bool { return f.on != "" || f.rate > 0 }

func (f pathFlags) check() error {
	var problems []error
	if f.on != "" && (f.rate > 0 || f.rtt > 0 || f.loss > 0) {
		problems = append(problems, errors.New("--on and --rate: expected a study with the hosts and links, or the rate of a path to make"))
	}
	if f.on == "" && f.rate == 0 && (f.rtt > 0 || f.loss > 0) {
		problems = append(problems, errors.New("--rtt and --loss describe a path: expected --rate as well"))
	}
	if f.on == "" && len(f.hosts) > 0 && f.rate == 0 {
		problems = append(problems, errors.New("--host: expected --on STUDY, or --rate for a path between client and server"))
	}
	return errors.Join(problems...)
}

// base is the study that the list is tried in: its name in messages, and its text.
func (f pathFlags) base() (string, []byte, error) {
	if f.on != "" {
		return readStudy(f.on)
	}
	return "the path", tune.Path(f.rate, f.rtt, f.loss), nil
}

// check holds flags against each other.
func (f tuneFlags) check() error {
	problems := []error{f.pathFlags.check()}
	if !f.somewhere() && !f.lint {
		for _, flag := range []string{"ablate", "search", "keep", "response", "margin", "set", "seed", "until", "budget", "replicates", "out", "allow-machine-settings"} {
			if f.given(flag) {
				problems = append(problems, fmt.Errorf("--%s: expected a place to try the settings as well: --on STUDY or --rate", flag))
			}
		}
	}
	if f.search != "" && (f.ablate || f.keep != "") {
		problems = append(problems, errors.New("--search looks for a value, --ablate and --keep look for settings: expected one of them at a time"))
	}
	for _, name := range f.responses {
		if _, known := metric.Find(name); !known || name == "" {
			problems = append(problems, fmt.Errorf("--response %s: no such response%s", name, source.DidYouMean(name, metric.ResponseNames())))
		}
	}
	problems = append(problems, f.keepable()...)
	return errors.Join(problems...)
}

// keepable: nothing is at the place yet to which is written what is proven.
func (f tuneFlags) keepable() (problems []error) {
	if _, err := os.Lstat(f.keep); f.keep != "" && err == nil {
		problems = append(problems, fmt.Errorf("--keep %s: it is there already; expected a new file", f.keep))
	}
	return problems
}

// concluding holds the flags against a run that was made: where, how and by what it
// was tried is settled.
func (f tuneFlags) concluding() error {
	problems := f.keepable()
	for _, flag := range []string{"lint", "elsewhere", "system", "on", "host", "rate", "rtt", "loss", "ablate", "search", "response", "margin", "set"} {
		if f.given(flag) {
			problems = append(problems, fmt.Errorf("--%s: expected no such thing with --run, which reads a run that was made", flag))
		}
	}
	for _, flag := range []string{"seed", "until", "budget", "replicates", "out", "allow-machine-settings"} {
		if f.given(flag) && f.keep == "" {
			problems = append(problems, fmt.Errorf("--%s: expected --keep as well; without it nothing is tried", flag))
		}
	}
	return errors.Join(problems...)
}

// tuneAgain spells the command that tunes once more, without its seed.
func tuneAgain(flags *pflag.FlagSet, args []string) string {
	words := []string{"linerate", "tune"}
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "seed", "json", "quiet", "out", "keep":
			if f.Name == "keep" && !flags.Changed("ablate") && !flags.Changed("run") {
				words = append(words, "--ablate")
			}
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, v := range values {
			if f.Value.Type() == "bool" {
				words = append(words, "--"+f.Name)
				continue
			}
			words = append(words, "--"+f.Name, quote(v))
		}
	})
	for _, a := range args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}
