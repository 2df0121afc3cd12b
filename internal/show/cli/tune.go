package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/model/record"

	"linerate/internal/model/source"
	"linerate/internal/model/study"

	"linerate/internal/model/unit"

	"linerate/internal/model/metric"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
	"linerate/studies"
)

type tuneFlags struct {
	pathFlags
	lint, elsewhere, lists bool
	system                 string
	ablate                 bool
	search, keep, run      string
	responses              []string
	margin                 unit.Ratio

	seed          uint64
	until, budget string
	replicates    int
	out           string
	asJSON, quiet bool
	allowMachine  bool
	given         func(flag string) bool
}

func newTuneCommand(s streams) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune FILE|DIRECTORY|LIST …",
		Short: "Find out which of these settings matter, prove it, and keep those",
		Long: `Find out which of these settings matter, prove it, and keep those.

Files are read in the order given, a directory's *.conf in the order of their
names; - is standard input. They may be sysctl.conf and sysctl.d files, FreeBSD's
and OpenBSD's sysctl.conf, FreeBSD's loader.conf, or tuned profiles. LIST is one of
the published lists that come with linerate (--lists).

First the files are judged: set twice and which wins, in the wrong unit, beyond
what the kernel takes, gone or renamed, not about the network, without effect on
TCP because it sizes its buffers itself. This machine's kernel is asked which
parameters it has; nothing is changed, and no privilege is needed. Without a place
to try them, or with --lint, that is all.

With --on STUDY the settings are tried on the hosts of a study, made by linerate or
reached by via; with --rate on a lab of two hosts and a link. Trials with and
without the list, and with it turned off again, are made in randomised blocks;
every setting is put back after each trial, whatever happens. --ablate also tries
each setting alone, and the list without it. --keep writes a file of those that are
proven, for sysctl.d, as a tuned profile (tuned.conf) or as tasks of Ansible (.yml).

Exit status: 0 answered, or nothing to complain of; 1 linerate failed; 2 bad usage
or input; 3 the files have errors or warnings, or a trust check failed; 130
interrupted.`,
		Example: `  linerate tune /etc/sysctl.d /etc/sysctl.conf
  linerate tune linux-10g --rate 1gbit --rtt 50ms --ablate
  linerate tune nas.conf --on nas.yaml --host nas --keep 90-nas.conf
  linerate tune nas.conf --on nas.yaml --search net.ipv4.tcp_rmem.max=4MiB..64MiB`,
		Args: func(_ *cobra.Command, args []string) error {
			if f.run != "" && len(args) > 0 {
				return usageError(errors.New("--run reads a run that was made; expected no files"))
			}
			if len(args) == 0 && !f.lists && f.run == "" {
				return usageError(errors.New("expected a file of settings, a directory of them, or one of the lists that linerate tune --lists names"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.lists {
				_, err := fmt.Fprintln(s.out, strings.Join(studies.ListNames(), "\n"))
				return err
			}
			f.given = cmd.Flags().Changed
			if f.run != "" {
				return concludeTune(cmd, s, f)
			}
			return tune(cmd, s, args, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.lint, "lint", false, "only judge the files, and try nothing")
	flags.BoolVar(&f.elsewhere, "elsewhere", false, "the files are for another machine: do not ask this one's kernel")
	flags.BoolVar(&f.lists, "lists", false, "name the published lists that come with linerate")
	flags.StringVar(&f.system, "system", "", "linux, freebsd or openbsd (default: found out from the keys)")
	flags.StringVar(&f.on, "on", "", "a study without factors: the hosts and links to try the settings on")
	flags.StringSliceVar(&f.hosts, "host", nil, "the hosts to change (default: both ends of the flows)")
	quantityVar(flags, &f.rate, unit.ParseBitRate, "rate", "rate", "", "try them on a lab of two hosts and a link of this rate")
	quantityVar(flags, &f.rtt, unit.ParseDuration, "rtt", "duration", "", "with --rate: the link's round-trip time")
	quantityVar(flags, &f.loss, unit.ParseRatio, "loss", "share", "", "with --rate: the share of frames that the link loses")
	flags.BoolVar(&f.ablate, "ablate", false, "try each setting alone, and the list without it")
	flags.StringVar(&f.search, "search", "", "find the smallest value that is good enough: net.ipv4.tcp_rmem.max=4MiB..64MiB")
	flags.StringSliceVar(&f.responses, "response", nil, "what settings are judged by, as a study's response; the first is what counts (default: as the study says, or goodput with latency_p50 and latency_p99 of a probe beside the flows)")
	flags.StringVar(&f.run, "run", "", "conclude from a run in the notebook: of tune, or of a study that takes a list apart as ten-gig does")
	flags.StringVar(&f.keep, "keep", "", "write what is proven to this file, which must not be there yet (implies --ablate)")
	quantityVar(flags, &f.margin, unit.ParseRatio, "margin", "share", "", "differences smaller than this do not matter in practice")
	flags.StringArrayVar(&f.set, "set", nil, "replace a value of the study, such as workload.duration=5s (may be repeated)")
	flags.Uint64Var(&f.seed, "seed", 0, "order of the trials (default: drawn and printed)")
	flags.StringVar(&f.until, "until", "", "add blocks until every effect's interval is this narrow, such as 2%")
	flags.StringVar(&f.budget, "budget", "", "begin no block that would end after this time, such as 10m")
	flags.IntVar(&f.replicates, "replicates", 0, "blocks: how often each treatment is tried")
	flags.StringVar(&f.out, "out", "", "directory for the pages and results of the runs (default: runs)")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.tune/v1; of the files alone linerate.lint/v1)")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
	flags.BoolVar(&f.allowMachine, "allow-machine-settings", false, "permit settings that change more than one network namespace")
	return cmd
}

func tune(cmd *cobra.Command, s streams, args []string, f tuneFlags) error {
	if err := f.check(); err != nil {
		return usageError(err)
	}
	files, err := readTuning(s.in, args, f.system)
	if err != nil {
		return usageError(err)
	}
	found := tuning.Files(files, f.kernel(files))
	if f.lint || !f.somewhere() {
		return f.judged(s, found)
	}
	if f.given("margin") {
		f.set = append(f.set, "design.margin="+f.margin.String())
	}
	t := &tuner{streams: s, flags: f, name: strings.Join(args, ", "), again: tuneAgain(cmd.Flags(), args), lint: found}
	if err := t.prepare(files); err != nil {
		return err
	}
	if n := found.Errors + found.Warnings; n > 0 && !f.quiet {
		fmt.Fprintf(s.err, "linerate: %s in the files; --lint tells them\n", count(n, "complaint"))
	}
	return t.tune(cmd.Context())
}

// judged prints what is to be said about the files.
func (f tuneFlags) judged(s streams, found *record.Lint) error {
	var err error
	if f.asJSON {
		err = json.NewEncoder(s.out).Encode(found)
	} else {
		err = printLint(s.out, found)
	}
	if err == nil && found.Errors+found.Warnings > 0 {
		err = statusError{status: ExitDoubt}
	}
	return err
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
	if f.keep != "" {
		if _, err := os.Lstat(f.keep); err == nil {
			problems = append(problems, fmt.Errorf("--keep %s: it is there already; expected a new file", f.keep))
		}
	}
	return problems
}

// redesign is what the flags ask of the design in place of the study.
func (f tuneFlags) redesign() (study.Redesign, error) {
	return runFlags{given: f.given, replicates: f.replicates, until: f.until, budget: f.budget}.redesign()
}

// kernel asks this machine's kernel, if that is the one that the files are for.
func (f tuneFlags) kernel(files []settingfile.File) *tuning.Kernel {
	if f.elsewhere {
		return nil
	}
	return askKernel(files)
}
