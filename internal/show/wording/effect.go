package wording

import (
	"fmt"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Ratio formats the ratio of an effect with its interval: "4.01× (3.98–4.04)".
func Ratio(e *record.Effect) string {
	r := e.Ratio
	switch {
	case r.None:
		return "no ratio"
	case r.High == 0:
		return fmt.Sprintf("%.3g×", r.Mean)
	case r.High >= 1000*r.Mean && r.Low < 0.005: // no bound worth a number
		return fmt.Sprintf("%.2f×", r.Mean)
	case r.High >= 1000*r.Mean: // chance alone: no upper bound worth a number
		return fmt.Sprintf("%.2f× (at least %.2f)", r.Mean, r.Low)
	}
	return fmt.Sprintf("%.2f× (%.2f–%.2f)", r.Mean, r.Low, r.High)
}

// EffectSize formats the size of an effect on response r: its difference, if it has one, otherwise
// its ratio.
func EffectSize(r metric.Metric, e *record.Effect) string {
	d := e.Difference
	if d == nil {
		return Ratio(e)
	}
	unit := r.Scale("", max(d.Mean, -d.Mean))
	return unit.With(fmt.Sprintf("%+.3g", d.Mean*unit.Per))
}

// Effect formats an effect on all responses: "4.00× (3.99–4.01) improves, latency p99 1.00×
// (0.98–1.02) no difference".
func Effect(e *record.Effect) string {
	text := fmt.Sprintf("%s %s", Ratio(e), e.Verdict)
	for i := range e.Beside {
		b := &e.Beside[i]
		if r, known := metric.Find(b.Response); known {
			text += fmt.Sprintf(", %s %s %s", r.Label, EffectSize(r, b), b.Verdict)
		}
	}
	return text
}
