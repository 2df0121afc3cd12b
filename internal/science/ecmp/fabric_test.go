package ecmp

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

const gbit = 1e9

func clos(hosts, width int, core bool) Fabric {
	f := Fabric{Hosts: hosts, HostsPerLeaf: width, HostBps: gbit, Up: Alike(width, gbit)}
	if core {
		f.Core, f.LeavesPerPod = Alike(width, gbit), width
	}
	return f
}

// TestPaths: a path begins and ends at its hosts, meets at one spine or core, and no
// two links have one number.
func TestPaths(t *testing.T) {
	f := clos(2*16, 4, true) // two pods of four leaves
	if f.Leaves() != 8 || f.Pods() != 2 || f.Spines() != 8 || f.Cores() != 16 || f.links() != 2*(32+32+32) {
		t.Fatalf("%d leaves, %d pods, %d spines, %d cores, %d links", f.Leaves(), f.Pods(), f.Spines(),
			f.Cores(), f.links())
	}
	seen := map[int32]string{}
	number := func(link int32, name string) {
		if other, ok := seen[link]; ok || link < 0 || int(link) >= f.links() {
			t.Errorf("%s has the number %d, like %q", name, link, other)
		}
		seen[link] = name
	}
	for _, down := range []bool{false, true} {
		for h := range f.Hosts {
			number(int32(h)+map[bool]int32{true: int32(f.Hosts)}[down], fmt.Sprint("host ", h, down))
		}
		for l := range f.Leaves() {
			for s := range f.Up {
				number(f.leafLink(l, s, down), fmt.Sprint("leaf ", l, s, down))
			}
		}
		for p := range f.Pods() {
			for s := range f.Up {
				for c := range f.Core {
					number(f.spineLink(p, s, c, down), fmt.Sprint("spine ", p, s, c, down))
				}
			}
		}
	}
	for _, c := range []struct {
		from, to int
		want     []string
	}{
		{0, 3, []string{"host 0 false", "host 3 true"}},
		{0, 15, []string{"host 0 false", "host 15 true", "leaf 0 2 false", "leaf 3 2 true"}},
		{1, 31, []string{"host 1 false", "host 31 true", "leaf 0 2 false", "leaf 7 2 true", "spine 0 2 1 false",
			"spine 1 2 1 true"}},
	} {
		var got []string
		var r routes
		r.begin(f, 1)
		r.chosen[0] = routeOf(c.from, c.to, 2, 1)
		for _, link := range r.Links(nil, 0) {
			got = append(got, strings.ReplaceAll(seen[link], "  ", " "))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("from %d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// TestRunIsFair: what a simulation shares is max-min fair on its own fabric.
func TestRunIsFair(t *testing.T) {
	for _, core := range []bool{false, true} {
		for _, load := range []FabricLoad{
			{Kinds: fillers(2000)},
			{Kinds: []Kind{{Count: 1500, Bps: 2e7}, {Count: 100}}, SameSeed: true},
			{Kinds: fillers(800), Pairs: 50, Key: PerPair},
		} {
			s := Simulation{Fabric: clos(128, 4, core), Load: load}
			if err := s.Fabric.Check(load); err != nil {
				t.Fatal(err)
			}
			s.demand()
			s.place(3, false)
			s.rates = s.Fabric.rates(s.rates, false)
			s.sharer.Share(s.rates, &s.paths, s.demands)
			fair(t, s.rates, &s.paths, s.demands, &s.sharer)
		}
	}
}

// TestAgreesWithTheory: two hosts on two leaves are two senders with n links each;
// a flow goes in either direction, so that each of the 2n links is hit with 1/2n.
func TestAgreesWithTheory(t *testing.T) {
	for _, n := range []int{2, 4} {
		for _, flows := range []int{1, 3, 8} {
			f := Fabric{Hosts: 2, HostsPerLeaf: 1, HostBps: 100 * gbit, Up: Alike(n, gbit)}
			s := Simulation{Fabric: f, Load: FabricLoad{Kinds: fillers(flows)}}
			mean, idle := 0.0, 0.0
			const replicates = 3000
			for seed := range uint64(replicates) {
				o := s.Run(seed)
				mean += o.Flow.CarriedBps / replicates
				idle += o.PerTier[1].Idle / replicates
			}
			d, _ := Alike(2*n, gbit).Carried(fillers(flows))
			if bound := 5*d.SD()/math.Sqrt(replicates) + 1; math.Abs(mean-d.Mean()) > bound {
				t.Errorf("%d links, %d flows: %.5g bit/s, want %.5g ± %.2g", n, flows, mean, d.Mean(), bound)
			}
			// Each path has a link up and one down, so every used link counts twice.
			used := 4*float64(n) - idle
			if want := 2 * Alike(2*n, 1).ExpectedUsed(flows); math.Abs(used-want) > 10*d.SD()/gbit/math.Sqrt(
				replicates)+1e-9 {
				t.Errorf("%d links, %d flows: %.4f links used, want %.4f", n, flows, used, want)
			}
		}
	}
}

// TestPolarisation: with one seed a spine uses one of its links to cores, since
// the leaf has asked the same hash before; with seeds of their own, all are used.
func TestPolarisation(t *testing.T) {
	const width = 4
	for _, same := range []bool{false, true} {
		s := Simulation{Fabric: clos(256, width, true), Load: FabricLoad{Kinds: fillers(20_000), SameSeed: same}}
		o := s.Run(1)
		core := o.PerTier[2]
		if core.Name != "spine to core" || core.Links != 2*s.Fabric.Spines()*width {
			t.Fatalf("%+v", core)
		}
		want := 0.0
		if same {
			want = float64(core.Links) * (width - 1) / width
		}
		if core.Idle != want {
			t.Errorf("one seed %v: %g of %d links idle, want %g", same, core.Idle, core.Links, want)
		}
		// What stays in a pod takes what the others leave, so that the links say it,
		// and the flows in the middle, but not the sum of all.
		share, median := core.Average, o.Flow.P50Bps/o.EvenFlow.P50Bps
		if same && (share > 0.25 || median > 0.35) || !same && (share < 0.7 || median < 0.7) {
			t.Errorf("one seed %v: links to cores %.3f busy, the median flow has %.3f of what even spreading gives",
				same, share, median)
		}
	}
}

// TestAddressesOnly: under a hash of addresses more flows between a pair are no
// more use, and without anything that differs one spine carries all.
func TestAddressesOnly(t *testing.T) {
	f := Fabric{Hosts: 2, HostsPerLeaf: 1, HostBps: 100 * gbit, Up: Alike(8, gbit)}
	s := Simulation{Fabric: f, Load: FabricLoad{Kinds: fillers(64), Pairs: 1, Key: PerPair}}
	if o := s.Run(1); math.Abs(o.Flow.CarriedBps-gbit) > 1 || o.PerTier[1].Idle != 32-2 ||
		math.Abs(o.EvenFlow.CarriedBps-8*gbit) > 10 {
		t.Errorf("%+v", o)
	}
	big := Simulation{Fabric: clos(64, 4, false), Load: FabricLoad{Kinds: fillers(1000), Key: One, SameSeed: true}}
	if o := big.Run(1); o.PerTier[1].Idle != float64(o.PerTier[1].Links)*3/4 {
		t.Errorf("%+v", o)
	}
}

// TestSeeds: the same seed gives the same answer to the last bit, also in memory
// that another run has used; another seed gives another.
func TestSeeds(t *testing.T) {
	load := FabricLoad{Kinds: []Kind{{Count: 900, Bps: 5e7}, {Count: 30}}}
	s := Simulation{Fabric: clos(64, 4, true), Load: load}
	first, other, again := s.Run(1), s.Run(2), s.Run(1)
	if !reflect.DeepEqual(first, again) {
		t.Errorf("%+v, then %+v", first, again)
	}
	if reflect.DeepEqual(first, other) {
		t.Error("another seed gave the same")
	}
	if o := first.Flow; o.LeastBps > o.P1Bps || o.P1Bps > o.P50Bps || o.P50Bps > o.P99Bps || o.P99Bps > o.MostBps ||
		o.Fairness <= 0 || o.Fairness > 1 {
		t.Errorf("%+v", o)
	}
}

// TestDoubling: twice the flows take at most 2.5 times the steps, in memory that
// grows with flows alone.
func TestDoubling(t *testing.T) {
	for _, core := range []bool{false, true} {
		last := 0
		for _, flows := range []int{10_000, 20_000, 40_000, 80_000} {
			s := Simulation{Fabric: clos(1024, 8, core), Load: FabricLoad{Kinds: fillers(flows)}}
			s.Run(1)
			if last > 0 && float64(s.Steps) > 2.5*float64(last) {
				t.Errorf("%d flows: %d steps, after %d for half of them", flows, s.Steps, last)
			}
			last = s.Steps
		}
	}
	var before, after runtime.MemStats
	const flows = 80_000
	runtime.ReadMemStats(&before)
	s := Simulation{Fabric: clos(1024, 8, true), Load: FabricLoad{Kinds: fillers(flows)}}
	for seed := range uint64(3) {
		s.Run(seed)
	}
	runtime.ReadMemStats(&after)
	if each := float64(after.TotalAlloc-before.TotalAlloc) / flows; each > 100 {
		t.Errorf("%.0f bytes a flow in three replicates, want at most 100", each)
	}
}

// TestReplicate: the mean of replicates is that of their figures.
func TestReplicate(t *testing.T) {
	s := Simulation{Fabric: clos(64, 4, true), Load: FabricLoad{Kinds: fillers(500)}}
	a, b := s.Run(7), s.Run(8)
	steps := s.Steps
	mean := s.Replicate(7, 2)
	for what, pair := range map[string][2]float64{
		"carried":   {mean.ExpectedBps, (a.Flow.CarriedBps + b.Flow.CarriedBps) / 2},
		"evenly":    {mean.EvenFlow.P50Bps, (a.EvenFlow.P50Bps + b.EvenFlow.P50Bps) / 2},
		"fairness":  {mean.Flow.Fairness, (a.Flow.Fairness + b.Flow.Fairness) / 2},
		"idle":      {mean.PerTier[2].Idle, (a.PerTier[2].Idle + b.PerTier[2].Idle) / 2},
		"average":   {mean.PerTier[1].Average, (a.PerTier[1].Average + b.PerTier[1].Average) / 2},
		"deviation": {mean.SDBps, math.Abs(a.Flow.CarriedBps-b.Flow.CarriedBps) / math.Sqrt2},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*math.Abs(pair[1]) {
			t.Errorf("%s: %g, want %g", what, pair[0], pair[1])
		}
	}
	if s.Steps != 2*steps || steps == 0 || mean.PerTier[1].Links != a.PerTier[1].Links ||
		mean.PerTier[0].Name != "host to leaf" {
		t.Errorf("%+v", mean)
	}
	if one := s.Replicate(7, 1); one.SDBps != 0 {
		t.Errorf("one replicate scatters by %g", one.SDBps)
	}
}

func TestFabricCheck(t *testing.T) {
	good := clos(16, 4, true)
	load := FabricLoad{Kinds: fillers(1)}
	if err := good.Check(load); err != nil {
		t.Error(err)
	}
	bad := good
	bad.Hosts, bad.HostBps, bad.HostsPerLeaf, bad.LeavesPerPod = 1, 0, 0, 0
	err := bad.Check(FabricLoad{Pairs: -1})
	for _, want := range []string{"1 hosts", "0 hosts per leaf", "0 bit/s", "0 leaves per pod", "0 flows", "-1 pairs"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	wide := clos(mostHosts, 2, false)
	wide.Up = Alike(4096, gbit)
	if err := wide.Check(load); err == nil || !strings.Contains(err.Error(), "links: expected at most") {
		t.Errorf("%v", err)
	}
}

// BenchmarkClos is the fabric of 10,000 hosts: time, memory and steps for a
// quarter, half and a whole million of flows.
func BenchmarkClos(b *testing.B) {
	for _, flows := range []int{250_000, 500_000, 1_000_000} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				s := Simulation{Fabric: clos(10_000, 16, true), Load: FabricLoad{Kinds: fillers(flows)}}
				s.Run(1)
				steps = s.Steps
			}
			b.ReportMetric(float64(steps)/float64(flows), "steps/flow")
		})
	}
}
