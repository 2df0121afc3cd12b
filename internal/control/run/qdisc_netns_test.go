//go:build linux

package run_test

import (
	"os/exec"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/topology"
)

// TestQdiscInALab: over each mechanism that this kernel has, a qdisc is the queue of the
// link, which keeps its rate.
func TestQdiscInALab(t *testing.T) {
	kerneltest.Parallel(t)
	file := controltest.File(t, "queue.yaml")
	cases := [][]string{{"topology.links[0].jitter=0s", "topology.links[0].delay=0s"}}
	for _, m := range topology.Mechanisms {
		cases = append(cases, []string{"topology.impaired_by=" + string(m)})
	}
	for _, set := range cases {
		t.Run(set[len(set)-1], func(t *testing.T) {
			if strings.HasSuffix(set[len(set)-1], string(topology.Netem)) && !hasNetem(t) {
				return // the others are the same test
			}
			run := controltest.Run(t, controltest.Study{File: file, Set: set})
			if bad := controltest.Failures(run.Trust); bad != "" {
				t.Errorf("trust checks failed:\n%s", bad)
			}
			own := controltest.Treatment(t, run, "the link's own")
			for _, name := range []string{"short queue", "packets"} {
				got := controltest.Treatment(t, run, name)
				if got.LimitBps != own.LimitBps || got.LimitBps <= 0 {
					t.Errorf("%s: limit %.0f, with the link's own queue %.0f", name, got.LimitBps, own.LimitBps)
				}
				if got.Goodput.MeanBps > 1.02*got.LimitBps {
					t.Errorf("%s: %.0f bit/s exceed the limit of %.0f", name, got.Goodput.MeanBps, got.LimitBps)
				}
				// Over veth a packet of a pfifo may be 64 KiB before its segmentation.
				if name == "packets" && !strings.Contains(set[len(set)-1], "impaired_by") {
					continue
				}
				if got.Latency == nil || own.Latency == nil || own.Latency.P50Us < 1.3*got.Latency.P50Us {
					t.Errorf("%s: latency %+v, with the link's own queue %+v", name, got.Latency, own.Latency)
				}
			}
		})
	}
}

// hasNetem reports whether this kernel has netem.
func hasNetem(t *testing.T) bool {
	t.Helper()
	kerneltest.RequireNamespaces(t)
	return hasQdisc("netem")
}

// hasQdisc reports whether this kernel has a kind of qdisc.
func hasQdisc(kind string) bool {
	return exec.Command("unshare", "--user", "--map-root-user", "--net", "tc", "qdisc", "add", "dev", "lo", "root",
		kind).Run() == nil
}
