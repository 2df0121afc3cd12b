package trial

import (
	"cmp"
	"errors"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/rfc2544"
)

// Step is a trial in a search for the highest rate without loss.
type Step struct {
	Number  int     // counted from 1
	RateBps float64 // of all datagram flows together; 0: as fast as possible
	Window  time.Duration
	// Confirms reports whether the trial has the full length. A rate is the result if it passes enough
	// of such trials.
	Confirms bool
}

// Share returns the pacing of each of several flows, in bits per second; 0: none.
func (s Step) Share(flows int) float64 { return s.RateBps / float64(max(flows, 1)) }

// ErrEnough is what a trial function returns to end a search with the trials made so far. LossFree
// returns it if there are none.
var ErrEnough = errors.New("no further trial can be made")

// LossFree searches for the highest rate without loss. try makes each trial, with a window of its own
// and new flows. most is the highest rate to try, and limit is what the links can carry, both in bits
// per second; 0: not known. full is the length of the windows that confirm a rate. The returned trial
// is the one whose rate is the result or, if there is no result, the last one.
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
