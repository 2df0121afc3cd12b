package tuning_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/tuning"
)

// world is a path of which the truth is known: the goodput that a set of settings gives.
type world struct {
	keys    []string
	goodput func(set map[string]bool) float64
	lost    func(set map[string]bool) float64 // share of the datagrams, which counts first; nil: there are none
	noise   float64                           // standard deviation, relative
	random  *rand.Rand
	trials  int // made
	runs    int
}

func (w *world) run(levels []record.Level, sets map[string][]string, blocks int) *record.Run {
	w.runs++
	run := &record.Run{
		ID: fmt.Sprint("run-", w.runs), Status: "complete", Margin: 0.03, Confidence: 0.95,
		Factors: []record.Factor{{Name: settingfile.Factor, Role: "compare", Baseline: levels[0].Name, Levels: levels}},
	}
	for _, l := range levels {
		if l.Part != "" {
			run.Factors[0].Ablate = settingfile.TheList
		}
	}
	if w.lost != nil {
		run.Responses = []string{"lost", "goodput"}
	}
	sciencetest.Factorial(run, blocks, func(level map[string]string, _, _ int) record.Trial {
		w.trials++
		set := map[string]bool{}
		for _, key := range sets[level[settingfile.Factor]] {
			set[key] = true
		}
		t := record.Trial{GoodputBps: w.goodput(set) * math.Exp(w.noise*w.random.NormFloat64())}
		if w.lost != nil {
			const sent = 1_000_000
			lost := int64(sent * w.lost(set) * math.Exp(w.noise*w.random.NormFloat64()))
			t.Datagrams = &record.Datagrams{Sent: sent, Lost: lost, Received: sent - lost}
		}
		return t
	})
	conclude.Conclude(run)
	return run
}

// screen tries each setting of the list alone, and the list without it.
func (w *world) screen() *record.Run {
	levels := []record.Level{{Name: settingfile.AsItIs}, {Name: settingfile.TheList}, {Name: settingfile.OffAgain}}
	sets := map[string][]string{settingfile.TheList: w.keys}
	for _, key := range w.keys {
		levels = append(levels, record.Level{Name: "only " + key, Part: key}, record.Level{Name: "without " + key,
			Part: key, Against: settingfile.TheList})
		sets["only "+key] = []string{key}
		sets["without "+key] = slices.DeleteFunc(slices.Clone(w.keys), func(k string) bool { return k == key })
	}
	return w.run(levels, sets, 8)
}

func (w *world) conduct(_ []string, sets ...settingfile.Set) (*record.Run, error) {
	var levels []record.Level
	keys := map[string][]string{}
	for _, s := range sets {
		levels, keys[s.Name] = append(levels, record.Level{Name: s.Name}), s.Keys
	}
	blocks := 6
	if len(sets) == 2 {
		blocks = 4
	}
	return w.run(levels, keys, blocks), nil
}

// judged screens the list, whose settings all have a value, and returns what that shows of each.
func (w *world) judged(value string) (*record.Run, *record.Tune) {
	screening := w.screen()
	var settings []record.TuneSetting
	for _, key := range w.keys {
		settings = append(settings, record.TuneSetting{Key: key, Value: value})
	}
	return screening, tuning.Judge(screening, settings, nil)
}

// tune returns what is kept, sorted, and the result.
func (w *world) tune(t *testing.T) (kept []string, found *tuning.Found, result *record.Tune) {
	t.Helper()
	screening, result := w.judged("")
	enough := tuning.Enough{Screened: tuning.Screen(screening, result.Settings, true), Screening: screening,
		Conduct: w.conduct}
	found, err := enough.Find()
	if err != nil {
		t.Fatal(err)
	}
	if found == nil || !tuning.Proven(found.Proof.Effect, nil, found.Run.Margin) {
		return nil, found, result
	}
	found.Into(result)
	return slices.Sorted(slices.Values(found.Proof.Settings)), found, result
}

func keys(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("net.s%02d", i))
	}
	return list
}

func all(set map[string]bool, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return !set[k] })
}

func anyOf(set map[string]bool, keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return set[k] })
}

// TestEnough finds what is enough on paths of known truth.
func TestEnough(t *testing.T) {
	k := keys(15)
	factor := func(yes bool, f float64) float64 {
		if yes {
			return f
		}
		return 1
	}
	for _, test := range []struct {
		name    string
		keys    []string
		goodput func(set map[string]bool) float64
		want    [][]string // any of these
		harms   []string
		most    int // trials after the screening
	}{
		{"both buffers", k[:2], func(s map[string]bool) float64 {
			if s[k[0]] && !s[k[1]] {
				return 22e6 // alone it is even worse
			}
			return 25e6 * factor(all(s, k[:2]...), 2.49) * factor(s[k[1]] && !s[k[0]], 1.06)
		}, [][]string{k[:2]}, nil, 0},
		{"two pairs, one harms", k, func(s map[string]bool) float64 {
			return 25e6 * factor(all(s, k[2], k[7]), 1.6) * factor(all(s, k[4], k[11]), 1.5) * factor(s[k[9]], 0.6)
		}, [][]string{{k[2], k[4], k[7], k[11]}}, k[9:10], 30},
		{"two pairs, one harms and hides the gain", k, func(s map[string]bool) float64 {
			return min(25e6*factor(all(s, k[2], k[7]), 1.6)*factor(all(s, k[4], k[11]), 1.5),
				factor(s[k[9]], 20e6/1e12)*1e12)
		}, [][]string{{k[2], k[4], k[7], k[11]}}, k[9:10], 180},
		{"a triple", k, func(s map[string]bool) float64 {
			return 25e6 * factor(all(s, k[1], k[8], k[14]), 2)
		}, [][]string{{k[1], k[8], k[14]}}, nil, 30},
		{"either of two", k, func(s map[string]bool) float64 {
			return 25e6 * factor(anyOf(s, k[3], k[12]), 2)
		}, [][]string{{k[3]}, {k[12]}}, nil, 60},
		{"either of two pairs", k, func(s map[string]bool) float64 {
			return 25e6 * factor(all(s, k[1], k[5]) || all(s, k[9], k[13]), 2)
		}, [][]string{{k[1], k[5]}, {k[9], k[13]}}, nil, 120},
		{"one, and one of two with it", k, func(s map[string]bool) float64 {
			return 25e6 * factor(s[k[6]] && anyOf(s, k[0], k[10]), 2)
		}, [][]string{{k[0], k[6]}, {k[6], k[10]}}, nil, 120},
		{"two that exclude each other", k[:5], func(s map[string]bool) float64 {
			return 25e6 * factor(s[k[0]] != s[k[1]], 2) * factor(s[k[3]], 1.2)
		}, [][]string{{k[0], k[3]}, {k[1], k[3]}}, nil, 80},
		{"three, of which two reach the limit", k, func(s map[string]bool) float64 {
			return min(90e6, 25e6*factor(s[k[2]], 2)*factor(s[k[5]], 2)*factor(s[k[8]], 2))
		}, [][]string{{k[2], k[5]}, {k[2], k[8]}, {k[5], k[8]}}, nil, 60},
		{"nothing helps", k, func(map[string]bool) float64 { return 25e6 }, [][]string{nil}, nil, 0},
		{"everything harms", k[:6], func(s map[string]bool) float64 {
			return 25e6 * math.Pow(0.8, float64(len(s)))
		}, [][]string{nil}, k[:6], 0},
		{"one does it", k[:3], func(s map[string]bool) float64 {
			return 25e6 * factor(s[k[1]], 3)
		}, [][]string{{k[1]}}, nil, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &world{keys: test.keys, goodput: test.goodput, noise: 0.01, random: rand.New(rand.NewPCG(1, 2))}
			kept, _, result := w.tune(t)
			if !slices.ContainsFunc(test.want, func(want []string) bool { return slices.Equal(kept, want) }) {
				t.Errorf("kept %v, want one of %v: %+v", kept, test.want, result.Settings)
			}
			var harms []string
			for _, s := range result.Settings {
				if s.Verdict == record.Harms {
					harms = append(harms, s.Key)
				}
			}
			if !slices.Equal(harms, test.harms) {
				t.Errorf("%v harm, want %v", harms, test.harms)
			}
			after := w.trials - 8*(3+2*len(test.keys))
			t.Logf("%d trials after the screening", after)
			if after > test.most {
				t.Errorf("%d trials after the screening, want at most %d", after, test.most)
			}
		})
	}
}

// TestEnoughAtRandom holds what is kept against the truth in random structures: groups of
// settings of which all, or any, are needed, some that harm, and a limit.
func TestEnoughAtRandom(t *testing.T) {
	const worlds = 150
	lost, harmful, spare, trials, more := 0, 0, 0, 0, 0
	for seed := range uint64(worlds) {
		random := rand.New(rand.NewPCG(seed, 7))
		truth, k := structure(random)
		w := &world{keys: k, goodput: truth.goodput, noise: 0.01, random: random}
		kept, _, _ := w.tune(t)
		trials, more = trials+w.trials, more+w.trials-8*(3+2*len(k))
		base, best, got := truth.goodput(nil), truth.goodput(truth.good), truth.goodput(setOf(kept))
		if best-got > 0.1*(best-base) {
			lost++
			t.Logf("world %d: kept %v gives %.3g of %.3g to %.3g: %+v", seed, kept, got, base, best, truth.groups)
		}
		for _, key := range kept {
			if truth.harm[key] < 1 && truth.harm[key] > 0 {
				harmful++
			}
			fewer := setOf(kept)
			delete(fewer, key)
			if got-truth.goodput(fewer) < 0.01*(best-base) {
				spare++
			}
		}
	}
	t.Logf(
		"%d worlds: %d lost gain, %d kept what harms, %d kept what is spare; %d trials on average, %d after the "+
			"screening",
		worlds, lost, harmful, spare, trials/worlds, more/worlds)
	if lost > worlds/30 || harmful > worlds/50 || spare > worlds/5 {
		t.Errorf("of %d worlds %d lost gain, %d kept what harms, %d what is spare", worlds, lost, harmful, spare)
	}
}

type structured struct {
	groups []group
	harm   map[string]float64
	limit  float64
	good   map[string]bool
}

// group gains its factor where all of its settings, or any, are set.
type group struct {
	keys   []string
	any    bool
	factor float64
}

func (s *structured) goodput(set map[string]bool) float64 {
	bps := 25e6
	for _, g := range s.groups {
		if g.any && anyOf(set, g.keys...) || !g.any && all(set, g.keys...) {
			bps *= g.factor
		}
	}
	bps = min(bps, s.limit)
	for key, factor := range s.harm {
		if set[key] {
			bps *= factor
		}
	}
	return bps
}

func structure(random *rand.Rand) (*structured, []string) {
	k := keys(2 + random.IntN(14))
	free := slices.Clone(k)
	random.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	take := func(n int) (taken []string) {
		n = min(n, len(free))
		taken, free = free[:n], free[n:]
		return taken
	}
	s := &structured{harm: map[string]float64{}, limit: 1e12, good: map[string]bool{}}
	if random.IntN(3) == 0 {
		s.limit = 25e6 * (1.5 + 2*random.Float64())
	}
	for range random.IntN(4) {
		if g := take(1 + random.IntN(3)); len(g) > 0 {
			s.groups = append(s.groups, group{keys: g, any: random.IntN(3) == 0, factor: 1.2 + 1.5*random.Float64()})
		}
	}
	for _, key := range take(random.IntN(3)) {
		s.harm[key] = 0.4 + 0.5*random.Float64()
	}
	for _, key := range k {
		s.good[key] = s.harm[key] == 0
	}
	return s, k
}

func setOf(keys []string) map[string]bool {
	set := map[string]bool{}
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// TestSpent: where the budget ends the search, a setting that was not left out in any trial
// is not said to help.
func TestSpent(t *testing.T) {
	w := &world{keys: keys(6), random: rand.New(rand.NewPCG(1, 2)), noise: 0.003,
		goodput: func(set map[string]bool) float64 {
			if all(set, "net.s00", "net.s01") || all(set, "net.s02", "net.s03") {
				return 2e8
			}
			return 1e8
		}}
	screening, result := w.judged("")
	enough := tuning.Enough{Screened: tuning.Screen(screening, result.Settings, true), Screening: screening,
		Conduct: func([]string, ...settingfile.Set) (*record.Run, error) {
			return nil, tuning.ErrSpent
		}}
	found, err := enough.Find()
	if err != nil || found == nil || !found.Ended || len(found.Proof.Settings) != len(w.keys) {
		t.Fatalf("%+v, %v", found, err)
	}
	found.Into(result)
	for _, s := range result.Settings {
		if s.Verdict == record.Helps {
			t.Errorf("%s helps: %+v", s.Key, s.Reasons)
		}
	}
}

// TestHarmfulElsewhere: what lint calls harmful, and of which trials show no effect, is left
// out first: a path without losses does not show what selective acknowledgements are worth.
func TestHarmfulElsewhere(t *testing.T) {
	w := &world{keys: []string{"net.ipv4.tcp_sack", "net.ipv4.tcp_fin_timeout", "net.s00"}, noise: 0.01,
		random: rand.New(rand.NewPCG(1, 7)),
		goodput: func(set map[string]bool) float64 {
			if set["net.s00"] {
				return 2
			}
			return 1
		}}
	screening, result := w.judged("0")
	s := tuning.Screen(screening, result.Settings, true)
	if !slices.Equal(s.Harmful, []string{"net.ipv4.tcp_sack"}) ||
		!slices.Equal(s.Spare[0], []string{"net.ipv4.tcp_fin_timeout"}) || !slices.Equal(s.Core, []string{"net.s00"}) {
		t.Errorf("%+v", s)
	}
}

// TestHarmfulWhenSpent: where the budget ends the search, what is kept has no setting that lint
// calls harmful and that no trial speaks for, whichever of the two lists chance has ahead.
func TestHarmfulWhenSpent(t *testing.T) {
	for seed := range uint64(10) {
		w := &world{keys: []string{"net.ipv4.tcp_sack", "net.s00", "net.s01", "net.s02", "net.s03"}, noise: 0.005,
			random: rand.New(rand.NewPCG(seed, 8)),
			goodput: func(set map[string]bool) float64 {
				if all(set, "net.s00", "net.s01") || all(set, "net.s02", "net.s03") {
					return 2
				}
				return 1
			}}
		screening, result := w.judged("0")
		runs := 0
		enough := tuning.Enough{Screened: tuning.Screen(screening, result.Settings, true), Screening: screening,
			Conduct: func(out []string, sets ...settingfile.Set) (*record.Run, error) {
				if runs++; runs > 1 {
					return nil, tuning.ErrSpent
				}
				return w.conduct(out, sets...)
			}}
		found, err := enough.Find()
		if err != nil || found == nil || !found.Ended || slices.Contains(found.Proof.Settings, "net.ipv4.tcp_sack") ||
			len(found.Proof.Settings) != 4 {
			t.Errorf("seed %d: %+v, %v", seed, found, err)
		}
	}
}

// TestEnoughWithoutLoss: a list that ends all loss, or all but a little, leaves no share of which
// what it gives could be, and what does not do that is left out all the same; so is what has no
// effect where no datagram is lost anyway.
func TestEnoughWithoutLoss(t *testing.T) {
	k := keys(5)
	for _, test := range []struct {
		name string
		lost func(set map[string]bool) float64
		more string // goodput by this one
		want []string
	}{
		{"one ends it", func(s map[string]bool) float64 {
			if s[k[3]] {
				return 0
			}
			return 0.2
		}, k[3], k[3:4]},
		{"two end it", func(s map[string]bool) float64 {
			if all(s, k[1], k[3]) {
				return 0
			}
			return 0.2
		}, "", []string{k[1], k[3]}},
		{"one ends it but for a little", func(s map[string]bool) float64 {
			if s[k[3]] {
				return 0.0005
			}
			return 0.2
		}, k[3], k[3:4]},
		{"two end a part each", func(s map[string]bool) float64 {
			lost := 0.2
			for _, key := range k[1:3] {
				if s[key] {
					lost *= 0.6
				}
			}
			return lost
		}, "", k[1:3]},
		{"nothing is lost", func(map[string]bool) float64 { return 0 }, k[2], k[2:3]},
	} {
		w := &world{keys: k, lost: test.lost, noise: 0.01, random: rand.New(rand.NewPCG(1, 2)),
			goodput: func(s map[string]bool) float64 {
				if s[test.more] {
					return 1.25e8
				}
				return 1e8
			}}
		kept, found, result := w.tune(t)
		if !slices.Equal(kept, test.want) {
			t.Errorf("%s: kept %v, want %v: %+v", test.name, kept, test.want, result.Settings)
		} else if gain := found.Proof.Gain; gain != nil && math.Abs(*gain-1) > 0.05 {
			t.Errorf("%s: a share of %g of the gain is kept", test.name, *gain)
		}
	}
}
