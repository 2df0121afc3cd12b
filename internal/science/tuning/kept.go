package tuning

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
)

// Counts are how many settings a list has, and how many of them were tried. Added are those
// that were tried beside them, as "KEY = VALUE".
type Counts struct {
	Of, Tried int
	Added     []string
}

// Count counts a list's settings.
func Count(settings []record.TuneSetting) (c Counts) {
	for _, s := range settings {
		tried := s.Verdict != record.NotTried
		switch {
		case !s.Own() && tried && s.Value != "":
			c.Added = append(c.Added, s.Key+" = "+s.Value)
		case !s.Own() && tried:
			c.Added = append(c.Added, s.Key)
		case s.Own() && tried:
			c.Of, c.Tried = c.Of+1, c.Tried+1
		case s.Own():
			c.Of++
		}
	}
	return c
}

// Kept is what a run's list is noted to have kept, for a result whose settings are proven.
func Kept(t *record.Tune) record.Proven {
	p := record.Proven{Run: t.Proof.Run, Level: t.Proof.Effect.To, Settings: t.Proof.Settings, Gain: t.Proof.Gain, Open: Open(t.Settings), Of: Count(t.Settings).Of}
	for _, s := range keyed(t.Settings, p.Settings) {
		if !s.Own() {
			p.Added = append(p.Added, s.Key)
		}
	}
	return p
}

// Proved adds to a result the proof that its run made has noted, from the run that tried what
// was kept by itself.
func Proved(t *record.Tune, made, proof *record.Run) error {
	s, err := study.Parse(proof.Study, []byte(proof.StudyFile), proof.Design.Set...)
	if err != nil {
		return fmt.Errorf("the study of run %s, the proof of run %s, cannot be read any more: %w", proof.ID, made.ID, err)
	}
	p, list := made.Proven, factor(proof)
	for _, f := range s.Factors {
		for _, level := range f.Levels {
			var keys []string
			for _, one := range settingsOf(level) {
				keys = append(keys, one.Key)
			}
			e := effect(proof, list, level.Name)
			if f.Name != list.Name || e == nil || level.Against != "" || p.Level != "" && p.Level != level.Name || !equal(keys, p.Settings) {
				continue
			}
			found := &Found{Run: proof, Level: level.Name, Needed: subtract(p.Settings, p.Open),
				Proof: record.TuneProof{Run: proof.ID, Settings: p.Settings, Effect: e, Gain: p.Gain}}
			if level.Name != settingfile.TheList {
				found.Proof.AgainstList = between(proof, settingfile.TheList, level.Name)
			}
			found.Into(t)
			if proof.ID != made.ID {
				t.Trust = append(t.Trust, record.Doubts(proof.Trust)...)
			}
			t.Answer = answer(t, made)
			return nil
		}
	}
	return fmt.Errorf("run %s, the proof of run %s, has no level with %s alone", proof.ID, made.ID, join(slices.Clone(p.Settings)))
}
