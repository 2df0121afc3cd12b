package measure

import (
	"errors"
	"fmt"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/slo"
)

// longest bounds the measurement as a whole: its windows, and for each of them the steps
// around it, each of which has a limit of its own.
func (o Options) longest() time.Duration {
	const steps, search = 24, 32 // of up to three attempts; trials (rfc2544)
	windows, window := max(1, len(o.Modes)), o.Duration
	switch {
	case o.LossFree != nil:
		windows = search
	case o.FindMax != nil:
		windows, window = slo.MostTrials, max(window, longestTrial)
	case o.Latency:
		windows = 2
	}
	return time.Duration(windows) * (o.Warmup + window + steps*o.patience() + connectTime(o.Flows))
}

// connectTime is how long very many connections may take.
func connectTime(f flow.Spec) time.Duration {
	return time.Duration(max(1, f.Streams)*max(1, f.Connections)) * 10 * time.Millisecond
}

// checkBounds compares what is requested with what the server grants, before anything
// begins.
func (s *session) checkBounds() error {
	bounds := s.hellos[record.NodeServer].Bounds
	if bounds == nil {
		return nil
	}
	var errs []error
	if n := len(s.planned()); n > bounds.Flows {
		errs = append(errs, fmt.Errorf(
			"%d flows: the server allows %d; expected fewer --streams, or there: linerate serve --max-flows %d", n,
			bounds.Flows, n))
	}
	what, all := "with the warm-up", s.options.Warmup+s.options.Duration
	if n := len(s.options.Modes); n > 1 {
		what, all = fmt.Sprintf("for %d modes with their warm-ups", n), time.Duration(n)*all
	}
	if s.options.Latency {
		what, all = what+" and the idle phase", all+s.idleWindow()
	}
	if all.Seconds() > bounds.DurationS {
		errs = append(errs, fmt.Errorf(
			"%v %s: the server allows %v; expected a shorter --duration, or there: linerate serve --max-duration %s",
			unit.Duration(all), what, unit.Duration(bounds.DurationS*float64(time.Second)),
			unit.Duration(roundUp(all))))
	}
	var needs time.Duration
	repeats := 0
	switch loss, most := s.options.LossFree, s.options.FindMax; {
	case loss != nil:
		needs, repeats = loss.Time(s.options.Warmup, s.options.Duration), loss.Repeats
	case most != nil:
		needs, repeats = most.Time(s.options.Warmup, s.options.Duration), most.Repeats
	}
	if needs = needs.Round(time.Second); needs > bounds.Stay()-sessionMargin {
		errs = append(errs, fmt.Errorf(
			"a search that takes about %v, with %d trials of %v to confirm its result: the server ends a session "+
				"after %v",
			unit.Duration(needs), repeats, unit.Duration(s.options.Duration), unit.Duration(bounds.Stay())))
	}
	return errors.Join(errs...)
}

// roundUp is a time that is at least as long, in whole minutes or, below one, seconds.
func roundUp(d time.Duration) time.Duration {
	step := time.Minute
	if d < step {
		step = time.Second
	}
	return (d + step - 1).Truncate(step)
}
