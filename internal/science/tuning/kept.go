package tuning

import (
	"fmt"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
)

// Counts counts the settings of a list: Of in total, Tried of which were tried. Added lists the
// settings that were tried although they are not in the list, as "KEY = VALUE".
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

// Kept returns what the record of the run notes about the kept settings of t, whose Proof must
// be set. Ended says that the budget ended the search.
func Kept(t *record.Tune, ended bool) record.Proven {
	p := record.Proven{Open: Open(t.Settings), Of: Count(t.Settings).Of, Ended: ended}
	noted := func(proof *record.TuneProof, p *record.Proven) *record.Proven {
		p.Run, p.Level, p.Settings, p.Gain = proof.Run, proof.Effect.To, proof.Settings, proof.Gain
		return p
	}
	noted(t.Proof, &p)
	if t.Fewer != nil {
		p.Fewer = noted(t.Fewer, &record.Proven{})
	}
	if t.Offer != nil {
		p.Offer = noted(&t.Offer.TuneProof, &record.Proven{})
	}
	for _, s := range Keyed(t.Settings, p.Settings) {
		if !s.Own() {
			p.Added = append(p.Added, s.Key)
		}
		if s.Beside != nil {
			lists.Put(&p.Beside, s.Key, s.Beside)
		}
	}
	return p
}

// Proved restores in t the proof that the record of its run made notes, with the other sets that
// the answer names. Runs has the runs that tried these sets, by ID.
func Proved(t *record.Tune, made *record.Run, runs map[string]*record.Run) error {
	p := made.Proven
	found, err := noted(made, p, runs[p.Run])
	if err != nil {
		return err
	}
	found.Ended, found.Beside = p.Ended, p.Beside
	found.Needed = slices.DeleteFunc(subtract(p.Settings, p.Open), func(key string) bool {
		return p.Beside[key] != nil
	})
	tried := []string{made.ID, p.Run}
	for _, other := range []*record.Proven{p.Fewer, p.Offer} {
		if other == nil || runs[other.Run] == nil {
			continue
		}
		set, err := noted(made, other, runs[other.Run])
		switch {
		case err != nil:
			return err
		case other == p.Fewer:
			found.Fewer = set
		default:
			t.Offer = set.Offer()
		}
		tried = append(tried, other.Run)
	}
	found.Into(t)
	for i, id := range tried {
		if !slices.Contains(tried[:i], id) && i > 0 {
			t.Trust = append(t.Trust, record.Doubts(runs[id].Trust)...)
		}
	}
	return nil
}

// noted returns the set p that the record of run made notes, with its effects in proof, the run
// that tried it by itself.
func noted(made *record.Run, p *record.Proven, proof *record.Run) (*Found, error) {
	s, err := study.Parse(proof.Study, []byte(proof.StudyFile), proof.Design.Set...)
	if err != nil {
		return nil, fmt.Errorf("the study of run %s, the proof of run %s, cannot be read any more: %w", proof.ID,
			made.ID, err)
	}
	list := factor(proof)
	for _, f := range s.Factors {
		for _, level := range f.Levels {
			keys := lists.Map(settingsOf(level), func(one record.TuneSetting) string { return one.Key })
			e := effect(proof, list, level.Name)
			if f.Name != list.Name || e == nil || level.Against != "" || p.Level != "" && p.Level != level.Name ||
				!equal(keys, p.Settings) {
				continue
			}
			found := &Found{Run: proof, Level: level.Name, Proof: record.TuneProof{Run: proof.ID, Settings: p.Settings,
				Effect: e, Gain: p.Gain}}
			if level.Name != settingfile.TheList {
				found.Proof.AgainstList = between(proof, settingfile.TheList, level.Name)
			}
			return found, nil
		}
	}
	return nil, fmt.Errorf("run %s, the proof of run %s, has no level with %s alone", proof.ID, made.ID,
		source.And(p.Settings))
}
