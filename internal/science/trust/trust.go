// Package trust checks from the records of a trial whether its figures can be true: the
// two ends, the interfaces and the limit have to agree, and the conditions have to hold
// under which a rate means anything. Causes are found by package diagnose.
//
// Every tolerance is what can honestly differ: bytes in flight or unread at the
// window's edges, and the time that reading the edges took. The facts of a
// check have the tolerance it used; package wording says them in words.
package trust

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/hostload"
)

// Names of the checks.
const (
	Conservation = "conservation"
	Wire         = "wire"
	Limit        = "limit"
	SenderSide   = "sender-side"
	ToolAgrees   = "tool-agrees"
	Connected    = "connected"
	Alive        = "alive"
	Steady       = "steady"
	Generator    = "generator"
	Steal        = "steal"
	Foreign      = "foreign-traffic"
	Clock        = "clock"
	Switch       = "switch"
)

const (
	// counterTolerance is what counters and flows may differ by beyond what the
	// edges explain.
	counterTolerance = 0.002
	// limitTolerance is what a goodput may exceed its limit by.
	limitTolerance = 0.002
	// foreignShare of other traffic disturbs a measurement.
	foreignShare = 0.01
	// edgeShare of the window is how late an edge may be read.
	edgeShare = 0.01
	// driftShare is how much the last third may differ from the first.
	driftShare = 0.10
	// busy is the share from which on a processor is exhausted.
	busy = bottleneck.Spent
	// stealShare is how much of the processors' time a hypervisor may take: a
	// shaper makes up for pauses of some milliseconds, and for no longer ones.
	stealShare = 0.01
	// unharmed: at this share of the limit no pause took anything away.
	unharmed = 0.995
	// reached: at this share of the limit nothing but the limit held the flows.
	reached = 0.98
)

// Trial checks one trial that was made over a topology (nil: its links' rates are
// not known). Checks whose records are missing, as samples of a very
// short window, are left out rather than passed.
func Trial(t record.Trial, over *topology.Topology) []record.Check {
	var checks []record.Check
	for _, j := range judge(t, over) {
		checks = append(checks, j.Check)
	}
	return checks
}

// Run checks all trials of a run. Every failure is kept; a check that no trial
// failed becomes one line, on the trial that came nearest to failing it.
func Run(trials []record.Trial, over *topology.Topology) []record.Check {
	var names []string
	by := map[string][]judged{}
	for _, t := range trials {
		for _, j := range judge(t, over) {
			name := j.Check.Check
			if by[name] == nil {
				names = append(names, name)
			}
			by[name] = append(by[name], j)
		}
	}
	var checks []record.Check
	for _, name := range names {
		before := len(checks)
		for _, j := range by[name] {
			if !j.Pass {
				checks = append(checks, j.Check)
			}
		}
		if len(checks) > before {
			continue
		}
		worst := slices.MaxFunc(by[name], func(a, b judged) int { return cmp.Compare(a.used, b.used) })
		c := worst.Check
		if n := len(by[name]); n > 1 {
			if c.Trials = n; worst.used != 0 {
				c.Nearest = c.Trial
			}
		}
		c.Trial = 0
		checks = append(checks, c)
	}
	repeated := 0
	for _, t := range trials {
		repeated += t.Repeated
	}
	if i := slices.IndexFunc(checks, func(c record.Check) bool { return c.Check == Steal }); i >= 0 {
		checks[i].Repeated = repeated
	}
	return checks
}

func judge(t record.Trial, over *topology.Topology) []judged {
	if t.WindowS <= 0 {
		return []judged{{Check: record.Check{Check: Clock, Trial: t.Order, Facts: facts("", fact.NoWindow{})}}}
	}
	v := view{Trial: t, topology: t.Over(over), skew: map[string]float64{}}
	for _, h := range t.Hosts {
		v.skew[h.Host] = edgeDoubt(h.Begin) + edgeDoubt(h.End)
		for _, q := range h.Begin.Qdiscs {
			v.queued += float64(q.Backlog)
		}
	}
	for _, c := range t.Clocks {
		v.skew[c.Host] += 2 * math.Abs(float64(c.UncertaintyNs)) / 1e9
	}
	if v.topology != nil {
		v.uncounted = v.uncountedHeaders()
	}
	var checks []judged
	for _, check := range []func(view) (judged, bool){
		connected, alive, conservation, wire, limit, senderSide, toolAgrees, steady, generator, steal, foreign,
		switches, clock,
	} {
		if j, ok := check(v); ok {
			j.Trial = t.Order
			checks = append(checks, j)
		}
	}
	for _, c := range peer(t) {
		c.Trial = t.Order
		checks = append(checks, judged{Check: c})
	}
	return checks
}

// judged is a check with used, the share of its tolerance that was used up.
type judged struct {
	record.Check
	used float64
}

// unevaluated is a check whose records allow no verdict.
func unevaluated(check, host string, why any) judged {
	return judged{Check: record.Check{Check: check, Pass: true, Unevaluated: true, Facts: facts(host, why)}}
}

// facts are facts of a host; empty: of none.
func facts(host string, list ...any) (facts []fact.Fact) {
	for _, one := range list {
		facts = append(facts, fact.Fact{Host: host, Is: one})
	}
	return facts
}

// view is a trial with what several checks need.
type view struct {
	topology *topology.Topology // nil: not known
	record.Trial
	// queued waited in the interfaces' queues when the window began.
	queued float64
	// skew is, per host, the seconds by which its two edges may be off.
	skew map[string]float64
	// uncounted is what uncountedHeaders returns; nil: without a topology.
	uncounted map[string]float64
}

// edgeDoubt is how far from its instant an edge may have been read.
func edgeDoubt(r record.Reading) float64 {
	if r.ScheduledNs == 0 {
		return float64(r.EndedNs-r.BeganNs) / 1e9
	}
	return max(math.Abs(float64(r.BeganNs-r.ScheduledNs)), math.Abs(float64(r.EndedNs-r.ScheduledNs))) / 1e9
}

// senderSide: a figure counted at the senders, where it is offered as a result,
// is held to the limit like any other. Write calls return when bytes are in the
// send buffer, and a sum of averages over different times is no rate at all.
func senderSide(v view) (judged, bool) {
	if !v.AccountSender || v.LimitBps <= 0 || v.allOfTools() {
		return judged{}, false
	}
	share := v.SenderReportedBps / v.LimitBps
	c := record.Check{Check: SenderSide, Subject: record.SubjectReported, Pass: share <= 1+v.overLimit(),
		Facts: facts("", fact.SenderSum{Bps: v.SenderReportedBps, LimitBps: v.LimitBps, Share: share,
			Allowed: 1 + v.overLimit()})}
	return judged{c, share}, true
}

// generator: the machine that makes the traffic must not be what limits it, as no processor
// had time left, or as a flow was held back so (package bottleneck). At the limit it was not,
// however busy. Without a connection it made no traffic.
func generator(v view) (judged, bool) {
	if !slices.ContainsFunc(v.Flows, func(f record.Flow) bool { return f.Connected }) {
		return judged{}, false
	}
	thread, threadHost := 0.0, ""
	var load hostload.Usable
	polling := slices.ContainsFunc(v.Flows, func(f record.Flow) bool {
		return f.Transactions != nil && f.Transactions.Polling
	})
	for _, h := range v.Hosts {
		if h.GeneratorCPU > thread {
			thread, threadHost = h.GeneratorCPU, h.Host
		}
		if u := hostload.UsableOf(h); u.Busy > load.Busy {
			load = u
		}
	}
	if thread == 0 && load.Busy == 0 {
		return judged{}, false
	}
	var held []string
	network := true // held every flow back
	for _, f := range v.Flows {
		if f.LimitedBy == bottleneck.Generator {
			held = append(held, f.ID)
		}
		network = network && (!f.Connected ||
			slices.Contains([]string{bottleneck.FullLink, bottleneck.Loss}, f.LimitedBy))
	}
	c := record.Check{Check: Generator, Pass: thread < busy && (load.Busy < busy || polling) && len(held) == 0}
	g := fact.GeneratorLoad{Thread: thread, CPUs: load.Fact(), Polls: polling, Exhausted: !c.Pass}
	if !c.Pass {
		full, ok := v.fullInterface()
		switch {
		case v.LimitBps > 0 && v.GoodputBps >= reached*v.LimitBps:
			g.But = fact.ButLimit
		case ok:
			g.But, g.Full = fact.ButInterface, full
		case network:
			g.But = fact.ButNetwork
		default:
			g.Held = held
		}
		c.Pass = g.But != ""
	}
	c.Facts = facts(threadHost, g)
	if polling {
		load.Busy = 0
	}
	return judged{c, max(thread, load.Busy)}, true
}

// steal: in the time that a hypervisor takes from a virtual machine's processors
// nothing is sent, and no network is to blame for it (/proc/stat, proc_stat(5)).
func steal(v view) (judged, bool) {
	most, host := stolen(v.Trial)
	if host == "" {
		return judged{}, false
	}
	reached := v.LimitBps > 0 && v.GoodputBps >= unharmed*v.LimitBps
	c := record.Check{Check: Steal, Pass: most <= stealShare || reached,
		Facts: facts(host, fact.Stolen{Share: most, Allowed: stealShare, Reached: reached})}
	return judged{c, most / stealShare}, true
}

// Stolen reports whether a hypervisor took more of a trial than it may, whatever came
// of it: trials can be made again for that, and none is chosen by its result.
func Stolen(t record.Trial) bool {
	most, _ := stolen(t)
	return most > stealShare
}

// stolen is the largest share of its processors' time that a host lost; "": not known.
func stolen(t record.Trial) (most float64, host string) {
	for _, h := range t.Hosts {
		if s, read := hostload.Stolen(h); read && (host == "" || s > most) {
			most, host = s, h.Host
		}
	}
	return most, host
}

// clock: every host read the window's edges at the scheduled instants.
func clock(v view) (judged, bool) {
	late, lateHost, doubt, doubtHost := 0.0, "", 0.0, ""
	for _, h := range v.Hosts {
		if s := max(edgeDoubt(h.Begin), edgeDoubt(h.End)); s > late {
			late, lateHost = s, h.Host
		}
	}
	for _, c := range v.Clocks {
		if s := math.Abs(float64(c.UncertaintyNs)) / 1e9; s > doubt {
			doubt, doubtHost = s, c.Host
		}
	}
	if lateHost == "" {
		return judged{}, false
	}
	allowed := edgeShare * v.WindowS
	e := fact.Edges{LateS: late, ClockHost: doubtHost, DoubtS: doubt, AllowedS: allowed, Allowed: edgeShare,
		WindowS: v.WindowS}
	if host, ok := v.Reading(lateHost); ok && late > allowed {
		e.TickS, e.Busy = whyLate(host, late)
	}
	c := record.Check{Check: Clock, Pass: late <= allowed && doubt <= allowed, Facts: facts(lateHost, e)}
	return judged{c, max(late, doubt) / allowed}, true
}

// whyLate is why a host read an edge so many seconds late, as far as that is known: its kernel's
// timers go off every so many seconds alone, or its CPUs were so busy.
func whyLate(h record.HostReading, late float64) (tickS, cpus float64) {
	const soon = 2 // ticks: the next one, and what is due in it
	tick := float64(h.Snapshot.TimerTickNs) / 1e9
	switch {
	case tick > 0 && late <= soon*tick:
		return tick, 0
	case h.CPUBusy >= busy:
		return 0, h.CPUBusy
	}
	return 0, 0
}
