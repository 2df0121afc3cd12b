package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"linerate/internal/control/notebook"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/science/stats"
	"linerate/internal/science/tuning"
)

// keep finds the settings that are enough, proves them by themselves, and writes them.
func (t *Tuner) keep(ctx context.Context, d settingfile.Design, made *record.Run, result *record.Tune) error {
	if result.Unjudged != nil {
		result.Unwritten = record.UnwrittenUnjudged
		return nil
	}
	d.Ablate = false
	search := func(trades bool) (*tuning.Found, error) {
		enough := tuning.Enough{
			Screened: tuning.Screen(made, result.Settings, trades), Screening: made, Accept: t.options.Accept,
			Conduct: func(out []string, sets ...settingfile.Set) (*record.Run, error) {
				d.Question, d.Sets = t.options.Words.Question(out), sets
				tried, err := t.conduct(ctx, d)
				if err == nil && stats.Unjudged(tried) != nil { // its trials took longer than planned
					err = tuning.ErrSpent
				}
				return tried, err
			},
		}
		if !trades && (len(enough.Trades) == 0 || len(enough.Core)+len(enough.Spare[1]) == 0 ||
			t.uselessAlone(enough.All, result)) {
			return nil, nil
		}
		return enough.Find()
	}
	found, err := search(true)
	switch {
	case errors.Is(err, tuning.ErrSpent):
		result.Unwritten = record.UnwrittenBudget
		if t.options.KeepCommand != nil {
			result.Continue = t.options.KeepCommand(made.ID)
		}
		return nil
	case err != nil:
		return err
	}
	if found == nil {
		result.Unwritten = record.UnwrittenWorthless
		return nil
	}
	proven := tuning.Proven(found.Proof.Effect, t.options.Accept, made.Margin)
	if !proven {
		result.Offer = found.Offer()
	}
	if o := result.Offer; o != nil && t.options.Ask != nil {
		if proven, err = t.options.Ask(o); err != nil {
			return err
		}
		if proven {
			result.Offer = nil
		}
	}
	if !proven && result.Offer != nil {
		free, err := search(false)
		if err != nil && !errors.Is(err, tuning.ErrSpent) {
			return err
		}
		if free != nil && tuning.Proven(free.Proof.Effect, t.options.Accept, made.Margin) {
			found, proven = free, true
		}
	}
	if found.Into(result); !proven {
		tuning.NotKept(result)
	}
	switch {
	case proven:
	case result.Offer != nil:
		result.Unwritten = record.UnwrittenTrade
		return nil
	default:
		result.Unwritten = record.UnwrittenUnproven
		return nil
	}
	kept := tuning.Kept(result, found.Ended)
	if err := t.write(made, result, kept); err != nil {
		return err
	}
	return t.prove(ctx, result, kept)
}

// prove notes in each run which settings were kept, and which run is their proof.
func (t *Tuner) prove(ctx context.Context, result *record.Tune, proven record.Proven) error {
	for _, r := range t.runs {
		if err := t.store.SetProven(ctx, r.ID, proven); err != nil {
			return fmt.Errorf("%s is written, but linerate fix will not know of it: %w", result.Kept, err)
		}
		r.Proven = &proven
	}
	return nil
}

// uselessAlone reports whether what is left is a single setting that was tried alone, and
// was not shown to help.
func (t *Tuner) uselessAlone(keys []string, result *record.Tune) bool {
	return len(keys) == 1 && slices.ContainsFunc(result.Settings, func(s record.TuneSetting) bool {
		return s.Key == keys[0] && !tuning.Proven(s.Alone, t.options.Accept, result.Margin)
	})
}

// write writes the settings that were proven.
func (t *Tuner) write(made *record.Run, result *record.Tune, proven record.Proven) error {
	var kept []settingfile.Kept
	for _, s := range result.Settings {
		if i := slices.IndexFunc(t.lines, func(l settingfile.Line) bool { return l.Key == s.Key }); i >= 0 && s.Keep {
			k := settingfile.Kept{Line: t.lines[i], Because: t.options.Words.Because(s)}
			if k.Line.IsOption() {
				k.Commands = hostconfig.Commands([]setting.Setting{k.Line.On(t.options.Hosts[0])})
			}
			if senders := t.senders(); k.Line.Key == setting.CongestionControl && len(senders) > 0 {
				acts := "acts on " + strings.Join(senders, " and ") + ", where flows are sent"
				switch others := slices.DeleteFunc(slices.Clone(t.options.Hosts), func(h string) bool {
					return slices.Contains(senders, h)
				}); {
				case len(others) == len(t.options.Hosts):
					k.Elsewhere = "not for " + strings.Join(others, " and ") + ", where it has no effect: it " + acts
				case len(others) > 0:
					k.Because += "; " + acts
				}
			}
			kept = append(kept, k)
		}
	}
	head := []string{
		fmt.Sprintf("Kept by linerate tune of %s: %s; %d of the list's could be tried.", t.options.Name, proven.Text(),
			tuning.Count(result.Settings).Tried),
		fmt.Sprintf("Together %s against the baseline, tried on %s (run %s).",
			t.options.Words.Effect(result.Proof.Effect),
			t.options.File, result.Proof.Run),
	}
	if open := tuning.Open(result.Settings); len(open) > 0 {
		head = append(head, "Not shown to be needed: "+strings.Join(open, ", ")+".")
	}
	for _, h := range made.Environment.Hosts {
		if slices.Contains(t.options.Hosts, h.Host) {
			head = append(head, fmt.Sprintf("%s: Linux %s", h.Host, h.Kernel))
		}
	}
	text := settingfile.Write(settingfile.FormatFor(t.options.Keep), head, kept)
	if err := writeNew(t.options.Keep, text); err != nil {
		return fmt.Errorf("%w\nWhat was proven:\n%s", err, text)
	}
	result.Kept = t.options.Keep
	return nil
}

// senders are the hosts that send the flows, whose congestion control they use.
func (t *Tuner) senders() (hosts []string) {
	plan, err := study.NewPlan(t.study)
	if err != nil { // it was planned before
		return nil
	}
	for _, treatment := range plan.Treatments {
		for _, f := range treatment.Flows {
			if !slices.Contains(hosts, f.Sender()) {
				hosts = append(hosts, f.Sender())
			}
		}
	}
	slices.Sort(hosts)
	return hosts
}

// writeNew writes a file that must not exist yet.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// Conclude returns what the settings of a list did in a run of the notebook, for each
// condition of the run. If o.Keep is set, what is proven is tried once more by itself,
// and written to that file. Of o it uses Accept, Keep, KeepCommand, Notebook and the
// options of runs.
func Conclude(ctx context.Context, made *record.Run, o Options) (*Tuner, *record.Tune, error) {
	settings, hosts, err := tuning.List(made)
	if err != nil {
		return nil, nil, &InputError{err}
	}
	var results []*record.Tune
	parts, at := tuning.Conditions(made)
	for i, part := range parts {
		one := tuning.Judge(part, settings, o.Accept)
		one.At, one.Hosts = at[i], hosts
		results = append(results, one)
	}
	if len(results) == 0 {
		return nil, nil, &InputError{
			fmt.Errorf("run %s has no trials of %q yet: continue it with linerate run --resume %s", made.ID,
				settingfile.TheList, made.ID)}
	}
	results[0].Conditions = results[1:]
	o.Name, o.Hosts, o.Lint = made.Study, hosts, nil
	t := newTuner(o)
	t.runs, t.all = []*record.Run{made}, settings
	if o.Keep == "" {
		if err := t.proved(ctx, made, results[0]); err != nil {
			return nil, nil, err
		}
		return t, t.complete(results[0]), nil
	}
	d, err := t.continueFrom(made)
	if err != nil {
		return nil, nil, &InputError{err}
	}
	if t.store, err = o.Notebook(ctx); err != nil {
		return nil, nil, err
	}
	defer t.store.Close()
	if err := t.keep(ctx, d, made, results[0]); err != nil {
		return nil, nil, err
	}
	return t, t.complete(results[0]), nil
}

// proved adds to a result the proof that the notebook has of what was kept, if any.
func (t *Tuner) proved(ctx context.Context, made *record.Run, result *record.Tune) error {
	if made.Proven == nil {
		return nil
	}
	runs := map[string]*record.Run{made.ID: made}
	for _, p := range []*record.Proven{made.Proven, made.Proven.Fewer, made.Proven.Offer} {
		if p == nil || runs[p.Run] != nil {
			continue
		}
		store, err := t.options.Notebook(ctx)
		if err != nil {
			return err
		}
		tried, err := store.Run(ctx, p.Run)
		err = errors.Join(err, store.Close())
		switch {
		case err == nil:
			runs[p.Run] = tried
		case !errors.Is(err, notebook.ErrNotFound):
			return err
		case p == made.Proven: // it was removed
			result.Removed = p
			return nil
		}
	}
	return tuning.Proved(result, made, runs)
}

// continueFrom prepares to keep what a run of tune in the notebook has proven, as if it
// had just been made: its list, and where it was tried.
func (t *Tuner) continueFrom(made *record.Run) (settingfile.Design, error) {
	var d settingfile.Design
	base, err := settingfile.WithoutFactors(made.Study, []byte(made.StudyFile))
	switch {
	case len(made.Factors) != 1 || made.Factors[0].Name != settingfile.Factor || err != nil:
		return d,
			fmt.Errorf(
				"--keep: run %s is not one of linerate tune: the settings kept are tried once more on the hosts of "+
					"such a run", made.ID)
	case made.Factors[0].Ablate == "" && len(t.all)-len(made.Factors[0].Untried) > 1:
		return d,
			fmt.Errorf("--keep: run %s does not try the settings of its list one by one; expected one with --ablate",
				made.ID)
	case made.Status == notebook.Interrupted || made.Status == notebook.Running:
		return d, fmt.Errorf("--keep: run %s is not complete; continue it first: linerate run --resume %s",
			made.ID, made.ID)
	}
	t.options.Name, t.options.File, t.options.Base = "run "+made.ID, "the hosts of run "+made.ID, base
	t.options.Set = made.Design.Set
	for _, s := range t.all {
		if s.Verdict != record.NotTried {
			t.lines = append(t.lines, settingfile.Line{Key: s.Key, Value: s.Value})
		}
	}
	if t.study, err = study.Parse(made.Study, base, t.options.Set...); err != nil {
		return d, fmt.Errorf("the study of run %s cannot be read any more: %w", made.ID, err)
	}
	return settingfile.Design{
		Name: made.Study, Hosts: t.options.Hosts, Lines: t.lines, Untried: t.untried(),
		Notes: []string{"Made by linerate tune from run " + made.ID + "."},
	}, nil
}
