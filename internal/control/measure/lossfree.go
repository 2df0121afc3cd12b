package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linerate/internal/control/trial"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// sessionMargin is how long before the server would end the session a search ends.
const sessionMargin = 15 * time.Second

// sessionEnds is until when a search can make trials; zero: the server sets no end.
func (s *session) sessionEnds() time.Time {
	if bounds := s.hellos[record.NodeServer].Bounds; bounds != nil {
		return time.Now().Add(bounds.Stay() - sessionMargin)
	}
	return time.Time{}
}

// lossFree makes trials at one rate after another, and keeps the one that
// confirms the highest at which no more was lost than may be.
func (s *session) lossFree(ctx context.Context) error {
	o := s.options
	defer func() { s.options, s.phase = o, "" }()
	streams := o.Flows.Streams
	most := float64(s.rateCap()) * float64(streams)
	until := s.sessionEnds()
	all := map[*record.Trial]trial.Readings{}
	found, t, err := trial.LossFree(*o.LossFree, most, 0, o.Duration, func(step trial.Step) (*record.Trial, error) {
		if !until.IsZero() && time.Now().Add(o.Warmup+step.Window).After(until) {
			return nil, trial.ErrEnough
		}
		s.options.Duration, s.options.Flows.RateCap = step.Window, unit.BitRate(step.Share(streams))
		s.phase = fmt.Sprintf("trial %d at %s", step.Number, "full speed")
		if step.RateBps > 0 {
			s.phase = fmt.Sprintf("trial %d at %s", step.Number, unit.FormatRate(step.RateBps))
		}
		if step.Confirms {
			s.phase += ", to confirm it"
		}
		if o.Progress != nil {
			o.Progress(Progress{Phase: s.phase, Left: o.Warmup + step.Window, Write: -1, Read: -1, LostShare: -1,
				RatePerS: -1})
		}
		t, readings, err := s.measureFlows(ctx, s.planned)
		if err == nil {
			all[t] = readings
		} else if ctx.Err() != nil && len(all) > 0 {
			return nil, trial.ErrEnough
		}
		return t, err
	})
	if err != nil {
		return err
	}
	t.LossFree = found
	// The limit of a flow that is paced is that pace; here the links' counts.
	unpaced := slices.Clone(t.Flows)
	for i := range unpaced {
		unpaced[i].RateCapBps = 0
	}
	links := s.network().direction(sent(unpaced, ways(unpaced)[0]), t.Hosts, t.Over(nil))
	if found.BoundedBy == record.BoundedBySender && links.Bps > 0 && found.RateBps >= links.Bps*(1-found.Resolution) {
		found.BoundedBy = record.BoundedByLimit
	}
	return s.finish(t, all[t])
}
