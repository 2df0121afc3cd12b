package path_test

import (
	"fmt"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/diagnose"
)

// star is a trial in which each of n hosts sends to its neighbour by one switch, over links of 200
// Mbit/s, at a goodput.
func star(n int, goodput func(from, to int) float64) (record.Trial, topology.Topology) {
	name := func(i int) string { return fmt.Sprintf("h%d", i+1) }
	var over topology.Topology
	trial := record.Trial{WindowS: 5}
	for i := range n {
		over.Hosts = append(over.Hosts, topology.Host{Name: name(i), Interfaces: []topology.Interface{{Name: "eth0"}}})
		l := topology.Link{From: topology.End{Node: name(i), Interface: "eth0"},
			To: topology.End{Node: "switch", Interface: "p-" + name(i)}}
		l.Rate = 200e6
		over.Links = append(over.Links, l)
		to := (i + 1) % n
		trial.Flows = append(trial.Flows, record.Flow{ID: fmt.Sprintf("f%d", i+1), From: name(i), To: name(to),
			Connected: true, Alive: true, ReceivedBytes: 1e6, GoodputBps: goodput(i, to),
			Path: []string{name(i) + ".eth0", "switch.p-" + name(i), "switch.p-" + name(to), name(to) + ".eth0"}})
	}
	return trial, over
}

// TestOddOneOut: a host far from its peers is a finding, with what its shaper is if the study declares
// more; one whose link is declared to be slower, or that has too few peers, is none.
func TestOddOneOut(t *testing.T) {
	slow := func(from, _ int) float64 {
		if from == 6 {
			return 48e6
		}
		return 190e6 + 1e6*float64(from%3)
	}
	ids := func(trial record.Trial, over *topology.Topology) (list []string) {
		for _, f := range diagnose.Diagnose(trial, over) {
			list = append(list, f.ID+" "+f.Host+" "+f.ExplainedBy)
		}
		return list
	}
	shaped := func(over topology.Topology) *topology.Topology {
		over.Links = append([]topology.Link{}, over.Links...)
		over.Links[6].Impairment.Rate, over.Links[6].Impairment.Shaper = 50e6, "tbf"
		return &over
	}
	for name, c := range map[string]struct {
		n      int
		change func(*record.Trial, *topology.Topology)
		want   string
	}{
		"a slow host": {12, func(*record.Trial, *topology.Topology) {}, "[odd-one-out h7 ]"},
		"by its shaper": {12, func(t *record.Trial, over *topology.Topology) { t.Topology = shaped(*over) },
			"[below-declared h7  below-declared switch  odd-one-out h7 ]"},
		"as declared":  {12, func(_ *record.Trial, over *topology.Topology) { *over = *shaped(*over) }, "[]"},
		"few peers":    {7, func(*record.Trial, *topology.Topology) {}, "[]"},
		"not the same": {12, func(t *record.Trial, _ *topology.Topology) { t.Flows[6].RateCapBps = 48e6 }, "[]"},
	} {
		trial, over := star(c.n, slow)
		c.change(&trial, &over)
		if got := fmt.Sprint(ids(trial, &over)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	trial, over := star(12, slow)
	f := diagnose.Diagnose(trial, &over)[0]
	if is, _ := f.Facts[0].Is.(fact.AmongPeers); is.Bps != 48e6 || is.Peers != 11 || is.MedianBps < 190e6 {
		t.Errorf("%+v", f)
	}
}
