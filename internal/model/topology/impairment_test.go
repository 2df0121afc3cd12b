package topology

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
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
		if burst, queue := test.impairment.BurstSize(), test.impairment.QueueSize(); burst != test.burst ||
			queue != test.queue {
			t.Errorf("%+v: burst %d, queue %d; want %d, %d", test.impairment, burst, queue, test.burst, test.queue)
		}
	}
}

func TestTowards(t *testing.T) {
	l := Link{From: end("a.eth0"), To: end("b.eth0"), Impairment: Impairment{Rate: 1e9, Delay: 5},
		Forward: &Direction{Impairment: Impairment{Rate: 2e9}},
		Reverse: &Direction{Impairment: Impairment{MTU: 9000, Loss: 0.1, Delay: 7,
			Queue: unit.Depth{Size: 8}, Burst: 9}}}
	if got, want := l.Towards(l.From), (Impairment{Rate: 2e9, Delay: 5, MTU: 1500}); got != want {
		t.Errorf("from → to: %+v, want %+v", got, want)
	}
	if got, want := l.Towards(l.To), (Impairment{Rate: 1e9, Delay: 7, Loss: 0.1, Queue: unit.Depth{Size: 8}, Burst: 9,
		MTU: 9000}); got != want {
		t.Errorf("to → from: %+v, want %+v", got, want)
	}
	if l.Other(l.From) != l.To || l.Other(l.To) != l.From {
		t.Error("Other does not return the far end")
	}
}

// everything has every property of an impairment set.
func everything(t *testing.T) Impairment {
	all := Impairment{Rate: 1e9, Delay: 2e6, Jitter: 1e6, Loss: 0.1, Reorder: 0.2, Queue: unit.Depth{Time: 4e6},
		ECN: unit.Depth{Size: 9000}, Burst: 64 << 10, MTU: 9000, Bucket: true, Shaper: "tbf", Overhead: 4}
	for i := range reflect.TypeFor[Impairment]().NumField() {
		if reflect.ValueOf(all).Field(i).IsZero() {
			t.Fatalf("this test has no value for the new property %s", reflect.TypeFor[Impairment]().Field(i).Name)
		}
	}
	return all
}

// TestSplitLink: for every combination of properties and each mechanism alone and both,
// each property is in exactly one part, and the parts together are the impairment with its
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
		for _, usable := range [][]Mechanism{{Netem}, {Emulator}, {Netem, Emulator}} {
			for _, other := range []Impairment{{}, {Rate: 1e6}, {Delay: 1e6},
				{Rate: 1e9, ECN: unit.Depth{Size: 9000}}} {
				parts, by, _, err := SplitLink([2]Impairment{i, other}, only(usable))
				marks := i.ECN != unit.Depth{} || other.ECN != unit.Depth{}
				if (err != nil) != (marks && !slices.Contains(usable, Emulator)) {
					t.Fatalf("%+v, other direction %+v: %v of %v: %v", i, other, by, usable, err)
				}
				if err != nil {
					continue
				}
				if err := checkSplit(parts[0], want, by); err != nil {
					t.Fatalf("%+v, %s, other direction %+v: %v", i, by, other, err)
				}
				turned, same, _, _ := SplitLink([2]Impairment{other, i}, only(usable))
				if same != by || turned != [2]Split{parts[1], parts[0]} {
					t.Fatalf("%+v: the order of the directions matters", i)
				}
			}
		}
	}
}

// only returns why each mechanism but the given ones cannot be used.
func only(usable []Mechanism) func(Mechanism) error {
	return func(m Mechanism) error {
		if !slices.Contains(usable, m) {
			return errors.New("no " + string(m))
		}
		return nil
	}
}

func checkSplit(s Split, want Impairment, by Mechanism) error {
	for k := range reflect.TypeFor[Impairment]().NumField() {
		in := 0
		for _, p := range []Impairment{s.TBF, s.InFlight} {
			if !reflect.ValueOf(p).Field(k).IsZero() {
				in++
			}
		}
		if set := !reflect.ValueOf(want).Field(k).IsZero(); set != (in == 1) || in > 1 {
			return fmt.Errorf("%s is in %d parts: %+v", reflect.TypeFor[Impairment]().Field(k).Name, in, s)
		}
	}
	if together := s.TBF.with(Direction{Impairment: s.InFlight}); together != want {
		return fmt.Errorf("the parts are %+v, want %+v", together, want)
	}
	if by == "" && s.InFlight != (Impairment{}) {
		return fmt.Errorf("nothing applies %+v", s.InFlight)
	}
	if by == Netem && s.InFlight.Rate != 0 {
		return fmt.Errorf("netem has a rate: %+v", s)
	}
	return nil
}

// TestMechanisms: the preferred one is used if it can be, and otherwise the reason why
// not is returned.
func TestMechanisms(t *testing.T) {
	delay, lossy, marks := Impairment{Delay: 1e6}, Impairment{Loss: 0.1},
		Impairment{Rate: 1e9, ECN: unit.Depth{Size: 9000}}
	for _, test := range []struct {
		there, back Impairment
		usable      []Mechanism
		want        Mechanism
		skipped     string
	}{
		{Impairment{Rate: 1e9}, Impairment{}, nil, "", "[]"},
		{delay, Impairment{}, Mechanisms, Netem, "[]"},
		{delay, Impairment{}, []Mechanism{Emulator}, Emulator, "[no netem]"},
		{delay, lossy, Mechanisms, Emulator, "[]"},
		{Impairment{Delay: 2, Jitter: 1}, delay, Mechanisms, Emulator, "[]"},
		{Impairment{Delay: 2, Reorder: 0.1}, delay, Mechanisms, Emulator, "[]"},
		{lossy, delay, []Mechanism{Netem}, Netem, "[no emulator]"},
		{marks, delay, Mechanisms, Emulator, "[]"},
	} {
		_, by, skipped, err := SplitLink([2]Impairment{test.there, test.back}, only(test.usable))
		if by != test.want || fmt.Sprint(skipped) != test.skipped || err != nil {
			t.Errorf("%+v, %+v with %v: %q, skipped %v, %v; want %q, skipped %s", test.there, test.back, test.usable,
				by, skipped, err, test.want, test.skipped)
		}
	}
	if _, _, _, err := SplitLink([2]Impairment{delay, lossy}, only(nil)); err == nil ||
		err.Error() != "no emulator\nno netem" {
		t.Errorf("nothing is usable: %v", err)
	}
}
