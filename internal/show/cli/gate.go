package cli

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// gate is a goodput that is expected; without a text, none is.
type gate struct {
	text, comparison string
	rate             unit.BitRate
}

// comparisons, the longer ones first.
var comparisons = []string{">=", "<=", ">", "<"}

// parseGate reads ">= 900mbit"; without a comparison at least that much is meant.
func parseGate(text string) (gate, error) {
	if text == "" {
		return gate{}, nil
	}
	g := gate{comparison: ">="}
	rest := strings.TrimSpace(text)
	for _, c := range comparisons {
		if after, found := strings.CutPrefix(rest, c); found {
			g.comparison, rest = c, after
			break
		}
	}
	rate, err := unit.ParseBitRate(rest)
	if err != nil {
		return g, fmt.Errorf("%q: expected a comparison (%s) and a bit rate, such as '>= 900mbit'", text, strings.Join(comparisons, ", "))
	}
	g.rate, g.text = rate, g.comparison+" "+strings.TrimSpace(rest)
	return g, nil
}

// hold asks every direction of a measurement; nil: nothing was expected.
func (g gate) hold(m *record.Measure) *record.Expectation {
	if g.text == "" {
		return nil
	}
	met := len(m.Directions) > 0
	for _, d := range m.Directions {
		met = met && g.admits(d.GoodputBps)
	}
	return &record.Expectation{Gate: g.text, Met: met}
}

func (g gate) admits(bps float64) bool {
	switch wanted := float64(g.rate); g.comparison {
	case ">=":
		return bps >= wanted
	case "<=":
		return bps <= wanted
	case ">":
		return bps > wanted
	default:
		return bps < wanted
	}
}
