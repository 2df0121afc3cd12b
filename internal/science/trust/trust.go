// Package trust checks from the record of a trial whether its figures can be true: the two ends,
// the interfaces and the limit must agree, and the conditions must hold under which a rate means
// anything. Package diagnose finds causes.
//
// Each tolerance is what can differ in a correct measurement: bytes in flight or unread at the
// edges of the window, and the time that reading them takes. The facts of a check have the
// tolerance that it used; package wording turns them into text.
package trust

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/apart"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/hostload"
)

// Names of the checks, as in record.Check.Check.
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
	// counterTolerance is the share by which counters and flows may differ beyond what the edges of the
	// window explain.
	counterTolerance = 0.002
	// limitTolerance is the share by which a goodput may exceed its limit.
	limitTolerance = 0.002
	// foreignShare is the share of other traffic above which a measurement is disturbed.
	foreignShare = 0.01
	// edgeShare is how late an edge may be read, as a share of the window.
	edgeShare = 0.01
	// driftShare is the share by which the last third may differ from the first.
	driftShare = 0.10
	// busy is the share of time at which a CPU counts as exhausted.
	busy = bottleneck.Spent
	// stealShare is the share of CPU time that a hypervisor may take. A shaper compensates for pauses
	// of some milliseconds, but not for longer ones.
	stealShare = 0.01
	// unharmed is the share of the limit at which no pause can have cost anything.
	unharmed = 0.995
	// reached is the share of the limit at which nothing else can have held the flows back.
	reached = 0.98
)

// Trial checks one trial. over is its topology; nil: the rates of links are not known. Checks
// without the records that they need, such as samples of a very short window, are left out, not
// passed.
func Trial(t record.Trial, over *topology.Topology) []record.Check {
	return lists.Map(judge(t, over), func(j judged) record.Check { return j.Check })
}

// Run checks all trials of a run. Every failed check is returned. A check that no trial failed is
// returned once, for the trial that came closest to failing it.
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
	repeated := lists.Sum(trials, func(t record.Trial) int { return t.Repeated })
	if i := slices.IndexFunc(checks, func(c record.Check) bool { return c.Check == Steal }); i >= 0 {
		checks[i].Repeated = repeated
	}
	return checks
}

func judge(t record.Trial, over *topology.Topology) []judged {
	if t.WindowS <= 0 {
		return []judged{{Check: record.Check{Check: Clock, Trial: t.Order, Facts: facts("", fact.NoWindow{})}}}
	}
	v := view{Trial: t, topology: t.Over(over), skew: apart.Skew(t)}
	for _, h := range t.Hosts {
		for _, q := range h.Begin.Qdiscs {
			v.queued += float64(q.Backlog)
		}
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

// judged is a check and the share of its tolerance that was used. Used 0 also stands for not known.
type judged struct {
	record.Check
	used float64
}

// unevaluated returns a check whose records allow no verdict.
func unevaluated(check, host string, why any) judged {
	return judged{Check: record.Check{Check: check, Pass: true, Unevaluated: true, Facts: facts(host, why)}}
}

// facts returns facts about a host; empty: about none.
func facts(host string, list ...any) (facts []fact.Fact) {
	return lists.Map(list, func(one any) fact.Fact { return fact.Fact{Host: host, Is: one} })
}

// view is a trial with values that several checks need.
type view struct {
	topology *topology.Topology // nil: not known
	record.Trial
	// queued is how many bytes waited in the interfaces' queues when the window began.
	queued float64
	// skew is, by host, how many seconds its readings of the two edges may be off together.
	skew map[string]float64
	// uncounted is the result of uncountedHeaders; nil: there is no topology.
	uncounted map[string]float64
}

// senderSide checks that a rate counted by the senders, if it is offered as a result, is below the
// limit. Write calls return when bytes are in the send buffer, and a sum of averages over different
// times is not a rate.
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

// generator checks that the machines which make the traffic did not limit it: that no CPU was
// exhausted, and no flow was held back by it (package bottleneck). If the limit was reached, they
// did not, however busy they were. Without a connection there was no traffic, and the check is left
// out.
func generator(v view) (judged, bool) {
	if !slices.ContainsFunc(v.Flows, func(f record.Flow) bool { return f.Connected }) {
		return judged{}, false
	}
	thread, threadHost := 0.0, ""
	var load hostload.Usable
	polling := slices.ContainsFunc(v.Flows, func(f record.Flow) bool {
		return f.Transactions != nil && (f.Transactions.Polling || f.Transactions.Wait == record.WaitSpin)
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

// steal checks how much CPU time a hypervisor took from a virtual machine (/proc/stat,
// proc_stat(5)). Nothing is sent in that time, and the network is not the reason.
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

// Stolen reports whether a hypervisor took more CPU time during a trial than is allowed. It does
// not depend on the result, so that making such trials again does not select results.
func Stolen(t record.Trial) bool {
	most, _ := stolen(t)
	return most > stealShare
}

// stolen returns the largest share of CPU time that a host lost, and the host; "": not known.
func stolen(t record.Trial) (most float64, host string) {
	for _, h := range t.Hosts {
		if s, read := hostload.Stolen(h); read && (host == "" || s > most) {
			most, host = s, h.Host
		}
	}
	return most, host
}

// clock checks that every host read the edges of the window at the scheduled times.
func clock(v view) (judged, bool) {
	late, lateHost, doubt, doubtHost := 0.0, "", 0.0, ""
	for _, h := range v.Hosts {
		if s := max(apart.EdgeS(h.Begin), apart.EdgeS(h.End)); s > late {
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

// whyLate returns why a host read an edge late, as far as that is known: the seconds between the
// ticks at which its kernel's timers expire, or how busy its CPUs were. Both are 0 if it is not
// known.
func whyLate(h netstate.HostReading, late float64) (tickS, cpus float64) {
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
