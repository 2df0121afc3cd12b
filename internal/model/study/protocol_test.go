package study

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
)

const mixed = `study: mixed
response: [latency_p99, goodput]
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a, to: b, rate: 20mbit}
workload:
  rate_cap: 10mbit
  connections: 3
  direction: both
  mss: 1000
  flows:
    - {from: a, to: b, datagram: 1KiB, protocol: udp}
    - {from: a, to: b, protocol: rr, pace: 2.5, poll: true}
    - {from: a, to: b, mode: copy}
`

// TestMixedWorkload: a workload's options reach the flows to which they mean
// something, and no others.
func TestMixedWorkload(t *testing.T) {
	s, err := Parse("mixed.yaml", []byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	flows := plan(t, s).Treatments[0].Flows
	if len(flows) != 5 {
		t.Fatalf("%d flows, want both ways of udp and tcp, and one rr: %+v", len(flows), flows)
	}
	on := true
	for i, want := range []flow.Spec{
		{Protocol: "udp", Direction: flow.Both, Streams: 1, RateCap: 10e6, Datagram: 1024},
		{Protocol: "udp", Direction: flow.Both, Streams: 1, RateCap: 10e6, Datagram: 1024},
		{Protocol: "rr", Direction: flow.Write, Streams: 1, MSS: 1000, CongestionControl: "cubic",
			Request: 1, Response: 1, Connections: 3, Pace: 2.5, Poll: &on, Threads: 1},
		{Direction: flow.Both, Streams: 1, MSS: 1000, CongestionControl: "cubic", RateCap: 10e6, Mode: "copy"},
		{Direction: flow.Both, Streams: 1, MSS: 1000, CongestionControl: "cubic", RateCap: 10e6, Mode: "copy"},
	} {
		if !reflect.DeepEqual(flows[i].Spec, want) {
			t.Errorf("flow %d has %+v, want %+v", i+1, flows[i].Spec, want)
		}
	}
	if !flows[2].OpenerSends {
		t.Error("the opener of an rr flow does not ask")
	}
}

// TestResponseDefaults: a study is judged by what its flows have.
func TestResponseDefaults(t *testing.T) {
	given := "response: [latency_p99, goodput]\n"
	for _, test := range []struct {
		response, protocol string
		want               []string
	}{
		{"", "tcp", []string{"goodput"}},
		{"", "udp", []string{"goodput"}},
		{"", "rr", []string{"transactions", "latency_p99"}},
		{"", "udp-rr", []string{"transactions", "latency_p99"}},
		{"response: lost\n", "udp", []string{"lost"}},
		{"response: [latency_p999]\n", "crr", []string{"latency_p999"}},
	} {
		text := strings.Replace(pair, "study: pair\n", "study: pair\n"+test.response, 1)
		s, err := Parse("pair.yaml", []byte(text), "workload.protocol="+test.protocol)
		if err != nil {
			t.Errorf("%s%s: %v", test.response, test.protocol, err)
		} else if !slices.Equal(s.Responses, test.want) {
			t.Errorf("%s%s is judged by %v, want %v", test.response, test.protocol, s.Responses, test.want)
		}
	}
	if s, err := Parse("mixed.yaml", []byte(strings.Replace(mixed, given, "", 1))); err != nil ||
		!slices.Equal(s.Responses, []string{"goodput"}) {
		t.Errorf("a mixed workload is judged by %v (%v), want goodput", s.Responses, err)
	}
}

// TestResponseNames: what a file may ask for is what there is.
func TestResponseNames(t *testing.T) {
	fields := source.Fields(reflect.TypeFor[Study]())
	i := slices.IndexFunc(fields, func(f source.Field) bool { return f.Name == "response" })
	there := metric.ResponseNames()
	if !slices.Equal(fields[i].Enum, there) {
		t.Errorf("a file may ask for %v, there are %v", fields[i].Enum, there)
	}
}

// TestProbe: a probe takes the path of the first flow, also of one that reads, and is
// no flow that levels change; what it measures is among the responses.
func TestProbe(t *testing.T) {
	s, err := Parse("probe.yaml", []byte(`study: probe
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a, to: b, rate: 100mbit}
workload:
  probe: true
  flows:
    - {from: a, to: b, direction: read, protocol: udp, source: 10.0.0.1}
factors:
  streams:
    levels:
      "1": {}
      "8": {workload: {streams: 8, rate_cap: 10mbit}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"goodput", "latency_p50", "latency_p99"}; !slices.Equal(s.Responses, want) {
		t.Errorf("judged by %v, want %v", s.Responses, want)
	}
	p := plan(t, s)
	for i, flows := range []int{1, 8} {
		all := p.Treatments[i].Flows
		f := all[len(all)-1]
		if len(all) != flows+1 || f.ID != probeID || f.Protocol != "rr" || !f.OpenerSends || f.Opener != "a" ||
			f.Acceptor != "b" || f.Source != all[0].Source ||
			f.Destination != all[0].Destination || f.Pace != 600 || f.Connections != 600 || f.RateCap != 0 ||
			f.CongestionControl != defaultCongestionControl {
			t.Errorf("%s: %+v", p.Treatments[i].Name, all)
		}
	}
}

// TestProbeRate: a probe has the requests of p99 in its window, unless that would be a load
// for the path or for the hosts; then a plan says so.
func TestProbeRate(t *testing.T) {
	for _, test := range []struct {
		window  time.Duration
		slowest float64
		want    float64
	}{
		{2 * time.Second, 0, 600}, {2 * time.Second, 1e9, 600}, {7 * time.Second, 1e9, 172}, {time.Minute, 0, 100},
		{100 * time.Millisecond, 0, 1000}, {2 * time.Second, 20e6, 188}, {2 * time.Second, 1e6, 100},
	} {
		f := ProbeOptions("cubic", test.window, test.slowest)
		if f.Pace != test.want || f.Connections != int(test.want) {
			t.Errorf("%v over %g bit/s: %g/s over %d connections, want %g", test.window, test.slowest, f.Pace,
				f.Connections, test.want)
		}
	}
	file := `study: probe
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a, to: b, rate: RATE}
workload: {probe: true, flows: [{from: a, to: b}]}
factors: {streams: {levels: {"1": {}, "8": {workload: {streams: 8}}}}}
`
	for rate, want := range map[string]string{
		"1gbit": "",
		"20mbit": "latency p99 of 376 requests is the 5th slowest: p99 needs 1,000. The comparison will be " +
			"inconclusive in trials of 2s, such as of \"1\"; long enough: --set workload.duration=5.6s",
	} {
		s, err := Parse("probe.yaml", []byte(strings.Replace(file, "RATE", rate, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan(t, s).TooFew(), "; "); got != want {
			t.Errorf("%s: %q, want %q", rate, got, want)
		}
	}
}

// TestTooFewByDelay: without a pace the path's delay bounds the requests of a connection.
func TestTooFewByDelay(t *testing.T) {
	file := `study: rr
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a, to: b, delay: 5ms}
workload: {duration: 5s, flows: [{from: a, to: b, FLOW}]}
response: RESPONSE
factors: {order: {levels: {"1": {}, "2": {}}}}
`
	const trials = " The comparison will be inconclusive in trials of 5s, such as of \"1\"; long enough: --set " +
		"workload.duration="
	const delayed = " More are not possible with the path's delay and so many connections." + trials
	for _, test := range []struct{ flow, response, want string }{
		{"protocol: rr", "latency_p999", "latency p99.9 of 500 requests is the slowest: p99.9 needs 10,000." + delayed +
			"1m45.1s"},
		{"protocol: rr, pace: 50", "latency_p999", "latency p99.9 of 250 requests is the slowest: p99.9 needs 10,000." +
			trials + "3m30.1s"},
		{"protocol: rr, pace: 5000", "latency_p99", "latency p99 of 500 requests is the 6th slowest: p99 needs 1,000." +
			delayed + "10.6s"},
		{"protocol: crr", "latency_p99", "latency p99 of 250 requests is the 3rd slowest: p99 needs 1,000." +
			delayed + "21.1s"},
		// a moment after the window
		{"protocol: rr, connections: 20", "latency_p999",
			"latency p99.9 of 9,999 requests is the 11th slowest: p99.9 needs 10,000." + delayed + "5.3s"},
		{"protocol: rr, connections: 21", "latency_p999", ""},
		{"protocol: rr", "transactions", ""},
	} {
		s, err := Parse("rr.yaml",
			[]byte(strings.NewReplacer("FLOW", test.flow, "RESPONSE", test.response).Replace(file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan(t, s).TooFew(), "; "); got != test.want {
			t.Errorf("%s, %s:\n%q, want\n%q", test.flow, test.response, got, test.want)
		}
	}
}
