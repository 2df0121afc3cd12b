package trust

import (
	"math"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestSteadyToTheEnd: what a flow carries after its last sample belongs to the last third, and
// thirds that samples do not divide evenly are of the window nevertheless.
func TestSteadyToTheEnd(t *testing.T) {
	trial := func(rates ...float64) record.Trial { // in each second; sampled at all seconds but the last
		f := record.Flow{ID: "f1", From: "a", To: "b", Connected: true}
		b := netstate.HostReading{Host: "b", Begin: netstate.Reading{ScheduledNs: 1e9}}
		for i, r := range rates {
			f.ReceivedBytes += int64(r)
			if i < len(rates)-1 {
				f.Bins = append(f.Bins, int64(r))
				b.Series = append(b.Series, netstate.Sample{AtNs: int64(i+2) * 1e9,
					Flows: []netstate.FlowSample{{ID: "f1", ReceivedBytes: f.ReceivedBytes}}})
			}
		}
		return record.Trial{WindowS: float64(len(rates)), Flows: []record.Flow{f}, Hosts: []netstate.HostReading{b}}
	}
	const rate = 6e6
	for _, c := range []struct {
		rates []float64
		drift float64 // of the last third against the first
	}{
		{[]float64{rate, rate, rate, rate, rate, rate, rate, rate, rate, rate}, 0},
		{[]float64{rate, rate, rate, rate, rate, rate, rate, rate, rate, 3 * rate}, (7./3+3)/(10./3) - 1},
		{[]float64{rate, rate, rate, rate, rate, 3 * rate}, 1},
		{[]float64{rate, rate, rate, rate / 2}, (1./3+0.5)/(4./3) - 1},
	} {
		v := view{Trial: trial(c.rates...)}
		p := v.progress(v.Flows[0])
		drift := (p.until(v.WindowS)-p.until(v.WindowS*2/3))/p.until(v.WindowS/3) - 1
		if math.Abs(drift-c.drift) > 1e-9 {
			t.Errorf("%v: %.4f, want %.4f", c.rates, drift, c.drift)
		}
		j, made := steady(v)
		if !made || j.Pass != (c.drift == 0) || !rests(j.Check, `"thirds"`) {
			t.Errorf("%v: %+v", c.rates, j)
		}
	}
}
