package wording

import (
	"cmp"
	"fmt"

	"linerate/internal/model/fact"
	"linerate/internal/model/unit"
)

// Text for what is predicted for a flow.
var _ = later(func() {
	spell(func(_ string, l fact.LinkFilled) string {
		text := fmt.Sprintf("%.4g MB in flight fill %s", l.FlyingBytes/1e6, unit.FormatRate(l.RateBps))
		if l.Flows > 0 {
			return text + fmt.Sprintf(", shared by %d flows", l.Flows)
		}
		return text + fmt.Sprintf("; %.3g of it just after a loss, with a queue of %.3g MB", l.AfterLoss,
			l.QueueBytes/1e6)
	})
	spell(func(_ string, w fact.UnscaledWindow) string {
		return fmt.Sprintf("%.0f bytes, the largest window without scaling, in %s", w.Bytes, unit.FormatSeconds(w.RTTS))
	})
	spell(func(_ string, w fact.WindowOfBuffer) string {
		return fmt.Sprintf("a window of half to all of %s of %s in %s", cmp.Or(w.Parameter, "a receive buffer"),
			unit.FormatBytes(w.Bytes), unit.FormatSeconds(w.RTTS))
	})
	spell(func(_ string, f fact.FlightOfBuffer) string {
		return fmt.Sprintf("%.0f %% to all of %s of %s, and two super-frames, in %s", 100*f.Least,
			cmp.Or(f.Parameter, "a send buffer"), unit.FormatBytes(f.Bytes), unit.FormatSeconds(f.RTTS))
	})
	spell(func(_ string, l fact.LossModel) string {
		return fmt.Sprintf("with %.3g %% of the frames lost, %s carries %s to %s by the loss models", 100*l.Loss,
			l.CongestionControl, unit.FormatRate(l.LowBps), unit.FormatRate(l.HighBps))
	})
	spell(func(_ string, c fact.Capped) string { return "cap of " + unit.FormatRate(c.Bps) })
})
