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

// TestMarks: the gate follows the medians of the paired ratios, and of linerate's own figures.
func TestMarks(t *testing.T) {
	held := func(up, down []float64, hosts figure) *outcome {
		of := map[string][]figure{}
		for i, mininet := range []float64{1, 1, 2} {
			of["Mininet"] = append(of["Mininet"], figure{labTimes: labTimes{UpS: mininet, DownS: 3}})
			of["linerate"] = append(of["linerate"], figure{labTimes: labTimes{UpS: up[i], DownS: down[i]}})
		}
		return &outcome{contest: lab, turns: []map[string][]figure{of, {"linerate": {hosts}}}}
	}
	light := figure{labTimes: labTimes{UpS: 2.9}, memory: 1.9e6}
	fast := held([]float64{.2, .3, .3}, []float64{.1, .1, .1}, light)
	if got := fast.reached(lab.marks[0]); math.Abs(got.Median-.2) > 1e-9 || math.Abs(got.Most-.3) > 1e-9 {
		t.Errorf("ratio = %v, want a median of 0.2 and 0.3 at most", got)
	}
	if !fast.met() {
		t.Errorf("the marks were reached, but: %s", fast.summary())
	}
	if slow := held([]float64{.2, .2, .2}, []float64{.4, .4, .4}, light); slow.met() {
		t.Error("down took more than a tenth, but met says yes")
	}
	heavy := held([]float64{.2, .2, .2}, []float64{.1, .1, .1}, figure{labTimes: labTimes{UpS: 2.9}, memory: 2.1e6})
	if heavy.met() || !strings.Contains(heavy.summary(), "2.10 (2.10–2.10) (at most 2 MB: **missed**)") {
		t.Errorf("a host has 2.1 MB, but: %s", heavy.summary())
	}
}

// TestWithin: a mark of agreement is missed on either side.
func TestWithin(t *testing.T) {
	m := mark{other: "other", bound: 0.05, kind: within}
	for ratio, want := range map[float64]bool{0.94: false, 0.96: true, 1.04: true, 1.06: false} {
		if got := m.met(spread{Median: ratio}); got != want {
			t.Errorf("%g %s: %v, want %v", ratio, m, got, want)
		}
	}
}

func TestPage(t *testing.T) {
	p := page{
		Machine: machine{Kernel: "6.1", CPU: "a CPU", Mininet: "2.3", Iperf3: "iperf3 3.22", CPUs: 2, MemoryGiB: 3.9,
			Busy: 0.3, Control: "reno", Wanted: "cubic"},
		Rounds: 1,
		Contests: []*outcome{
			{contest: lab, turns: []map[string][]figure{
				{"linerate": {{labTimes: labTimes{UpS: .25, DownS: .02, wall: .3}, cpu: 5}},
					"Mininet": {{labTimes: labTimes{UpS: 1, DownS: 4, wall: 6}, cpu: 10}}},
				{"linerate": {{labTimes: labTimes{UpS: 2.5, DownS: 1}, memory: 1.5e6}}}}},
			{contest: contest{Title: "Another"}, failed: errors.New("it broke")},
			{contest: contest{Title: "A third", absent: []string{"x (no x is installed)"}}},
		},
	}
	wants := func(texts ...string) {
		t.Helper()
		page, err := p.render()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range texts {
			if !strings.Contains(string(page), want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
	}
	wants("a CPU, 2 CPUs, 4 GiB, Linux 6.1",
		"It was 30 % busy with other work",
		"Congestion control of TCP is reno in both hosts of each lab, and so for all programs, since namespaces",
		"| 64 hosts with two links each | linerate | 0.250 (0.250–0.250) | 0.020 (0.020–0.020) | 0.300 (0.300–0.300) | "+
			"5.00 (5.00–5.00) | – |",
		"| up, 64 hosts with two links each | linerate | Mininet | 0.250× (0.250–0.250) | at most 0.2 | **missed** |",
		"| down, 64 hosts with two links each | linerate | Mininet | 0.005× (0.005–0.005) | at most 0.1 | reached |",
		"| memory of a host, 500 hosts with a link each | linerate | – | 1.50 (1.50–1.50) | at most 2 MB | reached |",
		"**Not measured:** it broke",
		"Left out: x (no x is installed).")
	p.Machine.Control = "bbr"
	wants("rates of TCP mean nothing")
}

// TestPermitted: a namespace has the congestion control that is wanted if it begins with that, or
// may choose it.
func TestPermitted(t *testing.T) {
	for _, c := range []struct{ want, machines, allowed, permitted string }{
		{"cubic", "cubic", "reno", "cubic"},
		{"cubic", "bbr", "reno cubic\n", "cubic"},
		{"cubic", "bbr", "reno bbr\n", "reno"},
		{"bbr", "cubic", "reno cubic bbr\n", "bbr"},
	} {
		if got := permitted(c.want, c.machines, c.allowed); got != c.permitted {
			t.Errorf("%+v: %s", c, got)
		}
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
		key: "test", Title: "A test", shown: []quantity{rate("Gbit/s", 1), cpuPerGB}, About: "Nothing is measured.",
		conditions: []string{"one flow", "four flows"},
		contenders: []contender{fixed("ours", 140, 140), fixed("theirs", 60, 100)},
		marks: []mark{
			{0, "ours", "theirs", rateOf, 2.2, atLeast},
			{0, "ours", "theirs", cpuPerGB, 0.5, atMost},
			{0, "ours", "", rate("Gbit/s", 1), 139, atLeast},
		},
	}
	o := c.hold(context.Background(), nil, 2)
	if o.failed != nil {
		t.Fatal(o.failed)
	}
	if want := "ours theirs ours theirs theirs ours theirs ours ours theirs ours theirs"; strings.Join(order,
		" ") != want {
		t.Errorf("turns were %v, want %s", order, want)
	}
	if !o.met() || len(o.turns[0]["ours"]) != 2 {
		t.Errorf("the marks are reached in two rounds, but: %s", o.summary())
	}
	o.marks = append(o.marks, mark{1, "ours", "theirs", rateOf, 1.5, atLeast})
	if o.met() || !strings.Contains(o.summary(),
		"rate, four flows, ours against theirs: 1.400× (1.400–1.400) (at least 1.5: **missed**)") {
		t.Errorf("four flows carry 1.4 times as much, but: %s", o.summary())
	}
	text, err := page{Contests: []*outcome{o}, Rounds: 2}.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"|  |  | rate, Gbit/s | CPU time, both ends, s/GB |",
		"| one flow | theirs | 60.0 (60.0–60.0) | 0.167 (0.167–0.167) |",
		"| rate, one flow | ours | theirs | 2.333× (2.333–2.333) | at least 2.2 | reached |",
		"| CPU time, both ends, one flow | ours | theirs | 0.429× (0.429–0.429) | at most 0.5 | reached |",
		"| rate, one flow | ours | – | 140.0 (140.0–140.0) | at least 139 Gbit/s | reached |",
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
	if o := c.hold(context.Background(), nil, 1); o.met() || o.failed == nil ||
		!strings.Contains(o.failed.Error(), "broken") {
		t.Errorf("a contender without a rate: %v", o.failed)
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
		m, s := mark{other: "other", bound: 1, kind: level}, spreadOf(test.ratios)
		if s.Low != test.low || s.High != test.high || m.met(s) != test.met || m.result(s) != test.result {
			t.Errorf("%v: %v to %v, met %v, %q", test.ratios, s.Low, s.High, m.met(s), m.result(s))
		}
	}
}

// TestConditions: a contender takes part only in conditions for which it has an argument.
func TestConditions(t *testing.T) {
	all, some := contender{}, contender{args: []string{"", "b"}}
	if !all.in(0) || !all.in(5) || some.in(0) || !some.in(1) || some.in(2) {
		t.Errorf("all: %v, %v; some: %v, %v, %v", all.in(0), all.in(5), some.in(0), some.in(1), some.in(2))
	}
}

// TestCommands: what stands in braces is replaced, by condition where that differs.
func TestCommands(t *testing.T) {
	l := &bench{binary: "/bin/linerate", dir: "/tmp/dir"}
	for _, c := range contests {
		for _, who := range c.contenders {
			for k := range c.conditions {
				if !who.in(k) {
					continue
				}
				words, beside := l.expand(c.with(who.command, who, k)), l.expand(c.with(who.server.command, who, k))
				if (who.turn == nil) != (words != "") || strings.ContainsAny(words+beside, "{}") {
					t.Errorf("%s, %s: %q, %q", c.key, who.name, words, beside)
				}
			}
		}
		for _, s := range c.services {
			if words := l.expand(s.command); strings.ContainsAny(words, "{}") {
				t.Errorf("%s: %q", c.key, words)
			}
		}
	}
	if got, want := l.expand(rr.with(rr.contenders[6].command, rr.contenders[6], 1)),
		"sockperf ping-pong -i 10.0.0.2 -t 2 -m 14 -p 11112"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := l.expand(many.with(many.contenders[1].server.command, many.contenders[1], 1)),
		"tcp_rr --nolog -l 2 -F 100 -T 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSelected: contests are named by their keys.
func TestSelected(t *testing.T) {
	if all, err := selected(""); err != nil || len(all) != len(contests) {
		t.Errorf("%d contests, %v", len(all), err)
	}
	two, err := selected("udp,lab")
	if err != nil || len(two) != 2 || two[0].key != "udp" || two[1].key != "lab" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := selected("udp,none"); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("an unknown contest: %v", err)
	}
}

// TestContestsAreSound: marks are about contenders and conditions that there are.
func TestContestsAreSound(t *testing.T) {
	for _, c := range contests {
		if len(c.shown) == 0 || c.args != nil && len(c.args) != len(c.conditions) {
			t.Errorf("%s: %d quantities, %d arguments for %d conditions", c.key, len(c.shown), len(c.args),
				len(c.conditions))
		}
		for _, m := range c.marks {
			takes := func(name string) bool {
				return slices.ContainsFunc(c.contenders, func(who contender) bool {
					return who.name == name && who.in(m.condition)
				})
			}
			if m.condition >= len(c.conditions) || !takes(m.who) || m.other != "" && !takes(m.other) {
				t.Errorf("%s: a mark of %s against %q is about no condition of both", c.key, m.who, m.other)
			}
		}
	}
}

// TestPresent: a program that is not installed takes no part, nor does a mark against it.
func TestPresent(t *testing.T) {
	here := udp.present(func(needs string) error { return errors.New("no " + needs) })
	if len(here.contenders) != len(udp.contenders)-1 || len(here.marks) != len(udp.marks)-2 ||
		len(here.absent) != 1 || !strings.Contains(here.absent[0], "iperf3 --gsro") {
		t.Errorf("%d contenders and %d marks are left: %q", len(here.contenders), len(here.marks), here.absent)
	}
	if slices.ContainsFunc(here.marks, func(m mark) bool { return strings.Contains(m.other, "gsro") }) {
		t.Error("a mark is against a contender that is left out")
	}
	if here := udp.present(func(string) error { return nil }); len(here.contenders) != len(udp.contenders) ||
		len(here.marks) != len(udp.marks) || here.absent != nil {
		t.Errorf("%d contenders, %d marks, absent %q", len(here.contenders), len(here.marks), here.absent)
	}
}

// TestInstalled: an option is there if the program's help names it.
func TestInstalled(t *testing.T) {
	for needs, want := range map[string]bool{"sh": true, "tr --delete": true, "tr --no-such-option": false,
		"no-such-program": false} {
		if err := installed(needs); (err == nil) != want {
			t.Errorf("%s: %v", needs, err)
		}
	}
}
