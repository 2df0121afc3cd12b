package present

import (
	"fmt"
	"math/rand/v2"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// hashedRun is a run over so many spines: policy 0, where all flows share a link,
// policy 1, where chance places them, and chosen ports.
func hashedRun(spines int, flows []int, place func(flow int, source *rand.Rand) int) *record.Run {
	run := &record.Run{
		Study: "ecmp-hash", Confidence: 0.95, Margin: 0.02, Topology: sciencetest.Fabric(spines, "1"),
		Factors: []record.Factor{{Name: "hash", Role: "compare", Baseline: "policy 0"}, {Name: "flows", Role: "condition"}},
	}
	byAddress := sciencetest.Fabric(spines, "0")
	source := rand.New(rand.NewPCG(1, 2))
	for _, hash := range []string{"policy 0", "policy 1", "chosen ports"} {
		run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: hash})
	}
	for _, n := range flows {
		level := fmt.Sprint(n, " flows")
		run.Factors[1].Levels = append(run.Factors[1].Levels, record.Level{Name: level})
		for _, hash := range run.Factors[0].Levels {
			name, levels := hash.Name+", "+level, map[string]string{"hash": hash.Name, "flows": level}
			run.Treatments = append(run.Treatments, record.Treatment{Name: name, Levels: levels, Baseline: hash.Name == "policy 0", Trials: 10})
			for range 10 {
				on, ports := make([]int, n), "drawn"
				for i := range on {
					switch hash.Name {
					case "policy 1":
						on[i] = place(i, source)
					case "chosen ports":
						on[i], ports = i%spines, "even"
					}
				}
				t := sciencetest.Hashed(name, spines, ports, on...)
				t.Levels = levels
				if hash.Name == "policy 0" {
					t.Topology = &byAddress
				}
				run.Trials = append(run.Trials, t)
			}
		}
	}
	return run
}
