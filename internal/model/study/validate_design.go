package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

func (c *checker) factors() {
	for i, f := range c.Factors {
		path := fmt.Sprintf("factors[%d]", i)
		c.label(path, "factor", f.Name)
		if len(f.Levels) == 0 {
			c.report(path+".levels", "factor %q has no levels", f.Name)
		}
		names := f.names()
		switch {
		case f.Baseline == "":
		case f.Role == roleCondition:
			c.report(path+".baseline",
				"a condition is not compared, so it has no baseline: leave out baseline, or make the role compare")
		case !slices.Contains(names, f.Baseline):
			c.report(path+".baseline", "baseline %q is not a level of factor %q%s", f.Baseline, f.Name,
				source.DidYouMean(f.Baseline, names))
		}
		c.ablate(path+".ablate", f)
		for j, l := range f.Levels {
			if l.Part != "" {
				continue // made by linerate, not written in the file
			}
			at := fmt.Sprintf("%s.levels[%d]", path, j)
			c.level(at, l)
			c.against(at+".against", f, l, names)
		}
	}
}

// against checks the level that a level is compared with.
func (c *checker) against(path string, f Factor, l Level, names []string) {
	switch {
	case l.Against == "":
	case f.Role == roleCondition:
		c.report(path, "a condition is not compared: leave out against, or make the role compare")
	case l.Name == f.baseline():
		c.report(path, "%q is the baseline, which the others are compared with", l.Name)
	case l.Against == l.Name:
		c.report(path, "%q is compared with itself; expected another level", l.Name)
	case !slices.Contains(names, l.Against):
		c.report(path, "against %q: not a level of factor %q%s", l.Against, f.Name, source.DidYouMean(l.Against, names))
	}
}

func (c *checker) level(path string, l Level) {
	c.label(path, "level", l.Name)
	over := l.Workload
	if over == nil {
		return
	}
	path += ".workload"
	c.timing(path, over.Duration, over.Warmup)
	c.options(path, over.Spec)
	c.hosts(path+".age_neighbours", over.AgeNeighbours)
	c.events(path, c.Topology.With(l.Settings), over.Events)
	c.attacks(path, c.Topology.With(l.Settings), over.Attacks)
	if over.Flows != nil && len(over.Flows) == 0 {
		c.report(path+".flows", "no flows: nothing would be measured")
	}
	c.flows(path+".flows", over.Flows)
}

// maxLabel is the maximum length of the name of a factor or a level, in bytes.
const maxLabel = 64

// label checks the name of a factor or a level.
func (c *checker) label(path, what, name string) {
	if strings.TrimSpace(name) != name || name == "" || len(name) > maxLabel || strings.ContainsAny(name, "\n\t") {
		c.report(path, "%s name %q: expected 1 to %d characters on one line", what, name, maxLabel)
	}
}

// minReplicates is the minimum number of blocks. A single one yields figures without intervals.
const minReplicates = 1

// maxReplicates limits the blocks of a run.
const maxReplicates = 10_000

// check reports mistakes in a design. Given reports whether a value was set explicitly.
func (d Design) check(given func(path string) bool, report source.Report) {
	if d.Replicates > maxReplicates || d.Replicates < minReplicates && given("design.replicates") {
		report("design.replicates", "replicates %d: expected %d to %d blocks", d.Replicates, minReplicates,
			maxReplicates)
	}
	for _, r := range []struct {
		key   string
		value unit.Ratio
	}{{"until", d.Until}, {"margin", d.Margin}} {
		if path := "design." + r.key; given(path) && (r.value <= 0 || r.value >= 1) {
			report(path, "%s %s: expected more than 0%% and less than 100%%", r.key, r.value)
		}
	}
	if given("design.budget") && d.Budget == 0 {
		report("design.budget", "budget: expected more than 0s")
	}
}

// plan checks for mistakes that only combinations of levels have.
func (c *checker) plan() {
	p, err := NewPlan(c.Study, AllParts)
	if err != nil {
		c.report("factors", "%v", err)
		return
	}
	c.planAttacks(p)
	for _, t := range p.Treatments {
		if c.conflict(t) {
			break // one report is enough: the others combine the same levels
		}
		if t.Workload.Interval > t.Workload.Duration {
			c.report("workload.interval", "interval %s is longer than the window of %s in treatment %q",
				t.Workload.Interval, t.Workload.Duration, t.Name)
			break
		}
	}
	if p, err = NewPlan(c.Study); err == nil { // what is tried by default
		p.checkBudget(c.report)
	}
}

// checkBudget reports a budget that is shorter than one block.
func (p *Plan) checkBudget(report source.Report) {
	budget := p.Study.Design.Budget
	if budget > 0 && time.Duration(budget) < p.BlockTime() {
		report("design.budget", "budget %s is shorter than one block of %d trials, which takes about %s", budget,
			len(p.Treatments), unit.FormatTime(p.BlockTime()+time.Second/2))
	}
}

// conflict reports a kernel parameter that a treatment sets to two values: the result would depend
// on the order.
func (c *checker) conflict(t Treatment) bool {
	type place struct{ host, key string }
	set := map[place]string{}
	for _, l := range c.chosen(t) {
		for k, s := range l.Settings {
			for n, sysctl := range s.Sysctl {
				at := place{s.Host, sysctl.Key}
				if earlier, twice := set[at]; twice && earlier != sysctl.Value {
					c.report(fmt.Sprintf("%s.settings[%d].sysctl[%d]", l.path, k, n),
						"%s on %s is %s here, and %s by another setting of treatment %q", sysctl.Key, s.Host,
						sysctl.Value, earlier, t.Name)
					return true
				}
				set[at] = sysctl.Value
			}
		}
	}
	return false
}
