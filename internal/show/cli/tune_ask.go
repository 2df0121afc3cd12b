package cli

import (
	"context"
	"strconv"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/tuning"
	"linerate/internal/show/answer"
)

// acceptFlag is the value of --accept-RESPONSE.
type acceptFlag struct {
	accepted tuning.Accepted
	name     string
}

func (acceptFlag) Type() string { return "share" }

func (f acceptFlag) String() string {
	if f.accepted[f.name] == 0 {
		return ""
	}
	return strconv.FormatFloat(100*f.accepted[f.name], 'g', -1, 64) + "%"
}

func (f acceptFlag) Set(text string) error {
	share, err := unit.ParseRatio(text)
	if err == nil {
		f.accepted[f.name] = float64(share)
	}
	return err
}

// asker returns a function that asks on the terminal whether to keep a trade; nil: there is no
// terminal.
func (f tuneFlags) asker(ctx context.Context, s streams) func(*record.TuneOffer) (bool, error) {
	if f.asJSON || s.isQuiet() || !s.asks() {
		return nil
	}
	return func(o *record.TuneOffer) (bool, error) {
		say(s.err, "%s.\n", answer.Offered(o))
		return s.confirm(ctx, "Keep it?")
	}
}
