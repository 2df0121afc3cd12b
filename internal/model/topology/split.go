package topology

import (
	"errors"
	"slices"

	"linerate/internal/model/unit"
)

// Mechanism applies delay, jitter, loss, reordering and marks to the frames of a link in a lab. The
// empty mechanism is a veth pair, which applies none.
type Mechanism string

const (
	Netem    Mechanism = "netem"    // tc-netem(8), on interfaces between the two ends
	Emulator Mechanism = "emulator" // the link emulator (host/linkemu), between two taps
)

// Mechanisms lists all mechanisms in the order in which reports name them.
var Mechanisms = []Mechanism{Netem, Emulator}

// Split divides the impairment of one direction of a link between the two mechanisms that apply it.
// Each property is in exactly one part, so that none is applied twice. The MTU is in neither part:
// it is an attribute of the interface.
type Split struct {
	TBF      Impairment // applied by tc-tbf(8) at the sending interface; not used if Rate is 0
	InFlight Impairment // applied by the Mechanism of the link
}

// SplitLink selects the mechanism of a link and splits the impairments of its two directions.
// Refused returns why a mechanism cannot be used here; nil: it can be used. SplitLink returns an
// error that joins these reasons if no suitable mechanism can be used. Skipped has the reasons why
// preferred mechanisms were not selected.
func SplitLink(directions [2]Impairment, refused func(Mechanism) error) (parts [2]Split, by Mechanism, skipped []error,
	err error) {
	if fit := mechanisms(directions); len(fit) > 0 {
		for _, m := range fit {
			if why := refused(m); why != nil {
				skipped = append(skipped, why)
				continue
			}
			by = m
			break
		}
		if by == "" {
			return parts, "", nil, errors.Join(skipped...)
		}
	}
	for k, d := range directions {
		parts[k] = d.split(by)
	}
	return parts, by, skipped, nil
}

// mechanisms returns the mechanisms that can apply the impairments to each frame as the link would,
// preferred ones first (docs/decisions/0012-link-emulator.md).
func mechanisms(directions [2]Impairment) []Mechanism {
	has := func(is func(Impairment) bool) bool { return slices.ContainsFunc(directions[:], is) }
	switch {
	case has(func(i Impairment) bool { return i.ECN != unit.Depth{} }):
		return []Mechanism{Emulator}
	case has(Impairment.PerFrame):
		return []Mechanism{Emulator, Netem}
	case has(func(i Impairment) bool { return i.Delay != 0 }):
		return []Mechanism{Netem, Emulator}
	}
	return nil
}

// PerFrame reports whether frames can be treated differently from each other. A frame with several
// segments must then be segmented first.
func (i Impairment) PerFrame() bool { return i.Jitter != 0 || i.Loss != 0 || i.Reorder != 0 }

// split divides the properties. Only the emulator can mark frames, by the length of its own queue,
// so it also applies the rate in a direction with marks.
func (i Impairment) split(by Mechanism) Split {
	i.Burst, i.Queue, i.ECN = i.BurstSize(), unit.Depth{Size: i.QueueSize()}, unit.Depth{Size: i.ECN.At(i.Rate)}
	i.MTU = 0
	if by == Emulator && i.ECN != (unit.Depth{}) {
		return Split{InFlight: i}
	}
	inFlight := Impairment{Delay: i.Delay, Jitter: i.Jitter, Loss: i.Loss, Reorder: i.Reorder}
	i.Delay, i.Jitter, i.Loss, i.Reorder = 0, 0, 0, 0
	return Split{TBF: i, InFlight: inFlight}
}
