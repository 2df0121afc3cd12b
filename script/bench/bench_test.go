//go:build linux

package main

import (
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
		{[]float64{3, 1, 2}, spread{1, 2, 3}},
		{[]float64{4, 1, 2, 3}, spread{1, 2.5, 4}},
		{[]float64{7}, spread{7, 7, 7}},
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
	if got, want := changed(before, after), []string{"net.core.rmem_max", "net.ipv4.tcp_rmem"}; !slices.Equal(got, want) {
		t.Errorf("changed = %v, want %v", got, want)
	}
}

func TestParseBusy(t *testing.T) {
	// user 100, nice 10, system 50, idle 9000, iowait 500, irq 1, softirq 4, steal 5: 170 busy ticks.
	got, err := parseBusy("cpu  100 10 50 9000 500 1 4 5 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	if err != nil || math.Abs(got-1.70) > 1e-9 {
		t.Errorf("busy = %v, %v, want 1.70 s", got, err)
	}
	for _, bad := range []string{"", "intr 1 2 3", "cpu 1 2", "cpu a b c d e f g h"} {
		if _, err := parseBusy(bad); err == nil {
			t.Errorf("parseBusy(%q) takes it", bad)
		}
	}
}

// TestMarks: the gate follows the medians of the paired ratios.
func TestMarks(t *testing.T) {
	mininet := []labTurn{{UpS: 1, DownS: 3}, {UpS: 1, DownS: 3}, {UpS: 2, DownS: 3}}
	fast := &labResult{Linerate: []labTurn{{UpS: .4, DownS: .1}, {UpS: .6, DownS: .1}, {UpS: .8, DownS: .1}}, Mininet: mininet}
	if got := fast.ratio(upOf); math.Abs(got.Median-.4) > 1e-9 || math.Abs(got.Most-.6) > 1e-9 {
		t.Errorf("ratio = %v, want a median of 0.4 and 0.6 at most", got)
	}
	if !fast.met() {
		t.Error("the marks were reached, but met says no")
	}
	slow := &labResult{Linerate: []labTurn{{UpS: .4, DownS: .4}, {UpS: .4, DownS: .4}, {UpS: .4, DownS: .4}}, Mininet: mininet}
	if slow.met() {
		t.Error("down took more than a tenth, but met says yes")
	}
}

func TestPage(t *testing.T) {
	turn := []labTurn{{UpS: .25, DownS: .02, wall: .3, after: .1}}
	text, err := page{
		Machine: machine{Kernel: "6.1", CPU: "a CPU", Mininet: "2.3", CPUs: 2, MemoryGiB: 3.9, Busy: 0.3},
		Rounds:  1,
		Lab:     &labResult{Linerate: turn, Mininet: []labTurn{{UpS: 1, DownS: 4, wall: 6, after: .2}}},
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
