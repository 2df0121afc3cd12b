package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/control/rounds"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
	"linerate/internal/show/export"
	"linerate/internal/show/present"
)

func newMeshCommand(s streams) *cobra.Command {
	var f meshFlags
	cmd := &cobra.Command{
		Use:   "mesh [HOST…]",
		Short: "Measure between many hosts, and name those that are slow",
		Long: `Measure between many hosts in rounds, and name the hosts, racks and pairs that
differ from the others by more than chance. Hosts are those of an inventory (see
linerate hosts), those that ssh reaches, or those of a lab. Nothing is changed.

In no round has an interface two tests in one direction, unless the pattern is
about that. What differs is tested again in further rounds, and then its hosts are
looked at as linerate doctor does.

A host that is lost is left out from then on, and named. Each round is saved:
  linerate mesh --resume RUN
continues an interrupted mesh, and reaches lost hosts again.

Exit status: 0 measured; 1 linerate failed, or hosts were lost; 2 bad usage; 3
measured, but --expect was not met; 130 interrupted.`,
		Example: `  linerate mesh --plan
  linerate mesh --select 'web,!drained' --share 5% --hours 01:00-05:00
  linerate mesh root@h1 root@h2 root@h3 --pattern shifts
  linerate mesh --inventory hosts.yaml --expect 'goodput >= 90% of limit'
  linerate mesh --lab lab --latency --csv pairs.csv`,
		Annotations: map[string]string{flagSections: `Common flags: select inventory lab pattern share plan json quiet
			Other hosts: host via trust
			Rounds: topology rounds hours seed plan-file duration warmup streams udp latency
			Where it is kept: resume name no-save csv expect wait`},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(append(mistakes(cmd.Flags()), f.problems(args)...)...); err != nil {
				return usageError(err)
			}
			return f.run(cmd.Context(), s, args)
		},
	}
	f.define(cmd.Flags())
	return cmd
}

func (f *meshFlags) run(ctx context.Context, s streams, args []string) error {
	if f.resume != "" {
		return f.resumed(ctx, s)
	}
	hosts, planned, err := f.hostsOf(ctx, s, args)
	if err != nil {
		return err
	}
	if f.topology != "" {
		if f.fabric, err = loadTopology(s.in, f.topology); err != nil {
			return err
		}
	}
	plan, hosts, err := f.planOf(hosts, planned)
	if err != nil {
		return err
	}
	if f.plan && f.asJSON {
		text, err := plan.Text()
		if err == nil {
			_, err = s.out.Write(text)
		}
		return err
	}
	if f.plan {
		return asText(present.MeshPlan(plan, plan.Duration(f.duration+f.warmup, rounds.Overhead)))(s.out)
	}
	var store notebook.Store // nil: it is not kept
	if !f.noSave {
		kept, err := openNotebook(ctx)
		if err != nil {
			return err
		}
		defer kept.Close()
		store = kept
		how := rounds.Topology(hosts) // the user has named these hosts: they are reached again without asking
		if err := s.permit(ctx, "mesh", true, how.Commands()); err != nil {
			return err
		}
	}
	run, err := f.conduct(ctx, s, f.options(args, plan.Seed), func(o rounds.Options) (*record.Run, error) {
		return rounds.New(ctx, plan, hosts, store, o)
	})
	if errors.Is(err, notebook.ErrNameTaken) {
		return usageError(fmt.Errorf("--%w", err))
	}
	return f.finish(ctx, s, run, err)
}

// resumed continues a mesh of the notebook.
func (f *meshFlags) resumed(ctx context.Context, s streams) error {
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	id, err := findRun(ctx, store, f.resume)
	if err != nil {
		return err
	}
	saved, err := store.Run(ctx, id)
	if err != nil {
		return err
	}
	if saved.Mesh == nil {
		return usageError(fmt.Errorf("%s is not a mesh; linerate run --resume continues a run of a study", f.resume))
	}
	trust, err := f.all.GetBool("trust")
	if err != nil {
		return err
	}
	if err := s.permitRun(ctx, saved, trust); err != nil {
		return err
	}
	run, err := f.conduct(ctx, s, rounds.Options{}, func(o rounds.Options) (*record.Run, error) {
		return rounds.Resume(ctx, store, id, o)
	})
	if errors.Is(err, notebook.ErrComplete) || errors.Is(err, notebook.ErrHeld) {
		return usageError(err)
	}
	return f.finish(ctx, s, run, err)
}

// conduct measures with the progress on stderr.
func (f *meshFlags) conduct(ctx context.Context, s streams, o rounds.Options,
	measure func(rounds.Options) (*record.Run, error)) (*record.Run, error) {
	claim, err := claimActive(ctx, s, "mesh", f.wait)
	if err != nil {
		return nil, err
	}
	defer claim.Leave()
	shown := newProgress(s.hints())
	defer shown.end()
	o.Self = self
	o.Say = func(text string) {
		shown.end()
		say(s.err, "linerate: %s\n", plain.Line(text))
	}
	o.Progress = func(p rounds.Progress) {
		claim.Describe(runTitle(p.Run, f.name))
		shown.rounds(p)
	}
	return measure(o)
}

// rounds shows the progress of a mesh.
func (p *progress) rounds(s rounds.Progress) {
	if !p.begun && s.Run != "" {
		say(p.w, "run %s\n", s.Run)
	}
	p.begun = true
	line := fmt.Sprintf("%d of %s, about %s left · %s", s.Done, unit.Plural(s.Total, "round"),
		unit.FormatTime(s.Remaining), s.Phase)
	if s.Lost > 0 {
		line += fmt.Sprintf(" · %s lost", unit.Plural(s.Lost, "host"))
	}
	p.replace(line)
}

// finish reports what there is, also of a mesh that was cut short.
func (f *meshFlags) finish(ctx context.Context, s streams, run *record.Run, err error) error {
	if run == nil || len(run.Trials) == 0 {
		if ctx.Err() != nil {
			return statusError{ExitInterrupted, errors.New("interrupted before the first round ended")}
		}
		return err
	}
	run.Expect = f.expected.Check(run)
	if f.csv != "" {
		err = errors.Join(err, export.WriteFile(f.csv, func(w io.Writer) error { return writePairs(w, run) }))
	}
	err = errors.Join(err, s.showRun(run, f.asJSON, ""))
	lost := len(run.Mesh.Lost)
	switch {
	case ctx.Err() != nil:
		text := fmt.Sprintf("interrupted after %s", unit.Plural(len(run.Trials), "round"))
		if run.ID != "" && !f.noSave {
			text += "; continue with: linerate mesh --resume " + run.ID
		}
		return statusError{ExitInterrupted, errors.New(text)}
	case err != nil:
		return err
	case run.Mesh.Conclusion == nil:
		return errors.New("no pair could be judged")
	case lost > 0:
		return fmt.Errorf("%s could not be measured until the end", unit.Plural(lost, "host"))
	}
	if err := expect.Unmet(run.Expect); err != nil {
		return statusError{ExitDoubt, err}
	}
	return nil
}

// writePairs writes a row for each pair of each round.
func writePairs(to io.Writer, run *record.Run) error {
	w := csv.NewWriter(to)
	_ = w.Write([]string{"round", "from", "to", "source", "destination", "goodput_bps", "latency_p50_us", "limit_bps",
		"connected", "doubt", "error"})
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			latency := ""
			if x := f.Transactions; x != nil && x.Latency != nil {
				latency = number(x.Latency.P50Us)
			}
			_ = w.Write([]string{strconv.Itoa(t.Order), f.From, f.To, f.Source, f.Destination, number(f.GoodputBps),
				latency, number(f.LimitBps), strconv.FormatBool(f.Connected), f.Doubt, f.Error})
		}
	}
	w.Flush()
	return w.Error()
}
