package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
)

// differences lists everything besides goodput in which two runs differ, in the order of what
// explains most: study, network, settings, hosts. It also returns the hosts whose readings were
// compared, with what was compared of each.
func differences(from, to *record.Run) ([]record.Difference, []record.ComparedHost) {
	d := list{}
	d.add("study", from.Study, to.Study)
	d.options(from, to)
	d.values(from, to)
	d.add("judged by", judgedBy(from), judgedBy(to))
	if from.Study == record.MeasureStudy && to.Study == record.MeasureStudy {
		d.path(&from.Topology, &to.Topology)
	} else {
		d.topology(&from.Topology, &to.Topology)
	}
	d.levels(from, to)
	d.add("values set", strings.Join(from.Design.Set, " "), strings.Join(to.Design.Set, " "))
	hosts := d.recorded(from, to)
	d.hosts(from.Environment.Hosts, to.Environment.Hosts)
	d.add("mode", from.Environment.Mode, to.Environment.Mode)
	d.add("linerate", from.Environment.Version, to.Environment.Version)
	return d, hosts
}

func judgedBy(run *record.Run) string {
	names := lists.Map(metric.Of(run), func(r metric.Metric) string { return r.Label })
	return strings.Join(names, ", ")
}

type list []record.Difference

func (l *list) add(what, from, to string) {
	if from != to {
		*l = append(*l, record.Difference{What: what, From: from, To: to})
	}
}

// congestionControl names the difference in what the flows used, which need not be the hosts'
// default.
const congestionControl = "congestion control of flows"

// hosts compares what the runs recorded of the hosts. A difference that all hosts share, as in a
// lab, is listed once.
func (l *list) hosts(from, to []netstate.HostEnvironment) {
	facts := []struct {
		name string
		of   func(netstate.HostEnvironment) string
	}{
		{"operating system", func(h netstate.HostEnvironment) string { return h.OS }},
		{"kernel", func(h netstate.HostEnvironment) string { return h.Kernel }},
		{"architecture", func(h netstate.HostEnvironment) string { return h.Arch }},
		{"CPUs", func(h netstate.HostEnvironment) string { return fmt.Sprint(h.CPUs) }},
		{congestionControl, func(h netstate.HostEnvironment) string { return h.CongestionControl }},
		{"missing", func(h netstate.HostEnvironment) string { return strings.Join(h.Missing, "; ") }},
	}
	for _, fact := range facts {
		var each list
		for _, a := range from {
			if b := named(to, a.Host); b >= 0 && (fact.name != congestionControl || a.CongestionControl != "" &&
				to[b].CongestionControl != "") {
				each.add(fact.name+" of "+a.Host, fact.of(a), fact.of(to[b]))
			}
		}
		shared := len(each) > 1 && len(each) == len(from) && len(from) == len(to)
		for _, d := range each {
			shared = shared && d.From == each[0].From && d.To == each[0].To
		}
		if shared {
			l.add(fact.name+" of every host", each[0].From, each[0].To)
		} else {
			*l = append(*l, each...)
		}
	}
}

func named(hosts []netstate.HostEnvironment, name string) int {
	return slices.IndexFunc(hosts, func(h netstate.HostEnvironment) bool { return h.Host == name })
}

// topology compares hosts, switches and links, matched by their names and ends.
func (l *list) topology(from, to *topology.Topology) {
	l.links(from, to)
	a, b := pieces(from), pieces(to)
	for _, piece := range a {
		other := slices.IndexFunc(b, func(p [2]string) bool { return p[0] == piece[0] })
		if other < 0 {
			l.add(piece[0], piece[1], "")
		} else {
			l.add(piece[0], piece[1], b[other][1])
		}
	}
	for _, piece := range b {
		if !slices.ContainsFunc(a, func(p [2]string) bool { return p[0] == piece[0] }) {
			l.add(piece[0], "", piece[1])
		}
	}
}

// path compares what two measurements know of the path between their hosts. What only one of them
// knows is not a difference: for example, the interfaces of an iperf3 server are unknown.
func (l *list) path(from, to *topology.Topology) {
	if len(from.Links) > 0 && len(to.Links) > 0 {
		l.links(from, to)
	}
	names := func(h topology.Host) (text string) {
		list := lists.Map(h.Interfaces, func(i topology.Interface) string { return i.Name })
		return strings.Join(list, ", ")
	}
	for _, a := range from.Hosts {
		if b, ok := to.Host(a.Name); ok && len(a.Interfaces) > 0 && len(b.Interfaces) > 0 {
			l.add("interfaces of "+a.Name, names(a), names(*b))
		}
	}
}

// links compares the links. They are listed first, because the figures depend on their rates.
func (l *list) links(from, to *topology.Topology) {
	find := func(t *topology.Topology, like topology.Link) *topology.Link {
		i := slices.IndexFunc(t.Links, func(o topology.Link) bool { return o.From == like.From && o.To == like.To })
		if i < 0 {
			return nil
		}
		return &t.Links[i]
	}
	for _, a := range from.Links {
		name := "link " + a.From.String() + " – " + a.To.String()
		b := find(to, a)
		if b == nil {
			l.add(name, a.Towards(a.From).String(), "")
			continue
		}
		there := [2]string{a.Towards(a.From).String(), b.Towards(b.From).String()}
		back := [2]string{a.Towards(a.To).String(), b.Towards(b.To).String()}
		if there == back {
			l.add(name, there[0], there[1])
			continue
		}
		l.add(a.From.String()+" → "+a.To.String(), there[0], there[1])
		l.add(a.To.String()+" → "+a.From.String(), back[0], back[1])
	}
	for _, b := range to.Links {
		if find(from, b) == nil {
			l.add("link "+b.From.String()+" – "+b.To.String(), "", b.Towards(b.From).String())
		}
	}
}

// pieces lists a topology's hosts and switches, each as its name and its description.
func pieces(t *topology.Topology) [][2]string {
	var out [][2]string
	for _, h := range t.Hosts {
		out = append(out, [2]string{"host " + h.Name, describe(h, "name")})
	}
	for _, s := range t.Switches {
		out = append(out, [2]string{"switch " + s.Name, describe(s, "name")})
	}
	return out
}

// plain describes a value that has no properties.
const plain = "as it comes"

// describe returns a value's JSON without some keys and without quotes, such as "rate: 1gbit". The
// keys are in alphabetic order.
func describe(value any, without ...string) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err.Error()
	}
	for _, key := range without {
		delete(fields, key)
	}
	if text, err = json.Marshal(fields); err != nil {
		return err.Error()
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(string(text), "{"), "}")
	if inside == "" {
		return plain
	}
	return strings.NewReplacer(`"`, "", ":", ": ", ",", ", ").Replace(inside)
}

// levels compares the settings of levels that have the same name in both runs.
func (l *list) levels(from, to *record.Run) {
	for _, f := range from.Factors {
		for _, a := range f.Levels {
			if others, ok := settings(to, f.Name, a.Name); ok {
				l.add(fmt.Sprintf("settings of %s %q", f.Name, a.Name), strings.Join(a.SettingLines, "; "),
					strings.Join(others, "; "))
			}
		}
	}
}

// options compares those options of two measurements that determine their flows.
func (l *list) options(from, to *record.Run) {
	if from.Study != record.MeasureStudy || to.Study != record.MeasureStudy {
		return
	}
	a, b := optionsOf(from), optionsOf(to)
	for i, option := range a {
		l.add(option[0], option[1], b[i][1])
	}
}

// values compares the other options of two measurements, which do not change what the flows are.
func (l *list) values(from, to *record.Run) {
	if from.Study != record.MeasureStudy || to.Study != record.MeasureStudy {
		return
	}
	named, others := from.Design.Options, to.Design.Options
	if named == nil || others == nil { // of an older version: the records show these
		named, others = shown(from), shown(to)
	}
	all := maps.Clone(named)
	maps.Copy(all, others)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "congestion_control" && tookEffect(from) && tookEffect(to) {
			continue // hosts compares what the flows used, whether it was an option or the host's default
		}
		l.add(strings.ReplaceAll(name, "_", " "), cmp.Or(named[name], "default"), cmp.Or(others[name], "default"))
	}
}

// tookEffect reports whether a run recorded the congestion control that its flows used.
func tookEffect(run *record.Run) bool {
	return slices.ContainsFunc(run.Environment.Hosts, func(h netstate.HostEnvironment) bool {
		return h.CongestionControl != ""
	})
}

// shown returns the options of a measurement that its trials show, except those of optionsOf.
func shown(run *record.Run) map[string]string {
	out := map[string]string{}
	for _, t := range run.Trials {
		out["duration"] = unit.FormatSeconds(math.Round(cmp.Or(t.PlannedS, t.WindowS)*100) / 100)
		for _, f := range t.Flows {
			if f.RateCapBps > 0 {
				out["rate_cap"] = unit.FormatRate(f.RateCapBps)
			}
		}
	}
	return out
}

// optionsOf returns a measurement's options as its flows show them, each as name and value.
func optionsOf(run *record.Run) [4][2]string {
	m, latency := conclude.Measured(run), "no"
	if m.Latency {
		latency = "yes"
	}
	return [4][2]string{{"direction", m.Direction}, {"streams", strconv.Itoa(m.Streams)},
		{"protocol", strings.Join(m.Protocols, ", ")}, {"latency", latency}}
}
