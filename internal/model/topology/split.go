package topology

import (
	"errors"
	"slices"

	"linerate/internal/model/unit"
)

// Mechanism is what applies delay, jitter, loss, reordering and marks to the frames of a
// link in a lab. The empty one is a veth pair, which applies none.
type Mechanism string

const (
	Netem    Mechanism = "netem"    // tc-netem(8), on interfaces between the two ends
	Emulator Mechanism = "emulator" // the link emulator (host/linkemu), between two taps
)

// Mechanisms are all that there are, in the order in which reports name them.
var Mechanisms = []Mechanism{Netem, Emulator}

// Split is what one direction of a link does, divided among the mechanisms that apply
// it. Each property is in exactly one part, so that none is applied twice. The MTU is
// in none: it is an attribute of the interface.
type Split struct {
	TBF      Impairment // tc-tbf(8) at the sending interface; without a Rate there is none
	InFlight Impairment // applied by the link's mechanism
}

// SplitLink chooses the mechanism of a link and divides what its two directions do.
// refused says why a mechanism cannot be used; nil: it can. The error joins the reasons of
// all that would be right; skipped are those of the ones that would have been preferred.
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

// mechanisms are those that treat each frame as the link would, the preferred one first
// (docs/decisions/0012-link-emulator.md).
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

// PerFrame reports whether frames may fare differently from each other: one that holds
// several segments must not be treated as one.
func (i Impairment) PerFrame() bool { return i.Jitter != 0 || i.Loss != 0 || i.Reorder != 0 }

// split: only the emulator marks, by the length of its own queue, and so it applies the
// rate as well on a direction with marks.
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
