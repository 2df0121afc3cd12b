package measure

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

func TestComplete(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1:5202", "192.0.2.1:99": "192.0.2.1:99", "nas": "nas:5202", "nas:http": "nas:http",
		"fd00::1": "[fd00::1]:5202", "[fd00::1]": "[fd00::1]:5202", "[fd00::1]:99": "[fd00::1]:99",
		"fe80::1%eth0": "[fe80::1%eth0]:5202", " nas ": "nas:5202",
		"": "", ":5202": "", "nas:": "", "[nas:5": "", "nas]": "", "nas:99999": "", "10.0.0.1:x:y": "", "nas:0": "",
		"fe80::1": "", "[fe80::1]:99": "",
	} {
		got, err := Complete(text, DefaultPort)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestRateCap: the server's rate is shared by the streams, and a lower cap stands.
func TestRateCap(t *testing.T) {
	for _, test := range []struct {
		asked, granted, want float64
	}{{0, 0, 0}, {50e6, 0, 50e6}, {0, 400e6, 100e6}, {50e6, 400e6, 50e6}, {500e6, 400e6, 100e6}} {
		s := session{hellos: map[string]message.Hello{
			record.NodeServer: {Bounds: &message.Bounds{RateBps: test.granted}}}}
		s.options.Flows.Streams = 4
		s.options.Flows.RateCap = unit.BitRate(test.asked)
		if got := float64(s.rateCap()); got != test.want {
			t.Errorf("%+v: %g", test, got)
		}
		n := s.network()
		if capped := test.want != test.asked; n.serverCap != capped || capped && n.askedBps != test.asked {
			t.Errorf("%+v: %+v", test, n)
		}
	}
}

// TestWithin: what takes longer than the server grants is not begun, and a search
// takes as many windows as it is to stand, and some before.
func TestWithin(t *testing.T) {
	search := func(repeats int) *study.LossFree {
		return &study.LossFree{Resolution: study.DefaultResolution, Repeats: repeats}
	}
	for _, test := range []struct {
		o    Options
		want string // empty: it is begun
	}{
		{Options{Duration: 59 * time.Second, Warmup: time.Second}, ""},
		{Options{Duration: 60 * time.Second, Warmup: time.Second},
			"1m1s with the warm-up: the server allows 1m; expected a shorter --duration, or there: linerate serve " +
				"--max-duration 2m"},
		{Options{Duration: 10 * time.Second, LossFree: search(2)}, ""},
		{Options{Duration: 10 * time.Second, LossFree: search(10)},
			"with 10 trials of 10s to confirm its result: the server ends a session after 2m"},
		{Options{Duration: 55 * time.Second, LossFree: search(1)}, ""},
		{Options{Duration: 55 * time.Second, LossFree: search(2)}, "2 trials of 55s"},
		{Options{Duration: 10 * time.Second, FindMax: &FindMax{Repeats: 3}}, ""},
		{Options{Duration: 40 * time.Second, FindMax: &FindMax{Repeats: 3}},
			"with 3 trials of 40s to confirm its result: the server ends a session after 2m"},
	} {
		test.o.Flows = flow.Spec{Direction: flow.Write, Streams: 1}
		s := session{options: test.o, servers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:5202")},
			hellos: map[string]message.Hello{record.NodeServer: {Bounds: &message.Bounds{Flows: 1, DurationS: 60}}}}
		err := s.checkBounds()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, %+v: %v; want %q", test.o.Duration, test.o.LossFree, err, test.want)
		}
	}
}

func TestSampling(t *testing.T) {
	for _, test := range []struct{ duration, interval, want time.Duration }{
		{10 * time.Second, time.Second, time.Second},
		{2 * time.Second, time.Second, 200 * time.Millisecond},
		{time.Hour, time.Second, 7200 * time.Millisecond},
		{10 * time.Millisecond, time.Second, time.Millisecond},
		{3 * time.Second, time.Second, 250 * time.Millisecond},
		{3 * time.Second, 500 * time.Millisecond, 250 * time.Millisecond},
	} {
		s := session{options: Options{Duration: test.duration, Interval: test.interval}}
		if got := s.sampling(); got != test.want {
			t.Errorf("%v by %v: every %v, want %v", test.duration, test.interval, got, test.want)
		}
	}
}

// TestPlan: cookies differ, and who sends follows the direction.
func TestPlan(t *testing.T) {
	for direction, want := range map[string]string{flow.Write: "w1 w2", flow.Read: "r1 r2", flow.Both: "w1 w2 r1 r2"} {
		s := session{options: Options{Flows: flow.Spec{Direction: direction, Streams: 2}},
			servers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:5202")}}
		cookies := map[message.Cookie]bool{}
		got := ""
		for _, f := range s.plan() {
			if got != "" {
				got += " "
			}
			got += f.ID
			cookies[f.Cookie] = true
			if f.Opener != record.NodeClient || f.OpenerSends != (f.ID[0] == 'w') || f.Cookie.IsZero() {
				t.Errorf("%s: %+v", direction, f)
			}
		}
		if got != want || len(cookies) != len(s.plan()) {
			t.Errorf("%s: %s with %d cookies", direction, got, len(cookies))
		}
	}
}

// TestOnlyOneSpins: the single flow of a measurement may spin, and neither one of several nor a probe of latency.
func TestOnlyOneSpins(t *testing.T) {
	for want, o := range map[string]Options{
		"w1 true":           {Flows: flow.Spec{Direction: flow.Write, Streams: 1}},
		"r1 true":           {Flows: flow.Spec{Direction: flow.Read, Streams: 1}},
		"w1 false w2 false": {Flows: flow.Spec{Direction: flow.Write, Streams: 2}},
		"w1 false r1 false": {Flows: flow.Spec{Direction: flow.Both, Streams: 1}},
		"w1 false p1 false": {Flows: flow.Spec{Direction: flow.Write, Streams: 1}, Latency: true},
	} {
		s := session{options: o, servers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:5202")}}
		var got []string
		for _, f := range s.planned() {
			got = append(got, fmt.Sprintf("%s %t", f.ID, f.Spins))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%+v: %s, want %s", o, text, want)
		}
	}
}

// TestProgress: a live figure needs two readings and flows of the direction, and
// is of what the protocol counts.
func TestProgress(t *testing.T) {
	nodes := trial.Group{Nodes: []string{record.NodeClient, record.NodeServer}}
	at := func(s int64, client, server []netstate.FlowSample) map[string]message.FlowProgress {
		return map[string]message.FlowProgress{
			record.NodeClient: {AtNs: s * 1e9, Flows: client}, record.NodeServer: {AtNs: s * 1e9, Flows: server},
		}
	}
	w := func(bytes, datagrams, lost int64) []netstate.FlowSample {
		return []netstate.FlowSample{{ID: "w1", ReceivedBytes: bytes, Datagrams: datagrams, Lost: lost}}
	}
	r := []netstate.FlowSample{{ID: "r1", ReceivedBytes: 7}}
	none := map[string]message.FlowProgress{}
	flows := []*trial.Flow{
		{PlannedFlow: study.PlannedFlow{ID: "w1", Opener: record.NodeClient, Acceptor: record.NodeServer,
			OpenerSends: true}},
		{PlannedFlow: study.PlannedFlow{ID: "r1", Opener: record.NodeClient, Acceptor: record.NodeServer}},
	}
	for _, test := range []struct {
		name, protocol string
		before, now    map[string]message.FlowProgress
		want           Progress
	}{
		{"1000 bytes in 2 s, and nothing back", "", at(1, r, w(100, 0, 0)), at(3, r, w(1100, 0, 0)),
			Progress{Write: 4000, LostShare: -1, RatePerS: -1}},
		{"one direction", "tcp", at(1, nil, w(100, 0, 0)), at(3, nil, w(100, 0, 0)),
			Progress{Read: -1, LostShare: -1, RatePerS: -1}},
		{"a fifth lost", "udp", at(1, nil, w(0, 10, 5)), at(2, nil, w(8, 50, 15)),
			Progress{Write: 64, Read: -1, LostShare: 0.2, RatePerS: -1}},
		{"transactions, as the client counts", "crr", at(1, []netstate.FlowSample{{ID: "w1", Done: 10}}, w(1, 0, 0)),
			at(3, []netstate.FlowSample{{ID: "w1", Done: 50}}, w(9, 0, 0)), Progress{Write: -1, Read: -1, LostShare: -1,
				RatePerS: 20}},
		{"none before", "tcp", none, at(3, r, w(1, 0, 0)), Progress{Write: -1, Read: -1, LostShare: -1, RatePerS: -1}},
		{"none now", "tcp", at(3, r, w(1, 0, 0)), none, Progress{Write: -1, Read: -1, LostShare: -1, RatePerS: -1}},
	} {
		s := session{group: nodes, options: Options{Flows: flow.Spec{Protocol: test.protocol}}}
		if got := s.progress(flows, test.before, test.now); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestResolve: a server that is another program keeps its name, by which it is asked, whichever
// family its address is of.
func TestResolve(t *testing.T) {
	for _, c := range []struct{ address, network, server, host string }{
		{"localhost:80", "ip4", "127.0.0.1:80", "localhost:80"},
		{"127.0.0.1:80", "", "127.0.0.1:80", ""},
		{"[::1]:80", "ip6", "[::1]:80", ""},
		{"[fe80::1%eth0]:80", "ip6", "[fe80::1%eth0]:80", ""},
	} {
		s := session{options: Options{Addresses: []string{c.address}, Network: c.network}}
		if err := s.resolve(t.Context()); err != nil || s.server.String() != c.server || s.host != c.host {
			t.Errorf("%s, %s: %s, name %q, %v", c.address, c.network, s.server, s.host, err)
		}
	}
	s := session{options: Options{Addresses: []string{"127.0.0.1:80"}, Network: "ip6"}}
	if err := s.resolve(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1 has no IPv6 address") {
		t.Error(err)
	}
}
