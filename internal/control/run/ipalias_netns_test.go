//go:build linux

package run_test

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// TestIPAlias: real clients, one process each, go to all aliases in turn or to one
// address; what they together say follows from what the kernel counts of their
// connections.
func TestIPAlias(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Needs(t, "iperf")
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "aliases.yaml"), Seed: 7,
		Budget: 13 * time.Second})
	if len(run.Treatments) != 3 || len(run.Published) != 2 || run.Published[1].Series[0].Points[1].Bps != 60e6 ||
		!run.Design.Partial {
		t.Fatalf("%d treatments, %+v, %+v", len(run.Treatments), run.Published, run.Design)
	}
	for _, trial := range run.Trials {
		connections := map[string]int{"1": 1, "24": 24}[trial.Levels["connections"]]
		destinations := map[string]bool{}
		for _, f := range trial.Flows {
			address, _, _ := strings.Cut(f.Destination, ":")
			destinations[address] = true
		}
		want := min(connections, map[string]int{"1": 1, "24": 24}[trial.Levels["aliases"]])
		if len(trial.Tools) != connections || len(trial.Flows) != connections || len(destinations) != want {
			t.Errorf("%s: %d processes, %d flows to %d addresses; want %d", trial.Treatment, len(trial.Tools),
				len(trial.Flows), len(destinations), want)
		}
		var says, predicted float64
		known := 0
		for _, p := range trial.Tools {
			if p.PredictedBps > 0 && p.ReportedBps > 0 {
				known++
				says, predicted = says+p.ReportedBps, predicted+p.PredictedBps
			}
		}
		if known < connections*3/4 || predicted < 0.9*says || predicted > 1.1*says {
			t.Errorf("%s: of %d processes %d are known, which say %.2f Mbit/s; predicted %.2f", trial.Treatment,
				connections, known, says/1e6, predicted/1e6)
		}
		if s := trial.ToolReported; s == nil || s.PredictedBps == 0 || trial.SenderReportedBps == 0 {
			t.Errorf("%s: %+v", trial.Treatment, s)
		}
	}
	if len(run.Effects) != 2 { // of each factor where the other is at 24; with one of each nothing was tried
		t.Errorf("%d effects: %+v", len(run.Effects), run.Effects)
	}
}

// TestStandIn: without iperf linerate's own flows say what a sender counts, and say
// that it is they who do.
func TestStandIn(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "aliases.yaml"), Seed: 7,
		Budget: 9 * time.Second, Parts: []string{"many"}, Only: []string{"aliases.24"},
		Set: []string{"workload.tool=linerate"}})
	for _, trial := range run.Trials {
		s := trial.ToolReported
		if s == nil || s.Tool != "linerate" || s.Processes != 0 || s.CountedBy != record.CountedBySender ||
			s.SumBps != trial.SenderReportedBps || s.UnsentBytes == 0 || len(trial.Tools) > 0 {
			t.Fatalf("%+v", s)
		}
		for _, c := range trust.Trial(trial, &run.Topology) {
			if c.Check == trust.ToolAgrees {
				t.Errorf("no other program reported: %+v", c)
			}
		}
	}
}
