package report

import (
	"bytes"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// A treatment whose host carried no data has dashes for shares, and a ratio that
// does not exist is a dash, too.
func TestNoDataHasNoShares(t *testing.T) {
	run := sciencetest.Run(7, 2)
	for i := range run.Trials {
		trial := &run.Trials[i]
		if trial.Levels["fix"] != "kernel defaults" {
			continue
		}
		trial.GoodputBps = 0
		for f := range trial.Flows {
			trial.Flows[f].Connected, trial.Flows[f].ReceivedBytes = false, 0
		}
	}
	conclude.Conclude(run)
	var out bytes.Buffer
	if err := Text(&out, run, TextOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "Share of the traffic of server on each of its interfaces, %")
	for _, line := range strings.Split(table, "\n") {
		if strings.HasPrefix(line, "  kernel defaults") {
			if strings.Count(line, "–") != 8 {
				t.Errorf("shares of no data: %q", line)
			}
			break
		}
	}
	if strings.Contains(out.String(), "0×") || !strings.Contains(out.String(), "the baseline carried nothing in all 2 blocks, this level") {
		t.Errorf("a ratio to nothing:\n%s", out.String())
	}
}

// The table names the one direction that it shows where data flows both ways.
func TestTrafficNamesTheDirection(t *testing.T) {
	run := sciencetest.Run(7, 1)
	conclude.Conclude(run)
	half := 0.5
	for i := range run.Treatments {
		for p := range run.Treatments[i].Interfaces {
			port := &run.Treatments[i].Interfaces[p]
			port.ShareRx, port.ShareTx, port.Direction = &half, &half, record.Tx
		}
	}
	if got := newView(run).traffic(); got != "what server sent" {
		t.Errorf("%q", got)
	}
}
