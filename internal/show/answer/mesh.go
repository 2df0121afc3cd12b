package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// mostMeshStatements is the most statements about a mesh, and fewNamed how many hosts or pairs one names.
const mostMeshStatements, fewNamed = 8, 3

// Mesh returns the answer of a measurement between many hosts.
func Mesh(m *record.Mesh) (a Answer) {
	w := meshWords{m, m.Conclusion, m.Metric != "" && m.Metric != metric.Goodput.Name}
	if c := m.Conclusion; c == nil || c.Pairs == 0 {
		a.Headline = "No pair of hosts was measured."
	} else {
		a.Headline = words.FullStop(w.headline())
		a.Statements = append(w.suspects(), w.common()...)
		a.Statements = append(a.Statements, w.open()...)
		a.Caveats = w.failures()
	}
	a.Caveats = append(a.Caveats, w.lost()...)
	a.Statements = a.Statements[:min(len(a.Statements), max(1, mostMeshStatements-len(a.Caveats)))]
	for _, list := range [][]string{a.Statements, a.Caveats} {
		for i, text := range list {
			list[i] = words.FullStop(text)
		}
	}
	return a
}

type meshWords struct {
	m       *record.Mesh
	c       *record.MeshConclusion
	latency bool
}

func (w meshWords) value(v float64) string {
	if w.latency {
		return number.Microseconds(v)
	}
	return number.LinkRate(v)
}

func (w meshWords) headline() string {
	c := w.c
	all := w.reach()
	if c.Pairs == c.Failed {
		return fmt.Sprintf("None of %s reached the other host", words.Count(c.Pairs, "pair"))
	}
	if len(c.Suspects) > 0 {
		first := c.Suspects[0]
		says := w.suspect(first)
		more := ""
		if n := len(c.Suspects) - 1; n > 0 {
			more = fmt.Sprintf(", and %d more %s", n, words.Verb(n, "differs", "differ"))
		}
		return fit(all+"; "+says+w.why(first)+more, all+"; "+says+more)
	}
	switch c.Untold {
	case record.MeshFewHostsUntold:
		return "Of two hosts it cannot be told which one is slow: " + w.typical()
	case record.MeshUnlikeUntold:
		return "The hosts differ too much to say which are slow: " + w.typical()
	}
	if c.TypicalHosts < c.Hosts && c.Untold == "" {
		return all + "; no host, rack or pair differs by more than chance explains"
	}
	return all
}

// typical is what most pairs have.
func (w meshWords) typical() string {
	return "the median of " + words.Count(w.c.Pairs, "pair") + " is " + w.value(w.c.Typical)
}

// reach says how many hosts are like most: "497 of 500 hosts reach 9.41 Gbit/s".
func (w meshWords) reach() string {
	c := w.c
	hosts := fmt.Sprintf("%d of %d hosts", c.TypicalHosts, c.Hosts)
	if c.TypicalHosts == c.Hosts {
		hosts = fmt.Sprintf("all %d hosts", c.Hosts)
	}
	switch {
	case len(c.Limits) > 1 && !w.latency:
		return hosts + " reach what is typical of their interfaces"
	case w.latency:
		return hosts + " have the typical latency of " + w.value(c.Typical)
	}
	return hosts + " reach " + w.value(c.Typical)
}

// suspect says what a suspect has: "h117 receives 4.7 Gbit/s from its peers".
func (w meshWords) suspect(s record.MeshSuspect) string {
	subject, peers := subjectOf(s)
	switch {
	case s.Kind == record.MeshLink:
		return wording.MeshLink(s)
	case s.Value == 0:
		return subject + " nothing" + peers
	case w.latency:
		return requestsOf(s) + " take " + w.value(s.Value)
	}
	if sends, receives := w.directions(s); sends > 0 {
		return s.Host + " sends " + w.value(sends) + " and receives " + w.value(receives)
	}
	return subject + " " + w.value(s.Value) + peers
}

// directions returns what a host sends and receives that is slow in both directions, if that differs: what is slow in
// one of them holds back the acknowledgements of the other. 0: it does not, or it is not known.
func (w meshWords) directions(s record.MeshSuspect) (sends, receives float64) {
	for _, e := range w.c.Effects {
		if least, most := min(e.Sends, e.Receives), max(e.Sends, e.Receives); s.Kind == record.MeshHost &&
			e.Host == s.Host && least > 0 && least < 0.8*most {
			return e.Sends * w.c.Typical, e.Receives * w.c.Typical
		}
	}
	return 0, 0
}

// subjectOf names a suspect with its verb, and its peers if it is a host.
func subjectOf(s record.MeshSuspect) (subject, peers string) {
	switch s.Kind {
	case record.MeshSends:
		return s.Host + " sends", " to its peers"
	case record.MeshReceives:
		return s.Host + " receives", " from its peers"
	case record.MeshHost:
		return s.Host + " sends and receives", ""
	case record.MeshUplink:
		if s.From == "" {
			return "hosts of rack " + s.To + " receive", " from other racks"
		}
		return "hosts of rack " + s.From + " send", " to other racks"
	case record.MeshRacks:
		return "hosts of rack " + s.From + " send", " to rack " + s.To
	}
	return s.From + " sends", " to " + s.To
}

// requestsOf names what takes long.
func requestsOf(s record.MeshSuspect) string {
	switch s.Kind {
	case record.MeshSends:
		return "requests from " + s.Host
	case record.MeshReceives:
		return "requests to " + s.Host
	case record.MeshHost:
		return "requests from and to " + s.Host
	case record.MeshUplink:
		if s.From == "" {
			return "requests from other racks to rack " + s.To
		}
		return "requests from rack " + s.From + " to other racks"
	case record.MeshRacks:
		return "requests from rack " + s.From + " to rack " + s.To
	}
	return "requests from " + s.From + " to " + s.To
}

// why is the first cause that the hosts of a suspect show or, without one, the limit that it has alone.
func (w meshWords) why(s record.MeshSuspect) string {
	if len(s.Findings) > 0 {
		f := wording.Worded(s.Findings[0], true)
		if f.Summary == "" {
			return ": " + string(f.ID)
		}
		return ": " + strings.TrimSuffix(f.Summary, ".") + " (" + string(f.ID) + ")"
	}
	if s.Limit > 0 && s.Limit < 0.95*w.c.TypicalLimit && s.Value > 0.8*s.Limit {
		return ", whose limit is " + w.value(s.Limit) + " and that of most " + w.value(w.c.TypicalLimit)
	}
	return ""
}

// suspects has a statement about each suspect but the first, which the headline has, and about what
// further rounds say.
func (w meshWords) suspects() (list []string) {
	for i, s := range w.c.Suspects {
		if i > 0 && i <= fewNamed {
			list = append(list, words.Sentence(w.suspect(s)+w.why(s), s.Host, s.From))
		}
	}
	if more := len(w.c.Suspects) - 1 - fewNamed; more > 0 {
		list = append(list, fmt.Sprintf("%d more %s from the others", more, words.Verb(more, "differs", "differ")))
	}
	var not []string
	confirmed := 0
	for _, s := range w.c.Suspects {
		if s.Confirmed {
			confirmed++
		} else if s.Again != nil {
			subject, peers := subjectOf(s)
			not = append(not, subject+peers)
		}
	}
	switch {
	case confirmed > 0 && confirmed == len(w.c.Suspects):
		list = append(list, "Further rounds confirm it")
	case confirmed > 0:
		list = append(list, fmt.Sprintf("Further rounds confirm %d of them", confirmed))
	}
	if len(not) > 0 {
		list = append(list, "Further rounds do not show it: "+words.FirstFew(not, "and"))
	}
	return list
}

// common says what all pairs have in common: less than their limit, and what chance explains.
func (w meshWords) common() (list []string) {
	c := w.c
	if share := c.Typical / c.TypicalLimit; c.TypicalLimit > 0 && !w.latency && share < 0.8 && len(c.Limits) < 2 {
		list = append(list, fmt.Sprintf("The median of all pairs is %s of their limit, %s: what holds them back "+
			"is not one host", number.Percent(share), w.value(c.TypicalLimit)))
	}
	if len(c.Limits) > 1 && !w.latency {
		var each []string
		for _, l := range c.Limits[:min(len(c.Limits), fewNamed)] {
			limit := "an unknown limit"
			if l.Limit > 0 {
				limit = "a limit of " + w.value(l.Limit)
			}
			each = append(each, fmt.Sprintf("%s with %s have %s", words.Count(l.Pairs, "pair"), limit,
				w.value(l.Typical)))
		}
		list = append(list, "By their limits "+words.List(each))
	}
	if h := c.Chance; h != nil && len(h.Shares) > 0 {
		shares := words.FirstFew(lists.Map(h.Shares, fraction), "or")
		list = append(list, fmt.Sprintf("%s of the pairs between racks have %s of the others' rate, as flows "+
			"have that share links by chance", number.Percent(h.Pairs), shares))
	}
	return list
}

// fraction spells a ratio of small numbers.
func fraction(r float64) string {
	for of := 2; of <= 4; of++ {
		for n := 1; n < of; n++ {
			if d := r - float64(n)/float64(of); -1e-6 < d && d < 1e-6 {
				return fmt.Sprintf("%d/%d", n, of)
			}
		}
	}
	return number.Percent(r)
}

// open says what is not known yet, and what would tell.
func (w meshWords) open() (list []string) {
	c := w.c
	switch c.Untold {
	case record.MeshFewHostsUntold:
		list = append(list, "A third host would tell")
	case record.MeshFewPairsUntold:
		text := "Too few pairs were measured to tell a slow host from chance"
		if c.NeedRounds > 0 {
			text += fmt.Sprintf(": %d rounds with every host would tell", c.NeedRounds)
		}
		list = append(list, text)
	}
	var may []string
	for _, s := range c.Candidates {
		if s.Value > 0 {
			subject, peers := subjectOf(s)
			may = append(may, subject+peers)
		}
	}
	if len(may) > 0 {
		list = append(list, "Further rounds would tell whether these are slow: "+words.FirstFew(may, "and"))
	}
	return list
}

// failures names pairs that failed and that were not measured.
func (w meshWords) failures() (list []string) {
	c := w.c
	names := func(pairs [][2]string, all int) string {
		few := lists.Map(pairs[:min(len(pairs), fewNamed)], func(p [2]string) string { return p[0] + " → " + p[1] })
		if all > len(few) {
			return strings.Join(few, ", ") + ", …"
		}
		return words.List(few)
	}
	if c.Failed > 0 && c.Failed < c.Pairs {
		var failed [][2]string
		for _, p := range c.Worst {
			if p.Failed {
				failed = append(failed, [2]string{p.From, p.To})
			}
		}
		list = append(list, fmt.Sprintf("%s failed: %s", words.Count(c.Failed, "pair"), names(failed, c.Failed)))
	}
	if n := c.Wanted - c.Pairs; n > 0 {
		text := fmt.Sprintf("%s of %d %s not measured", words.Count(n, "pair"), c.Wanted, words.Verb(n, "was", "were"))
		if len(c.Unmeasured) > 0 {
			text += ": " + names(c.Unmeasured, n)
		}
		list = append(list, text)
	}
	return list
}

// lost names hosts that were not measured until the end.
func (w meshWords) lost() (list []string) {
	lost := slices.Clone(w.m.Lost)
	for _, l := range lost[:min(len(lost), fewNamed)] {
		list = append(list, fmt.Sprintf("%s was not measured from round %d on: %s", l.Host, l.Round,
			words.Shorten(l.Error, 100)))
	}
	if more := len(lost) - fewNamed; more > 0 {
		list = append(list, fmt.Sprintf("%s more %s lost", words.Count(more, "host"), words.Verb(more, "was", "were")))
	}
	return list
}
