//go:build linux

package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want spread
	}{
		{[]float64{3, 1, 2}, spread{1, 2, 3, 1, 3}},
		{[]float64{4, 1, 2, 3}, spread{1, 2.5, 4, 1, 4}},
		{[]float64{7}, spread{7, 7, 7, 7, 7}},
		{nil, spread{}},
	} {
		if got := spreadOf(c.in); got != c.want {
			t.Errorf("spreadOf(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestSysctlsWatched(t *testing.T) {
	before := parseSysctls([]byte("net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n" +
		"fs.file-max = 100\nnet.netfilter.nf_conntrack_count = 3\nkernel.random.uuid = a\nno value here\n"))
	if len(before) != 3 {
		t.Errorf("watched %v, want rmem_max, tcp_rmem and file-max", before)
	}
	after := parseSysctls([]byte("net.core.rmem_max = 16777216\nnet.ipv4.tcp_rmem = 10240\t87380\t16777216\n" +
		"fs.file-max = 100\nnet.netfilter.nf_conntrack_count = 9\nnet.core.new = 1\n"))
	if got, want := changed(before, after), []string{"net.core.rmem_max", "net.ipv4.tcp_rmem"}; !slices.Equal(
		got, want) {
		t.Errorf("changed = %v, want %v", got, want)
	}
}

// TestMarks: the gate follows the medians of the paired ratios.
func TestMarks(t *testing.T) {
	held := func(up, down []float64) *outcome {
		of := map[string][]figure{}
		for i, mininet := range []float64{1, 1, 2} {
			of["Mininet"] = append(of["Mininet"], figure{labTimes: labTimes{UpS: mininet, DownS: 3}})
			of["linerate"] = append(of["linerate"], figure{labTimes: labTimes{UpS: up[i], DownS: down[i]}})
		}
		return &outcome{contest: lab, turns: []map[string][]figure{of}}
	}
	fast := held([]float64{.4, .6, .8}, []float64{.1, .1, .1})
	if got := fast.ratio(lab.marks[0]); math.Abs(got.Median-.4) > 1e-9 || math.Abs(got.Most-.6) > 1e-9 {
		t.Errorf("ratio = %v, want a median of 0.4 and 0.6 at most", got)
	}
	if !fast.met() {
		t.Error("the marks were reached, but met says no")
	}
	if slow := held([]float64{.4, .4, .4}, []float64{.4, .4, .4}); slow.met() {
		t.Error("down took more than a tenth, but met says yes")
	}
}

// TestWithin: a mark of agreement is missed on either side.
func TestWithin(t *testing.T) {
	m := mark{ratio: 0.05, kind: within}
	for ratio, want := range map[float64]bool{0.94: false, 0.96: true, 1.04: true, 1.06: false} {
		if got := m.met(spread{Median: ratio}); got != want {
			t.Errorf("%g %s: %v, want %v", ratio, m, got, want)
		}
	}
}

// labOf is one round of the lab.
func labOf(linerate, mininet labTimes) *outcome {
	return &outcome{contest: lab,
		turns: []map[string][]figure{{"linerate": {{labTimes: linerate}}, "Mininet": {{labTimes: mininet}}}}}
}

func TestPage(t *testing.T) {
	text, err := page{
		Machine: machine{Kernel: "6.1", CPU: "a CPU", Mininet: "2.3", CPUs: 2, MemoryGiB: 3.9, Busy: 0.3},
		Rounds:  1,
		Lab: labOf(labTimes{UpS: .25, DownS: .02, wall: .3, after: .1}, labTimes{UpS: 1, DownS: 4, wall: 6,
			after: .2}),
	}.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a CPU, 2 CPUs, 4 GiB, Linux 6.1",
		"It was 30 % busy with other work",
		"| up, agents ready | 0.250 s (0.250–0.250) | 1.000 s (1.000–1.000) | 0.250× (0.250–0.250) | at most 0.5 |",
		"| down | 0.020 s (0.020–0.020) | 4.000 s (4.000–4.000) | 0.005× (0.005–0.005) | at most 0.1 |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

func TestParse(t *testing.T) {
	const one = "20260101000000,10.0.0.1,4,10.0.0.2,5001,1,0.0-2.0,1000000000,4000000000\n"
	for _, c := range []struct {
		name  string
		parse func([]byte) (figure, error)
		text  string
		want  figure
	}{
		{"measure", parseMeasure,
			`{"goodput_bps":8e10,"received_bytes":2e10,"ends":[{"busy_cpu_s":3},{"busy_cpu_s":3}],"flows":[{"datagrams":{"received":30,"lost":10}},{}]}`,
			figure{rate: 80, cpu: 0.15, lost: 0.25}},
		{"rr", parseMeasure, `{"rate_per_s":60000}`, figure{rate: 60}},
		{"iperf3", parseIperf3,
			`{"start":{},"end":{"sum_received":{"seconds":2.0,"bytes":12500000000,"bits_per_second":5e10,"lost_percent":5}}}`,
			figure{rate: 50, gigabytes: 12.5, lost: 0.05}},
		{"iperf", parseIperf, one + strings.Replace(one, "10.0.0.1,4,", "10.0.0.1,6,", 1),
			figure{rate: 8, gigabytes: 2}},
		{"nuttcp", parseNuttcp, "megabytes=4096 real_seconds=2.00 rate_Mbps=28000 drop=1 pkt=2 data_loss=50",
			figure{rate: 28, gigabytes: 4.294967296, lost: 0.5}},
		{"sockperf", parseSockperf, "sockperf: Summary: Latency is 8.000 usec", figure{rate: 62.5}},
		{"qperf", parseQperf, "tcp_lat:\n    latency  =  8000 ns\n", figure{rate: 62.5}},
		{"crr", parseThousands, "16128.2\n", figure{rate: 16.1282}},
		{"a server of others", parsePerSecond, `{"rate_per_s":398.5}`, figure{rate: 398.5}},
		{"wrk", parsePeersPerSecond, "  Thread Stats\nRequests/sec:    398.24\nTransfer/sec:      0.48MB\n",
			figure{rate: 398.24}},
		{"dnsperf", parsePeersPerSecond, "  Run time (s):         6.0\n  Queries per second:   399.71\n",
			figure{rate: 399.71}},
	} {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }
		got, err := c.parse([]byte(c.text))
		if err != nil || !near(got.rate, c.want.rate) || !near(got.cpu, c.want.cpu) ||
			!near(got.gigabytes, c.want.gigabytes) || !near(got.lost, c.want.lost) {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		for _, bad := range []string{"", "{}", "connect failed: Connection refused", `{"end":{},"error":"busy"}`,
			strings.Replace(one, "1000000000", "0", 1)} {
			if f, err := c.parse([]byte(bad)); err == nil {
				t.Errorf("%s: %q is taken for %+v", c.name, bad, f)
			}
		}
	}
	if _, err := parseIperf3([]byte(`{"start":{},"end":{},"error":"unable to connect"}`)); err == nil ||
		!strings.Contains(err.Error(), "unable to connect") {
		t.Errorf("iperf3's error becomes %v", err)
	}
}

// TestContest: contenders take turns, the first round does not count, marks are
// held against the paired ratios, and the page shows all of it.
func TestContest(t *testing.T) {
	var order []string
	fixed := func(name string, rates ...float64) contender {
		return contender{name: name, turn: func(_ context.Context, _ *bench, condition int) (figure, error) {
			order = append(order, name)
			return figure{rate: rates[condition], cpu: 10 / rates[condition]}, nil
		}}
	}
	c := contest{
		key: "test", Title: "A test", unit: "Gbit/s", digits: 1, cpu: true, About: "Nothing is measured.",
		conditions: []string{"one flow", "four flows"},
		contenders: []contender{fixed("ours", 140, 140), fixed("theirs", 60, 100)},
		marks: []mark{
			{0, "ours", "theirs", rateOf, "rate", 2.2, atLeast},
			{0, "ours", "theirs", cpuOf, "CPU time per GB", 0.5, atMost},
		},
	}
	o, err := c.hold(context.Background(), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := "ours theirs ours theirs theirs ours theirs ours ours theirs ours theirs"; strings.Join(order,
		" ") != want {
		t.Errorf("turns were %v, want %s", order, want)
	}
	if !o.met() || len(o.turns[0]["ours"]) != 2 {
		t.Errorf("both marks are reached in two rounds, but: %s", o.summary())
	}
	o.marks = append(o.marks, mark{1, "ours", "theirs", rateOf, "rate", 1.5, atLeast})
	if o.met() || !strings.Contains(o.summary(),
		"four flows, ours against theirs: 1.400× (1.400–1.400) (at least 1.5: **missed**)") {
		t.Errorf("four flows carry 1.4 times as much, but: %s", o.summary())
	}
	text, err := page{Lab: labOf(labTimes{}, labTimes{}), Contests: []*outcome{o}, Rounds: 2}.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Gbit/s | one flow | four flows | CPU s per GB, one flow | CPU s per GB, four flows |",
		"| theirs | 60.0 (60.0–60.0) | 100.0 (100.0–100.0) | 0.167 (0.167–0.167) | 0.100 (0.100–0.100) |",
		"| rate, one flow | ours | theirs | 2.333× (2.333–2.333) | at least 2.2 | reached |",
		"| CPU time per GB, one flow | ours | theirs | 0.429× (0.429–0.429) | at most 0.5 | reached |",
		"| rate, four flows | ours | theirs | 1.400× (1.400–1.400) | at least 1.5 | **missed** |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	c.contenders = append(c.contenders, contender{name: "broken", turn: func(context.Context, *bench, int) (figure,
		error) {
		return figure{}, nil
	}})
	if _, err := c.hold(context.Background(), nil, 1); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a contender without a rate: %v", err)
	}
}

// TestLevel: a ratio whose interval holds 1 is level, that of a contender that is slower
// in nearly every round is not.
func TestLevel(t *testing.T) {
	for _, test := range []struct {
		ratios    []float64
		low, high float64
		met       bool
		result    string
	}{
		{[]float64{.9, .95, .99, 1.02, 1.1}, .9, 1.1, true, "reached, 0.900–1.100"},
		{[]float64{.9, .95, .96, .97, .99}, .9, .99, false, "**missed**, 0.900–0.990"},
		// The median of 15 lies between the 4th and the 12th of them.
		{[]float64{.91, .92, .93, .94, .95, .96, .97, .98, .99, .991, .992, .993, 1.1, 1.2, 1.3}, .94, .993, false,
			"**missed**, 0.940–0.993"},
		{[]float64{.91, .92, .93, .94, .95, .96, .97, .98, .99, 1.01, 1.02, 1.03, 1.1, 1.2, 1.3}, .94, 1.03, true,
			"reached, 0.940–1.030"},
		{[]float64{1.2}, 1.2, 1.2, true, "reached, 1.200–1.200"},
	} {
		m, s := mark{ratio: 1, kind: level}, spreadOf(test.ratios)
		if s.Low != test.low || s.High != test.high || m.met(s) != test.met || m.result(s) != test.result {
			t.Errorf("%v: %v to %v, met %v, %q", test.ratios, s.Low, s.High, m.met(s), m.result(s))
		}
	}
}

// TestCommands: what stands in braces is replaced, by condition where that differs.
func TestCommands(t *testing.T) {
	l := &bench{binary: "/bin/linerate", dir: "/tmp/dir"}
	for _, c := range contests {
		for _, who := range c.contenders {
			for k := range c.conditions {
				if words := l.expand(c.command(who, k)); (who.turn == nil) != (words != "") ||
					strings.Contains(words, "{") {
					t.Errorf("%s, %s: %q", c.key, who.name, words)
				}
			}
		}
	}
	if got, want := l.expand(rr.command(rr.contenders[4], 1)),
		"sockperf ping-pong -i 10.0.0.2 -t 2 -m 14 -p 11112"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := l.expand(crr.command(crr.contenders[3], 0)),
		"taskset -c 0 /tmp/dir/crr client 10.0.0.2 7101 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestContestsAreSound: marks are about contenders and conditions that there are.
func TestContestsAreSound(t *testing.T) {
	for _, c := range contests {
		named := map[string]bool{}
		for _, who := range c.contenders {
			named[who.name] = true
		}
		for _, m := range c.marks {
			if !named[m.who] || !named[m.other] || m.condition >= len(c.conditions) {
				t.Errorf("%s: the mark %+v names no contender or condition", c.key, m)
			}
		}
	}
}

// TestPercentiles: p99 in milliseconds of what each tool prints.
func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse func([]byte) (figure, error)
		text  string
		want  float64
	}{
		{"linerate", parseMeasuredP99, `{"latency_us": {"p50": 200, "p99": 92800}}`, 92.8},
		{"vegeta", parseVegeta, `{"latencies": {"95th": 51000000, "99th": 92990000}}`, 92.99},
		{"fortio", parseFortio,
			`{"DurationHistogram": {"Percentiles": [{"Percentile": 90, "Value": 0.0005}, {"Percentile": 99, "Value": 0.001}]}}`, 1},
		{"wrk", parseWrk, "     90%    1.20ms\n     99%   88.30ms\n", 88.3},
		{"wrk", parseWrk, "     99%  110.00us\n", 0.11},
		{"ab", percentile(`\n99,([0-9.]+)\n`, 1), "Percentage served,Time in ms\n98,0.090\n99,0.110\n", 0.11},
		{"hey", percentile(`99% in ([0-9.]+) secs`, 1e3), "  95% in 0.0010 secs\n  99% in 0.0032 secs\n", 3.2},
	} {
		f, err := c.parse([]byte(c.text))
		if err != nil || math.Abs(f.rate-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", c.name, f.rate, err, c.want)
		}
		if _, err := c.parse([]byte("{}")); err == nil {
			t.Errorf("%s: no error without a figure", c.name)
		}
	}
}

// TestPresent: a program that is not installed takes no part, nor does a mark against it.
func TestPresent(t *testing.T) {
	here, absent := aliases.present(func(program string) (string, error) { return "", errors.New("no " + program) })
	if len(here.contenders) != len(aliases.contenders)-1 || len(here.marks) != len(aliases.marks)-1 ||
		len(absent) != 1 || !strings.Contains(absent[0], "ifconfig") {
		t.Errorf("%d contenders and %d marks are left: %q", len(here.contenders), len(here.marks), absent)
	}
	if slices.ContainsFunc(here.marks, func(m mark) bool { return strings.HasPrefix(m.other, "ifconfig") }) {
		t.Error("a mark is against a contender that is left out")
	}
	if here, absent := aliases.present(func(string) (string, error) {
		return "/sbin/ifconfig", nil
	}); len(here.contenders) != len(aliases.contenders) || len(here.marks) != len(aliases.marks) || absent != nil {
		t.Errorf("%d contenders, %d marks, absent %q", len(here.contenders), len(here.marks), absent)
	}
}
