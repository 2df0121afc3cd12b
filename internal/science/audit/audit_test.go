package audit

import (
	"fmt"

	"linerate/internal/model/study"
)

var (
	blocks      = []int{2, 4, 6, 8, 12}
	comparisons = []int{1, 5, 13, 30}
)

// Networks whose levels change nothing. What a link carries scatters by 0.1 %, unless the
// name says otherwise.
var (
	normal  = alike("normal, 2 %", steady(1, 0.02))
	bimodal = alike("1 or 2 links, 50/50 %", mixture(0.001, mode{0.5, 1}, mode{0.5, 2}))
	dips    = alike("20 % less in 5 % of the trials", mixture(0.001, mode{0.95, 1}, mode{0.05, 0.8}))
	dead20  = alike("nothing in 20 % of the trials", mixture(0.001, mode{0.2, 0}, mode{0.8, 1}))
	dead50  = alike("nothing in half of the trials", mixture(0.001, mode{0.5, 0}, mode{0.5, 1}))

	skewed     = alike("lognormal, 30 %", lognormal(0.3))
	three      = alike("1, 2 or 3 links, 50/30/20 %", mixture(0.001, mode{0.5, 1}, mode{0.3, 2}, mode{0.2, 3}))
	uneven     = alike("1 or 2 links, 15/85 %", mixture(0.001, mode{0.15, 1}, mode{0.85, 2}))
	noisy      = alike("1 or 2 links, 30/70 %, 3 %", mixture(0.03, mode{0.3, 1}, mode{0.7, 2}))
	drifting   = with(alike("normal, 2 %, rising by 10 %", steady(1, 0.02)), func(w *network) { w.blocks = drift(0.1) })
	correlated = with(alike("normal, 2 %, blocks AR(1) with ρ = 0.6, 5 %", steady(1, 0.02)), func(w *network) {
		w.blocks = walk(0.6, 0.05)
	})
	busy = with(alike("normal, 2 %, one block 20 % lower", steady(1, 0.02)), func(w *network) {
		w.blocks = disturbed(0.2)
	})
	outlying = with(alike("normal, 2 %, one trial of the run 30 % lower", steady(1, 0.02)), func(w *network) {
		w.outlier = true
	})
	unequal = with(alike("normal, 1 %; every other level 5 %", steady(1, 0.01)), func(w *network) {
		w.laws = []law{steady(1, 0.01), steady(1, 0.05), steady(1, 0.01)}
	})
)

// The same of flows whose paths are known.
var known = []network{
	alike("2 flows over 2 links", hashed(0.001, 2, 1, 1)),
	alike("4 flows over 2 links", hashed(0.001, 4, 1, 1)),
	alike("2 flows over 2 links of weights 9 and 1, 1 %", hashed(0.01, 2, 9, 1)),
	alike("4 flows over 4 links", hashed(0.001, 4, 1, 1, 1, 1)),
	alike("8 flows over 4 links", hashed(0.001, 8, 1, 1, 1, 1)),
}

// Networks whose levels differ from the baseline.
var (
	one1or2 = mixture(0.001, mode{0.5, 1}, mode{0.5, 2})
	same1   = steady(1, 0.002)
	mixed   = network{name: "1 link; every third level 1 or 2", laws: []law{same1, one1or2, same1, same1}, limit: 2}
	cured   = network{name: "1 or 2 links; levels 2", laws: []law{one1or2, steady(2, 0.002)}, limit: 2}
	dipping = network{name: "1 link; levels 20 % less in 15 % of the trials",
		laws: []law{same1, mixture(0.002, mode{0.15, 0.8}, mode{0.85, 1})}, limit: 1}
	dying = network{name: "1 link; levels nothing in 20 % of the trials",
		laws: []law{same1, mixture(0.002, mode{0.2, 0}, mode{0.8, 1})}, limit: 1}
	oneDips = network{name: "1 link; one level 20 % less in 15 % of the trials",
		laws: append([]law{same1, mixture(0.002, mode{0.15, 0.8}, mode{0.85, 1})}, repeat(same1, 29)...), limit: 1}
	fewDie = network{name: "nothing in 20 % of the trials; levels never",
		laws: []law{mixture(0.002, mode{0.2, 0}, mode{0.8, 1}), same1}, limit: 1}

	knownMixed = network{name: "2 flows over 2 links, chosen to share one; every third level hashed",
		laws: []law{onOne, hashed(0.001, 2, 1, 1), onOne, onOne}, limit: 2}
	knownCured = network{name: "2 flows over 2 links, hashed; levels spread", laws: []law{hashed(0.001, 2, 1, 1),
		spread(0.001, 2, 2)}, limit: 2}
	knownWorse = network{name: "4 flows over 2 links, spread; levels hashed",
		laws: []law{spread(0.001, 4, 2), hashed(0.001, 4, 1, 1)}, limit: 2}
	knownNoise = network{name: "4 flows over 2 links, spread, 1 %; levels hashed",
		laws: []law{spread(0.01, 4, 2), hashed(0.01, 4, 1, 1)}, limit: 2}
	onOne = func() law { l := spread(0.001, 2, 2); l.modes[0].value = 1; return l }()
)

func repeat(l law, n int) (list []law) {
	for range n {
		list = append(list, l)
	}
	return list
}

// with is a network with a change.
func with(w network, change func(*network)) network {
	change(&w)
	return w
}

// by are rows of networks that are judged by several responses.
func by(responses, comparisons int, networks ...network) (list []row) {
	for _, w := range networks {
		for n := 1; n <= responses; n++ {
			w := w
			w.name = fmt.Sprintf("%s, %d responses", w.name, n)
			list = append(list, row{w, comparisons, n})
		}
	}
	return list
}

// tables are those of the page.
var tables = []table{
	{
		name: "alike", blocks: blocks, columns: []column{covered.alone(), stated, together, direction, undecided, fix},
		rows: rows(comparisons, normal, bimodal, dips, dead20, dead50),
	},
	{
		name: "more", blocks: blocks, columns: []column{covered.alone(), stated, together, direction, undecided, fix},
		rows: rows([]int{1, 13}, skewed, three, uneven, noisy, drifting, correlated, busy, outlying, unequal),
	},
	{
		name: "known", blocks: blocks, columns: []column{covered, together, direction, undecided, fix},
		rows: rows([]int{1, 13}, known...),
	},
	{
		name: "different", blocks: []int{4, 6, 8, 12, 20}, columns: []column{covered.alone(), stated, together.alone(),
			described, direction, indistinct.alone(), overlooked, found.alone(), fix},
		rows: append(rows([]int{5, 13, 30}, mixed), rows([]int{1, 5}, cured, dipping, dying, fewDie, oneDips)...),
	},
	{
		name: "known-different", blocks: []int{4, 6, 8, 12, 20}, columns: []column{covered, together, direction,
			indistinct, found.alone(), fix},
		rows: append(rows([]int{5, 13}, knownMixed), rows([]int{1, 5}, knownCured, knownWorse, knownNoise)...),
	},
	{
		name: "responses", blocks: []int{4, 8, 12}, columns: []column{together, direction, undecided, fix},
		rows: by(3, 5, normal, bimodal),
	},
	{
		name: "until", blocks: []int{2, 4, 6, 8}, columns: []column{settled, stopped, strayed, direction},
		one: untilNarrow, from: study.LeastUntil, part: 5,
		rows: append(rows([]int{1, 5}, normal, unequal), rows([]int{1}, known[0], bimodal, mixed, knownMixed)...),
	},
	{
		name: "percentiles", blocks: []int{4, 8}, columns: []column{covered, together, direction, undecided},
		one: percentiles, part: 5,
		rows: []row{
			requests{200, 200, 0.5, 0}.row("lognormal", 1),
			requests{1000, 1000, 0.5, 0}.row("lognormal", 1),
			requests{1000, 1000, 0.5, 0}.row("lognormal", 5),
			requests{5000, 5000, 0.5, 0}.row("lognormal", 1),
			requests{5000, 1000, 0.5, 0}.row("lognormal", 1),
			requests{200, 200, 0.1, 0.012}.row("1.2 % of them 10 times as long", 1),
			requests{1000, 1000, 0.1, 0.012}.row("1.2 % of them 10 times as long", 1),
			requests{5000, 5000, 0.1, 0.012}.row("1.2 % of them 10 times as long", 1),
			requests{5000, 1000, 0.1, 0.012}.row("1.2 % of them 10 times as long", 1),
		},
	},
	{
		name: "power", blocks: []int{4, 6, 8, 12}, columns: []column{found, before}, one: besidePlain,
		rows: rows(comparisons, more(0.02), more(0.05), more(0.1)),
	},
}

// short are rows for every go test.
var short = []table{
	{
		name: "alike", blocks: []int{2, 4, 8}, columns: []column{covered, together, direction, fix},
		rows: rows([]int{5}, normal, bimodal, dead20, unequal),
	},
	{
		name: "known", blocks: []int{4}, columns: []column{covered, together, direction, fix},
		rows: rows([]int{1}, known[0], known[3]),
	},
	{
		name: "different", blocks: []int{8}, columns: []column{stated, described, direction, overlooked, fix},
		rows: rows([]int{5}, mixed, cured, dying),
	},
	{
		name: "known-different", blocks: []int{4}, columns: []column{covered, together, direction, indistinct, fix},
		rows: rows([]int{1}, knownMixed, knownCured, knownWorse),
	},
	{
		name: "responses", blocks: []int{4}, columns: []column{together, fix}, rows: by(3, 5, normal)[2:],
	},
	{
		name: "power", blocks: []int{4, 8}, columns: []column{found, before}, one: besidePlain,
		rows: rows([]int{5}, more(0.05)),
	},
}
