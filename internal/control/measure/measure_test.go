package measure

import (
	"testing"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

func TestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1:5202", "192.0.2.1:99": "192.0.2.1:99", "nas": "nas:5202", "nas:http": "nas:http",
		"fd00::1": "[fd00::1]:5202", "[fd00::1]": "[fd00::1]:5202", "[fd00::1]:99": "[fd00::1]:99",
		"fe80::1%eth0": "[fe80::1%eth0]:5202", " nas ": "nas:5202",
		"": "", ":5202": "", "nas:": "", "[nas:5": "", "nas]": "",
	} {
		got, err := place(text)
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
		s := session{hellos: map[string]record.Hello{record.NodeServer: {Bounds: &record.Bounds{RateBps: test.granted}}}}
		s.options.Flows.Streams = 4
		s.options.Flows.RateCap = unit.BitRate(test.asked)
		if got := float64(s.rateCap()); got != test.want {
			t.Errorf("%+v: %g", test, got)
		}
	}
}

func TestSampling(t *testing.T) {
	for _, test := range []struct{ duration, interval, want time.Duration }{
		{10 * time.Second, time.Second, time.Second},
		{2 * time.Second, time.Second, 200 * time.Millisecond},
		{time.Hour, time.Second, 7200 * time.Millisecond},
		{10 * time.Millisecond, time.Second, time.Millisecond},
	} {
		s := session{options: Options{Duration: test.duration, Interval: test.interval}}
		if got := s.sampling(); got != test.want {
			t.Errorf("%v by %v: every %v, want %v", test.duration, test.interval, got, test.want)
		}
	}
}

// TestPlan: tickets differ, and who sends follows the direction.
func TestPlan(t *testing.T) {
	for direction, want := range map[string]string{study.Write: "w1 w2", study.Read: "r1 r2", study.Both: "w1 w2 r1 r2"} {
		s := session{options: Options{Flows: study.Options{Direction: direction, Streams: 2}}}
		tickets := map[record.Ticket]bool{}
		got := ""
		for _, f := range s.plan() {
			if got != "" {
				got += " "
			}
			got += f.ID
			tickets[f.Ticket] = true
			if f.Opener != record.NodeClient || f.OpenerSends != (f.ID[0] == 'w') || f.Ticket.IsZero() {
				t.Errorf("%s: %+v", direction, f)
			}
		}
		if got != want || len(tickets) != len(s.plan()) {
			t.Errorf("%s: %s with %d tickets", direction, got, len(tickets))
		}
	}
}

// TestRate: a live figure needs two readings and flows of the direction.
func TestRate(t *testing.T) {
	flows := func(w, r int64) []record.FlowSample {
		return []record.FlowSample{{ID: "w1", ReceivedBytes: w}, {ID: "r1", ReceivedBytes: r}}
	}
	a, b := record.Glance{AtNs: 1e9, Flows: flows(100, 7)}, record.Glance{AtNs: 3e9, Flows: flows(1100, 7)}
	if got := rate(a, b, 'w'); got != 4000 {
		t.Errorf("1000 bytes in 2 s: %g bit/s", got)
	}
	if got := rate(a, b, 'r'); got != 0 {
		t.Errorf("nothing in 2 s: %g bit/s", got)
	}
	for name, got := range map[string]float64{
		"none before": rate(record.Glance{}, b, 'w'), "none now": rate(a, record.Glance{}, 'w'), "no flows": rate(a, b, 'x'),
	} {
		if got >= 0 {
			t.Errorf("%s: %g", name, got)
		}
	}
}
