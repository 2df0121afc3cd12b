package answer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/stats"
)

// TestNoFixFromChance: of runs whose levels all do the same, at most 3 % claim that one of
// them improves or reaches the limit, however trials scatter. 3 standard errors are
// allowed for the number of runs.
func TestNoFixFromChance(t *testing.T) {
	const (
		limit, blocks, runs = 956e6, 4, 100
		most                = 0.03*runs + 3*1.7 // √(0.03 × 0.97 × runs)
	)
	for name, trial := range map[string]func(*rand.Rand) float64{
		"one link or two": func(r *rand.Rand) float64 {
			return limit * float64(1+r.IntN(2)) / 2 * (0.998 + 0.002*r.Float64())
		},
		"a dip in 5 %": func(r *rand.Rand) float64 {
			return limit * pick(r.Float64() < 0.05, 0.8, 0.998+0.002*r.Float64())
		},
		"normal, the limit": func(r *rand.Rand) float64 { return limit * min(1, 0.985+0.01*r.NormFloat64()) },
		"normal, half":      func(r *rand.Rand) float64 { return limit * (0.5 + 0.01*r.NormFloat64()) },
	} {
		for _, levels := range []int{1, 5, 13} {
			var names []string
			for i := range levels + 1 {
				names = append(names, fmt.Sprint("level ", i))
			}
			random := rand.New(rand.NewPCG(1, uint64(levels)))
			var claims []string
			for range runs {
				run := sciencetest.Levels("bit/s", limit, []string{""}, names, func(_, _ string, _ int) float64 {
					return trial(random)
				}, blocks)
				conclude.Conclude(run)
				if a := Run(run); claimsFix(run, a) {
					claims = append(claims, a.Headline)
				}
			}
			if float64(len(claims)) > most {
				t.Errorf("%s, %d levels: %d of %d runs claim a fix, such as %s", name, levels, len(claims),
					runs, claims[0])
			}
		}
	}
}

// TestMissed: how rare an event the trials can miss stands in an answer that a limit is
// reached or something makes no difference, and in no other.
func TestMissed(t *testing.T) {
	two := func(base, level float64) *record.Run {
		return sciencetest.Levels("bit/s", 956e6, []string{""}, []string{"a", "b"}, func(_, l string, b int) float64 {
			return map[string]float64{"a": base, "b": level}[l] * (1 + 0.001*float64(b%3))
		}, 4)
	}
	const said = "4 trials of a treatment can miss what happens in fewer than 53 % of trials."
	for name, test := range map[string]struct {
		run  *record.Run
		want bool
	}{
		"a fix":                {sciencetest.Few(4, 0, 4), true},
		"the baseline is best": {sciencetest.Few(4, 4, 0), true},
		"no difference":        {sciencetest.Few(4, 2, 3), true},
		"only worse":           {two(500e6, 100e6), false},
		"only better":          {two(100e6, 500e6), false},
	} {
		conclude.Conclude(test.run)
		if a := Run(test.run); slices.Contains(a.Statements, said) != test.want {
			t.Errorf("%s: %v", name, a)
		}
	}
}

// claimsFix: a level is recommended or said to reach the limit, as data or in words.
func claimsFix(run *record.Run, a Answer) bool {
	for _, text := range append(a.Statements, a.Headline) {
		for _, word := range []string{"reaches the limit", "limit is reached", "reach the limit", "improves that",
			"it improves with", "raises the limit"} {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return slices.ContainsFunc(run.Conclusion.Conditions[0].Candidates, func(o record.Candidate) bool {
		return o.Fix || o.Best
	})
}

func pick(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}

// TestHeadlineAlone: a headline without room for how things are names what improves.
func TestHeadlineAlone(t *testing.T) {
	at := []string{"a path of 10 ms with a shallow queue", "a path of 50 ms with a shallow queue",
		"a path of 100 ms with a deep queue"}
	for _, responses := range [][]string{nil, {"latency_p50"}} {
		run := sciencetest.Levels("bit/s", 956e6, at, []string{"as the distribution has set it up", "8 MiB"},
			func(c, l string, b int) float64 {
				return map[string]float64{"8 MiB": 100e6}[l] + float64(slices.Index(at, c)+1)*(100e6+1e4*float64(b%3))
			}, 6)
		run.Responses = responses
		label := "goodput"
		if responses != nil {
			label = "latency p50"
			for i := range run.Trials {
				h := stats.NewHistogram()
				for range 100 {
					stats.Record(h, int64(1e15/run.Trials[i].GoodputBps))
				}
				run.Trials[i].Latency, _ = stats.Distribution(h)
			}
		}
		conclude.Conclude(run)
		if a := Run(run); !strings.HasPrefix(a.Headline, "“8 MiB” improves "+label+" to ") {
			t.Errorf("%q", a.Headline)
		}
	}
}

// TestOnly: of one level an answer says that only it reaches the limit where the intervals
// of all other treatments end below it, and that it is enough where all others that reach
// it make its changes too. Every combination is tried of levels that reach the limit, one
// of which takes a part away from another.
func TestOnly(t *testing.T) {
	const limit = 956e6
	conditions := []string{"reads", "writes"}
	levels := []string{"defaults", "a", "b", "a and b", "a less a part"}
	lines := map[string][]string{"a": {"x=1", "y=1"}, "b": {"z=1"}, "a and b": {"x=1", "y=1", "z=1"},
		"a less a part": {"x=1"}}
	onlies, enough := 0, 0
	for reach := range 1 << len(levels) {
		reaches := func(level string) bool { return reach>>slices.Index(levels, level)&1 == 1 }
		run := sciencetest.Levels("bit/s", limit, conditions, levels, func(_, level string, block int) float64 {
			return limit * (pick(reaches(level), 0.999, 0.5) - 0.0005*float64(block%2))
		}, 4)
		for i := range run.Factors[1].Levels {
			l := &run.Factors[1].Levels[i]
			l.SettingLines, l.Settings = lines[l.Name], len(lines[l.Name])
		}
		run.Factors[1].Levels[4].Against = "a"
		conclude.Conclude(run)
		for _, text := range Run(run).Statements {
			_, said, _ := strings.Cut(strings.NewReplacer("“", "", "”", "").Replace(text), ": ")
			level, only := strings.CutPrefix(said, "only ")
			level, _, _ = strings.Cut(level, " (")
			is := strings.Contains(said, "enough to reach the limit")
			if only = only && strings.Contains(said, "reaches the limit"); !only && !is {
				continue
			}
			onlies, enough = onlies+int(pick(only, 1, 0)), enough+int(pick(is, 1, 0))
			for _, other := range levels {
				contains := is && level != "" && strings.Contains(said, other) && other == "a and b"
				if other != level && reaches(other) && (only || !contains && other != "a less a part") {
					t.Errorf("%05b: %q, and %q reaches the limit", reach, text, other)
				}
			}
			if !reaches(level) {
				t.Errorf("%05b: %q, and it does not", reach, text)
			}
		}
	}
	if onlies == 0 || enough == 0 {
		t.Errorf("%d answers say only and %d enough: want some of each", onlies, enough)
	}
}
