package tuning

import (
	"errors"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// eliminate returns the keys of the best set without those that can be left out without
// loss. It keeps the keys in fixed.
func (s *Enough) eliminate(fixed []string) ([]string, error) {
	keys := s.reference.Keys
	rest := subtract(keys, fixed) // leaving out all of these is known to lose
	// Rivals are left out last, because they help by themselves.
	classes := [][]string{intersect(s.Spare[0], rest), intersect(s.Spare[1], rest)}
	classes[1] = append(classes[1], subtract(subtract(rest, classes[0]), classes[1])...)
	known := unknown
	if len(classes[1]) == 0 {
		known = s.core
	}
	keys, needed, err := s.leaveOut(keys, classes[0], known)
	if err != nil {
		return nil, err
	}
	known = unknown
	if !needed {
		known = s.core
	}
	keys, _, err = s.leaveOut(keys, classes[1], known)
	return keys, err
}

// loss says what is known about leaving settings out.
type loss int

const (
	unknown loss = iota // not tried
	none
	possible  // the set may be worse, but that is not shown, or there was no time to try
	elsewhere // the set is shown to be worse in a response other than the first
	sure
)

// leaveOut removes from keys the settings in out that can be left out: all at once if that
// loses nothing, otherwise half by half. Known is the loss without all of them. It returns
// the remaining keys, and in needed whether at least one of the settings has to stay.
func (s *Enough) leaveOut(keys, out []string, known loss) (left []string, needed bool, err error) {
	if len(out) == 0 {
		return keys, false, nil
	}
	if known == unknown {
		without := subtract(keys, out)
		if known, err = s.loses(without); err != nil || known == none {
			return without, false, err
		}
	}
	if len(out) == 1 {
		if known == sure {
			s.needed = append(s.needed, out[0])
		}
		return keys, true, nil
	}
	half := (len(out) + 1) / 2
	keys, first, err := s.leaveOut(keys, out[:half], unknown)
	if err != nil {
		return keys, true, err
	}
	if first {
		known = unknown
	}
	keys, _, err = s.leaveOut(keys, out[half:], known)
	return keys, true, err
}

// loses tries the keys, a part of the best set, together with the whole best set, and returns
// what is lost. If a loss may be chance, it tries once more. Without any key the gain is lost.
func (s *Enough) loses(keys []string) (loss, error) {
	if len(keys) == 0 {
		return sure, nil
	}
	fewer := s.named(KeptLevel, "", keys)
	for range tries {
		run, err := s.Conduct(subtract(s.reference.Keys, keys), s.reference, fewer)
		switch {
		case errors.Is(err, ErrSpent):
			s.ended = true
			return possible, nil
		case err != nil:
			return unknown, err
		case s.keeps(run, fewer):
			return none, nil
		}
		if known := s.lost(run, fewer); known != possible {
			return known, nil
		}
	}
	return possible, nil
}

// lost returns what a run shows of a set compared with the reference: whether it is worse in the
// first response or in another one. If the set lacks a single setting, the effect in the other
// response is kept in s.beside.
func (s *Enough) lost(run *record.Run, set settingfile.Set) loss {
	e := between(run, s.reference.Name, set.Name)
	if e == nil {
		return possible
	}
	for _, r := range responsesOf(e) {
		of := r.Effect(e)
		switch out := subtract(s.reference.Keys, set.Keys); {
		case of.Verdict != record.Worsens:
			continue
		case of == e:
			return sure
		case len(out) == 1:
			lists.Put(&s.beside, out[0], of)
		}
		return elsewhere
	}
	return possible
}
