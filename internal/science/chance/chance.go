// Package chance computes the results that chance allows in a trial: the least and the most that the
// same flows carry, depending on the paths that they happen to get.
//
// The list of mechanisms has an entry for everything that leaves a flow's path open: the hash that
// places connections on equal-cost paths (RFC 2992; ip-sysctl.rst, fib_multipath_hash_policy), and
// the order of ARP packets, from which a peer learns one of several MAC addresses (arp_ignore,
// arp_announce). Other reasons to carry more or less are noise and not part of this package.
package chance

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/ecmp"
	"linerate/internal/science/limits"
)

// Negligible is the probability in one trial below which a placement is ignored. Flows count as
// filling all their paths if the probability that they leave one idle is smaller: 32 flows leave
// one of 4 links idle with a probability of 4·(3/4)^32 = 4e-4. The least that flows carry is
// likewise the rate that they miss only with this probability.
const Negligible = 1e-3

// heldBack is a share of the least that chance allows. If all trials of a treatment stay below it,
// something other than chance holds them back.
const heldBack = 0.9

// alike is the relative difference below which two amounts count as equal. It is smaller than the
// noise of any measurement.
const alike = 0.01

// Fill sets Trial.Chance for every trial of a run. It is nil where nothing is left to chance.
func Fill(run *record.Run) {
	known := map[string]bounds{} // by treatment and routes of the flows
	decides := map[string]bool{} // by treatment: whether chance decides some trial
	for i := range run.Trials {
		t := &run.Trials[i]
		t.Chance = of(t, t.Over(&run.Topology), known)
		decides[t.Treatment] = decides[t.Treatment] || t.Chance != nil && t.GoodputBps >= heldBack*t.Chance.LeastBps
	}
	for i := range run.Trials {
		switch t := &run.Trials[i]; {
		case !decides[t.Treatment]:
			t.Chance = nil
		case t.Chance != nil:
			t.Chance.LeastBps = min(t.Chance.LeastBps, t.GoodputBps)
		}
	}
}

// Span returns the range of results that chance allows a treatment's trials, widened to include
// every measured value; nil if nothing is left to chance.
func Span(trials []record.Trial) *record.Chance {
	var span *record.Chance
	for _, t := range trials {
		switch c := t.Chance; {
		case c == nil:
		case span == nil:
			one := *c
			span = &one
		default:
			span.LeastBps, span.MostBps = min(span.LeastBps, c.LeastBps), max(span.MostBps, c.MostBps)
		}
	}
	if span == nil {
		return nil
	}
	for _, t := range trials {
		span.LeastBps, span.MostBps = min(span.LeastBps, t.GoodputBps), max(span.MostBps, t.GoodputBps)
	}
	return span
}

// of returns what chance leaves to one trial; nil: nothing. known caches bounds by treatment and
// routes.
func of(t *record.Trial, over *topology.Topology, known map[string]bounds) *record.Chance {
	if !(t.LimitBps > 0) {
		return nil
	}
	s := newScene(t, over)
	var routes []route
	for i := range t.Flows {
		if flow.Of(t.Flows[i].Protocol).Transactional() {
			continue
		}
		r, ok := s.route(&t.Flows[i])
		if !ok {
			return nil
		}
		routes = append(routes, r)
	}
	by := what(routes)
	if by == "" {
		return nil
	}
	key := t.Treatment + fmt.Sprint(routes)
	b, computed := known[key]
	if !computed {
		b = boundsOf(over, routes)
		known[key] = b
	}
	// The measured value is not used here: a window may count more than its links carry in it,
	// because the receiver reads what came before.
	if !(b.intended > 0) || b.least > (1-alike)*b.most {
		return nil
	}
	scale := t.LimitBps / b.intended
	c := &record.Chance{LeastBps: scale * b.least, MostBps: max(scale*b.most, t.GoodputBps), By: by}
	if len(t.Events) > 0 && t.WindowS > 0 {
		// These are the paths until the first event. Theory does not say how much the event leaves
		// of it.
		c.LeastBps *= min(1, max(0, t.Events[0].BeganS/t.WindowS))
	}
	return c
}

// what describes what is left to chance, such as "8 flows over 2 equal-cost paths". Empty: nothing.
func what(routes []route) string {
	var order, texts []string
	flows, choices := map[string]int{}, map[string][]string{}
	for _, r := range routes {
		if r.by == "" {
			continue
		}
		if flows[r.by] == 0 {
			order = append(order, r.by)
		}
		flows[r.by]++
		choices[r.by] = append(choices[r.by], r.choices...)
	}
	for _, by := range order {
		slices.Sort(choices[by])
		texts = append(texts, fmt.Sprintf("%s over %d %s", unit.Plural(flows[by], "flow"),
			len(slices.Compact(choices[by])), by))
	}
	return strings.Join(texts, "; ")
}

// bounds are the rates of all flows together, in bit/s: the least and the most over the paths that
// the flows may take, and the rate over the paths that the topology intends. Zero: they are not
// known.
type bounds struct{ least, most, intended float64 }

func boundsOf(over *topology.Topology, routes []route) bounds {
	var intended, open, held []limits.Flow
	lost := slices.ContainsFunc(routes, func(r route) bool { return r.by != "" && !r.connected })
	for _, r := range routes {
		intended, open = append(intended, r.over(r.intended...)), append(open, r.over(r.paths...))
		// A flow that may take any of its paths is limited by the links of all of them: what then
		// fits can be carried whichever path each flow takes. If one flow did not connect by its
		// path, none need have connected.
		if r.connected && !(lost && r.by != "") {
			held = append(held, r.over(union(r.paths)))
		}
	}
	n := limits.Network{Topology: over}
	b := bounds{intended: n.Aggregate(intended).Bps, most: n.Aggregate(open).Bps}
	if !(b.intended > 0) || !(b.most > 0) {
		return bounds{}
	}
	b.least = min(b.most, n.Aggregate(held).Bps)
	if d, exact := placements(n, routes, b.most); exact && !lost {
		b.least = max(b.least, d.Quantile(Negligible))
	} else if allUsed(routes) {
		b.least = b.most
	}
	return b
}

// over returns a flow of this route that takes one of the given paths.
func (r route) over(paths ...path) limits.Flow {
	f := limits.Flow{Frame: r.frame, DeviceMTU: r.mtu, Cap: unit.BitRate(r.capBps)}
	for _, p := range paths {
		if f.Paths = append(f.Paths, p.ends); p.wraps != nil {
			f.Wraps = append(f.Wraps, p.wraps)
		}
	}
	return f
}

// union returns a path that crosses each link, and each shaper of a device, as often as the path
// that crosses it most.
func union(paths []path) (all path) {
	most := map[topology.End]int{}
	for _, p := range paths {
		crossed := map[topology.End]int{}
		more := func(at topology.End) bool {
			if crossed[at]++; crossed[at] <= most[at] {
				return false
			}
			most[at]++
			return true
		}
		for i := 0; i+1 < len(p.ends); i += 2 {
			var wrap topology.Wrap
			if p.wraps != nil {
				wrap = p.wraps[i/2]
				wrap.Shapers = slices.DeleteFunc(slices.Clone(wrap.Shapers), func(s topology.Shaper) bool {
					return !more(s.At)
				})
			}
			switch {
			case more(p.ends[i]):
				if all.ends = append(all.ends, p.ends[i], p.ends[i+1]); p.wraps != nil {
					all.wraps = append(all.wraps, wrap)
				}
			case len(wrap.Shapers) > 0: // of another device on the same link
				at := slices.IndexFunc(all.wraps, func(w topology.Wrap) bool { return w.From == p.ends[i] })
				all.wraps[at].Shapers = append(all.wraps[at].Shapers, wrap.Shapers...)
			}
		}
	}
	return all
}

// allUsed reports whether flows that each fill a link use all their paths, except with a negligible
// probability.
func allUsed(routes []route) bool {
	alike := map[string]int{}
	for _, r := range routes {
		if r.by != "" && (r.capBps > 0 || !r.connected || r.shares == nil) {
			return false
		}
		alike[fmt.Sprint(r.paths)]++
	}
	unused := 0.0
	for _, r := range routes {
		if r.by == "" {
			continue
		}
		n := float64(alike[fmt.Sprint(r.paths)])
		for _, share := range r.shares {
			unused += math.Pow(1-share, n) / n // each of the n has its part
		}
	}
	return unused < Negligible
}

// placements returns the distribution of the rate of all flows together, limited to most. It
// returns false if that is not known exactly. It is known if all flows have the same paths, and
// each link of these is on one path only or on all of them.
func placements(n limits.Network, routes []route, most float64) (ecmp.Distribution, bool) {
	first := routes[0]
	var kinds []ecmp.Kind
	for _, r := range routes {
		if r.by == "" || r.shares == nil || fmt.Sprint(r.paths) != fmt.Sprint(first.paths) {
			return nil, false
		}
		i := slices.IndexFunc(kinds, func(k ecmp.Kind) bool { return k.Bps == r.capBps })
		if i < 0 {
			i, kinds = len(kinds), append(kinds, ecmp.Kind{Bps: r.capBps})
		}
		kinds[i].Count++
	}
	passed := map[topology.End]int{}
	var links ecmp.Links
	for i, p := range first.paths {
		for _, end := range p.ends {
			passed[end]++
		}
		for _, wrap := range p.wraps {
			for _, s := range wrap.Shapers {
				passed[s.At]++
			}
		}
		alone := first.over(p)
		alone.Cap = 0
		links = append(links, ecmp.Link{RateBps: n.Flow(alone).Bps, Weight: first.shares[i]})
	}
	for _, paths := range passed {
		if paths > 1 && paths < len(first.paths) {
			return nil, false
		}
	}
	if links.Check() != nil {
		return nil, false
	}
	d, ok := links.Carried(kinds)
	for i := range d {
		d[i].Value = min(d[i].Value, most)
	}
	return d, ok
}
