//go:build linux

package cli

import (
	"encoding/json"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
)

// TestLimitedBy makes flows that go no faster for one reason each, side by side,
// and reads which reason is given.
func TestLimitedBy(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	want := map[string]string{
		"client1": bottleneck.FullLink,
		"client2": bottleneck.RateCap,
		"client3": bottleneck.Application,
		"client4": bottleneck.SlowReader,
		"client5": bottleneck.ReceiverWindow,
		"client6": bottleneck.SendBuffer,
		"client7": bottleneck.FullLink, // three flows
		"client8": bottleneck.CongestionWindow,
		"client9": bottleneck.NoAnswer,
		"a":       bottleneck.Generator,
	}
	run := runLab(t, t.TempDir(), labFile(t, "limited-by.yaml"), "--seed", "3")
	seen := map[string]bool{}
	for _, trial := range run.Trials {
		for _, f := range trial.Flows {
			if f.From != f.OpenedBy {
				continue // it only fills the queue of the reverse direction
			}
			seen[f.From] = true
			if f.LimitedBy != want[f.From] || f.LimitedWhy == "" {
				t.Errorf("block %d, %s: %q, want %q; %s\n%s", trial.Block, f.From, f.LimitedBy, want[f.From],
					f.LimitedWhy, figures(f))
			}
		}
	}
	if len(seen) != len(want) || len(run.Trials) != 4 {
		t.Errorf("%d trials, and flows from %v", len(run.Trials), seen)
	}
}

// figures are what the attribution goes by.
func figures(f record.Flow) string {
	f.ModeNote, f.Bins, f.Path = "", nil, nil
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestMeasureLimitedBy: a measurement knows the two ends alone. That a link on the
// way is full shows in the round trips.
func TestMeasureLimitedBy(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		wired(t, "50mbit", "client")
		serving(t)
		for _, test := range []struct {
			args []string
			want string
		}{
			{nil, bottleneck.FullLink},
			{[]string{"--direction", "read", "--read-cap", "10mbit"}, bottleneck.SlowReader},
		} {
			m, status, said := measured(t, "client",
				append([]string{"10.0.0.1", "--duration", "1500ms", "--warmup", "500ms"}, test.args...)...)
			if status != ExitOK && status != ExitDoubt || len(m.Flows) != 1 {
				t.Fatalf("exit status %d, %d flows: %s", status, len(m.Flows), said)
			}
			if f := m.Flows[0]; f.LimitedBy != test.want || f.LimitedWhy == "" {
				t.Errorf("%v: %q, want %q; %s\n%s", test.args, f.LimitedBy, test.want, f.LimitedWhy, figures(f))
			}
		}
	})
}
