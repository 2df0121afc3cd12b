package chart

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/show/figure"
	"linerate/internal/show/view"
)

// TestCPUs: the busiest CPU of the machine that sampled them is named, with what it did.
func TestCPUs(t *testing.T) {
	run := &record.Run{Study: "s", Unit: "bit/s", Confidence: 0.95, Margin: 0.02, Responses: []string{"goodput"},
		Factors: []record.Factor{
			{Name: "fix", Baseline: "none", Levels: []record.Level{{Name: "none"}, {Name: "all"}}}}}
	for i := range 4 {
		made := record.Trial{Started: time.Unix(7, 0), Treatment: []string{"none", "all"}[i%2],
			Levels: map[string]string{"fix": []string{"none", "all"}[i%2]}, Block: 1 + i/2, Order: i + 1, WindowS: 2,
			GoodputBps: 1e8 * float64(1+i%2), LimitBps: 2e8}
		sampler := netstate.HostReading{Host: "b"}
		for n := range 3 {
			s := float64(n)
			sampler.Series = append(sampler.Series, netstate.Sample{EndedNs: int64(n) * 1e9, CPU: []netstate.CPUTimes{
				{CPU: -1, System: s, Idle: s}, {CPU: 0, SoftIRQ: 0.9 * s, Idle: 0.1 * s},
				{CPU: 1, User: 0.1 * s, Idle: 0.9 * s}}})
		}
		made.Hosts = []netstate.HostReading{{Host: "a"}, sampler}
		for h := range made.Hosts {
			made.Hosts[h].Begin.CPU, made.Hosts[h].End.CPU = []netstate.CPUTimes{{CPU: 0}},
				[]netstate.CPUTimes{{CPU: 0, Idle: 2}}
		}
		run.Trials = append(run.Trials, made)
	}
	conclude.Conclude(run)
	f, ok := cpusFigure(view.New(run))
	if !ok || !strings.HasPrefix(f.Title, "The busiest CPU was 90 % busy, at most 90 % (CPU 0 of this machine, ") ||
		!strings.HasSuffix(f.Title, "; 90 % with interrupts and softirqs") {
		t.Errorf("%v, %q", ok, f.Title)
	}
	if len(f.Panels) != 1 || len(f.Data) != 1+2*2 || f.Data[1][2] != "this machine" {
		t.Errorf("%d panels, %q", len(f.Panels), f.Data)
	}
	for _, p := range f.Panels {
		var svg strings.Builder
		if err := figure.InlineSVG(&svg, p.Draw(700), "CPUs", ""); err != nil ||
			!strings.Contains(svg.String(), "CPU 1") || !strings.Contains(svg.String(), "% busy") {
			t.Errorf("%v: %s", err, svg.String())
		}
	}
}
