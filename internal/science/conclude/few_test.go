package conclude

import (
	"encoding/json"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestFewBlocks: a run of any number of blocks can be written down: what is not known is
// no infinity.
func TestFewBlocks(t *testing.T) {
	for _, blocks := range []int{1, 2, 3, 4, 5} {
		for name, run := range map[string]*record.Run{
			"arp-flux": sciencetest.Run(7, blocks),
			"loaded":   sciencetest.Loaded(7, blocks, "goodput", "latency_p99", "transactions"),
			"dead": sciencetest.Levels("bit/s", 1e9, []string{""}, []string{"plain", "dead", "sometimes"},
				func(_, level string, block int) float64 {
					return map[string]float64{"plain": 9e8, "sometimes": 9e8 * float64(block%2)}[level]
				}, blocks),
		} {
			for _, change := range []func(*record.Trial){
				func(*record.Trial) {},
				func(trial *record.Trial) { trial.Chance = &record.Chance{MostBps: 1e9} },
				func(trial *record.Trial) { trial.GoodputBps = 0 },
			} {
				for i := range run.Trials {
					change(&run.Trials[i])
				}
				Conclude(run)
				if _, err := json.Marshal(run); err != nil {
					t.Errorf("%s, %d blocks: %v", name, blocks, err)
				}
				for _, e := range run.Effects {
					if blocks == 1 && e.P < 1 {
						t.Errorf("%s: a probability from one block: %+v", name, e)
					}
				}
			}
		}
	}
}
