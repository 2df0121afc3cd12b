package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/control/active"
	"linerate/internal/control/run"
	"linerate/internal/control/tune"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
	"linerate/internal/science/tuning"
	"linerate/internal/show/answer"
	"linerate/internal/show/evidence"
	"linerate/internal/show/present"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
	"linerate/studies"
)

func newTuneCommand(s streams) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune FILE|DIRECTORY|LIST …",
		Short: "Find out which settings of a list matter, and keep those",
		Long: `Find out by trials which settings of a list matter, and keep those.

First the files are checked, which changes nothing and needs no privilege. With
--lint, or without --on, --rate and --run, nothing else is done. With --on STUDY the
settings are tried on the hosts of a study, in a lab or reached by via; with --rate
in a lab of two hosts and a link. LIST is one of the published lists that come with
linerate (--lists).`,
		Example: `  linerate tune /etc/sysctl.d /etc/sysctl.conf
  linerate tune linux-10g --rate 1gbit --rtt 50ms --ablate
  linerate tune nas.conf --on path.yaml --host nas --keep 90-nas.conf
  linerate tune nas.conf --on path.yaml \
      --search net.ipv4.tcp_rmem.max=4MiB..64MiB`,
		Annotations: map[string]string{
			flagSections: `Common flags: lint lists on rate rtt loss ablate keep host json quiet
				What is judged: response margin accept-goodput accept-latency search
				Trials: replicates until budget seed set wait trust allow-machine-settings
				Files: system elsewhere
				Results: out run`,
			details: `Files are read in the order given, a directory's *.conf in the order of their names; - is standard input. They may be sysctl.conf and sysctl.d files, FreeBSD's and OpenBSD's sysctl.conf, FreeBSD's loader.conf, tuned profiles, shell scripts, and files of Ansible, Kubernetes, Compose, cloud-init, NixOS and others (docs/tune-lint.md). The answer says what a file was taken for, and lists each line that was not read.

The check finds keys that are set twice, in a wrong unit, out of the kernel's range, removed or renamed, not about the network, or without effect on TCP because it autotunes its buffers. This machine's kernel is asked which parameters it has.

Trials with and without the list, and with it turned off again, are made in randomised blocks; every setting is put back after each trial, whatever happens. --ablate also tries each setting alone, and the list without it. --keep finds the fewest settings that gain as much as the list, proves them by themselves, and writes them to a file, for sysctl.d, as a tuned profile (tuned.conf) or as tasks of Ansible (.yml). What gains one response and costs another is kept where the cost is accepted: on a terminal by an answer, otherwise by --accept-latency 30%, --accept-goodput 2% and the like for all responses; of latency, 10 % are accepted unless the flag says otherwise, since a link that is full has a queue. Judged by default are what the study says, or goodput with latency_p50 and latency_p99 of a probe beside the flows.

Exit status: 0 answered, or no errors in the files; 1 linerate failed; 2 bad usage or input, or a file without settings; 3 the files have errors or warnings, a trust check failed, or --keep wrote no file; 130 interrupted.`,
		},
		Args: func(_ *cobra.Command, args []string) error {
			if f.run != "" && len(args) > 0 {
				return usageError(errors.New("--run reads a run that was made; expected no files"))
			}
			if len(args) == 0 && !f.lists && f.run == "" {
				return usageError(errors.New(
					"expected a file of settings, a directory of them, or one of the lists that linerate tune " +
						"--lists names"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.lists {
				return s.answer(f.asJSON, publishedLists{"linerate.lists/v1", studies.ListNames()},
					func(w io.Writer) error {
						_, err := fmt.Fprintln(w, strings.Join(studies.ListNames(), "\n"))
						return err
					})
			}
			if f.run != "" {
				return f.conclude(cmd, s)
			}
			return f.tune(cmd, s, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.lint, "lint", false, "only check the files")
	flags.BoolVar(&f.elsewhere, "elsewhere", false, "the files are for another machine: do not read this kernel")
	flags.BoolVar(&f.lists, "lists", false, "list the published lists that come with linerate")
	valueVar(flags, &f.system, oneOf(opsystem.Linux, opsystem.FreeBSD, opsystem.OpenBSD,
		opsystem.MacOS), "system", "string", "", "linux, freebsd, openbsd or macos (default: by the keys)")
	flags.StringVar(&f.on, "on", "", "try the settings on the hosts of this `study`, which has no factors")
	flags.StringSliceVar(&f.options.Hosts, "host", nil, "`hosts` to change (default: the flows' ends)")
	valueVar(flags, &f.rate, unit.ParseBitRate, "rate", "rate", "", "try the settings in a lab, on a link of this rate")
	valueVar(flags, &f.rtt, unit.ParseLatency, "rtt", "duration", "", "with --rate: the link's round-trip time")
	valueVar(flags, &f.loss, unit.ParseRatio, "loss", "share", "", "with --rate: the link's loss of frames")
	flags.BoolVar(&f.options.Ablate, "ablate", false, "try each setting alone, and the list without it")
	flags.StringVar(&f.options.Search, "search", "", "`KEY=FROM..TO`: the smallest value that is enough")
	flags.StringSliceVar(&f.options.Responses, "response", nil,
		"judge by these `metrics`; the first gives the verdict (see docs)")
	flags.StringVar(&f.run, "run", "", "answer from a `run` in the notebook")
	flags.StringVar(&f.options.Keep, "keep", "",
		"write the settings proven to help to this new `file` (implies --ablate)")
	// A full link has a queue.
	f.options.Accept = tuning.Accepted{"latency": 0.1}
	for _, name := range tuning.AcceptNames() {
		flags.Var(acceptFlag{f.options.Accept, name}, "accept-"+name, "keep settings that cost up to this much "+name+
			" for a gain")
		flags.Lookup("accept-" + name).Hidden = name != "goodput" && name != "latency" // see docs/tune.md
	}
	valueVar(flags, &f.margin, unit.ParseRatio, "margin", "share", "", "smaller differences do not matter")
	flags.StringArrayVar(&f.options.Set, "set", nil, setUsage)
	f.trialFlags.define(flags, &f.options.Options, "`directory` for pages and results (default: runs)",
		"print JSON (linerate.tune/v1 or linerate.lint/v1; with --lists linerate.lists/v1)")
	flags.Lookup("budget").Usage = "time of all trials together, such as 10m"
	return cmd
}

type publishedLists struct {
	Schema string   `json:"schema"`
	Lists  []string `json:"lists"`
}

// tune checks the files, and tries their settings if a place to try them was named.
func (f tuneFlags) tune(cmd *cobra.Command, s streams, args []string) error {
	if err := f.check(); err != nil {
		return usageError(err)
	}
	files, not, err := readTuning(s.input(cmd.Context()), args, f.system)
	if err != nil {
		return usageError(err)
	}
	settingfile.Expand(files, tune.Matching(f.elsewhere))
	var kernel *tuning.Kernel
	if !f.elsewhere {
		kernel = tune.AskKernel(files)
	}
	found := tuning.Files(files, kernel)
	found.Skipped, found.Masked = not.skipped, not.masked
	if f.lint || !f.somewhere() {
		return f.judged(s, found, args)
	}
	if f.given("margin") {
		f.options.Set = append(f.options.Set, "design.margin="+f.margin.String())
	}
	if err := nothingRead(found); err != nil {
		return usageError(err)
	}
	file, base, err := f.base(s.input(cmd.Context()))
	if err != nil {
		return usageError(err)
	}
	if err := f.writable(); err != nil {
		return err
	}
	var made written
	o := f.trying(cmd, s, &made)
	o.Name, o.Files, o.Lint, o.File, o.Base = strings.Join(args, ", "), files, found, file, base
	o.Again, o.Controls = f.again(args), tune.AskControls()
	var claim *active.Claim
	o.Progress = describing(&claim, "tune "+o.Name, o.Progress)
	begin, planned := sync.OnceValue(func() (err error) {
		claim, err = claimActive(cmd.Context(), s, "tune "+o.Name, f.wait)
		return err
	}), o.Planned
	o.Planned = func(p *study.Plan, reserve int) error {
		if err := begin(); err != nil {
			return err
		}
		return planned(p, reserve)
	}
	t, err := tune.New(o)
	if err != nil {
		return inputError(file, err)
	}
	commands, err := t.Commands()
	if err != nil {
		return inputError(file, err)
	}
	if err := s.permit(cmd.Context(), f.on, f.trust, commands); err != nil {
		return err
	}
	if n := found.Errors + found.Warnings; n > 0 {
		say(s.hints(), "linerate: %s found in the files; show with --lint\n", unit.Plural(n, "problem"))
	}
	if n := len(found.Unread); n > 0 {
		say(s.hints(), "linerate: %s of the files not read, and not tried; show with --lint\n", unit.Plural(n, "line"))
	}
	if n := len(found.Skipped); n > 0 {
		say(s.hints(), "linerate: not read, as the names do not end in .conf: %s\n", strings.Join(found.Skipped, ", "))
	}
	if f.on != "" { // whose hosts are changed before there is a plan, to find out which values they accept
		if err := begin(); err != nil {
			return err
		}
	}
	defer func() { claim.Leave() }()
	result, err := t.Run(cmd.Context())
	if err != nil {
		return f.failed(file, err, made.lost)
	}
	return f.show(cmd.Context(), s, result, o.Name, t.Runs(), made)
}

// conclude prints what the list of a run in the notebook did.
func (f tuneFlags) conclude(cmd *cobra.Command, s streams) error {
	if err := f.concluding(); err != nil {
		return usageError(err)
	}
	runs, err := runsWithTrials(cmd.Context(), f.run)
	if err != nil {
		return err
	}
	var claim *active.Claim
	if f.options.Keep != "" { // keeping needs new trials as a proof
		if err := f.writable(); err != nil {
			return err
		}
		if err := s.permitRun(cmd.Context(), runs[0], f.trust); err != nil {
			return err
		}
		if claim, err = claimActive(cmd.Context(), s, "tune --run "+runs[0].ID, f.wait); err != nil {
			return err
		}
		defer claim.Leave()
	}
	var made written
	o := f.trying(cmd, s, &made)
	o.Progress = describing(&claim, "tune --run "+runs[0].ID, o.Progress)
	o.Again = f.again(nil)
	t, result, err := tune.Conclude(cmd.Context(), runs[0], o)
	if err != nil {
		return f.failed("the hosts of run "+runs[0].ID, err, made.lost)
	}
	return f.show(cmd.Context(), s, result, t.Name(), t.Runs(), made)
}

// written has the pages of the runs that were made, and why others could not be written.
type written struct {
	pages []string
	lost  error
}

// trying returns the options of the trials, without the list and the base. The pages that are
// written, and errors about them, are added to to.
func (f tuneFlags) trying(cmd *cobra.Command, s streams, to *written) tune.Options {
	o, progress := f.options, newProgress(s.hints())
	o.Notebook, o.Progress = openNotebook, progress.show
	o.KeepCommand = func(run string) string { return f.keepCommand(run) }
	o.Words = answer.TuneWords{}
	warned := map[string]bool{} // by an earlier run of this list
	o.Planned = func(p *study.Plan, reserve int) error {
		if detects := planSensitivity(p, reserve); detects != nil {
			say(s.hints(), "linerate: %s, %s; detects %s\n", unit.Plural(len(p.Treatments), "treatment"),
				planTime(p, reserve), evidence.Sensitivity(detects))
		}
		for _, warning := range append(p.TooFew(), run.BlocksWarning(p)) {
			if warning != "" && !warned[warning] {
				say(s.err, "linerate: %s\n", warning)
			}
			warned[warning] = true
		}
		return nil
	}
	o.Finished = func(made *record.Run) {
		progress.end()
		paths, err := writePage(context.Background(), f.directory(made.ID), made)
		if err != nil {
			to.lost = errors.Join(to.lost, withoutPage(err, made.ID))
			return
		}
		to.pages = append(to.pages, paths.Page)
	}
	o.Ask = f.asker(cmd.Context(), s)
	return o
}

// failed returns an error that says how to go on after err, with the exit status; lost is what
// could not be written.
func (f tuneFlags) failed(file string, err, lost error) error {
	if input, is := errors.AsType[*tune.InputError](err); is {
		return inputError(file, input.Err)
	}
	made, is := errors.AsType[*tune.RunError](err)
	switch {
	case is && made.Interrupted:
		return statusError{ExitInterrupted,
			errors.Join(fmt.Errorf("interrupted after %s: every setting is as it was; continue with: %s",
				unit.Plural(made.Trials, "trial"), f.carryOn(made)), lost)}
	case is:
		err = fmt.Errorf("%w\nWhat was measured (%s) is saved: linerate report %s", err,
			unit.Plural(made.Trials, "trial"), made.Run)
	}
	return errors.Join(err, lost)
}

// carryOn returns the commands that finish what was begun. The search for what is enough begins
// anew, without what it had tried.
func (f tuneFlags) carryOn(made *tune.RunError) string {
	if made.Run != made.First && made.First != "" {
		return f.keepCommand(made.First)
	}
	text := f.resumeCommand(made.Run)
	if f.options.Keep != "" {
		text += "; then " + f.keepCommand(made.Run)
	}
	return text
}

// continueCommand returns the commands that make the blocks for which a run's budget had no time,
// in a sufficient budget, and print the answer again. Empty: the budget did not end the run, or its
// settings are proven.
func (f tuneFlags) continueCommand(r *record.Run) string {
	if r.Status != record.StatusBudget || r.Blocks() == 0 || r.Proven != nil {
		return ""
	}
	then := "linerate tune --run " + r.ID
	if f.options.Keep != "" {
		then = f.keepCommand(r.ID)
	}
	// A run in doubt ends with status 3, but the next command judges it nevertheless, so the
	// commands are separated by a semicolon.
	return fmt.Sprintf("%s --budget %s; %s", f.resumeCommand(r.ID),
		stats.EnoughBudget(r, max(r.Design.Replicates, r.Blocks()+1)), then)
}

// keepCommand returns the command that keeps what a run has shown, with flags to accept the
// responses in accept.
func (f tuneFlags) keepCommand(run string, accept ...string) string {
	words := []string{"linerate tune --run", run, "--keep", quote(f.options.Keep)}
	words = append(words, spelled(f.flags, permission)...)
	if len(accept) == 0 {
		for _, name := range tuning.AcceptNames() {
			words = append(words, spelled(f.flags, "accept-"+name)...)
		}
	}
	return strings.Join(append(words, accept...), " ")
}

// show prints the result. The exit status says whether it is in doubt, or whether nothing of the
// list could be tried.
func (f tuneFlags) show(ctx context.Context, s streams, result *record.Tune, name string, runs []*record.Run,
	made written) error {
	result = answer.Tune(result)
	result.Trust = wording.Checks(result.Trust)
	if o := result.Offer; o != nil && len(o.Accept) > 0 {
		o.Command = f.keepCommand(result.Run, o.Accept...)
	}
	if len(runs) > 0 && result.Continue == "" {
		result.Continue = f.continueCommand(runs[0])
	}
	var noted error
	if f.options.Keep != "" { // without it, the notebook keeps the proof
		noted = noteProof(ctx, result)
	}
	err := errors.Join(noted, s.answer(f.asJSON, result, asText(present.Tune(result, name, runs, made.pages))),
		made.lost)
	switch {
	case err != nil:
		return err
	case len(runs) == 0, f.options.Keep != "" && result.Kept == "":
		return statusError{status: ExitDoubt}
	}
	return doubt(runs...)
}

// noteProof adds notes to the notebook: to the run that tried the settings one by one, what was
// concluded with the later runs, and to the run that proves it, which run that was. Their pages
// contain the notes.
func noteProof(ctx context.Context, result *record.Tune) error {
	p := result.Proof
	if p == nil || p.Run == result.Run && result.Kept == "" {
		return nil
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if p.Run == result.Run { // its page was written before anything was kept
		_, _, err := renewPages(ctx, store, result.Run)
		return err
	}
	text := "linerate tune: " + result.Answer + " Proof: run " + p.Run + "."
	if result.Kept != "" {
		text += " Kept: " + result.Kept + "."
	}
	for _, note := range []struct {
		run, text string
	}{{result.Run, text}, {p.Run, "linerate tune: the proof of what is kept of run " + result.Run + "."}} {
		if err := store.AddNote(ctx, note.run, record.Note{Time: time.Now(), Text: note.text}); err != nil {
			return fmt.Errorf("note the proof on run %s: %w", note.run, err)
		}
		if _, _, err := renewPages(ctx, store, note.run); err != nil {
			return err
		}
	}
	return nil
}

// judged prints what was found in the files. A file of which nothing was read is an error, whatever
// the others have.
func (f tuneFlags) judged(s streams, found *record.Lint, files []string) error {
	found = wording.Lint(found)
	err := s.answer(f.asJSON, found, asText(present.Lint(found)))
	if nothing := nothingRead(found); err == nil && nothing != nil {
		return usageError(nothing)
	}
	if next := lintNext(found, files); err == nil && !f.asJSON && next != "" {
		say(s.hints(), "Which of these matter on a path: %s\n", next)
	}
	if err == nil && found.Errors+found.Warnings > 0 {
		err = statusError{status: ExitDoubt}
	}
	return err
}

// nothingRead returns an error that names the files of which nothing was read: those with content, or
// all if they have comments alone. Nil: there are none.
func nothingRead(found *record.Lint) error {
	var problems []error
	blank := !slices.ContainsFunc(found.Files, func(f record.LintFile) bool { return !f.Blank })
	for _, f := range found.Files {
		if !f.Nothing && !blank {
			continue
		}
		unread := ""
		if f.Unread > 0 {
			unread = "; " + words.Count(f.Unread, "line") + " not read"
		}
		problems = append(problems, fmt.Errorf("%s: no settings (read as %s%s)", f.File,
			settingfile.FormatName(f.Format), unread))
	}
	return errors.Join(problems...)
}

// lintNext returns the command that tries the list's settings, with a placeholder for the path.
// Empty: no setting of the list can be tried on Linux.
func lintNext(found *record.Lint, files []string) string {
	command, linux := "linerate tune", map[string]bool{}
	for _, name := range files {
		command += " " + quote(name)
	}
	for _, file := range found.Files {
		linux[file.File] = file.System == opsystem.Linux
	}
	if !slices.ContainsFunc(found.Settings, func(one record.LintSetting) bool {
		return linux[one.File] && one.Network && one.Without == ""
	}) {
		return ""
	}
	return command + " --rate 1gbit --rtt 20ms"
}
