package trial

import (
	"cmp"
	"errors"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/rfc2544"
)

// Step is a trial of a search for the highest rate without loss.
type Step struct {
	Number  int     // from 1
	RateBps float64 // of all flows of datagrams together; 0: as much as can be
	Window  time.Duration
	// Confirms: it is of the full length, and its rate is the result if that passes enough of these.
	Confirms bool
}

// Share is the pacing of one of so many flows; 0: none.
func (s Step) Share(flows int) float64 { return s.RateBps / float64(max(flows, 1)) }

// ErrEnough ends a search with what it has.
var ErrEnough = errors.New("no further trial can be made")

// LossFree searches the highest rate without loss: try makes each trial, with a
// window of its own and fresh flows. Most is the highest rate to try and limit the
// most that the links can carry, both 0 where they are not known. The trial that is
// returned is the one of the result; without a result, the last.
func LossFree(o study.LossFree, most, limit float64, full time.Duration, try func(Step) (*record.Trial, error)) (
	*record.LossFree, *record.Trial, error) {
	search := rfc2544.Search{Most: most, Loss: float64(o.Loss), Resolution: float64(o.Resolution), Repeats: o.Repeats}
	short := study.SearchWindow(full)
	var made []record.LossTrial
	var last *record.Trial
	confirming := map[int]*record.Trial{} // by their numbers
	for {
		rate, confirms, more := search.Next(made)
		if !more {
			break
		}
		step := Step{Number: len(made) + 1, RateBps: rate, Window: short, Confirms: confirms}
		if confirms {
			step.Window = full
		}
		trial, err := try(step)
		if errors.Is(err, ErrEnough) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		outcome := rfc2544.Outcome(trial, rate, search.Loss, confirms)
		made = append(made, outcome)
		if last = trial; confirms && outcome.Pass {
			confirming[step.Number] = trial
		}
	}
	result := search.Conclude(made, limit)
	result.TrialS, result.ConfirmS = short.Seconds(), full.Seconds()
	shown := cmp.Or(confirming[result.ResultTrial], last)
	if shown == nil {
		return nil, nil, ErrEnough
	}
	for _, f := range shown.Flows {
		if d := f.Datagrams; d != nil {
			result.DatagramBytes, result.Pacing = d.Bytes, f.ModeNote
		}
	}
	if result.DatagramBytes > 0 {
		result.PacketsPerS = result.RateBps / 8 / float64(result.DatagramBytes)
	}
	return result, shown, nil
}
