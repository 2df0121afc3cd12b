package trust

import (
	"math"
	"testing"

	"linerate/internal/model/record"
)

// received is the account of the host that receives in a trial.
func received(t record.Trial) account {
	return accounts(view{Trial: t, skew: map[string]float64{}}, true)[0]
}

// hardware makes the receiving host's interfaces those of a driver, and change what each
// received in the window.
func hardware(t *record.Trial, driver string, change func(bytes, packets float64) (float64, float64)) {
	h := &t.Hosts[0]
	for i := range h.Snapshot.Interfaces {
		h.Snapshot.Interfaces[i].Kind, h.Snapshot.Interfaces[i].Driver = "", driver
	}
	for i := range h.End.Interfaces {
		begin, end := &h.Begin.Interfaces[i], &h.End.Interfaces[i]
		bytes, packets := change(float64(end.RxBytes-begin.RxBytes), float64(end.RxPackets-begin.RxPackets))
		end.RxBytes, end.RxPackets = begin.RxBytes+uint64(bytes), begin.RxPackets+uint64(packets)
	}
}

// The payload of the same traffic is the same, however a driver counts it.
func TestPayloadOfDrivers(t *testing.T) {
	kernel := received(trial(4, "writes"))
	checkSequences := func(bytes, packets float64) (float64, float64) { return bytes + 4*packets, packets }
	for name, c := range map[string]struct {
		driver  string
		change  func(bytes, packets float64) (float64, float64)
		doctor  func(*record.Trial)
		allowed float64 // of frame check sequences, bytes for each packet
	}{
		"of an unknown driver without":        {"", func(b, p float64) (float64, float64) { return b, p }, nil, 4},
		"e1000e counts frame check sequences": {"e1000e", checkSequences, nil, 0},
		"virtio_net counts none": {"virtio_net", func(b, p float64) (float64, float64) {
			return b, p
		}, nil, 0},
		"an unknown driver may count them": {"", checkSequences, nil, 4},
		"fragments have TCP's header once in 10": {"vmxnet3", func(b, p float64) (float64, float64) {
			return b - 32*p*9/10, p
		}, fragmented, 0},
	} {
		trial := trial(4, "writes")
		before := 0.0
		for _, d := range trial.Hosts[0].Deltas() {
			before += d.RxPackets
		}
		hardware(&trial, c.driver, c.change)
		if c.doctor != nil {
			c.doctor(&trial)
		}
		got := received(trial)
		most := kernel.wired + c.allowed*before
		if got.wired < kernel.wired*(1-1e-6) || got.wired > most*(1+1e-6) ||
			math.Abs(got.besides-c.allowed*before) > 1 {
			t.Errorf("%s: payload %.0f with %.0f of check sequences at most, want %.0f with %.0f", name, got.wired,
				got.besides, kernel.wired, c.allowed*before)
		}
	}
}

// fragmented counts each packet as one of ten fragments.
func fragmented(t *record.Trial) {
	h := &t.Hosts[0]
	packets := 0.0
	for _, d := range h.Deltas() {
		packets += d.RxPackets
	}
	h.End.SNMP["Ip.ReasmReqds"], h.End.SNMP["Ip.ReasmOKs"] = int64(packets), int64(packets/10)
}

// A driver whose counters are refreshed rarely widens the bound, or prevents a verdict; the
// series shows what is not known of it.
func TestRefreshedRarely(t *testing.T) {
	same := func(b, p float64) (float64, float64) { return b, p }
	for name, c := range map[string]struct {
		driver      string
		frozen      int // steps of the series between two refreshes
		unevaluated bool
		refresh     [2]float64 // least and most, seconds
	}{
		"known, at each reading":      {"virtio_net", 1, false, [2]float64{0, 0}},
		"known, 1 s":                  {"tg3", 1, true, [2]float64{1, 1}},
		"not known, at each reading":  {"", 1, false, [2]float64{0, 0}},
		"not known, every four steps": {"", 4, true, [2]float64{0.2, 2}},
	} {
		trial := trial(4, "writes")
		hardware(&trial, c.driver, same)
		series := trial.Hosts[0].Series
		for i := range series {
			series[i].Interfaces = series[i-i%c.frozen].Interfaces
		}
		got := received(trial)
		if got.refreshS < c.refresh[0] || got.refreshS > c.refresh[1] || (got.unevaluated != nil) != c.unevaluated {
			t.Errorf("%s: refreshed every %g s, unevaluated %v; want %v, %t", name, got.refreshS, got.unevaluated,
				c.refresh, c.unevaluated)
		}
		for _, check := range Trial(trial, nil) {
			if check.Check == Wire || check.Check == Foreign {
				if !check.Pass || check.Unevaluated != c.unevaluated || check.Unevaluated &&
					!rests(check, `"rare_counters"`) {
					t.Errorf("%s: %+v", name, check)
				}
			}
		}
	}
}

// TestUnsteadiness: what flows may have moved between the window's edge and its reading is by
// their rate then, not by their mean.
func TestUnsteadiness(t *testing.T) {
	for _, c := range []struct {
		bins []int64
		want float64
	}{
		{nil, 1}, {[]int64{5, 1}, 1}, {[]int64{0, 0, 0}, 1}, {[]int64{4, 4, 4}, 1}, {[]int64{3, 6, 3}, 1},
		{[]int64{8, 2, 2}, 2}, {[]int64{1, 1, 1, 1, 4, 4}, 2}, {[]int64{0, 0, 12}, 3},
	} {
		f := record.Flow{Bins: c.bins}
		for _, n := range c.bins {
			f.ReceivedBytes += n
		}
		if got := (view{Trial: record.Trial{WindowS: 3}}).unsteadiness(f); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.bins, got, c.want)
		}
	}
	steady, falls := trial(4, "writes"), trial(4, "writes")
	for i := range falls.Flows {
		third := falls.Flows[i].ReceivedBytes / 3
		falls.Flows[i].Bins, steady.Flows[i].Bins = []int64{9 * third / 4, third / 2, third / 4},
			[]int64{third, third, third}
	}
	late := func(t record.Trial) float64 {
		return accounts(view{Trial: t, skew: map[string]float64{t.Hosts[0].Host: 0.1}}, true)[0].slack
	}
	if s, f := late(steady), late(falls); f <= s {
		t.Errorf("slack %g where the rate falls, %g where it does not", f, s)
	}
}
