//go:build linux && !portable

package hoststate

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// ofMachine are rules about the machine, which all namespaces share: tests that run beside
// these keep its CPUs and memory busy.
var ofMachine = []string{"slow-clock-source", "clock-unsynchronised", "softirq-one-core", "memory-pressure",
	"softnet-drop", "files-exhausted", "packets-squeezed", "parameter-not-applied", "cpu-saturated", "cpu-stolen",
	"memory-short", "fault-logged"}

// everyFault is in the environment of the test where all faults are planted.
const everyFault = "LINERATE_EVERY_FAULT"

// sure are the findings that are at least likely, but of the machine.
func sure(e record.Evaluation) (list []record.Finding) {
	return slices.DeleteFunc(slices.Clone(e.Findings), func(f record.Finding) bool {
		return f.Confidence == record.Possible || slices.Contains(ofMachine, f.ID)
	})
}

// ids are those of findings, each once.
func ids(findings []record.Finding) (list []string) {
	for _, f := range findings {
		if !slices.Contains(list, f.ID) {
			list = append(list, f.ID)
		}
	}
	return list
}

// TestFaults plants faults in labs, and has each found: by its rule, on the host that has it,
// and as the cause of what else is found there. Each has a lab of its own but those of
// parameters, which are planted together. In their healthy twins nothing is found that is at
// least likely. With -update all are planted, also those that are planted differently or two
// at once, and the outcomes are written to docs/results/faults.md.
func TestFaults(t *testing.T) {
	kerneltest.Slow(t)
	file, child := os.LookupEnv(outcomesFile)
	if !child {
		file = filepath.Join(t.TempDir(), "outcomes.json")
		t.Setenv(outcomesFile, file)
		if *update {
			t.Setenv(everyFault, "1")
		}
	}
	planted := slices.Concat(oneHostFaults, peerFaults, ipv6Faults)
	if os.Getenv(everyFault) != "" {
		planted = faults
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		var o outcomes
		t.Run("planted", func(t *testing.T) {
			t.Run("parameters", func(t *testing.T) {
				t.Parallel()
				o.add(plantedTogether(t, slices.DeleteFunc(slices.Clone(planted), func(f fault) bool {
					return !f.parameter
				})...)...)
			})
			for _, f := range planted {
				if !f.parameter {
					t.Run(f.name(), func(t *testing.T) {
						t.Parallel()
						o.add(plantedTogether(t, append([]fault{f}, f.and...)...)...)
					})
				}
			}
		})
		t.Run("healthy", func(t *testing.T) {
			for _, twin := range twins {
				t.Run(twin.id, func(t *testing.T) {
					t.Parallel()
					o.addHealthy(healthy(t, twin))
				})
			}
		})
		o.write(t, file)
	})
	if !child {
		o := readOutcomes(t, file)
		o.check(t)
		if *update {
			o.document(t)
		}
	}
}

// plantedTogether plants faults in one lab, and returns what was found of each.
func plantedTogether(t *testing.T, list ...fault) []outcome {
	b, hosts := newBench(t), benchHosts
	var planted, allowed []string
	for _, f := range list {
		if f.plant != nil {
			f.plant(b)
		}
		if len(f.hosts) > 0 {
			hosts = f.hosts
		}
		planted, allowed = append(planted, f.id), append(allowed, f.beside...)
	}
	e := b.diagnosed(func(b *bench) {
		for _, f := range list {
			if f.act != nil {
				f.act(b)
			}
		}
	}, hosts...)
	var result []outcome
	for _, f := range list {
		result = append(result, outcome{Fault: f.name(), Found: f.check(t, e)})
	}
	first := &result[0] // has what else was found in the lab
	for _, f := range sure(e) {
		switch {
		case slices.Contains(planted, f.ID):
		case f.ExplainedBy != "":
			first.Folded = append(first.Folded, f.ID)
		case slices.Contains(allowed, f.ID):
			first.Beside = append(first.Beside, f.ID)
		default:
			first.Wrong = append(first.Wrong, f.ID)
			t.Errorf("also found: %s\n%s", f.ID, summary(e))
		}
	}
	return result
}

// check reports whether the fault is found.
func (f fault) check(t *testing.T, e record.Evaluation) bool {
	t.Helper()
	i := slices.IndexFunc(e.Findings, func(found record.Finding) bool {
		return found.ID == f.id && found.Confidence != record.Possible && (f.on == "" || found.Host == f.on)
	})
	if i < 0 {
		t.Errorf("%s is not found on %s; found were %s", f.id, f.on, summary(e))
		return false
	}
	found := e.Findings[i]
	cause := found.ExplainedBy == "" || slices.Contains(f.beside, found.ExplainedBy)
	if !cause {
		t.Errorf("%s is said to follow from %s", f.id, found.ExplainedBy)
	}
	if !found.IsData() && (len(found.Evidence) == 0 || len(found.Fix) == 0 || found.Reference == "") {
		t.Errorf("no evidence, fix or reference: %+v", found)
	}
	return cause
}

// healthy makes a lab that works, and returns what was found there.
func healthy(t *testing.T, twin twin) healthyOutcome {
	b := newBench(t)
	if twin.plant != nil {
		twin.plant(b)
	}
	e := b.diagnosed(twin.act, benchHosts...)
	if list := sure(e); len(list) > 0 {
		t.Errorf("found %v\n%s", ids(list), summary(e))
	}
	o := healthyOutcome{Twin: twin.id, Of: twin.of, Found: map[string][]string{}}
	for _, f := range e.Findings {
		if !slices.Contains(ofMachine, f.ID) && !slices.Contains(o.Found[f.Confidence], f.ID) {
			o.Found[f.Confidence] = append(o.Found[f.Confidence], f.ID)
		}
	}
	return o
}

// outcomes are gathered from labs that run at the same time.
type outcomes struct {
	mu      sync.Mutex
	Faults  []outcome
	Healthy []healthyOutcome
}

func (o *outcomes) add(list ...outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Faults = append(o.Faults, list...)
}

func (o *outcomes) addHealthy(h healthyOutcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Healthy = append(o.Healthy, h)
}
