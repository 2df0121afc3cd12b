package tuning

import "errors"

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
		known = sure
	}
	keys, needed, err := s.leaveOut(keys, classes[0], known)
	if err != nil {
		return nil, err
	}
	known = unknown
	if !needed {
		known = sure
	}
	keys, _, err = s.leaveOut(keys, classes[1], known)
	return keys, err
}

// loss is what is known of leaving settings out.
type loss int

const (
	unknown loss = iota // not tried
	none
	possible // not shown to be more than chance, or no time to try
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
		run, err := s.Conduct("Can "+join(subtract(s.reference.Keys, keys))+" be left out without loss?", s.reference, fewer)
		switch {
		case errors.Is(err, ErrSpent):
			s.ended = true
			return possible, nil
		case err != nil:
			return unknown, err
		case s.keeps(run, fewer):
			return none, nil
		case surely(run, s.reference, fewer):
			return sure, nil
		}
	}
	return possible, nil
}
