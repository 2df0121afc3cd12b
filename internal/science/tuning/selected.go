package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// Select returns the lines of files that are worth trying on hosts of a topology, and
// every setting, with why it is not tried. found is what is known of the files.
func Select(files []settingfile.File, found *record.Lint, t *topology.Topology, hosts []string) (lines []settingfile.Line, all []record.TuneSetting) {
	winning := settingfile.Winning(files)
	for i, s := range found.Settings {
		made := record.TuneSetting{Key: s.Key, Value: s.Value, File: s.File, Line: s.Line, Why: useless(files, found, t, hosts, s)}
		if made.Why != "" {
			made.Verdict = record.NotTried
		} else {
			lines = append(lines, winning[i])
		}
		all = append(all, made)
	}
	return lines, all
}

// useless is why a setting is not tried; empty: it is.
func useless(files []settingfile.File, found *record.Lint, t *topology.Topology, hosts []string, s record.LintSetting) string {
	for _, f := range files {
		if f.Name == s.File && f.System != settingfile.Linux {
			return "it is for " + settingfile.SystemNames[f.System] + ", and hosts are changed on Linux only"
		}
	}
	// What this machine's kernel does not have, the hosts' may: they are asked.
	for _, f := range found.Findings {
		if f.File == s.File && f.Line == s.Line && (f.ID == "refused" && f.Severity == record.LintError || f.ID == "not-network") {
			return f.Says
		}
	}
	if name := setting.InterfaceOf(s.Key); name != "" {
		for _, host := range hosts {
			if h, _ := t.Host(host); !slices.ContainsFunc(h.Interfaces, func(i topology.Interface) bool { return i.Name == name }) {
				return fmt.Sprintf("%s has no interface %s", host, name)
			}
		}
	}
	if s.Key == "net.ipv4.tcp_congestion_control" {
		return "flows choose their congestion control themselves: compare them in a study with a factor of congestion_control"
	}
	return ""
}

// Worthwhile reports whether a line is worth trials after hosts have been asked to
// apply it. It notes in the setting what they had before (applied) and, where it is
// not, why: a host refused it ("host: reason"), or it would change nothing.
// searched: other values of the line are tried as well.
func Worthwhile(s *record.TuneSetting, l settingfile.Line, applied []record.Applied, refused []string, searched bool) bool {
	changes := false
	for _, a := range applied {
		if s.Prior == nil {
			s.Prior = map[string]string{}
		}
		s.Prior[a.Host] = a.Prior
		changes = changes || a.Prior != a.New
	}
	switch {
	case len(refused) > 0:
		s.Why = strings.Replace(refused[0], "sysctl "+l.Key+": ", "", 1)
	case searched:
	case !changes:
		s.Why = "every host has that value already"
	case l.Bound != "" && beyond(l, s.Prior):
		s.Why = "tuned sets it only where that makes it " + map[string]string{">": "larger", "<": "smaller"}[l.Bound]
	}
	if s.Why != "" {
		s.Verdict = record.NotTried
	}
	return s.Why == ""
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

// List is the list that a run tried, and on which hosts. It is an error where the run
// has no factor that takes a list apart.
func List(made *record.Run) (settings []record.TuneSetting, hosts []string, err error) {
	tried, err := study.Parse(made.Study, []byte(made.StudyFile), made.Design.Set...)
	if err != nil {
		return nil, nil, fmt.Errorf("the study of run %s cannot be read any more: %w", made.ID, err)
	}
	list := factor(made)
	i := slices.IndexFunc(tried.Factors, func(f study.Factor) bool { return f.Name == list.Name })
	j := -1
	if i >= 0 {
		j = slices.IndexFunc(tried.Factors[i].Levels, func(l study.Level) bool { return l.Name == cmp.Or(list.Ablate, settingfile.TheList) })
	}
	if j < 0 {
		return nil, nil, fmt.Errorf("run %s takes no list apart: expected a factor with ablate", made.ID)
	}
	add := func(s record.TuneSetting) {
		if !slices.ContainsFunc(settings, func(t record.TuneSetting) bool { return t.Key == s.Key }) {
			settings = append(settings, s)
		}
	}
	for _, s := range tried.Factors[i].Levels[j].Settings {
		if !slices.Contains(hosts, s.Host) {
			hosts = append(hosts, s.Host)
		}
		for _, one := range s.Sysctl {
			add(record.TuneSetting{Key: one.Key, Value: one.Value})
		}
	}
	for _, s := range Settings(made) { // other kinds of changes
		add(s)
	}
	return settings, hosts, nil
}
