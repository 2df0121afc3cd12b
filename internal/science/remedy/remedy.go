// Package remedy collects what a run recommends to change, host by host: the settings of its
// recommended treatment that the baseline does not make, those of a list that tune kept, or those
// of a finding. Package hostconfig writes them down.
package remedy

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// Fix describes what to change.
type Fix struct {
	// Name has the names of the recommended levels, or the ID of the finding.
	Name  string
	Hosts []hostconfig.Host
	// Proof is the run that tried the settings by themselves, if tune kept them of a list; empty:
	// the fix does not come from tune.
	Proof string
	// Lab reports whether the names of interfaces and the addresses belong to a lab.
	Lab bool
	// Unmapped are the names for which Replace has no replacement.
	Unmapped []Name
	// Undo lists settings of the baseline that the recommended treatment does not make.
	Undo []string
	// Programs are options that the treatment gives its flows. No setting of a host makes them.
	Programs []string
	// Advice has the other steps of a finding's fix: commands that are run once, and what no
	// setting of a host can do.
	Advice []string
	// Flushes are run once, after the settings are made.
	Flushes []Flush
	// Defaults lists those of Programs that the settings also make the default of the sending
	// hosts.
	Defaults []string
}

// ErrNone is returned if a run recommends nothing.
var ErrNone = errors.New("no recommendation")

// ErrNoSetting is the ErrNone of a run that has ended and shows no setting that improves on what was
// tried.
var ErrNoSetting = fmt.Errorf("%w", ErrNone)

// Recommended returns the changes of the run's recommended treatment or, for a run of tune that kept
// settings, these settings. It returns an error that wraps ErrNone, with the reason, if there is no
// such treatment or the run has not ended.
func Recommended(run *record.Run) (*Fix, error) {
	if run.Status == record.StatusRunning {
		return nil, fmt.Errorf("%w: %s: wait for its end", ErrNone, BeingMade(run))
	}
	if unjudged := stats.Unjudged(run); unjudged != nil && run.Proven == nil {
		return nil, fmt.Errorf("%w: run %s %s", ErrNone, run.ID, unjudged.Text())
	}
	if run.Status == "interrupted" && run.Study != record.MeasureStudy {
		return nil, fmt.Errorf("%w: run %s ended early, after %s; continue with: linerate run --resume %[2]s", ErrNone,
			run.ID, unit.Plural(len(run.Trials), "trial"))
	}
	i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return t.Best })
	if i < 0 && run.Study == record.MeasureStudy {
		return nil,
			fmt.Errorf(
				"%w: a measurement compares no settings, as studies do (linerate new hosts writes one); findings "+
					"of run %s: %s",
				ErrNoSetting, run.ID, findings(run))
	}
	if look := stats.Look(run.Conclusion); i < 0 && run.Proven == nil && look != "" {
		return nil, fmt.Errorf("%w: run %s is %s; continue it with: %s", ErrNone, run.ID, look, stats.Continue(run))
	}
	if i < 0 && run.Proven == nil {
		return nil,
			fmt.Errorf("%w: nothing that run %s tried is shown to improve on the baseline without a cost elsewhere",
				ErrNoSetting, run.ID)
	}
	s, err := study.Parse(run.Study, []byte(run.StudyFile), run.Design.Set...)
	if err != nil {
		return nil, fmt.Errorf("the study of run %s can no longer be read: %w", run.ID, err)
	}
	fix := &Fix{Lab: lab(&run.Topology)}
	if run.Proven != nil {
		return fix.proven(run, s)
	}
	best := run.Treatments[i]
	var names []string
	var changes []setting.Setting
	for _, f := range s.Factors {
		if f.Role == "condition" || best.Levels[f.Name] == f.Baseline {
			continue
		}
		level, baseline := levelOf(f, best.Levels[f.Name]), levelOf(f, f.Baseline)
		names = append(names, level.Name)
		changes = append(changes, without(level.Settings, baseline.Settings)...)
		for _, one := range without(baseline.Settings, level.Settings) {
			fix.Undo = append(fix.Undo, one.Lines()...)
		}
		if level.Workload != nil {
			changes = append(changes, fix.options(s, &best, level.Workload.Spec)...)
		}
	}
	fix.Name = strings.Join(names, " + ")
	if fix, err = fix.with(run, changes); err == nil {
		fix.Flushes = flushes(run, changes)
	}
	return fix, err
}

// BeingMade describes the progress of a run whose trials are being made.
func BeingMade(run *record.Run) string {
	of := ""
	if planned := study.Planned(run); planned > 0 {
		of = fmt.Sprintf(" of %d", planned)
	}
	return fmt.Sprintf("run %s is still being made (%d%s trials)", run.ID, len(run.Trials), of)
}

// findings returns the names of a run's findings, or "none".
func findings(run *record.Run) string {
	var ids []string
	for _, f := range run.Findings {
		if !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	if ids == nil {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// answersARP lists the parameters that decide for which addresses an interface answers ARP
// requests, and from which it sends them (ip-sysctl.rst).
var answersARP = []string{"arp_ignore", "arp_announce", "arp_filter"}

// flushes returns the flushes of what peers have learned from ARP answers that the settings now
// prevent: a setting removes no entry of another host's neighbour table.
func flushes(run *record.Run, changes []setting.Setting) (list []Flush) {
	for _, s := range changes {
		if !slices.ContainsFunc(s.Sysctl, func(one setting.Sysctl) bool {
			return slices.Contains(answersARP, one.Key[strings.LastIndex(one.Key, ".")+1:])
		}) {
			continue
		}
		for _, own := range host(&run.Topology, s.Host).Interfaces {
			for _, p := range own.Prefixes {
				for _, peer := range run.Topology.Hosts {
					for _, port := range host(&run.Topology, peer.Name).Interfaces {
						if peer.Name == s.Host || !p.Addr().Is4() ||
							!slices.ContainsFunc(port.Prefixes, func(o netip.Prefix) bool {
								return o.Masked() == p.Masked()
							}) {
							continue
						}
						f := Flush{peer.Name, record.Flush{To: p.Masked(), Interface: port.Name}}
						if !slices.Contains(list, f) {
							list = append(list, f)
						}
					}
				}
			}
		}
	}
	return list
}

// proven fills in the settings that tune kept of a run's list. They take precedence over what the
// run itself recommends, which is the whole list: it gains at least as much.
func (fix *Fix) proven(run *record.Run, s *study.Study) (*Fix, error) {
	keys := run.Proven.Settings
	for _, f := range s.Factors {
		for _, level := range f.Levels {
			var changes []setting.Setting
			found := map[string]bool{}
			for _, one := range single(level.Settings) {
				if slices.Contains(keys, one.Name) {
					changes, found[one.Name] = append(changes, one.Setting), true
				}
			}
			control := slices.Contains(keys, setting.CongestionControl) && level.Workload != nil &&
				level.Workload.CongestionControl != ""
			if control {
				found[setting.CongestionControl] = true
			}
			i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool {
				return t.Levels[f.Name] == level.Name
			})
			if len(found) < len(keys) || i < 0 {
				continue
			}
			if control {
				changes = append(changes, fix.options(s, &run.Treatments[i],
					flow.Spec{CongestionControl: level.Workload.CongestionControl})...)
			}
			fix.Proof = run.Proven.Run
			fix.Name = fmt.Sprintf("%s, proven by run %s", run.Proven.Text(), fix.Proof)
			if open := run.Proven.Open; len(open) > 0 {
				fix.Name += fmt.Sprintf("; not shown to be needed: %s", strings.Join(open, ", "))
			}
			return fix.with(run, changes)
		}
	}
	return nil, fmt.Errorf("run %s tried no level with all of %s, which were kept", run.ID, strings.Join(keys, ", "))
}

// OfFindings returns what the run's findings of this name change together; nil if it has none. If
// the baseline, the network as it is, has such findings, only those count. Those of other
// treatments may come from what these treatments changed.
func OfFindings(run *record.Run, id string) (*Fix, error) {
	var found, ofBaseline []record.Finding
	for _, f := range run.Findings {
		if f.ID != id {
			continue
		}
		found = append(found, f)
		if len(f.Treatments) == 0 || slices.ContainsFunc(run.Treatments, func(t record.Treatment) bool {
			return t.Baseline && slices.Contains(f.Treatments, t.Name)
		}) {
			ofBaseline = append(ofBaseline, f)
		}
	}
	if len(ofBaseline) > 0 {
		found = ofBaseline
	}
	var made *Fix
	for _, f := range found {
		fix, err := OfFinding(run, f)
		if err != nil {
			return nil, err
		}
		if made == nil {
			made = fix
		} else {
			made.Join(fix)
		}
	}
	return made, nil
}

// OfFinding returns what a finding of the run changes. The fix has no hosts if no setting of a host
// removes the cause.
func OfFinding(run *record.Run, f record.Finding) (*Fix, error) {
	fix := &Fix{Name: f.ID, Lab: lab(&run.Topology)}
	fix.Advice, fix.Flushes = apart(f)
	return fix.with(run, f.Changes())
}

// Advice returns the lines of a finding's fix that are neither its settings nor flushes of neighbour
// tables, which are done before each trial.
func Advice(f record.Finding) []string {
	lines, _ := apart(f)
	return lines
}

// apart separates the lines of a finding's fix into advice and flushes. The finding must have its
// texts.
func apart(f record.Finding) (advice []string, flushed []Flush) {
	if f.IsData() {
		for _, s := range f.Steps {
			if s.Flush != nil {
				flushed = append(flushed, Flush{s.Host, *s.Flush})
			}
		}
		return slices.Clone(f.Advice), flushed
	}
	return besides(slices.Clone(f.Fix), f.Settings), nil
}

// besides returns the lines of a fix that are not commands of its settings.
func besides(lines []string, settings []setting.Setting) []string {
	for _, s := range settings {
		for _, command := range hostconfig.Commands([]setting.Setting{s}) {
			lines = slices.DeleteFunc(lines, func(line string) bool {
				return line == command || line == "on "+s.Host+": "+command
			})
		}
	}
	return lines
}

// Join adds the changes of another fix, for a finding with the same ID.
func (fix *Fix) Join(other *Fix) {
	for _, h := range other.Hosts {
		i := slices.IndexFunc(fix.Hosts, func(o hostconfig.Host) bool { return o.Name == h.Name })
		if i < 0 {
			fix.Hosts = append(fix.Hosts, h)
			continue
		}
		for _, s := range h.Settings {
			if !slices.ContainsFunc(fix.Hosts[i].Settings, func(o setting.Setting) bool {
				return reflect.DeepEqual(o, s)
			}) {
				fix.Hosts[i].Settings = append(fix.Hosts[i].Settings, s)
			}
		}
	}
	for _, line := range other.Advice {
		if !slices.Contains(fix.Advice, line) {
			fix.Advice = append(fix.Advice, line)
		}
	}
	for _, f := range other.Flushes {
		if !slices.Contains(fix.Flushes, f) {
			fix.Flushes = append(fix.Flushes, f)
		}
	}
}

// lab reports whether linerate created the hosts.
func lab(t *topology.Topology) bool {
	return !slices.ContainsFunc(t.Hosts, func(h topology.Host) bool { return len(h.Via) > 0 })
}

func levelOf(f study.Factor, name string) study.Level {
	for _, l := range f.Levels {
		if l.Name == name {
			return l
		}
	}
	return study.Level{}
}

// without returns the settings that the other list does not have. Each sysctl counts as a setting
// of its own.
func without(list, other []setting.Setting) (rest []setting.Setting) {
	there := single(other)
	for _, c := range single(list) {
		if !slices.ContainsFunc(there, func(o setting.Change) bool { return reflect.DeepEqual(c, o) }) {
			rest = append(rest, c.Setting)
		}
	}
	return rest
}

func single(list []setting.Setting) (changes []setting.Change) {
	return lists.Flat(list, setting.Setting.Changes)
}

// options records a level's options of flows in fix.Programs, and returns the settings that make
// them the default of the hosts that send.
func (fix *Fix) options(s *study.Study, best *record.Treatment, spec flow.Spec) (defaults []setting.Setting) {
	for _, o := range flow.Options {
		if o.Wanted(&spec) {
			fix.Programs = append(fix.Programs, o.Key+": "+o.Text(&spec))
		}
	}
	if spec.CongestionControl == "" {
		return nil
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		return nil
	}
	var hosts []string
	for _, t := range plan.Treatments {
		for _, f := range t.Flows {
			if t.Name == best.Name && !slices.Contains(hosts, f.Sender()) {
				hosts = append(hosts, f.Sender())
			}
		}
	}
	slices.Sort(hosts)
	for _, h := range hosts {
		defaults = append(defaults,
			setting.Setting{Host: h,
				Sysctl: []setting.Sysctl{{Key: "net.ipv4.tcp_congestion_control", Value: spec.CongestionControl}}})
	}
	if len(hosts) > 0 {
		fix.Defaults = append(fix.Defaults, "congestion_control")
	}
	return defaults
}

// with assigns changes to their hosts and resolves references to other hosts.
func (fix *Fix) with(run *record.Run, changes []setting.Setting) (*Fix, error) {
	t := &run.Topology
	changes, err := t.Resolve(changes, func(e topology.End) (string, error) { return mac(run, e) })
	if err != nil {
		return nil, err
	}
	for _, s := range changes {
		i := slices.IndexFunc(fix.Hosts, func(h hostconfig.Host) bool { return h.Name == s.Host })
		if i < 0 {
			i, fix.Hosts = len(fix.Hosts), append(fix.Hosts, host(t, s.Host))
		}
		if h := &fix.Hosts[i]; !slices.ContainsFunc(h.Settings, func(o setting.Setting) bool {
			return reflect.DeepEqual(o, s)
		}) {
			h.Settings = append(h.Settings, s)
		}
	}
	for i := range fix.Hosts {
		if err := fix.Hosts[i].Check(); err != nil {
			return nil, fmt.Errorf("run %s: %w", run.ID, err)
		}
	}
	return fix, nil
}

func host(t *topology.Topology, name string) hostconfig.Host {
	made := hostconfig.Host{Name: name}
	if h, ok := t.Host(name); ok {
		for _, p := range h.Interfaces {
			prefixes := lists.Map(p.Addresses, topology.Address.Prefix)
			made.Interfaces = append(made.Interfaces, hostconfig.Interface{Name: p.Name, Prefixes: prefixes})
		}
	}
	return made
}

// mac returns the MAC address of an interface. In a lab it follows from the topology; that of a
// real host is the one that a trial read.
func mac(run *record.Run, e topology.End) (string, error) {
	if h, _ := run.Topology.Host(e.Node); h != nil && len(h.Via) == 0 {
		return run.Topology.MAC(e), nil
	}
	for _, trial := range run.Trials {
		for _, h := range trial.Hosts {
			for _, i := range h.Snapshot.Interfaces {
				if h.Host == e.Node && i.Interface == e.Interface && i.MAC != "" {
					return i.MAC, nil
				}
			}
		}
	}
	return "", fmt.Errorf("the MAC address of %s is not known: no trial of run %s recorded it", e, run.ID)
}
