package mesh

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

func named(n int) []Host {
	var hosts []Host
	for i := range n {
		hosts = append(hosts, Host{Name: fmt.Sprintf("h%d", i+1)})
	}
	return hosts
}

// samples are plans of few hosts, by the name of their file.
func samples() map[string]Options {
	six := []Host{{Name: "a1", Rack: "a"}, {Name: "a2", Rack: "a"}, {Name: "b1", Rack: "b"}, {Name: "b2", Rack: "b"},
		{Name: "c1", Rack: "c"}, {Name: "c2", Rack: "c"}}
	machines := []Host{{Name: "v1", Machine: "m"}, {Name: "v2", Machine: "m"}, {Name: "w1", Machine: "n"},
		{Name: "w2", Machine: "n"}, {Name: "h"}}
	uplinks := make([]Host, 6)
	for i, h := range six {
		h.RateBps = 10e9
		uplinks[i] = h
	}
	return map[string]Options{
		"triage":       {Pattern: Triage, Hosts: named(7), Rounds: 3, Seed: 7},
		"pairs":        {Pattern: Pairs, Hosts: named(6), Seed: 7},
		"pairs-odd":    {Pattern: Pairs, Hosts: named(5), Seed: 7},
		"shifts":       {Pattern: Shifts, Hosts: named(5), Seed: 7, Share: 0.05},
		"ring":         {Pattern: Ring, Hosts: named(5), Seed: 7},
		"halves":       {Pattern: Halves, Hosts: named(7), Rounds: 3, Seed: 7},
		"all-to-all":   {Pattern: AllToAll, Hosts: named(4), Seed: 7},
		"incast":       {Pattern: Incast, Hosts: named(5), Seed: 7, Senders: 3, Rounds: 2},
		"leaf":         {Pattern: Leaf, Hosts: six, Seed: 7, Hours: Hours{60, 300}},
		"machines":     {Pattern: Shifts, Hosts: machines, Seed: 7},
		"machines-all": {Pattern: AllToAll, Hosts: machines, Seed: 7},
		"uplinks": {Pattern: Shifts, Hosts: uplinks, Seed: 7,
			Uplinks: map[string]float64{"a": 10e9, "b": 20e9, "c": 10e9}},
	}
}

// TestGolden: plans are the same on every machine, and as documents.
func TestGolden(t *testing.T) {
	fixed := map[string]bool{"all-to-all": true, "machines-all": true, "ring": true} // no seed changes these
	for name, o := range samples() {
		p, err := Make(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := p.Text()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(text, golden) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
		read, err := Parse(text)
		if err != nil || !reflect.DeepEqual(read, p) {
			t.Errorf("%s: %v\n%+v", name, err, read)
		}
		if short, err := json.Marshal(p); err != nil || !bytes.Contains(short, []byte("[[[")) {
			t.Errorf("%s: %v: %s", name, err, short)
		}
		o.Seed++
		if next, err := Make(o); err != nil || !fixed[name] && reflect.DeepEqual(next.Rounds, p.Rounds) {
			t.Errorf("%s: another seed changes nothing: %v", name, err)
		}
	}
}

// TestPatterns: what the patterns promise for any number of hosts of their own machines.
func TestPatterns(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 8, 9, 33, 64, 101, 250} {
		for _, pattern := range Patterns() {
			o := Options{Pattern: pattern, Hosts: named(n), Seed: 1}
			for i := range o.Hosts {
				o.Hosts[i].Rack = fmt.Sprint("r", i%max(2, n/4))
			}
			p, err := Make(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Check(); err != nil {
				t.Errorf("%s of %d hosts: %v", pattern, n, err)
			}
			odd, racks := n%2, max(2, n/4)
			want := map[Pattern][2]int{ // rounds, tests
				Triage: {min(10, n-1), min(10, n-1) * n},
				Pairs:  {n - 1 + odd, n * (n - 1)}, Shifts: {n - 1, n * (n - 1)},
				Ring: {min(2, n-1), min(2, n-1) * n}, Halves: {30, 30 * (n - odd)},
				AllToAll: {1, n * (n - 1)}, Incast: {n, n * min(8, n-1)}, Leaf: {racks - 1, racks * (racks - 1)},
			}[pattern]
			if len(p.Rounds) != want[0] || p.AtLeast != want[0] || p.pairs() != want[1] {
				t.Errorf("%s of %d hosts: %d rounds of at least %d, %d tests; expected %v", pattern, n, len(p.Rounds),
					p.AtLeast, p.pairs(), want)
			}
			if pattern == Pairs || pattern == Halves {
				for _, round := range p.Rounds {
					if len(round) != n-odd {
						t.Errorf("%s of %d hosts: %d tests in a round", pattern, n, len(round))
					}
				}
			}
		}
	}
}

func TestOptions(t *testing.T) {
	two, racks := named(2), []Host{{Name: "a", Rack: "r"}, {Name: "b"}}
	for want, o := range map[string]Options{
		"pattern:":                   {Hosts: two},
		"hosts: expected 2":          {Pattern: Ring},
		"hosts: h1 is there twice":   {Pattern: Ring, Hosts: []Host{{Name: "h1"}, {Name: "h1"}}},
		"hosts: a host has no name":  {Pattern: Ring, Hosts: []Host{{Name: "h1"}, {}}},
		"share:":                     {Pattern: Ring, Hosts: two, Share: math.NaN()},
		"rounds: pattern ring":       {Pattern: Ring, Hosts: two, Rounds: 1},
		"rounds: expected":           {Pattern: Triage, Hosts: two, Rounds: -1},
		"rounds: each of 2":          {Pattern: Incast, Hosts: two, Rounds: 3},
		"senders: expected":          {Pattern: Incast, Hosts: two, Senders: 2},
		"senders: pattern ring":      {Pattern: Ring, Hosts: two, Senders: 2},
		"pattern leaf:":              {Pattern: Leaf, Hosts: two},
		"uplinks: no host is in":     {Pattern: Ring, Hosts: two, Uplinks: map[string]float64{"a": 1e9}},
		"hours:":                     {Pattern: Ring, Hosts: two, Hours: Hours{-1, 5}},
		"rate of no host is known":   {Pattern: Ring, Hosts: racks, Uplinks: map[string]float64{"r": 1e9}},
		"expected a rate above 0":    {Pattern: Ring, Hosts: racks, Uplinks: map[string]float64{"r": math.Inf(1)}},
		"expected a rate of 0":       {Pattern: Ring, Hosts: []Host{{Name: "a", RateBps: -1}, {Name: "b"}}},
		"hosts: expected 2 to 2000,": {Pattern: Ring, Hosts: named(2001)},
	} {
		if _, err := Make(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, expected %q", err, want)
		}
	}
}

// TestHostile: a document that asks for more than there is, or for what is not there, is refused.
func TestHostile(t *testing.T) {
	plan := func(change func(*Plan)) *Plan {
		p, err := Make(samples()["uplinks"])
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		return p
	}
	for want, p := range map[string]*Plan{
		"schema":         plan(func(p *Plan) { p.Schema = "x" }),
		"there are host": plan(func(p *Plan) { p.Rounds[0][0] = Pair{0, 6} }),
		"test itself":    plan(func(p *Plan) { p.Rounds[0][0] = Pair{3, 3} }),
		"already":        plan(func(p *Plan) { p.Rounds = append(p.Rounds, p.Rounds[0]) }),
		"which sends":    plan(func(p *Plan) { p.Rounds = [][]Pair{{{0, 1}, {0, 2}}}; p.AtLeast = 1 }),
		"which receives": plan(func(p *Plan) { p.Rounds = [][]Pair{{{1, 0}, {2, 0}}}; p.AtLeast = 1 }),
		"of rack a":      plan(func(p *Plan) { p.Rounds = [][]Pair{{{0, 2}, {1, 3}}}; p.AtLeast = 1 }),
		"at_least":       plan(func(p *Plan) { p.AtLeast = 1000 }),
		"without charac": plan(func(p *Plan) { p.Hosts[0].Name = "a;b" }),
		"on one line":    plan(func(p *Plan) { p.Hosts[0].Rack = "\x1b[2J" }),
		"machine m": plan(func(p *Plan) {
			p.Hosts[0].Machine, p.Hosts[2].Machine = "m", "m"
			p.Rounds, p.AtLeast = [][]Pair{{{0, 1}, {2, 3}}}, 1
		}),
		"another host of machine m": plan(func(p *Plan) {
			p.Hosts[0].Machine, p.Hosts[2].Machine, p.Pattern = "m", "m", AllToAll
			p.Rounds, p.AtLeast = [][]Pair{{{0, 1}, {2, 3}}}, 1
		}),
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, expected %q", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, o := range samples() {
		p, err := Make(o)
		if err != nil {
			f.Fatal(err)
		}
		text, _ := p.Text()
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := p.Text()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(again)
		if err != nil || len(read.Rounds) != len(p.Rounds) {
			t.Fatalf("%v\n%s", err, again)
		}
		left := p.Left(nil)
		if p.Pattern == Halves || len(left) > 1000 {
			return
		}
		rounds, least, err := p.Schedule(left)
		if err != nil || len(rounds) < least {
			t.Fatalf("%d rounds, at least %d: %v", len(rounds), least, err)
		}
		p.Rounds, p.AtLeast = rounds, least
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRest: what conductors do with a plan.
func TestRest(t *testing.T) {
	p, err := Make(Options{Pattern: Shifts, Hosts: named(5), Share: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Duration(10*time.Second, 3*time.Second); d != 4*13*time.Second {
		t.Errorf("%v", d)
	}
	done := map[Pair]bool{}
	for _, pair := range p.Rounds[0] {
		done[pair] = true
	}
	left := p.Left(done)
	rounds, least, err := p.Schedule(left)
	if len(left) != 15 || len(rounds) != 3 || least != 3 || err != nil {
		t.Errorf("%d left, %d rounds, at least %d: %v", len(left), len(rounds), least, err)
	}
	without := p.Without("h2", "h3", "h4")
	if err := without.Check(); err != nil || without.pairs() != 2 || len(p.Rounds) != 4 || p.pairs() != 20 {
		t.Errorf("%v: %+v", err, without)
	}
	if _, _, err := p.Schedule([]Pair{{0, 1}, {0, 1}}); err == nil || err.Error() != "h1 to h2 is wanted twice" {
		t.Error(err)
	}
	if _, _, err := p.Schedule([]Pair{{0, 5}}); err == nil {
		t.Error("no error")
	}
	p.Hosts[0].RateBps, p.Hosts[1].RateBps = 10e9, 1e9
	one := []Pair{{0, 1}, {2, 3}}
	if a, b := p.PaceBps(one, one[0]), p.PaceBps(one, one[1]); a != 0.5e9 || b != 0 {
		t.Errorf("%g, %g", a, b)
	}
	several := []Pair{{0, 1}, {2, 1}}
	if a := p.PaceBps(several, several[0]); a != 0.25e9 {
		t.Errorf("%g", a)
	}
}
