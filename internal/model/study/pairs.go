package study

import (
	"fmt"
	"slices"
	"strconv"

	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/model/source"
)

// RoundFactor is the name of the factor whose levels are the rounds of pairs.
const RoundFactor = "round"

// allPairs is the pattern of pairs that is no pattern of plans without rounds.
const allPairs = "all"

// pairPatterns are the values of the key pairs.
var pairPatterns = []string{allPairs, string(mesh.Shifts), string(mesh.Pairs), string(mesh.Ring), string(mesh.Halves),
	string(mesh.Triage)}

// pairing replaces flows that name pairs of hosts by a flow for each pair, in the document: later steps know flows
// from one host to another only. With rounds, it adds a factor whose levels have the flows of a round each.
type pairing struct {
	doc    *source.Document
	report source.Report
	hosts  []string // of the topology
	seed   uint64
	named  bool // a flow names pairs
}

// group is a flow as written, with the copies that its ranges make.
type group struct {
	path   string // of the first copy
	items  []*source.Node
	rounds bool
}

// expandPairs replaces the flows of a document. It reports whether some name pairs.
func expandPairs(doc *source.Document, report source.Report) bool {
	p := pairing{doc: doc, report: report, seed: 1}
	if t, ok := doc.Root.Get("topology"); ok {
		if hosts, ok := t.Value.Get("hosts"); ok {
			p.hosts = lists.Map(hosts.Value.Entries, func(e source.Entry) string { return e.Key.Text })
		}
	}
	if d, ok := doc.Root.Get("design"); ok {
		if seed, ok := d.Value.Get("seed"); ok {
			if n, err := strconv.ParseUint(seed.Value.Text, 10, 64); err == nil {
				p.seed = n
			}
		}
	}
	if w, ok := doc.Root.Get("workload"); ok {
		if rounds, at := p.workload(w.Value, "workload", true); rounds != nil {
			p.addFactor(rounds, at)
		}
	}
	if factors, ok := doc.Root.Get("factors"); ok {
		for _, f := range factors.Value.Entries {
			levels, _ := f.Value.Get("levels")
			if f.Key.Text == RoundFactor || levels.Value == nil {
				continue
			}
			for _, l := range levels.Value.Entries {
				if w, ok := l.Value.Get("workload"); ok {
					p.workload(w.Value, "factors."+f.Key.Text+".levels."+l.Key.Text+".workload", false)
				}
			}
		}
	}
	return p.named
}

// workload replaces the flows of a workload. With rounds, it also returns the flows of each, and where the file says
// so.
func (p *pairing) workload(w *source.Node, path string, rounds bool) (list []*source.Node, at source.Position) {
	entry, ok := w.Get("flows")
	if !ok || entry.Value.Kind != source.List {
		return nil, at
	}
	flows := *entry.Value
	var groups []group
	for i, item := range flows.Items {
		last := len(groups) - 1
		if last >= 0 && groups[last].items[0].At == item.At {
			groups[last].items = append(groups[last].items, item)
			continue
		}
		groups = append(groups, group{path: fmt.Sprintf("%s.flows[%d]", path, i), items: []*source.Node{item}})
	}
	made := make([][][]*source.Node, len(groups)) // by group and round
	most := 0
	for k := range groups {
		g := &groups[k]
		if made[k], ok = p.flows(g); !ok {
			return nil, at
		}
		if !g.rounds {
			made[k] = [][]*source.Node{slices.Concat(made[k]...)}
			continue
		}
		if !rounds || most > 0 {
			p.report(g.path+".rounds", "rounds: one flow of the workload can have them, and none of a level")
			return nil, at
		}
		most = len(made[k])
		value, _ := g.items[0].Get("rounds")
		at = value.Key.At
	}
	for round := range max(1, most) {
		one := flows
		one.Items = nil
		for k, g := range groups {
			if !g.rounds {
				one.Items = append(one.Items, made[k][0]...)
			} else {
				one.Items = append(one.Items, made[k][round]...)
			}
		}
		list = append(list, &one)
	}
	*entry.Value = *list[0] // each round replaces it
	if most == 0 {
		return nil, at
	}
	return list, at
}

// flows returns the flows of a group, by round. False: there is a mistake, which has been reported.
func (p *pairing) flows(g *group) ([][]*source.Node, bool) {
	first := g.items[0]
	_, pairs := first.Get("pairs")
	_, among := first.Get("among")
	rounds, has := first.Get("rounds")
	if g.rounds = has && rounds.Value.Text == "true"; has && !g.rounds && rounds.Value.Text != "false" {
		p.report(g.path+".rounds", "rounds: expected true or false")
		return nil, false
	}
	several := false
	for _, key := range []string{"from", "to"} {
		e, ok := first.Get(key)
		several = several || ok && e.Value.Kind == source.List
		if pairs && ok {
			p.report(g.path+"."+key, "%s: pairs has the hosts, of those that among lists", key)
			return nil, false
		}
	}
	switch {
	case among && !pairs:
		p.report(g.path+".among", `among: the hosts of what? Add "pairs: all", or another pattern of pairs`)
		return nil, false
	case !pairs && !several && !g.rounds:
		return [][]*source.Node{p.others(g)}, true
	}
	plan, wanted, ok := p.wanted(g, pairs)
	if !ok {
		return nil, false
	}
	p.named = true
	list := plan.Rounds
	if list == nil {
		var err error
		if list, _, err = plan.Schedule(wanted); err != nil {
			p.report(g.path, "%v", err)
			return nil, false
		}
	}
	return lists.Map(list, func(round []mesh.Pair) []*source.Node {
		return lists.Map(round, func(pair mesh.Pair) *source.Node {
			return flowNode(first, plan.Hosts[pair[0]].Name, plan.Hosts[pair[1]].Name)
		})
	}), true
}

// others returns the copies of a flow without those from a host to itself. A flow that is one as written stays: it
// is a mistake.
func (p *pairing) others(g *group) []*source.Node {
	if len(g.items) == 1 {
		return g.items
	}
	return slices.DeleteFunc(slices.Clone(g.items), func(n *source.Node) bool {
		from, _ := n.Get("from")
		to, _ := n.Get("to")
		return from.Value != nil && to.Value != nil && from.Value.Kind == source.Scalar &&
			from.Value.Text == to.Value.Text
	})
}

// wanted returns a plan with the hosts of a group, and either its rounds or the pairs that are wanted.
func (p *pairing) wanted(g *group, pairs bool) (*mesh.Plan, []mesh.Pair, bool) {
	plan := &mesh.Plan{Pattern: mesh.Shifts, Seed: p.seed}
	places := map[string]int{}
	place := func(name string) int {
		at, known := places[name]
		if !known {
			at = len(plan.Hosts)
			places[name] = at
			plan.Hosts = append(plan.Hosts, mesh.Host{Name: name})
		}
		return at
	}
	if pairs {
		names := hostsOf(g.items, "among")
		if names == nil {
			names = p.hosts
		}
		for _, name := range names {
			place(name)
		}
		pattern, _ := g.items[0].Get("pairs")
		text := pattern.Value.Text
		if !slices.Contains(pairPatterns, text) {
			p.report(g.path+".pairs", "pairs: expected %s, not %q%s", source.Or(pairPatterns), text,
				source.DidYouMean(text, pairPatterns))
			return nil, nil, false
		}
		plan.Pattern = mesh.Pattern(text)
		if text == allPairs {
			plan.Pattern = mesh.Shifts
		}
		made, err := mesh.Make(mesh.Options{Hosts: plan.Hosts, Pattern: plan.Pattern, Seed: p.seed})
		if err != nil {
			p.report(g.path+".pairs", "pairs: %v", err)
			return nil, nil, false
		}
		return made, nil, true
	}
	var wanted []mesh.Pair
	seen := map[mesh.Pair]bool{}
	for _, item := range g.items {
		for _, from := range hostsOf([]*source.Node{item}, "from") {
			for _, to := range hostsOf([]*source.Node{item}, "to") {
				if pair := (mesh.Pair{place(from), place(to)}); from != to && !seen[pair] {
					seen[pair] = true
					wanted = append(wanted, pair)
				}
			}
		}
	}
	if len(wanted) == 0 {
		p.report(g.path, "from and to have no two different hosts")
		return nil, nil, false
	}
	return plan, wanted, true
}

// hostsOf returns the names that copies of a flow have under a key, as one text or a list.
func hostsOf(items []*source.Node, key string) (names []string) {
	for _, item := range items {
		e, ok := item.Get(key)
		if !ok {
			continue
		}
		for _, n := range append([]*source.Node{e.Value}, e.Value.Items...) {
			if n.Kind == source.Scalar && !slices.Contains(names, n.Text) {
				names = append(names, n.Text)
			}
		}
	}
	return names
}

// flowNode returns a flow with the hosts of a pair, where the file names the pairs.
func flowNode(of *source.Node, from, to string) *source.Node {
	made := *of
	made.Entries = nil
	at := map[string]source.Position{}
	for _, e := range of.Entries {
		switch e.Key.Text {
		case "pairs", "among", "rounds", "from", "to":
			at[e.Key.Text] = e.Value.At
		default:
			made.Entries = append(made.Entries, e)
		}
	}
	for _, end := range [][2]string{{"from", from}, {"to", to}} {
		where := at["pairs"]
		for _, key := range []string{"among", end[0]} {
			if named, ok := at[key]; ok {
				where = named
			}
		}
		name := &source.Node{Kind: source.Scalar, At: where, Text: end[1]}
		made.Entries = append(made.Entries, entry(end[0], name, where))
	}
	return &made
}

func entry(key string, value *source.Node, at source.Position) source.Entry {
	return source.Entry{Key: &source.Node{Kind: source.Scalar, At: at, Text: key}, Value: value}
}

// addFactor adds the factor of rounds to the document.
func (p *pairing) addFactor(rounds []*source.Node, at source.Position) {
	mapping := func(entries ...source.Entry) *source.Node {
		return &source.Node{Kind: source.Mapping, At: at, Entries: entries}
	}
	text := func(text string) *source.Node { return &source.Node{Kind: source.Scalar, At: at, Text: text} }
	levels := mapping()
	for k, flows := range rounds {
		levels.Entries = append(levels.Entries, entry(fmt.Sprintf("%s %d", RoundFactor, k+1),
			mapping(entry("workload", mapping(entry("flows", flows, at)), at)), at))
	}
	made := entry(RoundFactor, mapping(entry("role", text(roleCondition), at), entry("levels", levels, at)), at)
	factors, ok := p.doc.Root.Get("factors")
	if !ok || factors.Value.Kind != source.Mapping {
		p.doc.Root.Entries = append(p.doc.Root.Entries, entry("factors", mapping(made), at))
		return
	}
	if _, twice := factors.Value.Get(RoundFactor); twice {
		p.report("factors."+RoundFactor, "the rounds of pairs are a factor of the name %q already", RoundFactor)
		return
	}
	factors.Value.Entries = append(factors.Value.Entries, made)
}
