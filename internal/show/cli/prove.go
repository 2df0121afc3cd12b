package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/control/reach"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
	"linerate/internal/science/proof"
	"linerate/internal/show/answer"
	"linerate/internal/show/text"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

type proveFlags struct {
	runFlags
	run, treatment string
	hostFlags
	network  netip.Prefix
	duration unit.Duration
	yes      bool
}

func newProveCommand(s streams) *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove FINDING [STUDY|FILE.yaml]",
		Short: "Prove by trials that the fix of a finding helps",
		Long: `Prove by trials whether the fix of a finding helps: the hosts as they are against
the same hosts with the settings of the fix, by turns in randomised blocks.

The finding is one of the latest run, or of --run; of a study, whose baseline is
tried first; or, with --host or --via, of real hosts as doctor reads them, with
traffic between two of them. With one host the other one is this machine. Each
change is reverted after its trial.

Exit status: 0; 1 linerate failed; 2 bad usage; 3 there is nothing to prove, or a
trust check failed; 130 interrupted.`,
		Example: `  linerate prove arp-flux
  linerate prove arp-flux my-nas.yaml --duration 5s
  linerate prove receive-buffer-small --host root@nas --host root@client
  linerate prove sack-off --yes \
      --via 'a=ip netns exec a' --via 'b=ip netns exec b'`,
		Annotations: map[string]string{flagSections: `Common flags: run host via yes duration replicates json quiet
			Where: inventory select treatment network
			Trials: until budget seed set wait trust allow-machine-settings
			Results: name out`},
		Args: rangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return usageError(err)
			}
			err := f.prove(cmd.Context(), s, args)
			if errors.Is(err, proof.ErrNone) {
				return statusError{ExitDoubt, err}
			}
			return err
		},
	}
	flags := cmd.Flags()
	f.trialFlags.define(flags, &f.options, "`directory` for the page and the result (default: runs/RUN)",
		"print the result document (linerate.run/v2) instead of the report")
	flags.Lookup("replicates").Usage = fmt.Sprintf("blocks, of two trials each (default: %d)", proof.Replicates)
	flags.StringArrayVar(&f.options.Set, "set", nil, setUsage)
	valueVar(flags, &f.options.RunName, runName, "name", "string", "", "a name to find the run by")
	flags.StringVar(&f.run, "run", "", "the `run` that has the finding (default: latest)")
	flags.StringVar(&f.treatment, "treatment", "",
		"the `treatment` of the run in which the hosts are as they are (default: the first with the finding)")
	f.hostFlags.define(flags, "prove on")
	valueVar(flags, &f.network, parsePrefix, "network", "prefix", "",
		"with --host, --via: the subnet of the traffic, such as 10.0.0.0/24, where the hosts share several")
	valueVar(flags, &f.duration, unit.ParseDuration, "duration", "duration", "",
		"the window of each trial (default: the study's, of real hosts 3s)")
	flags.BoolVar(&f.yes, "yes", false, "change real hosts without asking")
	return cmd
}

func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		err = fmt.Errorf("%.60q: expected a subnet, such as 10.0.0.0/24", text)
	}
	return p, err
}

// real reports whether the finding is that of hosts that were named.
func (f proveFlags) real() bool { return f.named() > 0 }

func tooManyHosts(n int) error {
	return fmt.Errorf("%d hosts: expected two, between which there is traffic, or one and this machine", n)
}

func (f proveFlags) check(args []string) error {
	problems := append(mistakes(f.flags), proof.Known(args[0]))
	if named := f.named(); named > 2 {
		problems = append(problems, tooManyHosts(named))
	}
	from := slices.DeleteFunc([]string{strings.Join(args[1:], ""), f.run, strings.Repeat("host", f.named())},
		func(text string) bool { return text == "" })
	if len(from) > 1 {
		problems = append(problems,
			errors.New("expected one of a study, --run, and --host or --via: each says where the finding is"))
	}
	for _, only := range []struct {
		flag string
		fits bool
		why  string
	}{
		{"network", f.real(), "--host or --via"},
		{"treatment", !f.real(), "a run or a study"},
	} {
		if f.given(only.flag) && !only.fits {
			problems = append(problems, fmt.Errorf("--%s: expected with %s", only.flag, only.why))
		}
	}
	return errors.Join(problems...)
}

func (f proveFlags) prove(ctx context.Context, s streams, args []string) error {
	if err := f.writable(); err != nil {
		return err
	}
	again := f.again(args)
	p, from, err := f.derive(ctx, s, args)
	if err != nil {
		return err
	}
	if f.duration > 0 {
		f.options.Set = append(f.options.Set, "workload.duration="+f.duration.String())
	}
	if from != nil && f.run == "" && len(args) == 1 {
		again += " --run " + quote(from.ID)
	}
	plan, err := f.planOf("the study of "+args[0], p.File)
	if err != nil {
		return err
	}
	if from != nil {
		if err := s.permitDerived(ctx, from, plan, f.trust); err != nil {
			return err
		}
	}
	if err := f.changes(ctx, s, plan); err != nil {
		return err
	}
	f.introduce(s, p, from, plan)
	result, err := f.begin(ctx, s, plan, "the study of "+args[0], again)
	err = finishRun(ctx, s, result, err, f.runFlags)
	if result != nil && !f.asJSON {
		if verdict := answer.Proof(result); verdict != "" {
			if _, failed := fmt.Fprint(s.out, "\n"+text.Paragraph("", "", verdict, columns(s.out))); failed != nil {
				return errors.Join(err, failed)
			}
		}
	}
	return err
}

// derive derives the study from a run that has the finding, which it returns as from, or from
// hosts.
func (f proveFlags) derive(ctx context.Context, s streams, args []string) (p *proof.Proof, from *record.Run,
	err error) {
	switch {
	case f.real():
		p, err = f.ofHosts(ctx, s, args[0])
		return p, nil, err
	case len(args) == 2:
		from, err = f.baseline(ctx, s, args[1])
	default:
		var runs []*record.Run
		if runs, err = runsWithTrials(ctx, cmp.Or(f.run, "latest")); err == nil {
			from = concluded(runs[0])
		}
	}
	if err != nil {
		return nil, nil, err
	}
	p, err = proof.OfRun(wording.Run(from), args[0], f.treatment)
	switch {
	case err != nil && !errors.Is(err, proof.ErrNone):
		err = usageError(err)
	case err != nil && f.run == "" && len(args) == 1:
		if earlier := earlierWith(ctx, args[0]); earlier != "" {
			err = fmt.Errorf("%w\nThe latest run that has it is %s: linerate prove %s --run %[2]s", err,
				earlier, args[0])
		}
	}
	return p, from, err
}

// mostEarlier is how many runs are searched for a finding.
const mostEarlier = 100

// earlierWith returns the latest run of a study with a finding that settings remove. Empty: none of
// the latest runs is known to have it.
func earlierWith(ctx context.Context, finding string) string {
	store, err := readNotebook(ctx)
	if err != nil {
		return ""
	}
	defer store.Close()
	list, err := store.Runs(ctx, notebook.Filter{Limit: mostEarlier})
	if err != nil {
		return ""
	}
	for _, summary := range list {
		run, err := store.Run(ctx, summary.ID)
		if err == nil && run.StudyFile != "" && slices.ContainsFunc(run.Findings, func(f record.Finding) bool {
			return f.ID == finding && len(f.Changes()) > 0
		}) {
			return run.ID
		}
	}
	return ""
}

// baseline runs one trial of a study without its factors, to look for findings.
func (f proveFlags) baseline(ctx context.Context, s streams, file string) (*record.Run, error) {
	f.options.RunName, f.asJSON = "", false
	if f.duration > 0 {
		f.options.Set = append(f.options.Set, "workload.duration="+f.duration.String())
	}
	plan, err := f.plan(ctx, s, file)
	if err != nil {
		return nil, err
	}
	only := []string{}
	for _, factor := range plan.Study.Factors {
		if factor.Baseline != "" {
			only = append(only, factor.Baseline)
		}
	}
	f.options.Only = only
	if len(only) > 0 {
		if plan, err = plan.Only(only); err != nil {
			return nil, usageError(err)
		}
	}
	once := 1
	f.options.Redesign = study.Redesign{Replicates: &once}
	if err := plan.Redesign(f.options.Redesign); err != nil {
		return nil, usageError(err)
	}
	if err := s.permit(ctx, file, f.trust, plan.Commands()); err != nil {
		return nil, err
	}
	say(s.hints(), "linerate: first as it is, %s\n", unit.Plural(len(plan.Treatments), "trial"))
	made, err := f.begin(ctx, s, plan, file, "linerate run "+quote(file)+" --replicates 1")
	if ctx.Err() != nil {
		return nil, statusError{ExitInterrupted, errors.New("interrupted before the fix was tried")}
	}
	return made, err
}

// ofHosts reads two hosts like doctor, and derives the study of traffic between them.
func (f proveFlags) ofHosts(ctx context.Context, s streams, id string) (*proof.Proof, error) {
	const over = 3e9 // as in doctor
	f.install = f.options.Install
	named, err := f.remotes(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(named) > 2 {
		return nil, usageError(tooManyHosts(len(named)))
	}
	say(s.hints(), "linerate: reading the hosts for 3s\n")
	if len(named) == 1 {
		named = append(named, reach.Host{Here: true})
	}
	snapshots, err := snapshotsOf(ctx, named, message.SnapshotRequest{OverNs: over}, probeFlags{})
	if err != nil {
		return nil, err
	}
	var hosts []proof.Host
	for i, h := range named {
		if h.Here {
			h.Via = []string{"env"}
		}
		hosts = append(hosts, proof.Host{Snapshot: snapshots[i], Via: h.Via})
	}
	p, err := proof.OfHosts(hosts[0], hosts[1], id, f.network, wording.Evaluation)
	if err != nil && !errors.Is(err, proof.ErrNone) {
		err = usageError(err)
	}
	return p, err
}

// permitDerived is like permit for the commands of a study that was derived from a run.
func (s streams) permitDerived(ctx context.Context, from *record.Run, plan *study.Plan, trust bool) error {
	derived := *from
	derived.StudyFile = plan.Study.File
	derived.Design = record.Design{Replicates: 1}
	return s.permitRun(ctx, &derived, trust)
}

// changes asks before real hosts are changed.
func (f proveFlags) changes(ctx context.Context, s streams, plan *study.Plan) error {
	var lines []string
	for _, t := range plan.Treatments {
		for _, one := range t.Settings {
			if h, _ := plan.Study.Topology.Host(one.Host); h == nil || len(h.Via) == 0 {
				continue
			}
			for _, line := range one.Lines() {
				if line = "  " + plain.Line(line); !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	if len(lines) == 0 || f.yes {
		return nil
	}
	what := "real hosts are changed in a part of the trials, and each change is reverted after its trial:\n" +
		strings.Join(source.Some(lines, 20), "\n")
	if !s.asks() {
		return usageError(fmt.Errorf("%s\nThey are changed with --yes; nothing was changed", what))
	}
	say(s.err, "linerate: %s\n", what)
	switch yes, err := s.confirm(ctx, "Change them?"); {
	case err != nil:
		return err
	case !yes:
		return usageError(errors.New("nothing was changed"))
	}
	return nil
}

// introduce prints on stderr what is tried, and which part of the fix is not.
func (f proveFlags) introduce(s streams, p *proof.Proof, from *record.Run, plan *study.Plan) {
	where := ""
	var lines []string
	for _, one := range p.Settings {
		lines = append(lines, one.Lines()...)
	}
	if from != nil {
		where = fmt.Sprintf(", of %q in run %s", p.Treatment, from.ID)
	}
	say(s.hints(), "linerate: %s%s: as it is against %s; %s of 2 trials, %s\n", p.Of[0].ID, where,
		words.FirstFew(lines, "and"), unit.Plural(plan.Blocks(), "block"), planTime(plan, 0))
	for _, line := range p.Advice {
		say(s.hints(), "linerate: not tried of the fix: %s\n", line)
	}
}

// again returns the command that repeats the proof, without its seed.
func (f proveFlags) again(args []string) string {
	words := []string{"linerate prove"}
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	return strings.Join(append(words,
		spelled(f.flags, append([]string{"run", "treatment", "host", "via", "network", "duration", "yes", "set"},
			designFlags...)...)...), " ")
}

// concluded returns a run with conclusions: findings of an older version have no settings.
func concluded(run *record.Run) *record.Run {
	defer computing()()
	conclude.Conclude(run)
	return run
}
