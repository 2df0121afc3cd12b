package run

import (
	"strings"
	"testing"
)

// TestBlocksWarning: who asks for too few blocks hears what that means.
func TestBlocksWarning(t *testing.T) {
	for design, want := range map[string]string{
		"seed: 5":                   "",
		"replicates: 4":             "",
		"replicates: 3":             "3 blocks are a look: figures without verdicts, which take at least 4",
		"until: 10%":                "",
		"until: 10%, replicates: 8": "",
		"until: 10%, replicates: 3, seed: 500": "until makes at least 8 blocks, not 3: with fewer, runs that end " +
			"as soon as their intervals are narrow are wrong too often",
	} {
		text := strings.Replace(twoLevels, "replicates: 3, until: 10%, budget: 60s, seed: 5", design, 1)
		if got := BlocksWarning(planOf(t, text)); got != want {
			t.Errorf("%s: %q, want %q", design, got, want)
		}
	}
	alone := planOf(t, strings.NewReplacer("fast: {}", "", "until: 10%, ", "").Replace(twoLevels))
	if got := BlocksWarning(alone); got != "" {
		t.Errorf("a single level: %q", got)
	}
}
