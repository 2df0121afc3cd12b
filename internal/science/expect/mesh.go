package expect

import (
	"errors"
	"fmt"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// ofLimit ends a condition that is relative to the limit of each pair.
const ofLimit = "of limit"

// Mesh is a condition that each pair of a mesh must meet. The zero value expects nothing.
type Mesh struct {
	condition
	share float64 // of the limit; 0: the condition is on the value itself
}

// ParseMesh parses a condition on the pairs of a mesh, such as "goodput >= 90% of limit" or
// "latency_p50 <= 200us". of is the metric that the mesh measures.
func ParseMesh(text string, of metric.Metric, setup metric.Setup) (m Mesh, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return m, nil
	}
	share, relative := strings.CutSuffix(text, ofLimit)
	if !relative {
		m.condition, err = parse(text, setup)
	} else {
		at := strings.LastIndexAny(share, "<>=")
		ratio, wrong := unit.ParseRatio(strings.TrimSpace(share[at+1:]))
		if at < 0 || wrong != nil || ratio <= 0 {
			return m, fmt.Errorf("%q: expected such as 'goodput >= 90%% of limit'", text)
		}
		m.condition, err = parse(strings.TrimSpace(share[:at+1])+" 1bit", setup)
		m.text, m.share = text, float64(ratio)
	}
	switch {
	case err != nil:
		return m, err
	case m.metric.Name != of.Name:
		return m, fmt.Errorf("%q: this mesh measures %s", text, of.Name)
	case relative && of.Name != metric.Goodput.Name:
		return m, errors.New("a share of the limit: only goodput has a limit")
	}
	return m, nil
}

// Check says whether each pair that was judged met the condition in every round, those that failed
// included; nil: nothing was expected.
func (m Mesh) Check(run *record.Run) *record.Expectation {
	if m.text == "" {
		return nil
	}
	c := record.Condition{Metric: m.metric.Name, Condition: m.text, Met: true}
	pairs, missed, unknown, first := map[[2]string]bool{}, map[[2]string]bool{}, 0, ""
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			if f.Doubt != "" {
				continue
			}
			pair, value := [2]string{f.From, f.To}, f.GoodputBps
			if m.metric.Name != metric.Goodput.Name {
				if value = 0; f.Transactions != nil && f.Transactions.Latency != nil {
					value = f.Transactions.Latency.P50Us
				}
			}
			pairs[pair] = true
			own := m.condition
			if m.share > 0 {
				own.wanted = m.share * f.LimitBps
			}
			switch {
			case m.share > 0 && f.LimitBps == 0:
				unknown++
			case !(value > 0) || !own.admits(value):
				if !missed[pair] && first == "" {
					first = fmt.Sprintf("%s to %s %s", f.From, f.To, m.metric.Format(value))
				}
				missed[pair] = true
			}
		}
	}
	switch {
	case len(missed) > 0:
		c.Met, c.Got = false, fmt.Sprintf("less from %d of %s, such as %s", len(missed),
			unit.Plural(len(pairs), "pair"), first)
	case len(pairs) == 0:
		c.Met, c.Got = false, "no pair that could be judged"
	case unknown > 0:
		c.Met, c.Unknown = false, "the rates of interfaces are not known: an inventory can say them"
	}
	return &record.Expectation{Gate: m.text, Met: c.Met, Conditions: []record.Condition{c}}
}
