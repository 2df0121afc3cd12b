package failover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// window is from 10 s to 13 s of the conductor's clock.
const began, ended = int64(10e9), int64(13e9)

// fate is what packets show of a flow: the interface by which it came to b before the event
// at 1 s and after it, its longest silences before and after, and when its last packet
// came, all in ms.
type fate struct {
	before, after        int // interfaces; after -1: it did not come again
	usual, silence, last int64
}

// trial has hosts a and b with four cables through spines, an event, and flows.
func trial(flows ...fate) (*record.Trial, *topology.Topology) {
	over := &topology.Topology{Hosts: []topology.Host{{Name: "a"}, {Name: "b"}}}
	t := &record.Trial{
		WindowS: 3, Hosts: make([]netstate.HostReading, 6),
		Events: []record.Event{{Host: "x", What: "first", AtS: 1}, {Host: "y", What: "second", AtS: 1}},
	}
	names := []string{"a", "b", "spine0", "spine1", "spine2", "spine3"}
	for i := range t.Hosts {
		t.Hosts[i].Host = names[i]
		t.Hosts[i].Begin.ScheduledNs, t.Hosts[i].End.ScheduledNs = began, ended
	}
	for p := range 4 {
		spine := names[2+p]
		over.Hosts = append(over.Hosts, topology.Host{Name: spine, Interfaces: []topology.Interface{{Name: "in"},
			{Name: "out"}}})
		port := fmt.Sprintf("eth%d", p)
		for h := range 2 {
			over.Hosts[h].Interfaces = append(over.Hosts[h].Interfaces, topology.Interface{Name: port})
		}
		over.Links = append(over.Links,
			topology.Link{From: topology.End{Node: "a", Interface: port},
				To: topology.End{Node: spine, Interface: "in"}},
			topology.Link{From: topology.End{Node: spine, Interface: "out"},
				To: topology.End{Node: "b", Interface: port}})
	}
	for i, f := range flows {
		id := fmt.Sprintf("f%d", i)
		t.Flows = append(t.Flows, record.Flow{ID: id, From: "a", To: "b", Connected: true, Paths: 4})
		came := func(events, port int, at int64) {
			for h, name := range map[int]string{1: fmt.Sprintf("eth%d", port), 2 + port: "in"} {
				t.Hosts[h].Arrivals = append(t.Hosts[h].Arrivals, netstate.Arrival{Flow: id, Interface: name,
					Packets: 9,
					Events:  events, LastNs: began + at*1e6})
			}
		}
		silent := func(events int, ms int64) {
			if ms > 0 {
				t.Hosts[1].Gaps = append(t.Hosts[1].Gaps, netstate.Gap{Flow: id, Events: events, FromNs: began,
					ToNs: began + ms*1e6})
			}
		}
		came(0, f.before, 999)
		came(1, f.before, 1001) // what was in flight
		silent(0, f.usual)
		if f.after >= 0 {
			came(1, f.after, f.last)
			silent(1, f.silence)
		}
	}
	return t, over
}

// spell spells a flow's outage.
func spell(f record.Flow) string {
	var list []string
	for _, o := range f.Outages {
		text := fmt.Sprintf("at %g s lost %.0f of %.0f ms", o.AtS, 1e3*o.LostS, 1e3*o.ResolutionS)
		if o.LostAtMostS != max(o.LostS, o.ResolutionS) {
			text += fmt.Sprintf(" at most %.0f", 1e3*o.LostAtMostS)
		}
		for i, is := range []bool{o.Moved, o.Withdrawn, !o.Resumed} {
			if is {
				text += []string{" moved", " withdrawn", " stopped"}[i]
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func detect(t *record.Trial, over *topology.Topology) {
	for i := range t.Flows {
		t.Flows[i].Outages = nil
	}
	for i, list := range Detect(t.Flows, t.Hosts, t.Events, over) {
		t.Flows[i].Outages = list
	}
}

// Flows that keep their path, that move from a link which goes and from one which
// stays, that come late, and that do not come again.
func TestOutages(t *testing.T) {
	flows := []fate{
		{0, 1, 4, 215, 2998},  // its link goes
		{0, 2, 4, 7, 2998},    // and nothing follows from its pauses
		{0, -1, 4, 0, 0},      // does not come again
		{1, 1, 4, 3, 2998},    // stays
		{2, 3, 4, 6, 2998},    // moves although its link stays
		{2, 2, 4, 300, 2996},  // held up where it is
		{3, 3, 4, 500, 2200},  // comes again, and then no more
		{3, 3, 600, 900, 950}, // pauses as long by itself
		{3, 3, 4, 4, 2750},    // pauses at the end, as on a busy machine
	}
	trial, over := trial(flows...)
	detect(trial, over)
	for i, want := range []string{
		"at 1 s lost 215 of 8 ms moved withdrawn",
		"at 1 s lost 0 of 8 ms moved withdrawn",
		"at 1 s lost 1999 of 8 ms withdrawn stopped",
		"at 1 s lost 0 of 8 ms",
		"at 1 s lost 0 of 8 ms moved",
		"at 1 s lost 300 of 8 ms",
		"at 1 s lost 800 of 8 ms stopped",
		"at 1 s lost 1999 of 1200 ms stopped",
		"at 1 s lost 0 of 8 ms",
	} {
		if got := spell(trial.Flows[i]); got != want {
			t.Errorf("flow %d: %q, want %q", i, got, want)
		}
	}
	if o := trial.Flows[0].Outages[0]; strings.Join(o.Before, " ") != "spine0.in b.eth0" ||
		strings.Join(o.After, " ") != "spine1.in b.eth1" {
		t.Errorf("the path was %v and is %v", o.Before, o.After)
	}
	sums := Sum([]record.Trial{*trial})
	if len(sums) != 1 || strings.Join(sums[0].What, ", ") != "x: first, y: second" || sums[0].ResolutionS != 0.008 {
		t.Fatalf("%+v", sums)
	}
	if got, want := sums[0].Withdrawn,
		(record.OutageGroup{Flows: 3, Moved: 2, Stopped: 1, LostS: 0.215, LostAtMostS: 0.215,
			MostLostS: 1.999}); got != want {
		t.Errorf("withdrawn %+v, want %+v", got, want)
	}
	if g := sums[0].Others; g.Flows != 6 || g.Moved != 1 || g.Stopped != 2 || g.LostS != 0.15 {
		t.Errorf("others %+v", g)
	}
	// Once more: nothing is added.
	before := spell(trial.Flows[0])
	detect(trial, over)
	if got := spell(trial.Flows[0]); got != before {
		t.Errorf("again it is %q", got)
	}
}

// Where the spines have not looked, the receiver's interfaces count; where no host has, the
// samples say when, and not where.
func TestOutagesBySight(t *testing.T) {
	trial, over := trial(fate{0, 1, 4, 215, 2998}, fate{1, 1, 4, 0, 2998})
	for i := range trial.Hosts[2:] {
		trial.Hosts[2+i].Arrivals = nil
	}
	detect(trial, over)
	if got := trial.Flows[0].Outages[0]; !got.Moved || strings.Join(got.After, " ") != "b.eth1" {
		t.Errorf("%+v", got)
	}
	receiver := &trial.Hosts[1]
	receiver.Arrivals, receiver.Gaps = nil, nil
	for i := range int64(30) {
		receiver.Series = append(receiver.Series, netstate.Sample{AtNs: began + (i+1)*100e6})
	}
	bins := func(silent ...int) (list []int64) {
		for i := range 30 {
			bytes := int64(1000)
			if slices.Contains(silent, i) {
				bytes = 0
			}
			list = append(list, bytes)
		}
		return list
	}
	for name, c := range map[string]struct {
		bins []int64
		want string
	}{
		"a gap":                {bins(11, 12, 13, 14), "at 1 s lost 400 of 200 ms at most 600"},
		"too short to resolve": {bins(11, 12), "at 1 s lost 0 of 200 ms at most 400"},
		"as before":            {bins(3, 4, 5, 6, 11, 12, 13, 14), "at 1 s lost 0 of 800 ms at most 1000"},
		"to the end": {bins(15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29),
			"at 1 s lost 1500 of 200 ms at most 1600 stopped"},
		"silent before":     {bins(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), ""},
		"samples are short": {bins()[:20], ""},
	} {
		trial.Flows[0].Bins = c.bins
		detect(trial, over)
		if got := spell(trial.Flows[0]); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	trial.Events = nil
	trial.Flows[1].Outages = nil
	if detect(trial, over); trial.Flows[1].Outages != nil || Sum([]record.Trial{{}}) != nil {
		t.Error("nothing happened, and something came of it")
	}
}

// A host on the path that missed a flow on one side of an event has not seen it move, nor
// that its path is gone.
func TestOutagesHalfSeen(t *testing.T) {
	for name, c := range map[string]struct {
		flow   fate
		events int // the side that the spine missed
		want   string
	}{
		"it stays, and was missed after it":  {fate{1, 1, 4, 3, 2998}, 1, "at 1 s lost 0 of 8 ms"},
		"it stays, and was missed before it": {fate{1, 1, 4, 3, 2998}, 0, "at 1 s lost 0 of 8 ms"},
		"it moves":                           {fate{1, 2, 4, 3, 2998}, 0, "at 1 s lost 0 of 8 ms moved withdrawn"},
	} {
		trial, over := trial(c.flow, fate{2, 2, 4, 3, 2998})
		spine := &trial.Hosts[2+c.flow.before]
		spine.Arrivals = slices.DeleteFunc(spine.Arrivals,
			func(a netstate.Arrival) bool { return a.Events == c.events })
		detect(trial, over)
		if got := spell(trial.Flows[0]); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// By one spine two flows came to one interface of the receiver's, and of the one that
	// still does no other host has seen it.
	trial, over := trial(fate{1, -1, 4, 0, 0}, fate{1, 1, 4, 3, 2998})
	spine := &trial.Hosts[3]
	spine.Arrivals = slices.DeleteFunc(spine.Arrivals, func(a netstate.Arrival) bool {
		return a.Flow == "f1" && a.Events == 1
	})
	detect(trial, over)
	if got, want := spell(trial.Flows[0]), "at 1 s lost 1999 of 8 ms stopped"; got != want {
		t.Errorf("it may still come by that spine: %q, want %q", got, want)
	}
}
