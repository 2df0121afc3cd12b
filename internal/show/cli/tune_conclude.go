package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/model/record"
	"linerate/internal/model/study"

	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
)

// concludeTune says of a run in the notebook what its list did, in each of the
// run's conditions.
func concludeTune(cmd *cobra.Command, s streams, f tuneFlags) error {
	ctx := cmd.Context()
	if err := f.concluding(); err != nil {
		return usageError(err)
	}
	runs, err := storedRuns(ctx, f.run)
	if err != nil {
		return err
	}
	made := runs[0]
	settings, hosts, err := listOf(made)
	if err != nil {
		return usageError(err)
	}
	var results []*record.Tune
	parts, at := tuning.Conditions(made)
	for i, part := range parts {
		one := tuning.Judge(part, settings)
		one.At, one.Hosts = at[i], hosts
		results = append(results, one)
	}
	if len(results) == 0 {
		return usageError(fmt.Errorf("run %s has no trials of %q yet: carry it on with linerate run --resume %s", made.ID, settingfile.TheList, made.ID))
	}
	results[0].Conditions = results[1:]
	t := &tuner{streams: s, flags: f, name: made.Study, hosts: hosts, runs: runs}
	if f.keep != "" {
		t.again = tuneAgain(cmd.Flags(), nil)
		d, err := t.takeUp(made, settings)
		if err != nil {
			return usageError(err)
		}
		if t.store, err = openNotebook(ctx); err != nil {
			return err
		}
		defer t.store.Close()
		if err := t.keep(ctx, d, made, results[0]); err != nil {
			return err
		}
		for _, r := range t.runs[1:] {
			results[0].Trust = append(results[0].Trust, record.Doubts(r.Trust)...)
		}
	}
	return t.show(results[0], doubt(t.runs...))
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

// listOf is the list that a run tried, and on which hosts.
func listOf(made *record.Run) (settings []record.TuneSetting, hosts []string, err error) {
	tried, err := study.ParseWith(made.Study, []byte(made.StudyFile), made.Design.Set)
	if err != nil {
		return nil, nil, fmt.Errorf("the study of run %s cannot be read any more: %w", made.ID, err)
	}
	i := slices.IndexFunc(tried.Factors, func(f study.Factor) bool { return f.Ablate != "" })
	if i < 0 {
		i = slices.IndexFunc(tried.Factors, func(f study.Factor) bool { return f.Name == settingfile.Factor })
	}
	j := -1
	if i >= 0 {
		name := cmp.Or(tried.Factors[i].Ablate, settingfile.TheList)
		j = slices.IndexFunc(tried.Factors[i].Levels, func(l study.Level) bool { return l.Name == name })
	}
	if j < 0 {
		return nil, nil, fmt.Errorf("run %s takes no list apart: expected a factor with ablate", made.ID)
	}
	for _, s := range tried.Factors[i].Levels[j].Settings {
		if !slices.Contains(hosts, s.Host) {
			hosts = append(hosts, s.Host)
		}
		for _, one := range s.Sysctl {
			if !slices.ContainsFunc(settings, func(t record.TuneSetting) bool { return t.Key == one.Key }) {
				settings = append(settings, record.TuneSetting{Key: one.Key, Value: one.Value})
			}
		}
	}
	for _, s := range tuning.Settings(made) { // other kinds of changes
		if !slices.ContainsFunc(settings, func(t record.TuneSetting) bool { return t.Key == s.Key }) {
			settings = append(settings, s)
		}
	}
	return settings, hosts, nil
}
