package topology

import (
	"fmt"
	"reflect"
	"testing"

	"linerate/internal/model/unit"
)

func TestImpairmentDefaults(t *testing.T) {
	for _, test := range []struct {
		impairment   Impairment
		burst, queue unit.Bytes
	}{
		{Impairment{}, 0, 0},
		{Impairment{Queue: unit.Depth{Size: 9000}}, 0, 9000},
		{Impairment{Rate: 1e9}, 312_500, 1_250_000},
		{Impairment{Rate: 300e6}, 128 << 10, 375_000},
		{Impairment{Rate: 200e6}, 128 << 10, 256 << 10},
		{Impairment{Rate: 100e6}, 31_250, 125_000},
		{Impairment{Rate: 1e6}, 2 * 1514, 4 * 1514},
		{Impairment{Rate: 1e6, MTU: 9000}, 2 * 9014, 4 * 9014},
		{Impairment{Rate: 1e9, Burst: 5000}, 5000, 1_250_000},
		{Impairment{Rate: 1e9, Burst: 5000, Queue: unit.Depth{Size: 20_000}}, 5000, 20_000},
	} {
		if burst, queue := test.impairment.BurstSize(), test.impairment.QueueSize(); burst != test.burst || queue != test.queue {
			t.Errorf("%+v: burst %d, queue %d; want %d, %d", test.impairment, burst, queue, test.burst, test.queue)
		}
	}
}

func TestTowards(t *testing.T) {
	l := Link{From: end("a.eth0"), To: end("b.eth0"), Impairment: Impairment{Rate: 1e9, Delay: 5},
		Forward: &Impairment{Rate: 2e9}, Reverse: &Impairment{MTU: 9000, Loss: 0.1, Delay: 7, Queue: unit.Depth{Size: 8}, Burst: 9}}
	if got, want := l.Towards(l.From), (Impairment{Rate: 2e9, Delay: 5, MTU: 1500}); got != want {
		t.Errorf("from → to: %+v, want %+v", got, want)
	}
	if got, want := l.Towards(l.To), (Impairment{Rate: 1e9, Delay: 7, Loss: 0.1, Queue: unit.Depth{Size: 8}, Burst: 9, MTU: 9000}); got != want {
		t.Errorf("to → from: %+v, want %+v", got, want)
	}
	if l.Other(l.From) != l.To || l.Other(l.To) != l.From {
		t.Error("Other does not return the far end")
	}
}

// everything has every property of an impairment set.
func everything(t *testing.T) Impairment {
	all := Impairment{Rate: 1e9, Delay: 2e6, Jitter: 1e6, Loss: 0.1, Reorder: 0.2, Queue: unit.Depth{Time: 4e6}, ECN: unit.Depth{Size: 9000}, Burst: 64 << 10, MTU: 9000, Bucket: true, Shaper: "tbf", Overhead: 4}
	for i := range reflect.TypeFor[Impairment]().NumField() {
		if reflect.ValueOf(all).Field(i).IsZero() {
			t.Fatalf("this test has no value for the new property %s", reflect.TypeFor[Impairment]().Field(i).Name)
		}
	}
	return all
}

// TestSplitLink: for every combination of properties, with netem and without, each
// property is in exactly one part, and the parts together are the impairment with its
// defaults resolved.
func TestSplitLink(t *testing.T) {
	all := everything(t)
	properties := reflect.TypeFor[Impairment]()
	for set := range 1 << properties.NumField() {
		var i Impairment
		for k := range properties.NumField() {
			if set>>k&1 == 1 {
				reflect.ValueOf(&i).Elem().Field(k).Set(reflect.ValueOf(all).Field(k))
			}
		}
		want := i
		want.MTU, want.Burst = 0, i.BurstSize()
		want.Queue, want.ECN = unit.Depth{Size: i.QueueSize()}, unit.Depth{Size: i.ECN.At(i.Rate)}
		for _, netem := range []bool{true, false} {
			for _, other := range []Impairment{{}, {Rate: 1e6}, {Delay: 1e6}, {Rate: 1e9, ECN: unit.Depth{Size: 9000}}} {
				parts, emulated := SplitLink([2]Impairment{i, other}, netem)
				if err := checkSplit(parts[0], want, netem, emulated); err != nil {
					t.Fatalf("%+v, netem %t, other direction %+v: %v", i, netem, other, err)
				}
				turned, same := SplitLink([2]Impairment{other, i}, netem)
				if same != emulated || turned != [2]Split{parts[1], parts[0]} {
					t.Fatalf("%+v: the order of the directions matters", i)
				}
			}
		}
	}
}

func checkSplit(s Split, want Impairment, netem, emulated bool) error {
	parts := []Impairment{s.TBF, s.Netem, s.Emulator}
	for k := range reflect.TypeFor[Impairment]().NumField() {
		in := 0
		for _, p := range parts {
			if !reflect.ValueOf(p).Field(k).IsZero() {
				in++
			}
		}
		if set := !reflect.ValueOf(want).Field(k).IsZero(); set != (in == 1) || in > 1 {
			return fmt.Errorf("%s is in %d parts: %+v", reflect.TypeFor[Impairment]().Field(k).Name, in, s)
		}
	}
	if together := s.TBF.with(s.Netem).with(s.Emulator); together != want {
		return fmt.Errorf("the parts are %+v, want %+v", together, want)
	}
	switch hasNetem := s.Netem != (Impairment{}); {
	case !emulated && s.Emulator != (Impairment{}):
		return fmt.Errorf("a veth pair has a part for the emulator: %+v", s)
	case hasNetem && (emulated || !netem):
		return fmt.Errorf("netem where there is none: %+v", s)
	case hasNetem != (s.NetemLimit >= 1000):
		return fmt.Errorf("netem %+v has a limit of %d", s.Netem, s.NetemLimit)
	}
	return nil
}

// TestNetemLimit: what is in flight fits into netem's queue, and what waits.
func TestNetemLimit(t *testing.T) {
	i := Impairment{Rate: 12e9, Delay: 9e6, Jitter: 1e6, Queue: unit.Depth{Size: 3_000_000}}
	parts, _ := SplitLink([2]Impairment{i, {}}, true)
	if want := (15_000_000 + 3_000_000) / 1500; parts[0].NetemLimit != want {
		t.Errorf("limit %d, want %d", parts[0].NetemLimit, want)
	}
}
