package conclude

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Question has the host whose parallel interfaces a run is about, and these interfaces.
type Question struct {
	Host       string
	Interfaces []string
	// Forwards reports whether the host is a router, whose interfaces are parallel next hops.
	Forwards bool
}

// Focus finds the host whose interfaces a run is about: the sender or receiver with the most
// interfaces on the flows' paths. A router has several interfaces by nature, so it is chosen only
// if no sender or receiver has several and the router has several next hops, to one neighbour or of
// one flow. Host is empty if there is no such host.
func Focus(run *record.Run) Question {
	ends, routers := questions(run, run.Trials)
	for _, list := range [][]Question{ends, routers} {
		var best Question
		for _, q := range list {
			if len(q.Interfaces) > 1 && len(q.Interfaces) > len(best.Interfaces) {
				best = q
			}
		}
		if best.Host != "" {
			return best
		}
	}
	return Question{}
}

// questions lists the interfaces by which the trials' flows are to leave senders and reach
// receivers, and each group of parallel interfaces by which they leave routers.
func questions(run *record.Run, trials []record.Trial) (ends, routers []Question) {
	var isEnd []string
	type group struct{ node, by string }
	var order []group
	exits := map[group][]string{}
	done := map[string]bool{}
	for _, t := range trials {
		over := t.Over(&run.Topology)
		for _, f := range t.Flows {
			isEnd = append(isEnd, f.From, f.To)
			// Flows on one path have the same alternatives.
			key := cmp.Or(strings.Join(f.Path, " "), f.From+" "+f.Source+" "+f.Destination)
			if t.Topology != nil {
				key += " " + t.Treatment
			}
			if done[key] {
				continue
			}
			done[key] = true
			paths, err := over.Paths(f.From, f.SourceAddr(), f.DestinationAddr())
			if err != nil || len(paths) == 0 {
				paths = [][]topology.End{f.Ends()}
			}
			for _, path := range paths {
				for i, end := range path {
					if _, ok := run.Topology.Host(end.Node); !ok {
						continue
					}
					if end.Node == f.From || end.Node == f.To {
						q := entry(&ends, Question{Host: end.Node}, func(q Question) bool { return q.Host == end.Node })
						if !slices.Contains(q.Interfaces, end.Interface) {
							q.Interfaces = append(q.Interfaces, end.Interface)
						}
						continue
					}
					if i+1 >= len(path) || path[i+1].Node == end.Node {
						continue // the interface by which the flow comes in
					}
					for _, g := range []group{{end.Node, "to " + path[i+1].Node}, {end.Node, "flow " + key}} {
						if exits[g] == nil {
							order = append(order, g)
						}
						if !slices.Contains(exits[g], end.Interface) {
							exits[g] = append(exits[g], end.Interface)
						}
					}
				}
			}
		}
	}
	for _, g := range order {
		if _, known := run.Topology.Switch(g.by[3:]); known && g.by[:3] == "to " {
			continue // one interface to a switch reaches every neighbour behind it: not parallel
		}
		if !slices.Contains(isEnd, g.node) {
			routers = append(routers, Question{g.node, exits[g], true})
		}
	}
	return ends, routers
}

// bothWays is the share of the larger direction's bytes above which the smaller direction counts as
// data, not as acknowledgements or a control connection.
const bothWays = 0.1

// dataOf returns how many bytes of the flows' data a host received and sent in these trials.
func dataOf(host string, trials []record.Trial) (in, out float64) {
	for _, t := range trials {
		for _, f := range t.Flows {
			if f.To == host {
				in += float64(f.ReceivedBytes)
			}
			if f.From == host {
				out += float64(f.ReceivedBytes)
			}
		}
	}
	return in, out
}

// interfaceLoads returns the mean rates of every host's interfaces and, for links between switches,
// of the switches' ports.
func interfaceLoads(run *record.Run, trials []record.Trial) []record.TreatmentInterface {
	isHost := func(node string) bool { _, ok := run.Topology.Host(node); return ok }
	loads := []record.TreatmentInterface{}
	goodput := 0.0
	for _, trial := range trials {
		over := trial.Over(&run.Topology)
		goodput += trial.GoodputBps / float64(len(trials))
		for _, h := range trial.Hosts {
			for _, d := range h.Deltas() {
				end := topology.End{Node: h.Host, Interface: d.Interface}
				link, ok := over.LinkAt(end)
				if !ok || (!isHost(h.Host) && isHost(link.Other(end).Node)) {
					continue
				}
				load := entry(&loads, record.TreatmentInterface{Host: h.Host, Interface: d.Interface},
					func(l record.TreatmentInterface) bool {
						return l.Host == h.Host && l.Interface == d.Interface
					})
				load.RxBps += d.RxBps() / float64(len(trials))
				load.TxBps += d.TxBps() / float64(len(trials))
			}
		}
	}
	over := trials[0].Over(&run.Topology)
	for _, group := range together(run, over, loads) {
		if endpoint(run, group[0].Host) {
			in, out := dataOf(group[0].Host, trials)
			share(group, in, out)
		} else {
			forward(group, goodput)
		}
		rx, tx := sums(group)
		for _, l := range group {
			end := topology.End{Node: l.Host, Interface: l.Interface}
			link, ok := over.LinkAt(end)
			switch {
			case !ok:
			case l.Direction == record.Rx, l.Direction == "" && rx > tx:
				l.LimitBps = float64(link.Towards(link.Other(end)).Rate)
			default:
				l.LimitBps = float64(link.Towards(end).Rate)
			}
		}
	}
	return loads
}

// together groups interfaces that share a node's traffic: on senders and receivers all of them,
// elsewhere those that lead to one neighbour or that the run is about (Focus).
func together(run *record.Run, over *topology.Topology, loads []record.TreatmentInterface) (
	groups [][]*record.TreatmentInterface) {
	focus := Focus(run)
	place := map[string]int{}
	for i := range loads {
		l := &loads[i]
		key := l.Host
		if !endpoint(run, l.Host) {
			end := topology.End{Node: l.Host, Interface: l.Interface}
			if focus.Host == l.Host && slices.Contains(focus.Interfaces, l.Interface) {
				key += " in question"
			} else if link, ok := over.LinkAt(end); ok {
				key += " to " + link.Other(end).Node
			}
		}
		at, known := place[key]
		if !known {
			at, groups = len(groups), append(groups, nil)
			place[key] = at
		}
		groups[at] = append(groups[at], l)
	}
	return groups
}

// endpoint reports whether the host sends or receives a flow.
func endpoint(run *record.Run, host string) bool {
	return slices.ContainsFunc(run.Trials, func(t record.Trial) bool {
		return slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return f.From == host || f.To == host })
	})
}

func sums(group []*record.TreatmentInterface) (rx, tx float64) {
	for _, l := range group {
		rx, tx = rx+l.RxBps, tx+l.TxBps
	}
	return rx, tx
}

// share sets the shares of a group's interfaces, in each direction in which data flows; in and out
// are the bytes of data in each. Other traffic, such as ARP, is not shared.
func share(group []*record.TreatmentInterface, in, out float64) {
	rx, tx := sums(group)
	received, sent := rx > 0 && in > bothWays*out, tx > 0 && out > bothWays*in
	unevenRx, unevenTx := 0.0, 0.0
	for _, l := range group {
		if received {
			part := l.RxBps / rx
			l.ShareRx, unevenRx = &part, max(unevenRx, part)
		}
		if sent {
			part := l.TxBps / tx
			l.ShareTx, unevenTx = &part, max(unevenTx, part)
		}
	}
	for _, l := range group {
		switch {
		case sent && (!received || unevenTx > unevenRx+evenly):
			l.Share, l.Direction = *l.ShareTx, record.Tx
		case received:
			l.Share, l.Direction = *l.ShareRx, record.Rx
		}
	}
}

// forward sets the shares of parallel interfaces that only forward.
func forward(group []*record.TreatmentInterface, goodput float64) {
	const noise = 0.01
	rx, tx := sums(group)
	if len(group) > 1 && goodput > 0 && max(rx, tx) > noise*goodput {
		share(group, rx, tx)
	}
}

// evenly is the difference below which the shares of the two directions count as equal.
const evenly = 0.01

// busyShare is the share of the busiest interface's load above which an interface counts as busy
// too. Chance spreads flows unevenly, but acknowledgements and ARP stay far below it.
const busyShare = 0.1

// interfaceUse counts how many interfaces of the host in question (Focus) carried data, in the
// trials for which selected is true. It counts the direction in which data flows and, if data flows in
// both, the one with fewer interfaces. nil: the flows are to use only one of the host's interfaces,
// or its counters were not read.
func interfaceUse(run *record.Run, focus Question, selected func(*record.Trial) bool) *record.InterfaceUse {
	if focus.Host == "" {
		return nil
	}
	var trials []record.Trial
	for i := range run.Trials {
		if selected(&run.Trials[i]) {
			trials = append(trials, run.Trials[i])
		}
	}
	u := &record.InterfaceUse{Host: focus.Host}
	ends, routers := questions(run, trials)
	for _, q := range append(ends, routers...) {
		if q.Host == focus.Host && len(q.Interfaces) > 1 {
			u.Of = max(u.Of, len(q.Interfaces))
		}
	}
	if u.Of == 0 {
		return nil
	}
	for _, t := range trials {
		h, ok := t.Reading(u.Host)
		if !ok {
			continue
		}
		var rx, tx []float64
		for _, d := range h.Deltas() {
			if _, linked := run.Topology.LinkAt(topology.End{Node: u.Host, Interface: d.Interface}); !linked ||
				focus.Forwards && !slices.Contains(focus.Interfaces, d.Interface) {
				// Other interfaces of a real host carry traffic that is not this run's, and virtual
				// devices repeat what their members carry.
				continue
			}
			rx, tx = append(rx, d.RxBytes), append(tx, d.TxBytes)
		}
		in, out := dataOf(u.Host, []record.Trial{t})
		n, direction := busy(rx), ""
		switch {
		case focus.Forwards, out > 0 && in <= bothWays*out:
			n = busy(tx)
		case out > bothWays*in:
			direction = record.Rx
			if m := busy(tx); m < n {
				n, direction = m, record.Tx
			}
		}
		if u.Trials == 0 || n < u.Least {
			u.Direction, u.Least, u.LeastTrials = direction, n, 0
		}
		if n == u.Least {
			u.LeastTrials++
		}
		u.Most = max(u.Most, n)
		u.Trials++
	}
	if u.Trials == 0 {
		return nil
	}
	return u
}

func busy(loads []float64) int {
	return lists.Count(loads, func(l float64) bool { return l > 0 && l >= busyShare*slices.Max(loads) })
}

// came describes how many interfaces a treatment's trials used if chance decides it. varied is true
// if trials used different numbers.
func came(run *record.Run, focus Question, treatment string) (text string, varied bool) {
	u := interfaceUse(run, focus, func(t *record.Trial) bool { return t.Treatment == treatment })
	if u == nil {
		return "", false
	}
	what := "interface"
	if t := run.TrialsOf(treatment)[0]; slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return f.Paths > 1 }) {
		what = "link"
	}
	switch {
	case u.Trials == 1:
		return fmt.Sprintf("%d of %s in the trial; another may use %s", u.Least, unit.Plural(u.Of, what), otherwise(u)),
			false
	case u.Least == u.Most:
		return fmt.Sprintf("%d of %s in all %s; the interval allows for others that use %s",
			u.Least, unit.Plural(u.Of, what), unit.Plural(u.Trials, "trial"), otherwise(u)), false
	case u.Of == 2:
		return fmt.Sprintf("%s in %d of %s, by chance", unit.Plural(u.Least, what), u.LeastTrials,
			unit.Plural(u.Trials, "trial")), true
	}
	return fmt.Sprintf("%d to %s by chance", u.Least, unit.Plural(u.Most, what)), true
}

// otherwise returns how many interfaces other trials may use than the trials so far, which all used
// the same number: "fewer", "more", "more or fewer" or "both".
func otherwise(u *record.InterfaceUse) string {
	switch {
	case u.Least == u.Of:
		return "fewer"
	case u.Least > 1:
		return "more or fewer"
	case u.Of == 2:
		return "both"
	}
	return "more"
}

// chances sets Chance.Came of the treatments, and returns those whose trials used different numbers
// of interfaces.
func chances(run *record.Run) (varied map[string]bool) {
	focus := Focus(run)
	varied = map[string]bool{}
	for i := range run.Treatments {
		if t := &run.Treatments[i]; t.Chance != nil {
			t.Chance.Came, varied[t.Name] = came(run, focus, t.Name)
		}
	}
	return varied
}

// byChance explains effects if the trials of one of their treatments used different numbers of
// interfaces by chance, as theory predicts.
func byChance(run *record.Run, varied map[string]bool, effects []record.Effect) {
	for i := range effects {
		e := &effects[i]
		for _, side := range []string{e.To, e.From} {
			k := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool {
				return varied[t.Name] && (e.Factor == "" && t.Name == side || e.Factor != "" &&
					t.Levels[e.Factor] == side && at(t.Levels, e))
			})
			if k < 0 {
				continue
			}
			e.Reason = record.Reason{Code: record.ReasonChance}
			if e.Why = run.Treatments[k].Chance.Came; side == e.From {
				e.Why = side + ": " + e.Why
			}
			break
		}
	}
}
