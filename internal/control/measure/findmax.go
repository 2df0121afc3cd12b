package measure

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
	"linerate/internal/science/expect"
	"linerate/internal/science/slo"
)

// FindMax asks for the highest rate of requests that meets an objective.
type FindMax struct {
	Objective  expect.Expectation
	Resolution unit.Ratio // largest relative difference between the result and a rate that fails
	Repeats    int        // how many trials must confirm the result
}

// String returns the resolution and the repeats, without the objective.
func (f FindMax) String() string {
	return fmt.Sprintf("resolution %s, repeats %d", unit.FormatPercent(float64(f.Resolution)), f.Repeats)
}

// Time estimates how long the search takes; see study.LossFree.Time.
func (f FindMax) Time(warmup, full time.Duration) time.Duration {
	return study.LossFree{Repeats: f.Repeats + 1}.Time(warmup, full) // and the closed loop
}

// longestTrial bounds the window of a trial that is prolonged because it needs more
// requests.
const longestTrial = time.Minute

// longestWindow is how long a window may be: longestTrial or the duration, within what the
// server grants.
func (s *session) longestWindow() time.Duration {
	o := s.options
	window := max(o.Duration, longestTrial)
	if bounds := s.hellos[record.NodeServer].Bounds; bounds != nil {
		window = min(window, time.Duration(bounds.DurationS*float64(time.Second))-o.Warmup)
	}
	return window
}

// findMax makes trials at one rate after another, and keeps the last one that met the
// objective at the highest. What is known is kept also if the search ends early: by
// interruption, the server's bounds, or an error.
func (s *session) findMax(ctx context.Context) error {
	o := s.options
	defer func() { s.options, s.phase = o, "" }()
	streams := float64(o.Flows.Streams)
	search := slo.Search{
		Objective: o.FindMax.Objective, Resolution: float64(o.FindMax.Resolution), Repeats: o.FindMax.Repeats,
		Longest: s.longestWindow(), Most: flow.MaxPace * streams, Irregular: o.Flows.Arrivals == flow.ArrivalsPoisson,
	}
	until := s.sessionEnds()
	var made []record.FindMaxTrial
	ended := ""
	for ended == "" {
		rate, confirms, more := search.Next(made)
		if !more {
			break
		}
		planned := o.Duration
		if rate > 0 && !confirms {
			planned = study.SearchWindow(o.Duration)
		}
		window := search.Window(rate, planned)
		if !until.IsZero() && time.Now().Add(o.Warmup+window).After(until) {
			ended = "the server would have ended the session before the next trial"
			break
		}
		s.options.Duration, s.options.Flows.Pace = window, rate/streams
		if s.phase = fmt.Sprintf("trial %d in a closed loop", len(made)+1); rate > 0 {
			s.phase = fmt.Sprintf("trial %d at %.4g/s", len(made)+1, rate)
		}
		if window > planned {
			s.phase += fmt.Sprintf(", %v for %s requests", unit.Duration(window.Round(time.Second/10)),
				unit.FormatCount(search.Objective.Needs()))
		}
		if confirms {
			s.phase += ", to confirm it"
		}
		if o.Progress != nil {
			o.Progress(Progress{Phase: s.phase, Left: (o.Warmup + window).Round(time.Second / 10), Write: -1, Read: -1,
				LostShare: -1, RatePerS: -1})
		}
		err := s.oneTrial()(ctx)
		switch {
		case err != nil && len(made) == 0:
			return err
		case err != nil && ctx.Err() != nil:
			ended = "the search was interrupted"
		case err != nil:
			ended = fmt.Sprintf("trial %d at %.4g/s failed: %v", len(made)+1, rate, s.withServer(err))
		default:
			t := s.trials[len(made)]
			checks, _ := conclude.Trial(t)
			outcome := search.Outcome(made, t, checks, rate, confirms)
			outcome.Lengthened = window > planned
			made = append(made, outcome)
		}
	}
	found := search.Conclude(made, ended)
	found.TrialS, found.ConfirmS = study.SearchWindow(o.Duration).Seconds(), o.Duration.Seconds()
	shown := len(made) - 1
	for i, t := range made {
		if t.Pass && t.AskedPerS == found.RatePerS {
			shown = i
		}
	}
	s.trials = s.trials[shown : shown+1]
	s.trials[0].FindMax = found
	return nil
}
