package study

import (
	"fmt"
	"strings"
	"testing"
)

// TestBlocks: the more comparisons there are, the more blocks; a number that was asked for
// stays, unless until needs more.
func TestBlocks(t *testing.T) {
	levels := func(n int) string {
		text := "factors: {f: {levels: {"
		for i := range n {
			text += fmt.Sprintf("l%d: {workload: {streams: %d}}, ", i, i+1)
		}
		return text + "}}}\n"
	}
	for _, c := range []struct {
		factors, design     string
		comparisons, blocks int
	}{
		{"", "", 0, 4},
		{levels(2), "", 1, 4},
		{levels(3), "", 2, 6},
		{levels(5), "", 4, 6},
		{levels(6), "", 5, 8},
		{levels(30), "", 29, 8},
		{levels(6), "replicates: 2", 5, 2},
		{levels(2), "replicates: 20", 1, 20},
		{levels(2), "until: 1%", 1, LeastUntil},
		{levels(2), "until: 1%, replicates: 4", 1, LeastUntil},
		{levels(2), "until: 1%, replicates: 20", 1, 20},
		{strings.Replace(levels(30), "{levels", "{role: condition, levels", 1), "", 0, 4},
		// Three of two factors alone, and both factors together at each condition.
		{strings.TrimPrefix(combined, pair), "", 2 * (3 + 4 + 2), 8},
	} {
		p := plan(t, parse(t, pair+c.factors+"\ndesign: {"+c.design+"}\n"))
		if got := p.Comparisons(); got != c.comparisons {
			t.Errorf("%s: %d comparisons, want %d", c.factors, got, c.comparisons)
		}
		if got := p.Blocks(); got != c.blocks {
			t.Errorf("%s%s: %d blocks, want %d", c.factors, c.design, got, c.blocks)
		}
	}
}

// TestBlocksOfSelection: only what is tried is counted.
func TestBlocksOfSelection(t *testing.T) {
	p := plan(t, parse(t, combined))
	for only, comparisons := range map[string]int{"light": 9, "light,always,cubic,load.heavy": 2, "light,on,cubic": 1} {
		kept, err := p.Only(strings.Split(only, ","))
		if err != nil {
			t.Fatal(err)
		}
		if got := kept.Comparisons(); got != comparisons {
			t.Errorf("only %s: %d comparisons, want %d", only, got, comparisons)
		}
	}
}
