package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/tuning/known"
)

// Select returns the lines of files that are worth trying on hosts of a topology, and all
// settings, with the reasons for those that are not tried. What is tried is what the files say: a
// correction that Files proposes is not. Found is the result of Files.
func Select(files []settingfile.File, found *record.Lint, t *topology.Topology, hosts []string) (
	lines []settingfile.Line, all []record.TuneSetting) {
	tried := map[string]settingfile.Line{}
	for _, s := range found.Settings {
		for _, line := range lineOf(files, s).Each(interfaces(t, hosts)) {
			if !line.IsOption() {
				line.Value, _ = line.Bare() // the kernel takes a number, and ignores a comment after it
			}
			made := record.TuneSetting{Key: line.Key, Value: line.Value, File: s.File, Line: s.Line}
			if made.Reasons = useless(files, found, t, hosts, made, s); made.Reasons == nil {
				made.Reasons = notInLab(found, t, hosts, made)
			}
			if other, twice := tried[line.Key]; twice && made.Reasons == nil {
				made.Reasons = because(record.UntriedTwice, other.Where())
			}
			if made.Reasons != nil {
				made.Verdict = record.NotTried
			} else {
				lines = append(lines, line)
				tried[line.Key] = line
			}
			all = append(all, made)
		}
	}
	return lines, all
}

// lineOf returns the line that a setting comes from.
func lineOf(files []settingfile.File, s record.LintSetting) (line settingfile.Line) {
	for _, f := range files {
		for _, l := range f.Lines {
			if l.File == s.File && l.Line == s.Line && l.Key == s.Key && l.Within == s.Within {
				line = l
			}
		}
	}
	return line
}

// interfaces returns the names of the hosts' interfaces without duplicates.
func interfaces(t *topology.Topology, hosts []string) (names []string) {
	for _, name := range hosts {
		h, _ := t.Host(name)
		for _, i := range h.Interfaces {
			if !slices.Contains(names, i.Name) {
				names = append(names, i.Name)
			}
		}
	}
	return names
}

// notInLab returns why hosts of a lab cannot try a machine-wide setting. Nil: they can.
func notInLab(found *record.Lint, t *topology.Topology, hosts []string, s record.TuneSetting) []record.Statement {
	inLab := slices.ContainsFunc(hosts, func(name string) bool {
		h, _ := t.Host(name)
		return h != nil &&
			len(h.Via) == 0
	})
	if !inLab || !machineWide(found, s) {
		return nil
	}
	for _, f := range found.Findings { // what makes the setting useless anywhere
		switch on := f.File == s.File && f.Line == s.Line && f.Key == s.Key; {
		case on && f.ID == "unit" && f.Advice != nil:
			return append(because(record.UntriedUnit), *f.Advice)
		case on && (f.ID == "removed" || f.ID == "no-effect"):
			return []record.Statement{f.Remark}
		}
	}
	return because(record.UntriedMachine)
}

// because returns a list with a single reason.
func because(code string, args ...string) []record.Statement {
	return []record.Statement{{Code: code, Args: args}}
}

// machineWide reports whether network namespaces do not have their own value of the parameter,
// or only the machine's first namespace may change it.
func machineWide(found *record.Lint, s record.TuneSetting) bool {
	if !strings.HasPrefix(s.Key, "net.") {
		return false // a namespace can change it for the whole machine
	}
	for _, l := range found.Settings {
		if l.Key == s.Key {
			return l.Scope == record.ScopeMachine
		}
	}
	return known.MachineWide(s.Key)
}

// Control drops the congestion control of a list if it cannot be tried with flows that use path by
// default: the machine lacks it, or the flows use it. Available are the machine's; nil: they are not known.
func Control(lines []settingfile.Line, all []record.TuneSetting, path string, available []string) []settingfile.Line {
	j := slices.IndexFunc(lines, func(l settingfile.Line) bool { return l.Key == setting.CongestionControl })
	if j < 0 {
		return lines
	}
	var why []record.Statement
	switch name := lines[j].Value; {
	case available != nil && !slices.Contains(available, name):
		why = because(record.UntriedNoControl, name, strings.Join(available, " "))
	case name == path:
		why = because(record.UntriedSameControl)
	default:
		return lines
	}
	i := slices.IndexFunc(all, func(s record.TuneSetting) bool {
		return s.Key == setting.CongestionControl && s.Verdict != record.NotTried
	})
	all[i].Verdict, all[i].Reasons = record.NotTried, why
	return slices.Delete(lines, j, j+1)
}

// useless returns why a setting is not tried. Nil: it is tried. Of is the setting in the result of
// Files.
func useless(files []settingfile.File, found *record.Lint, t *topology.Topology, hosts []string,
	s record.TuneSetting, of record.LintSetting) []record.Statement {
	line := lineOf(files, of)
	for _, f := range files {
		if f.Name == s.File && f.System != opsystem.Linux {
			return because(record.UntriedSystem, f.System)
		}
	}
	if !line.Tried() {
		return because(record.UntriedKind)
	}
	// What this machine's kernel does not have, the hosts' may: they are asked.
	for _, f := range found.Findings {
		if f.File != s.File || f.Line != s.Line || f.Key != of.Key {
			continue
		}
		refused := f.ID == "refused" && f.Severity == record.LintError
		slip := f.ID == "syntax" && !line.IsOption() && (f.Severity == record.LintError || glued(line))
		switch {
		case (refused || slip) && f.Corrects != nil:
			return append([]record.Statement{f.Remark}, statement(record.UntriedCorrection,
				f.Corrects.Key+" = "+f.Corrects.Value))
		case refused || slip || f.ID == "not-network":
			return []record.Statement{f.Remark}
		}
	}
	if others := alternatives(files, line); others != "" {
		return because(record.UntriedCondition, others)
	}
	if strings.ContainsAny(s.Key, "*?[") {
		return because(record.UntriedPattern)
	}
	if name := cmp.Or(setting.InterfaceOf(s.Key), settingfile.InterfaceOf(s.Key)); name != "" {
		for _, host := range hosts {
			if h, _ := t.Host(host); h != nil && !slices.ContainsFunc(h.Interfaces, func(i topology.Interface) bool {
				return i.Name == name
			}) {
				return because(record.UntriedNoInterface, host, name)
			}
		}
	}
	return nil
}

// glued reports whether a comment follows a number without a blank: the kernel refuses that.
func glued(l settingfile.Line) bool {
	value, comment := l.Bare()
	return comment != "" && len(value) < len(l.Value) && l.Value[len(value)] != ' '
}

// alternatives returns the lines of a script one of which sets a parameter, by a condition, if their
// values differ. Empty: there is one value.
func alternatives(files []settingfile.File, l settingfile.Line) string {
	var where []string
	differs, conditional := false, false
	for _, f := range files {
		for _, other := range f.Lines {
			if other.Identity() == l.Identity() {
				where = append(where, other.Where())
				differs = differs || !same(other.Value, l.Value)
				conditional = conditional || other.When != ""
			}
		}
	}
	if !differs || !conditional {
		return ""
	}
	return strings.Join(where, ", ")
}

// Worthwhile reports whether a line is worth trials after the hosts were asked to apply it. It
// stores the prior values from applied in s and, if the line is not worth trials, the reason: a
// host refused it (the first of refused), or it would change nothing. Searched says that other
// values of the line are tried as well.
func Worthwhile(s *record.TuneSetting, l settingfile.Line, applied []record.Applied, refused []record.Statement,
	searched bool) bool {
	changes := false
	for _, a := range applied {
		lists.Put(&s.Prior, a.Host, a.Prior)
		changes = changes || a.Prior != a.New
	}
	switch {
	case len(refused) > 0:
		s.Reasons = refused[:1]
	case searched:
		return true
	case !changes:
		s.Reasons = because(record.UntriedAsItIs)
	case l.Bound != "" && beyond(l, s.Prior):
		s.Reasons = because(record.UntriedBound, l.Bound)
	default:
		return true
	}
	s.Verdict = record.NotTried
	return false
}

// beyond reports whether the prior values of all hosts already satisfy the line's bound.
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

// List returns the list that a run tried, and the hosts on which it tried it. It returns an error
// if the run has no factor with a list.
func List(made *record.Run) (settings []record.TuneSetting, hosts []string, err error) {
	tried, err := study.Parse(made.Study, []byte(made.StudyFile), made.Design.Set...)
	if err != nil {
		return nil, nil, fmt.Errorf("the study of run %s cannot be read any more: %w", made.ID, err)
	}
	list := factor(made)
	i := slices.IndexFunc(tried.Factors, func(f study.Factor) bool { return f.Name == list.Name })
	j := -1
	if i >= 0 {
		j = slices.IndexFunc(tried.Factors[i].Levels, func(l study.Level) bool {
			return l.Name == cmp.Or(list.Ablate, settingfile.TheList)
		})
	}
	if j < 0 {
		return nil, nil, fmt.Errorf("run %s does not test the settings of a list: expected a factor with ablate",
			made.ID)
	}
	level := tried.Factors[i].Levels[j]
	for _, s := range level.Settings {
		if !slices.Contains(hosts, s.Host) {
			hosts = append(hosts, s.Host)
		}
	}
	settings = settingsOf(level)
	for _, s := range Settings(made) { // other kinds of changes
		settings = add(settings, s)
	}
	for _, u := range list.Untried {
		settings = add(settings, record.TuneSetting{Key: u.Key, Value: u.Value, Verdict: record.NotTried, Why: u.Why})
	}
	for i := range settings {
		settings[i].Prior = priorIn(made.Trials, settings[i].Key)
	}
	amend(settings, list)
	return settings, hosts, nil
}

// add appends a setting to a list that has each key only once.
func add(settings []record.TuneSetting, s record.TuneSetting) []record.TuneSetting {
	if slices.ContainsFunc(settings, func(t record.TuneSetting) bool { return t.Key == s.Key }) {
		return settings
	}
	return append(settings, s)
}

// settingsOf returns the settings that a level makes.
func settingsOf(level study.Level) (settings []record.TuneSetting) {
	for _, s := range level.Settings {
		for _, one := range s.Sysctl {
			settings = add(settings, record.TuneSetting{Key: one.Key, Value: one.Value})
		}
		for _, c := range s.Changes() {
			if nic := c.Setting.NIC; nic != nil {
				settings = add(settings, record.TuneSetting{Key: c.Name, Value: nic.Options()[0].Value})
			} else if cpu := c.Setting.CPU; cpu != nil {
				settings = add(settings, record.TuneSetting{Key: c.Name, Value: cpu.Governor})
			}
		}
	}
	if w := level.Workload; w != nil && w.CongestionControl != "" {
		settings = add(settings, record.TuneSetting{Key: setting.CongestionControl, Value: w.CongestionControl})
	}
	return settings
}

// amend sets Corrected and Added of settings of runs of which linerate corrected the list, or added to it.
func amend(settings []record.TuneSetting, list record.Factor) {
	for _, a := range list.Amended {
		for i := range settings {
			if settings[i].Key == a.Key {
				settings[i].Corrected, settings[i].Added = a.Was, a.Why
			}
		}
	}
}

// priorIn returns the prior value of a setting on each host, from the first trial that made it.
// Settings of the study's base are made before.
func priorIn(trials []record.Trial, key string) map[string]string {
	for _, t := range trials {
		prior := map[string]string{}
		for _, a := range t.Settings {
			// A governor is that of each policy: "policy0 governor".
			if key == a.What || key == a.Kind+" "+a.What || key == setting.CPUGovernor && a.Kind == "cpu" {
				prior[a.Host] = a.Prior
			}
		}
		if len(prior) > 0 {
			return prior
		}
	}
	return nil
}
