// Package compare compares two runs: the treatments that both have, matched by name or levels, and
// everything else in which the runs differ.
//
// Two runs may be months apart. Unlike the treatments of one run they were not randomised together,
// so a difference shows that something changed but not what. Package stats therefore takes the
// values as unpaired, and the other differences are listed first.
package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
	"linerate/internal/science/suspects"
)

// Runs compares the second run (to) with the first (from). Both must have been concluded. It leaves
// Answer of the result empty.
func Runs(from, to *record.Run) *record.Comparison {
	c := &record.Comparison{
		Schema: record.ComparisonSchema, From: compared(from), To: compared(to), Unit: to.Unit,
		Snapshots: snapshots(from, to), StudyLines: changedLines(from.StudyFile, to.StudyFile),
		Treatments: []record.ComparedTreatment{}, OnlyFrom: []string{}, OnlyTo: []string{},
		Confidence: max(from.Confidence, to.Confidence), Margin: max(from.Margin, to.Margin),
	}
	c.Differences, c.Hosts = differences(from, to)
	if from.Mesh != nil && to.Mesh != nil {
		changes := suspects.Compare(from, to)
		c.Mesh, c.Comparable = &changes, changes.Untold != record.MeshMetricUntold && changes.Hosts > 1
		return c
	}
	var pairs [][2]*record.Treatment
	for i := range from.Treatments {
		mine := &from.Treatments[i]
		if other := treatment(to, from, mine); other != nil {
			pairs = append(pairs, [2]*record.Treatment{mine, other})
		} else {
			c.OnlyFrom = append(c.OnlyFrom, mine.Name)
		}
	}
	for i := range to.Treatments {
		if t := &to.Treatments[i]; treatment(from, to, t) == nil {
			c.OnlyTo = append(c.OnlyTo, t.Name)
		}
	}
	by := metric.Of(to)[0]
	c.Response = by.Name
	each := stats.Sidak(c.Confidence, len(pairs))
	first, second := sideOf(from), sideOf(to)
	var ps []float64
	var judged []int
	for _, pair := range pairs {
		t, p := one(by, first, second, pair[0], pair[1], each, c.Margin)
		c.Treatments = append(c.Treatments, t)
		if t.Verdict != record.NotComparable {
			c.Comparable = true
			ps, judged = append(ps, p), append(judged, len(c.Treatments)-1)
		}
	}
	for i, p := range stats.Holm(ps) {
		c.Treatments[judged[i]].P = p
	}
	return c
}

func compared(run *record.Run) record.ComparedRun {
	doubts := []string{}
	for _, check := range record.Doubts(run.Trust) {
		doubts = append(doubts, check.Check+": "+check.Detail)
	}
	return record.ComparedRun{ID: run.ID, Name: run.Name, Study: run.Study, Seed: run.Seed, Started: run.Started,
		Status: run.Status,
		Trials: len(run.Trials), Doubts: doubts}
}

// treatment finds the treatment of run that corresponds to like, a treatment of the other run: the
// one of the same name or, if both runs are of one study, of the same levels, because a factor with
// one level is not part of the name. nil: there is none.
func treatment(run, other *record.Run, like *record.Treatment) *record.Treatment {
	i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return t.Name == like.Name })
	if i < 0 && run.Study == other.Study && len(like.Levels) > 0 {
		i = slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return maps.Equal(t.Levels, like.Levels) })
	}
	if i < 0 {
		return nil
	}
	return &run.Treatments[i]
}

// side is one of the two runs, with the inference from its trials.
type side struct {
	run       *record.Run
	inference *stats.Inference
}

func sideOf(run *record.Run) side { return side{run, stats.Of(run)} }

// of returns a treatment's values of a response and their estimate, also if the treatment's own run
// is judged by another response. The estimate has no Trials if the flows have no such response.
func (s side) of(t *record.Treatment, by metric.Metric) (stats.Side, record.ResponseEstimate) {
	if s.without(t, by) != "" {
		return stats.Side{}, record.ResponseEstimate{Response: by.Name, Unit: by.Unit}
	}
	values, e := s.inference.Side(s.run.TrialsOf(t.Name), by), by.Estimate(t)
	if e.Trials == 0 {
		values.Estimate(&e, s.run.Confidence)
	}
	return values, e
}

// without names the protocols of a treatment's flows if none of them has the metric. Empty: one has
// it, or there are no flows.
func (s side) without(t *record.Treatment, by metric.Metric) string {
	var protocols []string
	for _, trial := range s.run.TrialsOf(t.Name) {
		for _, f := range trial.Flows {
			if by.From(f.Protocol) || by.Probed && trial.Bufferbloat != nil {
				return ""
			}
			protocols = append(protocols, flow.Of(f.Protocol).Name)
		}
	}
	slices.Sort(protocols)
	return strings.Join(slices.Compact(protocols), ", ")
}

// one compares a treatment of both runs. It returns the p-value before the correction for several
// comparisons.
func one(by metric.Metric, from, to side, a, b *record.Treatment, confidence, margin float64) (
	record.ComparedTreatment, float64) {
	t := record.ComparedTreatment{
		Name: a.Name, From: a.Goodput, To: b.Goodput, FromTrials: a.Trials, ToTrials: b.Trials,
		FromLimitBps: a.LimitBps, ToLimitBps: b.LimitBps, P: 1,
	}
	var base, level stats.Side
	base, t.FromResponse = from.of(a, by)
	level, t.ToResponse = to.of(b, by)
	t.Others = others(by, from, to, a, b)
	if why := unlike(from, to, a, b, by); why != "" {
		t.Verdict, t.Why = record.NotComparable, why
		return t, 1
	}
	if len(base.Values) < t.FromTrials || len(level.Values) < t.ToTrials {
		t.Ratio.None = true
		t.Verdict, t.Why = record.Inconclusive, fmt.Sprintf("%d of %d trials and %d of %d have no value: %s",
			t.FromTrials-len(base.Values), t.FromTrials, t.ToTrials-len(level.Values), t.ToTrials, by.Absent)
		return t, 1
	}
	judged := stats.Unpaired(base, level, by, confidence, margin)
	t.Ratio, t.Difference, t.Verdict, t.Why = judged.Ratio, judged.Difference, judged.Verdict, judged.Why
	if t.Why == "" && by.Name == metric.Goodput.Name && differ(a.LimitBps, b.LimitBps) {
		t.Why = "the limit differs, too: " + limit(a.LimitBps) + " → " + limit(b.LimitBps)
	}
	return t, judged.P
}

// others returns the treatment's further responses that both runs have.
func others(by metric.Metric, from, to side, a, b *record.Treatment) (list []record.ComparedResponse) {
	for _, m := range metric.Of(to.run) {
		has := func(o metric.Metric) bool { return o.Name == m.Name }
		if m.Name == by.Name || !slices.ContainsFunc(metric.Of(from.run), has) {
			continue
		}
		_, before := from.of(a, m)
		_, after := to.of(b, m)
		if before.Trials > 0 && after.Trials > 0 {
			list = append(list, record.ComparedResponse{Response: m.Name, From: before, To: after})
		}
	}
	return list
}

// unlike explains why two treatments of the same name are not the same treatment. Empty: they are
// the same.
func unlike(from, to side, a, b *record.Treatment, by metric.Metric) string {
	for _, f := range from.run.Factors {
		mine, ok := settings(from.run, f.Name, a.Levels[f.Name])
		others, also := settings(to.run, f.Name, b.Levels[f.Name])
		if ok && also && !slices.Equal(mine, others) {
			return fmt.Sprintf("the level %q makes other settings", a.Levels[f.Name])
		}
	}
	for i, protocols := range []string{from.without(a, by), to.without(b, by)} {
		if protocols != "" {
			return fmt.Sprintf("the flows of the %s run are of %s, which has no %s", []string{"first", "second"}[i],
				protocols, by.Label)
		}
	}
	var options list
	options.options(from.run, to.run)
	m, n := flows(from.run, a.Name), flows(to.run, b.Name)
	var differ []string
	for _, o := range options {
		if o.What == "direction" || m != n && slices.Contains([]string{"streams", "latency"}, o.What) {
			differ = append(differ, o.What+" "+o.From+" → "+o.To)
		}
	}
	if differ == nil && m != n {
		differ = []string{unit.Plural(m, "flow") + " → " + unit.Plural(n, "flow")}
	}
	if differ == nil {
		return ""
	}
	return "the workload differs: " + strings.Join(differ, ", ")
}

// settings returns the settings that a level makes; false if the run has no such level.
func settings(run *record.Run, factor, level string) ([]string, bool) {
	for _, f := range run.Factors {
		for _, l := range f.Levels {
			if f.Name == factor && l.Name == level {
				return l.SettingLines, true
			}
		}
	}
	return nil, false
}

// flows returns the number of flows in each trial of a treatment, without those of a latency probe.
func flows(run *record.Run, treatment string) int {
	trials := run.TrialsOf(treatment)
	if len(trials) == 0 {
		return 0
	}
	n := 0
	for _, f := range trials[0].Flows {
		if trials[0].Bufferbloat == nil || flow.Of(f.Protocol).Bulk() { // not the probe's
			n++
		}
	}
	return n
}

// differ reports whether two limits differ by more than rounding.
func differ(a, b float64) bool { return math.Abs(a-b) > 1e-3*max(a, b) }

func limit(bps float64) string {
	if bps == 0 {
		return "unknown"
	}
	return unit.FormatRate(bps)
}
