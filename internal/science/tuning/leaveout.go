package tuning

import (
	"errors"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// eliminate leaves out of the best set what can be left out without loss, but for what
// is fixed.
func (s *Enough) eliminate(fixed []string) ([]string, error) {
	keys := s.reference.Keys
	rest := subtract(keys, fixed) // without all of it is known to lose
	// What was a rival is the last to go: it helps by itself.
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

// loss is what is known of leaving settings out.
type loss int

const (
	unknown loss = iota // not tried
	none
	possible  // not shown to be more than chance, or no time to try
	elsewhere // by another response than the first
	sure
)

// leaveOut leaves settings out of keys, in halves: all at once if that loses nothing.
// known: what leaving all of them out loses. needed says whether one of them has to stay.
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

// loses tries some of the best set's settings beside all of them: once more where the loss
// is not beyond chance. With no settings the best set's gain is lost.
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

// lost is what a run has shown of a set beside the reference: whether it is worse beyond chance
// by the first response or by another one, which is noted if one setting is left out.
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
			if s.beside == nil {
				s.beside = map[string]*record.Effect{}
			}
			s.beside[out[0]] = of
		}
		return elsewhere
	}
	return possible
}
