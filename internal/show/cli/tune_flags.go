package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/control/tune"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
	"linerate/internal/science/tuning"
	"linerate/internal/show/export"
)

type tuneFlags struct {
	pathFlags
	trialFlags
	options                tune.Options
	lint, elsewhere, lists bool
	system, run            string
	margin                 unit.Ratio
}

// pathFlags say where settings are tried: on the hosts of a study, or in a lab of two hosts with
// one link.
type pathFlags struct {
	on   string
	rate unit.BitRate
	rtt  unit.Duration
	loss unit.Ratio
}

// somewhere reports whether a place to try settings was named, correctly or not.
func (f tuneFlags) somewhere() bool { return f.on != "" || f.given("rate") }

// places returns mistakes in where settings are tried.
func (f tuneFlags) places() (problems []error) {
	described := f.given("rtt") || f.given("loss")
	if f.on != "" && (f.given("rate") || described) {
		problems = append(problems,
			errors.New("--on and --rate: expected a study with the hosts and links, or the rate of a path to make"))
	}
	if !f.somewhere() && described {
		problems = append(problems, errors.New("--rtt and --loss describe a path: expected --rate as well"))
	}
	return problems
}

// base returns the study in which the list is tried: its name for messages, and its text.
func (f pathFlags) base(in io.Reader) (string, []byte, error) {
	if f.on != "" {
		return readStudy(in, f.on)
	}
	return "the path", tune.Path(f.rate, f.rtt, f.loss), nil
}

// check returns everything that is wrong with the combination of flags.
func (f tuneFlags) check() error {
	o, problems := f.options, slices.Concat(mistakes(f.flags), f.places(), f.accepting())
	if len(o.Hosts) > 0 && !f.somewhere() {
		problems = append(problems,
			errors.New("--host: expected --on STUDY, or --rate for a path between client and server"))
	}
	if !f.somewhere() && !f.lint {
		for _, flag := range []string{"ablate", "search", "keep", "response", "margin", "set", "seed", "until",
			"budget", "replicates", "out", "wait", "allow-machine-settings"} {
			if f.given(flag) {
				problems = append(problems,
					fmt.Errorf("--%s: expected a place to try the settings as well: --on STUDY or --rate", flag))
			}
		}
	}
	if o.Search != "" && (o.Ablate || o.Keep != "") {
		problems = append(problems,
			errors.New("--search looks for a value, --ablate and --keep look for settings: expected one of them at "+
				"a time"))
	}
	for _, name := range o.Responses {
		if _, known := metric.Find(name); !known || name == "" {
			problems = append(problems, fmt.Errorf("--response %s: no such response%s", name,
				source.DidYouMean(name, metric.ResponseNames())))
		}
	}
	problems = append(problems, f.keepable()...)
	return errors.Join(problems...)
}

// accepting returns errors for --accept flags without --keep: only what is kept can be accepted.
func (f tuneFlags) accepting() (problems []error) {
	for _, name := range tuning.AcceptNames() {
		if f.given("accept-"+name) && f.options.Keep == "" {
			problems = append(problems, fmt.Errorf("--accept-%s: expected --keep FILE as well", name))
		}
	}
	return problems
}

// keepable returns an error unless a new file can be written where --keep writes the proven
// settings.
func (f tuneFlags) keepable() []error {
	keep := f.options.Keep
	switch keep {
	case "":
		return nil
	case "-":
		return []error{errors.New("--keep -: expected the name of a file; the answer goes to standard output")}
	}
	if _, err := os.Lstat(keep); err == nil {
		return []error{fmt.Errorf("--keep %s: the file exists; expected a new one", keep)}
	}
	_, err := os.Stat(filepath.Dir(keep)) // the directory is not created
	if err == nil {
		err = export.Writable(filepath.Dir(keep))
	}
	if err != nil {
		return []error{fmt.Errorf("--keep %s: %w", keep, err)}
	}
	return nil
}

// concluding returns errors for flags that cannot change a run that was already made, such as
// where, how and by what it was tried.
func (f tuneFlags) concluding() error {
	problems := slices.Concat(mistakes(f.flags), f.keepable(), f.accepting())
	for _, flag := range []string{"lint", "elsewhere", "system", "on", "host", "rate", "rtt", "loss", "ablate",
		"search", "response", "margin", "set"} {
		if f.given(flag) {
			problems = append(problems, fmt.Errorf("--%s: cannot be used with --run, which reads an earlier run", flag))
		}
	}
	for _, flag := range []string{"seed", "until", "budget", "replicates", "out", "wait", "allow-machine-settings"} {
		if f.given(flag) && f.options.Keep == "" {
			problems = append(problems, fmt.Errorf("--%s: expected --keep as well; without it nothing is tried", flag))
		}
	}
	return errors.Join(problems...)
}

// again returns the command that repeats the tuning, without its seed.
func (f tuneFlags) again(args []string) string {
	words := []string{"linerate tune"}
	f.flags.Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "seed", "json", "quiet", "out", "wait", "trust":
		case "keep":
			if !f.given("ablate") && !f.given("run") {
				words = append(words, "--ablate")
			}
		default:
			words = append(words, spelled(f.flags, flag.Name)...)
		}
	})
	for _, a := range args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}
