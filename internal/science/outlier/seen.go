package outlier

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/hostload"
)

// sign is a quantity in a trial's records that can explain an unusual value.
type sign struct {
	say   string // with the figure in place of %s
	spell func(float64) string
	// least is the smallest difference from the figures of all other trials that counts. The
	// difference must also be at least as large as the other trials differ among themselves.
	least float64
	fewer bool // a figure below the others counts, too
	of    func(trial) []reading
}

// trial is one trial of a treatment, with the others.
type trial struct {
	*record.Trial
	others []*record.Trial
	over   *topology.Topology // the run's
}

// reading is the figure of a sign at one place, a machine or a host. Empty: in the whole trial.
type reading struct {
	where string
	value float64
}

var signs = []sign{
	{say: "a hypervisor took %s of the processors' time", spell: percent, least: 0.01, of: machines(stolen)},
	{say: "trials discarded before it, since a hypervisor took too much time: %s", spell: count, least: 1,
		of: whole(func(t trial) float64 { return float64(t.Repeated) })},
	{say: "all CPUs together were %s busy", spell: percent, least: 0.1, of: machines(busy)},
	{say: "the busiest CPU was %s busy", spell: percent, least: 0.1, of: machines(busiest(func(c hostload.CPU) float64 {
		return c.Busy - c.Steal
	}))},
	{say: "one CPU spent %s of its time on softirqs", spell: percent, least: 0.1,
		of: machines(busiest(func(c hostload.CPU) float64 { return c.SoftIRQ }))},
	{say: "a thread that makes traffic took %s of a CPU", spell: percent, least: 0.1,
		of: hosts(func(h netstate.HostReading) float64 { return h.GeneratorCPU })},
	{say: "some program waited for memory %s of the time", spell: percent, least: 0.02,
		of: machines(func(m hostload.Machine) float64 { return m.SomeWaited })},
	{say: "packets dropped at full receive rings: %s", spell: count, least: 1,
		of: machines(func(m hostload.Machine) float64 { return m.RxMissed })},
	{say: "packets dropped at full CPU backlogs: %s", spell: count, least: 1,
		of: machines(func(m hostload.Machine) float64 { return m.SoftDropped })},
	{say: "softirqs that ran out of their budget: %s", spell: count, least: 10,
		of: machines(func(m hostload.Machine) float64 { return m.Squeezed })},
	{say: "packets dropped by interfaces: %s", spell: count, least: 10, of: hosts(interfaceDrops)},
	{say: "packets dropped by queueing disciplines: %s", spell: count, least: 10, of: hosts(qdiscDrops(true))},
	{say: "packets dropped by tc filters: %s", spell: count, least: 10, of: hosts(qdiscDrops(false))},
	{say: "%s of the TCP segments were retransmitted", spell: percent, least: 0.001, of: machines(resent)},
	{say: "retransmission timeouts: %s", spell: count, least: 1, of: hosts(counter("TcpExt.TCPTimeouts"))},
	{say: "packets dropped by the reverse-path filter: %s", spell: count, least: 1,
		of: hosts(counter("TcpExt.IPReversePathFilter"))},
	{say: "%s of the datagrams were lost", spell: percent, least: 0.001, of: func(t trial) []reading {
		if lost, known := t.Datagrams.LostShare(); known {
			return []reading{{"", lost}}
		}
		return nil
	}},
	{say: "flows that could not connect: %s", spell: count, least: 1, of: whole(func(t trial) float64 {
		return float64(t.Unconnected())
	})},
	{say: "flows that ended early: %s", spell: count, least: 1, of: flows(func(_ trial, f record.Flow) bool {
		return f.Connected && !f.Alive
	})},
	{say: "unresolved neighbours: %s", spell: count, least: 1, of: hosts(unresolved)},
	{say: "interfaces that carried data: %s", spell: count, least: 1, fewer: true, of: hosts(carrying)},
	{say: "flows on another path than in all other trials: %s", spell: count, least: 1, of: flows(moved)},
	{say: "the paths that its flows took carry %s", spell: unit.FormatRate, least: 1e3, fewer: true,
		of: func(t trial) []reading {
			if t.PlacementLimitBps > 0 {
				return []reading{{"", t.PlacementLimitBps}}
			}
			return nil
		}},
	{say: "routes took %s to be there again before it", spell: unit.FormatSeconds, least: 1,
		of: whole(func(t trial) float64 { return t.ConvergedS })},
	{say: "flows of other clients: %s", spell: count, least: 1, of: hosts(func(h netstate.HostReading) float64 {
		if h.Others == nil {
			return 0
		}
		return float64(h.Others.Flows)
	})},
	{say: "counters were read up to %s late", spell: unit.FormatSeconds, least: 0.005, of: hosts(late)},
	{say: "the clock was known to within %s", spell: unit.FormatSeconds, least: 0.001,
		of: func(t trial) (list []reading) {
			for _, c := range t.Clocks {
				list = append(list, reading{c.Host, math.Abs(float64(c.UncertaintyNs)) / 1e9})
			}
			return list
		}},
}

// seen lists what a trial's records show that those of the others do not.
func seen(t *record.Trial, others []*record.Trial, over *topology.Topology) (list []string) {
	for _, s := range signs {
		at := map[string][]float64{} // of the others, by place
		for i, o := range others {
			rest := append([]*record.Trial{t}, others[:i]...)
			for _, r := range s.of(trial{o, append(rest, others[i+1:]...), over}) {
				at[r.where] = append(at[r.where], r.value)
			}
		}
		for _, r := range s.of(trial{t, others, over}) {
			if len(at[r.where]) == 0 {
				continue
			}
			low, high := slices.Min(at[r.where]), slices.Max(at[r.where])
			if far := max(s.least, high-low); r.value-high < far && (!s.fewer || low-r.value < far) {
				continue
			}
			text := fmt.Sprintf(s.say, s.spell(r.value)) + ", " + span(s.spell(low), s.spell(high)) + " in the others"
			if r.where != "" && r.where != hostload.This {
				text = r.where + ": " + text
			}
			list = append(list, text)
		}
	}
	return list
}

// span formats a range, or one figure if both ends are equal. The unit is written once.
func span(low, high string) string {
	if low == high {
		return low
	}
	figure, unit, _ := strings.Cut(low, " ")
	if _, same, _ := strings.Cut(high, " "); same == unit {
		low = figure
	}
	return low + "–" + high
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', -1, 64) + " %"
}

func count(n float64) string { return fmt.Sprintf("%.0f", n) }

// whole returns a sign that has one figure for the whole trial.
func whole(of func(trial) float64) func(trial) []reading {
	return func(t trial) []reading { return []reading{{"", of(t)}} }
}

// flows returns a sign that counts the trial's flows for which is returns true.
func flows(is func(trial, record.Flow) bool) func(trial) []reading {
	return whole(func(t trial) (n float64) {
		for _, f := range t.Flows {
			if is(t, f) {
				n++
			}
		}
		return n
	})
}

// hosts returns a sign that has a figure for each host.
func hosts(of func(netstate.HostReading) float64) func(trial) []reading {
	return func(t trial) (list []reading) {
		return lists.Map(t.Hosts, func(h netstate.HostReading) reading { return reading{h.Host, of(h)} })
	}
}

// machines returns a sign that has a figure for each machine.
func machines(of func(hostload.Machine) float64) func(trial) []reading {
	return func(t trial) (list []reading) {
		for _, m := range hostload.Of(*t.Trial, t.Over(t.over)) {
			list = append(list, reading{m.Name, of(m)})
		}
		return list
	}
}

// busiest returns the largest figure of a machine's CPUs.
func busiest(of func(hostload.CPU) float64) func(hostload.Machine) float64 {
	return func(m hostload.Machine) (most float64) {
		for _, c := range m.CPUs {
			most = max(most, of(c))
		}
		return most
	}
}

// resent returns the share of the sent segments that were retransmitted.
func resent(m hostload.Machine) float64 {
	if m.Sent <= 0 {
		return 0
	}
	return float64(m.Resent) / float64(m.Sent)
}

func stolen(m hostload.Machine) (share float64) {
	return lists.Sum(m.CPUs, func(c hostload.CPU) float64 { return c.Steal / float64(len(m.CPUs)) })
}

// busy returns the machine's own load, without what a hypervisor took.
func busy(m hostload.Machine) float64 { return m.Busy - stolen(m) }

func counter(name string) func(netstate.HostReading) float64 {
	return func(h netstate.HostReading) float64 { return float64(h.SNMPDelta(name)) }
}

func interfaceDrops(h netstate.HostReading) (packets float64) {
	return lists.Sum(h.Deltas(), func(d netstate.InterfaceDelta) float64 { return d.RxLost + d.TxLost })
}

// qdiscDrops counts the packets dropped by qdiscs that queue packets or, if queues is false, by
// those that do not, whose filters drop.
func qdiscDrops(queues bool) func(netstate.HostReading) float64 {
	return func(h netstate.HostReading) (packets float64) {
		begins := h.QdiscsAtBegin()
		for _, end := range h.End.Qdiscs {
			if begin, ok := begins[end.Key()]; ok && end.Queues() == queues {
				packets += netstate.Grown(begin.Drops, end.Drops)
			}
		}
		return packets
	}
}

// unresolved counts a host's neighbours that do not answer.
func unresolved(h netstate.HostReading) (n float64) {
	for _, entry := range h.Snapshot.Neighbours {
		if entry.State == "FAILED" || entry.State == "INCOMPLETE" {
			n++
		}
	}
	return n
}

// carrying counts the interfaces that carry at least half an equal share of their host's bytes.
func carrying(h netstate.HostReading) (n float64) {
	list, all := h.Deltas(), 0.0
	for _, d := range list {
		all += d.RxBytes + d.TxBytes
	}
	for _, d := range list {
		if all > 0 && d.RxBytes+d.TxBytes >= all/2/float64(len(list)) {
			n++
		}
	}
	return n
}

// moved reports whether the flow took another path than the one on which all other trials agree.
func moved(t trial, f record.Flow) bool {
	var usual []string
	for _, o := range t.others {
		i := slices.IndexFunc(o.Flows, func(g record.Flow) bool { return g.ID == f.ID })
		if i < 0 || len(o.Flows[i].Path) == 0 || usual != nil && !slices.Equal(usual, o.Flows[i].Path) {
			return false
		}
		usual = o.Flows[i].Path
	}
	return len(f.Path) > 0 && usual != nil && !slices.Equal(usual, f.Path)
}

// late returns by how many seconds a reading at an edge of the window began late.
func late(h netstate.HostReading) (s float64) {
	for _, edge := range []netstate.Reading{h.Begin, h.End} {
		if edge.ScheduledNs > 0 {
			s = max(s, float64(edge.BeganNs-edge.ScheduledNs)/1e9)
		}
	}
	return s
}
