package mesh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"linerate/internal/model/syntax"
)

// Bounds of a plan.
const (
	MaxHosts  = 2000
	maxRounds = 1 << 18
	maxPairs  = MaxHosts * (MaxHosts - 1)
	maxRate   = 1e15
	maxText   = 128 << 20
)

var patterns = []Pattern{Triage, Pairs, Shifts, Ring, Halves, AllToAll, Incast, Leaf}

// Patterns returns all patterns.
func Patterns() []Pattern { return slices.Clone(patterns) }

// Check returns what is wrong with a plan that comes from elsewhere. The tests of a plan without an error are
// between its hosts, and in no round do they need more than there is.
func (p *Plan) Check() error {
	if p.Schema != Schema {
		return fmt.Errorf("schema: expected %q, not %.80q", Schema, p.Schema)
	}
	if err := p.checkHosts(); err != nil {
		return err
	}
	if len(p.Rounds) > maxRounds {
		return fmt.Errorf("rounds: %d, of at most %d", len(p.Rounds), maxRounds)
	}
	if p.AtLeast < 0 || p.AtLeast > len(p.Rounds) {
		return fmt.Errorf("at_least: expected 0 to the number of rounds, %d, not %d", len(p.Rounds), p.AtLeast)
	}
	if n := p.pairs(); n > maxPairs {
		return fmt.Errorf("rounds: %d tests, of at most %d", n, maxPairs)
	}
	seen := map[Pair]bool{}
	r := resourcesOf(p)
	for k, round := range p.Rounds {
		if p.Pattern == Halves { // two random cuts may have a pair in common
			clear(seen)
		}
		for _, pair := range round {
			if err := p.checkPair(pair); err != nil {
				return fmt.Errorf("round %d: %w", k+1, err)
			}
			if seen[pair] {
				return fmt.Errorf("round %d: %s: there is such a test already", k+1, p.name(pair))
			}
			seen[pair] = true
		}
		if err := r.check(p, round); err != nil {
			return fmt.Errorf("round %d: %w", k+1, err)
		}
	}
	return nil
}

// checkHosts returns what is wrong with a plan beside its rounds.
func (p *Plan) checkHosts() error {
	switch {
	case !slices.Contains(patterns, p.Pattern):
		return fmt.Errorf("pattern: expected one of %v, not %.80q", patterns, string(p.Pattern))
	case len(p.Hosts) < 2 || len(p.Hosts) > MaxHosts:
		return fmt.Errorf("hosts: expected 2 to %d, not %d", MaxHosts, len(p.Hosts))
	case !(p.Share >= 0 && p.Share <= 1):
		return fmt.Errorf("share: expected 0 to 1, not %g", p.Share)
	case len(p.Uplinks) > MaxHosts:
		return fmt.Errorf("uplinks: of %d racks, of at most %d", len(p.Uplinks), MaxHosts)
	}
	names, racks, rates := map[string]bool{}, map[string]bool{}, false
	for _, h := range p.Hosts {
		if err := syntax.Check(&h); err != nil {
			return fmt.Errorf("hosts: %w", err)
		}
		switch {
		case h.Name == "":
			return errors.New("hosts: a host has no name")
		case names[h.Name]:
			return fmt.Errorf("hosts: %s is there twice", h.Name)
		case !(h.RateBps >= 0 && h.RateBps <= maxRate):
			return fmt.Errorf("hosts: %s: expected a rate of 0 to %g bit/s, not %g", h.Name, maxRate, h.RateBps)
		}
		names[h.Name] = true
		racks[h.Rack] = true
		rates = rates || h.RateBps > 0
	}
	for rack, rate := range p.Uplinks {
		switch {
		case rack == "" || !racks[rack]:
			return fmt.Errorf("uplinks: no host is in rack %.80q", rack)
		case !(rate > 0 && rate <= maxRate):
			return fmt.Errorf("uplinks: rack %s: expected a rate above 0 and up to %g bit/s, not %g", rack,
				maxRate, rate)
		case !rates:
			return errors.New("uplinks: the rate of no host is known, so what its tests need is not")
		}
	}
	if p.Pattern == Leaf && (len(racks) < 2 || racks[""]) {
		return errors.New("pattern leaf: expected hosts in at least two racks, and the rack of each host")
	}
	return p.Hours.check()
}

func (p *Plan) checkPair(pair Pair) error {
	for _, k := range pair {
		if k < 0 || k >= len(p.Hosts) {
			return fmt.Errorf("pair %v: there are hosts 0 to %d", pair, len(p.Hosts)-1)
		}
	}
	if pair[0] == pair[1] {
		return fmt.Errorf("pair %v: a host does not test itself", pair)
	}
	return nil
}

// name returns a pair as in messages.
func (p *Plan) name(pair Pair) string { return p.Hosts[pair[0]].Name + " to " + p.Hosts[pair[1]].Name }

// check returns which resource tests of a round need more than once, or more of than there is.
func (r *resources) check(p *Plan, round []Pair) error {
	if p.Pattern == AllToAll || p.Pattern == Incast {
		by := map[int32]int{}
		for _, pair := range round {
			for k, i := range pair {
				holder := i
				if m := r.sends[i]; m == r.sends[pair[1-k]] {
					holder = len(p.Hosts) + min(i, pair[1-k])*len(p.Hosts) + max(i, pair[1-k])
				}
				if h, ok := by[r.sends[i]]; ok && h != holder && r.shared[i] {
					return fmt.Errorf("%s: another host of machine %s is in the round", p.name(pair),
						p.Hosts[i].Machine)
				}
				by[r.sends[i]] = holder
			}
		}
		return nil
	}
	held := map[int32]bool{}
	load := make([]int64, len(r.room))
	var needs []need
	for _, it := range r.items(round) {
		for _, u := range it.units {
			if held[u] {
				return fmt.Errorf("%s: %s is in another test of the round", p.name(it.pair), r.unitName(u))
			}
			held[u] = true
		}
		needs = append(needs, it.needs...)
	}
	for _, n := range needs {
		u := int(n.uplink) - r.units
		if load[u] += n.rate; load[u] > r.room[u] {
			return fmt.Errorf("uplinks of rack %s have no room for its tests", r.uplinkName(n.uplink))
		}
	}
	return nil
}

// unitName returns what a unit is, for messages.
func (r *resources) unitName(unit int32) string {
	for i, h := range r.hosts {
		switch {
		case r.shared[i] && r.sends[i] == unit:
			return "machine " + h.Machine
		case r.sends[i] == unit:
			return h.Name + ", which sends,"
		case r.receives[i] == unit:
			return h.Name + ", which receives,"
		case r.ends != nil && (r.ends[r.rack[i]] == unit || r.ends[r.rack[i]]+1 == unit):
			return "rack " + h.Rack
		}
	}
	return "a host"
}

func (r *resources) uplinkName(uplink int32) string {
	for i, h := range r.hosts {
		if up := r.up[r.rack[i]]; up == uplink || up+1 == uplink {
			return h.Rack
		}
	}
	return ""
}

// pairs returns how many tests there are.
func (p *Plan) pairs() int {
	n := 0
	for _, round := range p.Rounds {
		n += len(round)
	}
	return n
}

// Duration returns how long the rounds take: each its window and what is needed before it.
func (p *Plan) Duration(window, gap time.Duration) time.Duration {
	each := float64(window) + float64(gap)
	return time.Duration(min(each*float64(len(p.Rounds)), math.MaxInt64/2))
}

// Left returns the tests that are not done, in the order of the rounds.
func (p *Plan) Left(done map[Pair]bool) []Pair {
	var left []Pair
	for _, round := range p.Rounds {
		for _, pair := range round {
			if !done[pair] {
				left = append(left, pair)
			}
		}
	}
	return left
}

// Without returns the plan without the tests of hosts, such as of those that do not answer. Hosts keep their
// places in Hosts, and a round without tests is left out.
func (p *Plan) Without(hosts ...string) *Plan {
	next := *p
	next.Rounds = nil
	for _, round := range p.Rounds {
		round = slices.DeleteFunc(slices.Clone(round), func(pair Pair) bool {
			return slices.Contains(hosts, p.Hosts[pair[0]].Name) || slices.Contains(hosts, p.Hosts[pair[1]].Name)
		})
		if len(round) > 0 {
			next.Rounds = append(next.Rounds, round)
		}
	}
	next.AtLeast = min(next.AtLeast, len(next.Rounds))
	return &next
}

// PaceBps returns the rate to which a test of a round is paced, in bits per second: the share of the slower
// interface, which is divided among the tests that it has in the round. 0: it is not paced, as there is no
// share or no rate is known.
func (p *Plan) PaceBps(round []Pair, pair Pair) float64 {
	pace := 0.0
	for k, i := range pair {
		tests := 0
		for _, other := range round {
			if other[k] == i {
				tests++
			}
		}
		if rate := p.Share * p.Hosts[i].RateBps / float64(max(tests, 1)); rate > 0 && (pace == 0 || rate < pace) {
			pace = rate
		}
	}
	return pace
}

// Parse returns the plan that a JSON document has, after Check.
func Parse(text []byte) (*Plan, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the plan has %d bytes, of at most %d", len(text), maxText)
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if d.More() {
		return nil, errors.New("plan: something follows the document")
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &p, nil
}

// Text returns the plan as a JSON document with a round on each line.
func (p *Plan) Text() ([]byte, error) {
	var text []byte
	head := *p
	head.Rounds = [][]Pair{}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, err
	}
	var rounds bytes.Buffer
	rounds.WriteString(`"rounds": [`)
	for k, round := range p.Rounds {
		line, err := json.Marshal(round)
		if err != nil {
			return nil, err
		}
		if k > 0 {
			rounds.WriteByte(',')
		}
		rounds.WriteString("\n    ")
		rounds.Write(line)
	}
	rounds.WriteString("\n  ]")
	return append(bytes.Replace(text, []byte(`"rounds": []`), rounds.Bytes(), 1), '\n'), nil
}
