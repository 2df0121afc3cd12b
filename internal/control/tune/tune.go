// Package tune finds out which settings of a list matter. It makes a study from a base and the list,
// runs it, and proves the settings that are kept in a run of their own. Package tuning concludes what
// the trials mean.
package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/control/run"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/tuning"
)

// Options say which settings are tried, where, and how.
type Options struct {
	// Options of the runs. Set replaces values of the base too; Only, StudyFile and
	// Published are not used.
	run.Options

	Name  string // name of the list, for people
	Files []settingfile.File
	Lint  *record.Lint // findings about the files
	// Base is the text of the study in which the list is tried, and File its name in messages. The
	// study must not vary anything itself.
	File string
	Base []byte
	// Hosts are the hosts whose settings are changed; empty: both ends of the flows.
	Hosts []string
	// Responses are what settings are judged by; empty: the responses of the base, or goodput together
	// with the latency of a probe.
	Responses []string
	Ablate    bool
	Search    string // KEY=FROM..TO: search for the smallest value that is good enough; empty: try the list
	// Keep is the path of a new file for the settings that are proven; empty: none.
	Keep string
	// KeepCommand returns the command that keeps what a run has shown, for result.Continue if the
	// budget leaves no time for the proof; nil: none.
	KeepCommand func(run string) string
	// Words composes the texts of the files that are written; required.
	Words Words
	// Accept is how much worse one response may get for a gain in another.
	Accept tuning.Accepted
	// Ask asks the user whether to keep a setting that gains something at a cost that Accept does not
	// cover; nil: there is no terminal to ask on.
	Ask func(*record.TuneOffer) (bool, error)

	// Controls are this machine's congestion controls, which the hosts of a lab have too.
	Controls []string

	// Notebook opens the notebook. It is called only when something is about to run.
	Notebook func(context.Context) (notebook.Store, error)
	// Planned is called before the trials of each run, with its plan and the number of further trials
	// for which the budget must leave time (run.Options.Reserve); nil: not called.
	Planned func(p *study.Plan, reserve int) error
	// Finished is called with each run that has trials, even if it was interrupted.
	Finished func(*record.Run)

	exec executor // the zero value: package run
}

// Words composes the texts of results for the studies of runs and for the files of kept settings.
type Words interface {
	// Setting returns a setting with its reasons in words.
	Setting(record.TuneSetting) record.TuneSetting
	// Because says what the value of a kept setting was before, and why the setting is kept.
	Because(record.TuneSetting) string
	// Effect describes an effect on all responses.
	Effect(*record.Effect) string
	// Question returns the question that trials of sets of settings answer: whether the settings in
	// out can be left out or, if out is empty, whether those found are enough.
	Question(out []string) string
}

// executor is what changes hosts: it makes settings that are reverted at once, and runs.
type executor struct {
	try func(context.Context, *topology.Topology, []setting.Setting, run.Options) ([]run.Tried, error)
	run func(context.Context, *study.Plan, notebook.Store, run.Options) (*record.Run, error)
}

// Tuner tries the settings of a list.
type Tuner struct {
	options Options
	study   *study.Study // the base
	// lines are left to try, and all is every setting with its result.
	lines      []settingfile.Line
	all        []record.TuneSetting
	ownControl bool // the base says which congestion control its flows have
	store      notebook.Store
	runs       []*record.Run
	// spent is how long trials have been made for, of which there are so many.
	spent  time.Duration
	trials int
}

// InputError means that there is a mistake in the base, the list or the options. Nothing was run.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// RunError means that a run that has trials in the notebook failed or was interrupted.
type RunError struct {
	Run         string // its ID
	First       string // ID of the run that tried the settings one by one
	Trials      int
	Interrupted bool
	Err         error
}

func (e *RunError) Error() string { return e.Err.Error() }
func (e *RunError) Unwrap() error { return e.Err }

// New determines which settings are to be tried, and where. It creates nothing. Its errors are
// mistakes in the options.
func New(o Options) (*Tuner, error) {
	t := newTuner(o)
	if err := t.judgeBy(); err != nil {
		return nil, err
	}
	var err error
	if t.options.Hosts, err = hosts(t.study, o.Hosts); err != nil {
		return nil, err
	}
	t.lines, t.all = tuning.Select(o.Files, o.Lint, &t.study.Topology, t.options.Hosts)
	_, err = t.search() // report a mistake in it before anything is created
	return t, err
}

func newTuner(o Options) *Tuner {
	if o.exec.try == nil {
		o.exec = executor{run.Try, run.New}
	}
	return &Tuner{options: o}
}

// Name returns the name of the list, for people.
func (t *Tuner) Name() string { return t.options.Name }

// Commands returns the commands that trying the list executes: those of the base.
func (t *Tuner) Commands() ([]topology.Command, error) {
	plan, err := study.NewPlan(t.study)
	if err != nil {
		return nil, err
	}
	return plan.Commands(), nil
}

// Runs returns the runs made, in order.
func (t *Tuner) Runs() []*record.Run { return t.runs }

// Run tries the list and keeps what is proven, if Options.Keep is set. The error is an *InputError, a
// *RunError, or any other failure.
func (t *Tuner) Run(ctx context.Context) (*record.Tune, error) {
	if err := t.control(ctx); err != nil {
		return nil, err
	}
	if err := t.probe(ctx); err != nil {
		return nil, err
	}
	if len(t.lines) == 0 && t.options.Search == "" {
		return t.complete(tuning.None(t.all)), nil
	}
	d, err := t.design()
	if err != nil {
		return nil, &InputError{err}
	}
	if t.store, err = t.options.Notebook(ctx); err != nil {
		return nil, err
	}
	defer t.store.Close()
	made, err := t.conduct(ctx, d)
	if err != nil {
		return nil, err
	}
	var result *record.Tune
	if d.Search != nil {
		result = tuning.Search(made, *d.Search, t.all)
	} else {
		result = tuning.Judge(made, t.all, t.options.Accept)
	}
	result.Hosts = t.options.Hosts
	if t.options.Keep != "" {
		if err := t.keep(ctx, d, made, result); err != nil {
			return nil, err
		}
	}
	return t.complete(result), nil
}

// complete adds what is not concluded from the first run.
func (t *Tuner) complete(result *record.Tune) *record.Tune {
	result.Hosts, result.Lint = t.options.Hosts, t.options.Lint
	for i, r := range t.runs {
		if i > 0 {
			result.Trust = append(result.Trust, record.Doubts(r.Trust)...)
		}
	}
	return result
}

// probe asks the hosts which of the lines they take.
func (t *Tuner) probe(ctx context.Context) error {
	if !slices.ContainsFunc(t.lines, func(l settingfile.Line) bool { return l.Key != setting.CongestionControl }) {
		return nil
	}
	var settings []setting.Setting
	for _, l := range t.lines {
		if l.Key == setting.CongestionControl {
			continue // the flows have it as an option
		}
		for _, h := range t.options.Hosts {
			settings = append(settings, l.On(h))
		}
	}
	tried, err := t.options.exec.try(ctx, &t.study.Topology, settings, t.options.Options)
	if err != nil {
		return err
	}
	t.lines = slices.DeleteFunc(t.lines, func(l settingfile.Line) bool {
		if l.Key == setting.CongestionControl {
			return false
		}
		i := slices.IndexFunc(t.all, func(s record.TuneSetting) bool { return s.Key == l.Key })
		s := &t.all[i]
		var applied []record.Applied
		var refused []record.Statement
		for _, one := range tried {
			if one.Setting.Changes()[0].Name != l.Key {
				continue
			}
			applied = append(applied, one.Applied...)
			if one.Refused != "" {
				refused = append(refused, record.Statement{Code: record.UntriedRefused, Args: []string{one.Setting.Host,
					strings.TrimPrefix(one.Refused, "sysctl "+l.Key+": ")}})
			}
		}
		worthwhile := tuning.Worthwhile(s, l, applied, refused, t.options.Search != "")
		if !worthwhile && len(refused) == 0 && t.madeWith(l.Key) {
			s.Reasons = []record.Statement{{Code: record.UntriedMadeWith}}
		}
		return !worthwhile
	})
	return nil
}

// madeWith reports whether hosts of the topology have a parameter set in every treatment.
func (t *Tuner) madeWith(key string) bool {
	return slices.ContainsFunc(t.study.Topology.Hosts, func(h topology.Host) bool {
		return slices.ContainsFunc(h.Sysctls, func(s setting.Sysctl) bool { return s.Key == key })
	})
}

// design is the experiment with the lines that are left.
func (t *Tuner) design() (settingfile.Design, error) {
	d := settingfile.Design{
		Name: "tune", Question: "Which settings of " + t.options.Name + " do it?", Hosts: t.options.Hosts,
		Lines:  t.lines,
		Ablate: t.options.Ablate || t.options.Keep != "", Responses: t.options.Responses,
		Notes: []string{"Made by linerate tune from " + t.options.Name + ", to be tried on " + t.options.File + "."},
	}
	d.Untried = t.untried()
	search, err := t.search()
	if search != nil {
		d.Search, d.Question = search, "How much of "+search.Key+" is enough?"
	}
	return d, err
}

// untried are the settings that are not tried.
func (t *Tuner) untried() (list []settingfile.Untried) {
	for _, s := range t.all {
		if s.Verdict == record.NotTried {
			list = append(list, settingfile.Untried{Key: s.Key, Value: s.Value, Why: t.options.Words.Setting(s).Why})
		}
	}
	return list
}

// search is the values to try of one key; nil: it is settings that are tried.
func (t *Tuner) search() (*settingfile.Search, error) {
	if t.options.Search == "" {
		return nil, nil
	}
	s, err := settingfile.ParseSearch(t.options.Search, t.lines, func(key string) string {
		value, _ := proc.Sysctls{}.Read(key) // empty: the list has to have it
		return value
	})
	if err != nil {
		return nil, fmt.Errorf("--search %w", err)
	}
	return s, nil
}

// conduct carries a design out as a study, and keeps it in the notebook.
func (t *Tuner) conduct(ctx context.Context, d settingfile.Design) (*record.Run, error) {
	o := t.options
	text, err := d.Study(o.File, o.Base)
	var s *study.Study
	if err == nil {
		s, err = study.Parse(d.Name, text, o.Set...)
	}
	var plan *study.Plan
	if err == nil {
		plan, err = study.NewPlan(s)
	}
	if err == nil {
		err = t.redesign(plan)
	}
	if err != nil {
		return nil, &InputError{err}
	}
	if o.Reserve, err = t.afford(plan, d); err != nil {
		return nil, err
	}
	if o.Planned != nil {
		if err := o.Planned(plan, o.Reserve); err != nil {
			return nil, err
		}
	}
	o.StudyFile = string(text)
	made, err := o.exec.run(ctx, plan, t.store, o.Options)
	first := "" // of the tuner's runs
	begun := made != nil && len(made.Trials) > 0
	if begun {
		t.runs = append(t.runs, made)
		t.spent, t.trials = t.spent+time.Duration(made.DurationS*float64(time.Second)), t.trials+len(made.Trials)
		o.Finished(made)
	}
	if len(t.runs) > 0 {
		first = t.runs[0].ID
	}
	switch {
	case ctx.Err() != nil && made != nil:
		return nil, &RunError{Run: made.ID, First: first, Trials: len(made.Trials), Interrupted: true, Err: ctx.Err()}
	case err != nil && begun:
		return nil, &RunError{Run: made.ID, First: first, Trials: len(made.Trials), Err: err}
	}
	return made, err
}
