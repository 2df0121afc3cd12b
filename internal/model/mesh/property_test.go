package mesh

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// fleet returns hosts with random racks, machines and rates, and uplinks of some racks.
func fleet(rng *rand.Rand, n int) Options {
	o := Options{Seed: rng.Uint64()}
	racks, machines, kind := 1+rng.IntN(1+n/4), 0, rng.IntN(6)
	if kind == 1 || kind == 2 {
		machines = 1 + rng.IntN(n)
	}
	rates := []float64{1e9, 10e9, 25e9, 100e9}[rng.IntN(4):]
	if kind != 5 {
		rates = rates[:1]
	}
	for i := range n {
		h := Host{Name: fmt.Sprintf("h%d", i+1), RateBps: rates[rng.IntN(len(rates))]}
		if kind > 0 {
			h.Rack = fmt.Sprintf("r%d", rng.IntN(racks))
		}
		if machines > 0 && (kind == 1 || rng.IntN(2) == 0) {
			h.Machine = fmt.Sprintf("m%d", rng.IntN(machines))
		}
		o.Hosts = append(o.Hosts, h)
	}
	if kind >= 2 {
		o.Uplinks = map[string]float64{}
		for _, h := range o.Hosts {
			if o.Uplinks[h.Rack] == 0 && rng.IntN(4) > 0 {
				o.Uplinks[h.Rack] = rates[0] * (1 + rng.Float64()*float64(n/racks))
			}
		}
	}
	return o
}

func TestRatio(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rng.IntN(60)
		if seed%20 == 0 {
			n = 2 + rng.IntN(300)
		}
		o := fleet(rng, n)
		o.Pattern = []Pattern{Shifts, Pairs, Triage}[rng.IntN(3)]
		began := time.Now()
		p, err := Make(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		ratio := float64(len(p.Rounds)) / float64(p.AtLeast)
		if ratio > 1.05 || time.Since(began) > time.Second {
			t.Logf("seed %d %s n=%d racks %d: %d rounds, at least %d: %.3f %v", seed, o.Pattern, n, len(o.Uplinks), len(p.Rounds), p.AtLeast, ratio, time.Since(began))
		}
	}
}
