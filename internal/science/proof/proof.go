// Package proof derives, from a finding, the study that proves its fix: it compares the hosts as
// they are with the hosts with the settings of the fix. Package diagnose decides which settings
// those are, and package conclude what the trials mean.
package proof

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/remedy"
)

// Proof is a study that proves a finding's fix.
type Proof struct {
	// File is the study: a factor with the levels "as it is" and the fix.
	File []byte
	// Of has the findings that the fix removes: one, or one for each of several hosts.
	Of []record.Finding
	// Settings are the settings of the fix.
	Settings []setting.Setting
	// Advice is what else the fix asks for. The study does not try it.
	Advice []string
	// Treatment is the run's treatment in which the hosts are as they are; empty: the proof is not
	// derived from a run.
	Treatment string
}

// ErrNone is returned if there is nothing to prove: the hosts do not have the finding, or no
// setting removes it.
var ErrNone = errors.New("nothing to prove")

// Replicates is the number of blocks of the study.
const Replicates = 6

// Known returns an error unless a rule has this name.
func Known(id string) error {
	ids := []string{"unreachable"}
	for _, r := range diagnose.Rules() {
		ids = append(ids, r.ID)
	}
	if !slices.Contains(ids, id) {
		return fmt.Errorf("no finding is called %q%s (linerate doctor --list has them)", id, source.DidYouMean(id, ids))
	}
	return nil
}

// OfRun derives the study from that of a run in which the finding was found. In the new study the
// hosts as they are have the levels of treatment. If treatment is empty, that is the first
// treatment in which the finding was found, the baseline if it is among them. Levels of other
// treatments are left out.
func OfRun(run *record.Run, id, treatment string) (*Proof, error) {
	where := "run " + run.ID
	if run.StudyFile == "" {
		if _, err := of(run.Findings, id, "in "+where); err != nil {
			return nil, err
		}
		return nil,
			fmt.Errorf(
				"%w: %s is a measurement, not a study in which a setting could be tried; linerate prove %s --host "+
					"… makes a study of the hosts", ErrNone, where, id)
	}
	found, err := of(run.Findings, id, "in "+where)
	if err != nil {
		return nil, err
	}
	s, err := study.Decode(where, []byte(run.StudyFile), run.Design.Set...)
	if err != nil {
		return nil, fmt.Errorf("the study of %s can no longer be read: %w", where, err)
	}
	base, err := baseline(run, found, treatment)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f record.Finding) bool { return !in(f, base.Name) })
	p := &Proof{Of: found, Treatment: base.Name}
	asItIs, err := freeze(run, s, base)
	if err != nil {
		return nil, err
	}
	s.Published = nil
	s.Design = study.Design{Replicates: Replicates, Margin: s.Design.Margin}
	notes := []string{fmt.Sprintf("Made by linerate prove %s from run %s, of its treatment %q.", id, run.ID, base.Name)}
	return p, p.write(s, asItIs, notes)
}

// of returns the findings of this name that have settings. Each of several hosts can have one. The
// error says what was found instead.
func of(findings []record.Finding, id, where string) (found []record.Finding, err error) {
	var others, advice []string
	for _, f := range findings {
		switch {
		case f.ID != id && !slices.Contains(others, f.ID):
			others = append(others, f.ID)
		case f.ID == id && len(f.Changes()) > 0:
			found = append(found, f)
		case f.ID == id:
			advice = append(advice, f.Fix...)
		}
	}
	switch {
	case found != nil:
		return found, nil
	case advice != nil:
		return nil, fmt.Errorf("%w: no setting that linerate can apply and revert removes %s; its fix:\n  %s", ErrNone,
			id, strings.Join(advice, "\n  "))
	case others == nil:
		others = []string{"nothing"}
	}
	return nil, fmt.Errorf("%w: %s was not found %s; found was: %s", ErrNone, id, where,
		strings.Join(source.Some(others, 8), ", "))
}

// in reports whether a finding belongs to a treatment. Findings about a host's state have no
// treatments and belong to all.
func in(f record.Finding, treatment string) bool {
	return len(f.Treatments) == 0 || slices.Contains(f.Treatments, treatment)
}

// baseline returns the treatment of a run in which the hosts are as they are.
func baseline(run *record.Run, found []record.Finding, treatment string) (*record.Treatment, error) {
	var names []string
	var best *record.Treatment
	for i, t := range run.Treatments {
		if !slices.ContainsFunc(found, func(f record.Finding) bool { return in(f, t.Name) }) {
			continue
		}
		if names = append(names, t.Name); t.Name == treatment {
			return &run.Treatments[i], nil
		}
		if best == nil || t.Baseline && !best.Baseline {
			best = &run.Treatments[i]
		}
	}
	if treatment != "" || best == nil {
		return nil, fmt.Errorf("run %s: %s is not found in a treatment %q%s, but in: %s", run.ID, found[0].ID,
			treatment, source.DidYouMean(treatment, names), strings.Join(names, "; "))
	}
	return best, nil
}

// freeze reduces a study's factors to the levels of one treatment and removes their settings, which
// it returns as the level "as it is".
func freeze(run *record.Run, s *study.Study, t *record.Treatment) (asItIs study.Level, err error) {
	var list []study.Factor
	for _, f := range s.Factors {
		i := slices.IndexFunc(f.Levels, func(l study.Level) bool { return l.Name == t.Levels[f.Name] })
		if i < 0 {
			return asItIs, fmt.Errorf(
				"%w: the level %q of factor %q is one that ablate made in run %s; linerate tune --run %[4]s "+
					"judges those",
				ErrNone, t.Levels[f.Name], f.Name, run.ID)
		}
		l := f.Levels[i]
		asItIs.Settings = append(asItIs.Settings, l.Settings...)
		asItIs.Unreachable = asItIs.Unreachable || l.Unreachable
		if l.Workload != nil {
			list = append(list, study.Factor{Name: f.Name, Role: "condition",
				Levels: []study.Level{{Name: l.Name, About: l.About, Workload: l.Workload}}})
		}
	}
	s.Factors = list
	return asItIs, nil
}

// over returns settings together with others, which replace those that set the same kernel
// parameter of a host.
func over(settings, others []setting.Setting) (list []setting.Setting) {
	set := map[[2]string]bool{}
	for _, s := range others {
		for _, one := range s.Sysctl {
			set[[2]string{s.Host, one.Key}] = true
		}
	}
	for _, s := range settings {
		kept := slices.DeleteFunc(slices.Clone(s.Sysctl), func(one setting.Sysctl) bool {
			return set[[2]string{s.Host, one.Key}]
		})
		if len(s.Sysctl) > 0 && len(kept) == 0 {
			continue
		}
		s.Sysctl = kept
		list = append(list, s)
	}
	return append(list, others...)
}

// write adds the factor that compares the hosts as they are with the hosts with the fix, and writes
// the study file.
func (p *Proof) write(s *study.Study, asItIs study.Level, notes []string) error {
	id := p.Of[0].ID
	var hosts []string
	for _, f := range p.Of {
		for _, one := range f.Changes() {
			if !slices.ContainsFunc(p.Settings, func(o setting.Setting) bool { return reflect.DeepEqual(o, one) }) {
				p.Settings = append(p.Settings, one)
			}
			if !slices.Contains(hosts, one.Host) {
				hosts = append(hosts, one.Host)
			}
		}
		for _, line := range remedy.Advice(f) {
			if !slices.Contains(p.Advice, line) {
				p.Advice = append(p.Advice, line)
			}
		}
	}
	s.Name = "prove-" + id
	s.Question = fmt.Sprintf("Does the fix of %s on %s help?", id, strings.Join(hosts, ", "))
	asItIs.Name, asItIs.About = settingfile.AsItIs, p.Of[0].Summary
	fixed := study.Level{Name: "the fix of " + id, About: "the settings of the finding's fix",
		Settings: over(asItIs.Settings, p.Settings)}
	fixed.Unreachable = true // if the fix prevents connections, that is a result
	s.Factors = append(s.Factors, study.Factor{Name: "fix of " + id, Levels: []study.Level{asItIs, fixed}})
	text, err := s.Text()
	if err != nil {
		return fmt.Errorf("the study of %s cannot be written: %w", id, err)
	}
	for _, note := range notes {
		p.File = fmt.Appendf(p.File, "# %s\n", strings.ReplaceAll(note, "\n", " "))
	}
	p.File = append(p.File, text...)
	return nil
}
