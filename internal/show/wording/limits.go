package wording

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Limit returns in a line how a limit is composed, "4 × 1 Gbit/s × 1448/1514", or why there is
// none. Records of earlier versions have text in its place, which is stored. It returns "" if
// neither is known.
func Limit(l record.Limit, stored string) string {
	switch {
	case l.IsZero():
		return stored
	case l.None != "":
		return noLimit(l)
	case l.Directions != nil:
		each := lists.Map(l.Directions, func(d record.Limit) string { return Limit(d, "") })
		return "both directions: " + strings.Join(each, " + ")
	}
	terms := lists.Map(l.Terms, limitTerm)
	text := strings.Join(terms, " + ")
	if l.ServerCap {
		text += ": the server's --max-rate"
		if l.AskedBps > 0 {
			text += ", in place of " + unit.FormatRate(l.AskedBps)
		}
	}
	return text
}

// noLimit returns why there is no limit: "none: …" or "unknown: …".
func noLimit(l record.Limit) string {
	if l.None == record.NoLimitTransactions {
		return "none: no limit is computed for transactions"
	}
	return "unknown: " + map[string]string{
		record.NoLimitPath:       l.Of,
		record.NoLimitSpeed:      "neither end's interface has hardware that reports a speed",
		record.NoLimitOwnSpeed:   "this host's interface has no hardware that reports a speed",
		record.NoLimitSomeSpeed:  "not every interface reports its speed",
		record.NoLimitInterfaces: "the flows use several interfaces, and not all of them are known at both ends",
		record.NoLimitSizeTable: l.Of +
			" has a size table (tc-stab), by which it counts a packet of many segments as one",
	}[l.None]
}

// limitTerm returns a term of a limit as text: "2 × tbf on client.eth0: 300 Mbit/s × 1448/1514".
func limitTerm(t record.LimitTerm) string {
	text := unit.FormatRate(t.Bps)
	switch {
	case t.Kind == record.LimitCap:
		text = "cap of " + text
	case t.Of != "":
		text = t.Of + ": " + text
	}
	switch {
	case t.WireBytes > 0:
		text += fmt.Sprintf(" × %d/%d", t.PayloadBytes, t.WireBytes)
	case t.Kind == record.LimitLink:
		text += fmt.Sprintf(" × %.4g", t.Price)
	}
	if t.Times > 0 {
		text += fmt.Sprintf(" × %.4g", t.Times)
	}
	if t.N > 1 {
		text = fmt.Sprintf("%d × ", t.N) + text
	}
	return text
}

// MeasuredLimit returns what the limit of a measurement stands for. A measurement knows the
// interfaces of its two ends and the caps of its flows; if the peer is not linerate, only this
// host's interface. stored is used as by Limit.
func MeasuredLimit(l record.Limit, stored, peer string) string {
	if l.IsZero() {
		l = record.WordedLimit(stored)
	}
	links := "the ends' interfaces"
	if peer != "" {
		links = "this host's interface"
	}
	switch capped, only := l.Capped(); {
	case only:
		return "the flows' caps"
	case capped:
		return "the limit of " + links + " and the flows' caps"
	}
	return "the limit of " + links
}

// WithLimits returns a copy of a run with the limits of its trials, treatments and candidates as
// text.
func WithLimits(run *record.Run) *record.Run {
	shown := *run
	shown.Trials, shown.Treatments = slices.Clone(run.Trials), slices.Clone(run.Treatments)
	for i := range shown.Trials {
		t := &shown.Trials[i]
		t.LimitWhy, t.Parts = Limit(t.Limit, t.LimitWhy), slices.Clone(t.Parts)
		for k := range t.Parts {
			p := &t.Parts[k]
			p.LimitWhy = Limit(p.Limit, p.LimitWhy)
		}
	}
	for i := range shown.Treatments {
		t := &shown.Treatments[i]
		t.LimitWhy = Limit(t.Limit, t.LimitWhy)
	}
	if c := run.Conclusion; c != nil {
		worded := *c
		worded.Conditions = slices.Clone(c.Conditions)
		for i := range worded.Conditions {
			at := &worded.Conditions[i]
			at.Candidates = slices.Clone(at.Candidates)
			if at.Baseline != nil {
				baseline := *at.Baseline
				at.Baseline = &baseline
				baseline.LimitWhy = Limit(baseline.Limit, baseline.LimitWhy)
			}
			for k := range at.Candidates {
				c := &at.Candidates[k]
				c.LimitWhy = Limit(c.Limit, c.LimitWhy)
			}
		}
		shown.Conclusion = &worded
	}
	return &shown
}
