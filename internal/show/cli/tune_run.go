package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/notebook"
	"linerate/internal/control/run"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"

	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
	"linerate/internal/show/report"
)

// tuner tries a list of settings.
type tuner struct {
	streams
	flags tuneFlags
	name  string // the list's, for people
	again string
	lint  *record.Lint
	file  string // the base's
	base  []byte
	study *study.Study // the base
	hosts []string
	// lines are left to try, and all is every setting with what came of it.
	lines []settingfile.Line
	all   []record.TuneSetting
	store notebook.Store
	runs  []*record.Run
}

// prepare finds out what is to be tried, and where; nothing is created.
func (t *tuner) prepare(files []settingfile.File) error {
	var err error
	if t.file, t.base, err = t.flags.base(); err != nil {
		return usageError(err)
	}
	if err := t.judgeBy(); err != nil {
		return inputError(t.file, err)
	}
	if t.hosts, err = t.flags.targets(t.study); err != nil {
		return usageError(err)
	}
	t.sort(files)
	_, err = t.search() // what is wrong with it is told now
	return err
}

// sort leaves out what there is no use in trying.
func (t *tuner) sort(files []settingfile.File) {
	winning := settingfile.Winning(files)
	for i, s := range t.lint.Settings {
		line := winning[i]
		made := record.TuneSetting{Key: s.Key, Value: s.Value, File: s.File, Line: s.Line}
		if made.Why = t.useless(files, s); made.Why != "" {
			made.Verdict = record.NotTried
		} else {
			t.lines = append(t.lines, line)
		}
		t.all = append(t.all, made)
	}
}

// useless is why a setting is not tried; empty: it is.
func (t *tuner) useless(files []settingfile.File, s record.LintSetting) string {
	for _, f := range files {
		if f.Name == s.File && f.System != settingfile.Linux {
			return "it is for " + systemNames[f.System] + ", and hosts are changed on Linux only"
		}
	}
	// What this machine's kernel does not have, the hosts' may: they are asked.
	for _, f := range t.lint.Findings {
		if f.File == s.File && f.Line == s.Line && (f.ID == "refused" && f.Severity == record.LintError || f.ID == "not-network") {
			return f.Says
		}
	}
	if port := settingfile.InterfaceOf(s.Key); port != "" {
		for _, name := range t.hosts {
			if h, _ := t.study.Topology.Host(name); !slices.ContainsFunc(h.Interfaces, func(p topology.Interface) bool { return p.Name == port }) {
				return fmt.Sprintf("%s has no interface %s", name, port)
			}
		}
	}
	if s.Key == "net.ipv4.tcp_congestion_control" {
		return "flows choose their congestion control themselves: compare them in a study with a factor of congestion_control"
	}
	return ""
}

// probe asks the hosts which of the lines they take.
func (t *tuner) probe(ctx context.Context) error {
	if len(t.lines) == 0 {
		return nil
	}
	var settings []setting.Setting
	for _, l := range t.lines {
		for _, h := range t.hosts {
			settings = append(settings, setting.Setting{Host: h, Sysctl: []setting.Sysctl{{Key: l.Key, Value: l.Value}}})
		}
	}
	tried, err := run.Try(ctx, &t.study.Topology, settings, t.flags.allowMachine)
	if err != nil {
		return err
	}
	t.lines = slices.DeleteFunc(t.lines, func(l settingfile.Line) bool {
		s := t.setting(l.Key)
		changes := false
		for _, one := range tried {
			if one.Setting.Sysctl[0].Key != l.Key {
				continue
			}
			for _, a := range one.Applied {
				if s.Prior == nil {
					s.Prior = map[string]string{}
				}
				s.Prior[a.Host] = a.Prior
				changes = changes || a.Prior != a.New
			}
			if one.Refused != "" && s.Why == "" {
				s.Why = one.Setting.Host + ": " + strings.TrimPrefix(one.Refused, "sysctl "+l.Key+": ")
			}
		}
		switch {
		case s.Why != "" || t.flags.search != "":
		case !changes:
			s.Why = "every host has that value already"
		case l.Bound != "" && beyond(l, s.Prior):
			s.Why = "tuned sets it only where that makes it " + map[string]string{">": "larger", "<": "smaller"}[l.Bound]
		}
		if s.Why != "" {
			s.Verdict = record.NotTried
		}
		return s.Why != ""
	})
	return nil
}

// beyond: what the hosts have is on the right side of the line's bound already.
func beyond(l settingfile.Line, prior map[string]string) bool {
	limit, err := strconv.ParseInt(l.Value, 0, 64)
	for _, text := range prior {
		value, wrong := strconv.ParseInt(text, 0, 64)
		if err != nil || wrong != nil || l.Bound == ">" && value < limit || l.Bound == "<" && value > limit {
			return false
		}
	}
	return true
}

func (t *tuner) setting(key string) *record.TuneSetting {
	i := slices.IndexFunc(t.all, func(s record.TuneSetting) bool { return s.Key == key })
	return &t.all[i]
}

// design is the experiment with the lines that are left.
func (t *tuner) design() (settingfile.Design, error) {
	d := settingfile.Design{
		Name: "tune", Question: "Which settings of " + t.name + " do it?", Hosts: t.hosts, Lines: t.lines,
		Ablate: t.flags.ablate || t.flags.keep != "", Responses: t.flags.responses,
		Notes: []string{"Made by linerate tune from " + t.name + ", to be tried on " + t.file + "."},
	}
	for _, s := range t.all {
		if s.Verdict == record.NotTried {
			d.Notes = append(d.Notes, fmt.Sprintf("Not tried: %s = %s: %s", s.Key, s.Value, s.Why))
		}
	}
	search, err := t.search()
	if search != nil {
		d.Search, d.Question = search, "How much of "+search.Key+" is enough?"
	}
	return d, err
}

// search is the values to try of one key; nil: it is settings that are tried.
func (t *tuner) search() (*settingfile.Search, error) {
	if t.flags.search == "" {
		return nil, nil
	}
	s, err := parseSearch(t.flags.search, t.lines, func(key string) string {
		value, _ := proc.Sysctls{}.Read(key) // none: the list has to have it
		return value
	})
	if err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// conduct carries a design out as a study, and keeps it in the notebook.
func (t *tuner) conduct(ctx context.Context, d settingfile.Design) (*record.Run, error) {
	text, err := d.Study(t.file, t.base)
	if err != nil {
		return nil, inputError(t.file, err)
	}
	s, err := study.ParseWith(d.Name, text, t.flags.set)
	if err != nil {
		return nil, inputError(t.file, err)
	}
	redesign, err := t.flags.redesign()
	if err != nil {
		return nil, usageError(err)
	}
	plan, err := study.NewPlan(s)
	if err == nil {
		err = plan.Redesign(redesign)
	}
	if err != nil {
		return nil, usageError(err)
	}
	progress := newProgress(t.err, t.flags.quiet)
	made, err := run.New(ctx, plan, t.store, run.Options{
		Set: t.flags.set, Seed: t.flags.seed, StudyFile: string(text), Again: t.again,
		AllowMachine: t.flags.allowMachine, Progress: progress.show,
	})
	progress.end()
	if made != nil && len(made.Trials) > 0 {
		t.runs = append(t.runs, made)
		_, lost := report.Write(t.directory(made), made)
		err = errors.Join(err, lost)
	}
	switch {
	case ctx.Err() != nil && made != nil:
		return made, statusError{ExitInterrupted, fmt.Errorf("interrupted after %s: every setting is as it was; carry on with: %s", trials(len(made.Trials)), t.carryOn(made.ID))}
	case err != nil && made != nil && len(made.Trials) > 0:
		return made, fmt.Errorf("%w\nWhat was measured (%s) is saved: linerate report %s", err, trials(len(made.Trials)), made.ID)
	}
	return made, err
}

// directory is where a run's page and result go.
func (t *tuner) directory(made *record.Run) string {
	if t.flags.out != "" {
		return filepath.Join(t.flags.out, made.ID)
	}
	return filepath.Join("runs", made.ID)
}

// tune tries the list, and its settings one by one where that was asked for.
func (t *tuner) tune(ctx context.Context) error {
	if err := t.probe(ctx); err != nil {
		return err
	}
	if len(t.lines) == 0 && t.flags.search == "" {
		return t.show(tuning.None(t.all), statusError{status: ExitDoubt})
	}
	d, err := t.design()
	if err != nil {
		return err
	}
	if t.store, err = openNotebook(ctx); err != nil {
		return err
	}
	defer t.store.Close()
	made, err := t.conduct(ctx, d)
	if err != nil {
		return err
	}
	var result *record.Tune
	if d.Search != nil {
		result = tuning.Search(made, *d.Search, t.all)
	} else {
		result = tuning.Judge(made, t.all)
	}
	if t.flags.keep != "" {
		if err := t.keep(ctx, d, made, result); err != nil {
			return err
		}
	}
	for _, r := range t.runs[1:] {
		result.Trust = append(result.Trust, record.Doubts(r.Trust)...)
	}
	return t.show(result, doubt(t.runs...))
}

// show prints what came of it; the status is err's.
func (t *tuner) show(result *record.Tune, status error) error {
	result.Hosts, result.Lint = t.hosts, t.lint
	var err error
	if t.flags.asJSON {
		err = json.NewEncoder(t.out).Encode(result)
	} else {
		err = t.print(result)
	}
	if err != nil {
		return err
	}
	return status
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

// took is how long the runs took together.
func (t *tuner) took() time.Duration {
	var sum float64
	for _, r := range t.runs {
		sum += r.DurationS
	}
	return time.Duration(sum * float64(time.Second))
}
