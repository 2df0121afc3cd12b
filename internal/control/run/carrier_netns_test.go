//go:build linux

package run_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/science/bottleneck"
)

// TestCarrierLost: a cable is pulled while flows run, and plugged in again. The run names
// the interface and how long its flow got nothing.
func TestCarrierLost(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		_, file := controltest.RealHosts(t, dir)
		received := func() int {
			text := kerneltest.Do(t, "ip", "netns", "exec", "client", "cat", "/sys/class/net/eth0/statistics/tx_bytes")
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		pull := func(state string) { kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", "client-eth0", state) }
		idle := received()
		wait := controltest.Start(t, controltest.Study{File: file, Only: []string{"kernel defaults"}, Replicates: 1,
			Set: []string{"workload.duration=6s", "workload.warmup=500ms"}})
		for end := time.Now().Add(time.Minute); received() < idle+4e6; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no flow within a minute")
			}
		}
		time.Sleep(time.Second)
		pull("down")
		time.Sleep(time.Second)
		pull("up")
		run := wait()
		finding, is := controltest.Found(run, "carrier-lost", "kernel defaults")
		args, _ := finding.Args.(cause.Event)
		if !is || finding.Host != "switch" || !strings.Contains(args.What, "was taken down") ||
			!slices.ContainsFunc(finding.Facts, func(f fact.Fact) bool {
				loss, is := f.Is.(fact.CarrierLoss)
				return is && f.Host == "client" && loss.What == "eth0 lost its carrier"
			}) {
			t.Fatalf("finding %t: %+v; faults %+v", is, finding, run.Trials[0].Faults)
		}
		fault := run.Trials[0].Faults[0]
		if lost := fault.EndedS - fault.BeganS; lost < 0.5 || lost > 5 {
			t.Errorf("without a carrier for %.2f s: %+v", lost, fault)
		}
		for _, f := range run.Trials[0].Flows {
			if len(f.Outages) == 0 || f.Outages[0].LostS < 0.5 || !f.Outages[0].Resumed {
				t.Errorf("flow %s: %+v", f.ID, f.Outages)
			}
			if f.LimitedBy != bottleneck.NoCarrier || len(f.LimitedFacts) == 0 {
				t.Errorf("flow %s: limited by %q (%+v)", f.ID, f.LimitedBy, f.LimitedFacts)
			}
			if !slices.ContainsFunc(finding.Facts, func(one fact.Fact) bool {
				s, is := one.Is.(fact.Silence)
				return is && s.Flow == f.ID && s.To == "server" && s.From == "client" && s.Resumed
			}) {
				t.Errorf("flow %s is not in the evidence: %+v", f.ID, finding.Facts)
			}
		}
		if r, _ := run.Trials[0].Reading("server"); len(r.CarrierLosses) != 0 {
			t.Errorf("the server, whose cables were left alone: %+v", r.CarrierLosses)
		}
	})
}
