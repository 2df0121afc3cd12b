package bufferbloat

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/sciencetest"
)

func TestGrade(t *testing.T) {
	for us, want := range map[float64]string{0: "A+", 4999: "A+", 5000: "A", 29e3: "A", 59e3: "B", 199e3: "C",
		399e3: "D", 400e3: "F", 1e9: "F"} {
		if got, means := Grade(us); got != want || means == "" {
			t.Errorf("%g µs: %s (%s), want %s", us, got, means, want)
		}
	}
	names := []string{worst}
	for _, g := range grades {
		names = slices.Insert(names, 1, g.name)
	}
	if !slices.Equal(names, record.LatencyGrades) {
		t.Errorf("grades %v, want %v", names, record.LatencyGrades)
	}
}

func TestJudge(t *testing.T) {
	idle := &record.Distribution{MinUs: 1000, MeanUs: 1500}
	flows := []record.Flow{
		{ID: "w1", From: "client", SenderInfo: &netstate.TCPInfo{MinRTTUs: 900}},
		{ID: "r1", From: "server", SenderInfo: &netstate.TCPInfo{MinRTTUs: 800}},
		{ID: "u1", From: "client"},
	}
	sample := func(w1, r1, probe uint32) netstate.Sample {
		return netstate.Sample{Flows: []netstate.FlowSample{{ID: "w1", RTTUs: w1}, {ID: "r1", RTTUs: r1},
			{ID: "p1", RTTUs: probe}}}
	}
	hosts := []netstate.HostReading{
		// a receiver's own estimate says nothing
		{Host: "client", Series: []netstate.Sample{sample(10000, 1, 7), sample(30000, 1, 7)}},
		{Host: "server", Series: []netstate.Sample{sample(1, 2000, 7), sample(1, 0, 7)}},
	}
	l := Judge(idle, &record.Distribution{MeanUs: 41000}, flows, hosts)
	if l.BaselineUs != 1000 || l.BufferDelayUs != 40000 || l.BufferDelayPercent != 4000 || l.Grade != "B" {
		t.Errorf("the probe's: %+v", l)
	}
	if l.TCPBaselineUs != 800 || l.TCPRTTUs != 14000 || l.TCPBufferDelayPercent != 1650 {
		t.Errorf("TCP's own: %+v", l)
	}
	for _, c := range []struct {
		idle, mean, p50 float64
		want            string
	}{
		{1000, 9e3, 9e3, "short queue"}, {1000, 12e3, 12e3, "for an access line; the load adds 11 times the idle p50"},
		{1000, 42e3, 42e3, "fast games suffer"},
		{2300, 15.5e3, 8870, "short queue"}, // an idle path that is not quiet: its fastest response stands for no other
	} {
		idle := &record.Distribution{MinUs: 46, P50Us: c.idle}
		if l := Judge(idle, &record.Distribution{MeanUs: c.mean, P50Us: c.p50}, nil, nil); !strings.Contains(
			l.Means, c.want) {
			t.Errorf("p50 %g µs, idle %g µs: %q, want %q", c.p50, c.idle, l.Means, c.want)
		}
	}
	if l := Judge(idle, nil, nil, nil); l.Grade != "F" || !strings.Contains(l.Means, "not one request was answered") ||
		l.TCPBufferDelayPercent != 0 {
		t.Errorf("no answer: %+v", l)
	}
	if l := Judge(idle, &record.Distribution{MeanUs: 900}, nil, nil); l.BufferDelayUs != 0 ||
		l.BufferDelayPercent != 0 || l.Grade != "A+" {
		t.Errorf("quicker under load: %+v", l)
	}
}

// TestNoGrade: a load that held itself back says nothing about the path's queues.
// TestLost: a grade by delay says so where the queue that makes it loses packets.
func TestLost(t *testing.T) {
	idle, loaded := &record.Distribution{MinUs: 1000, MeanUs: 1500}, &record.Distribution{MeanUs: 51_000}
	for lost, want := range map[int64]string{0: "", 5: "",
		354: "by delay alone: 35.4 % of the load's datagrams were lost"} {
		l := Judge(idle, loaded, []record.Flow{{Datagrams: &record.Datagrams{Received: 1000 - lost, Lost: lost}}}, nil)
		if l.Grade != "B" || !strings.HasPrefix(l.Note, want) || (l.Note == "") != (want == "") {
			t.Errorf("%d of 1000: %s, %q", lost, l.Grade, l.Note)
		}
	}
}

func TestNoGrade(t *testing.T) {
	idle, loaded := &record.Distribution{MinUs: 1000, MeanUs: 1500}, &record.Distribution{MeanUs: 2000}
	flows := func(causes ...string) (list []record.Flow) {
		for _, by := range causes {
			list = append(list, record.Flow{LimitedBy: by})
		}
		return list
	}
	for _, test := range []struct {
		flows  []record.Flow
		loaded *record.Distribution
		want   string
	}{
		{flows("rate cap", "rate cap"), loaded, ""},
		{flows("rate cap", "receiver window"), loaded, ""},
		{flows("rate cap", "full link"), loaded, "A+"},
		{flows("rate cap", ""), loaded, "A+"}, // it may have been the path
		{flows("rate cap"), nil, "F"},
	} {
		if l := Judge(idle, test.loaded, test.flows, nil); l.Grade != test.want || l.Means == "" || test.want == "" &&
			strings.Count(l.Means, "rate cap") != 1 {
			t.Errorf("%+v: grade %q (%s), want %q", test.flows, l.Grade, l.Means, test.want)
		}
	}
}

// TestLoadOfBBR: a grade of a load that drains its own queue says so.
func TestLoadOfBBR(t *testing.T) {
	for _, test := range []struct {
		controls []string
		want     bool
	}{{[]string{"bbr"}, true}, {[]string{"bbr", "bbr"}, true}, {[]string{"bbr", "cubic"}, false},
		{[]string{"cubic"}, false}, {nil, false}} {
		var flows []record.Flow
		for _, control := range test.controls {
			flows = append(flows, record.Flow{Protocol: "tcp", LimitedBy: bottleneck.FullLink,
				CongestionControl: control})
		}
		l := Judge(&record.Distribution{MinUs: 1000, MeanUs: 1500}, &record.Distribution{MeanUs: 9000}, flows, nil)
		if l.Grade == "" || strings.Contains(l.Note, "bbr keeps queues short") != test.want {
			t.Errorf("%q: %q, %q", test.controls, l.Grade, l.Note)
		}
	}
}

// TestOwnInterface: a short queue is not put down to the path where the full link is the
// sender's own interface, in which TCP small queues keep it short.
func TestOwnInterface(t *testing.T) {
	for _, test := range []struct {
		share, delayUs float64 // of the shaper's rate
		by             string
		want           bool
	}{
		{0.94, 9e3, bottleneck.FullLink, true},
		{0.5, 9e3, bottleneck.FullLink, false},          // another link is full
		{0.94, 9e3, bottleneck.CongestionWindow, false}, // none is
		{0.94, 240e3, bottleneck.FullLink, false},       // its queue did fill
	} {
		trial := sciencetest.Study.Trial(sciencetest.Fixes[4], "writes", 1, 1, rand.New(rand.NewPCG(3, 3)))
		var flows []record.Flow
		port := ""
		for _, f := range trial.Flows {
			if len(f.Path) > 0 && (len(flows) == 0 || f.From == flows[0].From) {
				_, port, _ = strings.Cut(f.Path[0], ".")
				f.LimitedBy = test.by
				flows = append(flows, f)
			}
		}
		for h := range trial.Hosts {
			host := &trial.Hosts[h]
			for _, d := range host.Deltas() {
				for i := range host.Snapshot.Interfaces {
					if s := &host.Snapshot.Interfaces[i]; s.Interface == port && d.Interface == port &&
						host.Host == flows[0].From {
						s.Shaper = &netstate.Shaper{Kind: "tbf", RateBps: d.TxBps() / test.share}
					}
				}
			}
		}
		judge := func(flows []record.Flow) *record.Latency {
			return Judge(&record.Distribution{MinUs: 1000, MeanUs: 1500},
				&record.Distribution{MeanUs: 1000 + test.delayUs}, flows, trial.Hosts)
		}
		// The other direction, whose link is full elsewhere or at its own sender.
		back := flows[0]
		back.From, back.To = back.To, back.From
		if l := judge(append(slices.Clone(flows), back)); l.Note != "" {
			t.Errorf("%+v, and back through another link: %q", test, l.Note)
		}
		waiting := back
		waiting.LimitedBy = bottleneck.Acknowledgements // in the queue of that interface
		if l := judge(append(slices.Clone(flows), waiting)); strings.Contains(l.Note,
			"sender's own interface") != test.want {
			t.Errorf("%+v, and back behind its queue: %q", test, l.Note)
		}
		theirs := &trial.Hosts[slices.IndexFunc(trial.Hosts, func(h netstate.HostReading) bool {
			return h.Host == back.From
		})]
		theirs.Snapshot.Interfaces = slices.Clone(theirs.Snapshot.Interfaces)
		at := ""
		for _, d := range theirs.Deltas() {
			for i := range theirs.Snapshot.Interfaces {
				if s := &theirs.Snapshot.Interfaces[i]; s.Interface == d.Interface && d.TxBps() > 0 && at == "" {
					at, s.Shaper = back.From+" "+s.Interface,
						&netstate.Shaper{Kind: "tbf", RateBps: d.TxBps() / test.share}
				}
			}
		}
		if l := judge(append(slices.Clone(flows), back)); strings.Contains(l.Note, "own interfaces ("+flows[0].From+" "+
			port+", "+at+")") != test.want || (l.Note != "") != test.want {
			t.Errorf("%+v, and back: %q", test, l.Note)
		}
		l := judge(flows)
		if found := strings.Contains(l.Note, "own interface ("+flows[0].From+" "+port+")"); found != test.want ||
			(l.Note != "") != test.want {
			t.Errorf("%+v: %q", test, l.Note)
		}
	}
}
