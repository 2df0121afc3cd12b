package apply

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/kernel/netlink"
)

// Results of recovering one change.
const (
	Reverted  = "reverted"  // it existed, and is undone
	Unchanged = "unchanged" // it was never made, or is undone already
	Gone      = "gone"      // it ended with a restart of the machine, or with its namespace
	Kept      = "kept"      // it could not be undone, or must not be without force
	Forgotten = "forgotten" // it was removed from the journal and left as it is
	Pending   = "pending"   // it would be undone
)

// Recovered is the result for one change that an agent left behind.
type Recovered struct {
	Journal string `json:"journal"`
	Kind    string `json:"kind"`
	What    string `json:"what"`
	Scope   string `json:"scope"`
	Prior   string `json:"prior"`
	New     string `json:"new"`
	// Now is what it is before recovery; empty when it cannot be seen.
	Now    string `json:"now,omitempty"`
	Result string `json:"result"`
	Why    string `json:"why,omitempty"`
}

// RecoverOptions say how to recover.
type RecoverOptions struct {
	Journal string
	// List only reports.
	List bool
	// Force overwrites values that another program has changed since.
	Force bool
	// Forget drops what cannot be undone from the journal, leaving it as it is.
	Forget bool
}

// Recover undoes the changes of an agent that was killed, newest first. It may be
// repeated: what is undone is not undone again. The error concerns the journal; the
// list has the result for each change.
func Recover(options RecoverOptions) ([]Recovered, error) {
	here, err := newHeader()
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	file, was, entries, err := openJournal(options.Journal, here)
	if err != nil {
		return nil, err
	}
	conn, err := netlink.Dial()
	if err != nil {
		return nil, errors.Join(err, file.close())
	}
	m := &Manager{host: host{conn: conn}, journal: file, entries: entries, step: func(string) {}}
	if !options.List && was.Boot == here.Boot && was.NetNS.Equal(here.NetNS) {
		m.regain(m.entries)
	}
	var list []Recovered
	for i := len(m.entries) - 1; i >= 0; i-- {
		r := m.recoverOne(m.entries[i], was, here, options)
		r.Journal = options.Journal
		list = append(list, r)
		if r.Result != Kept && !options.List {
			m.entries = append(m.entries[:i], m.entries[i+1:]...)
		}
	}
	return list, errors.Join(err, m.Close())
}

func (m *Manager) recoverOne(e *entry, was, here header, options RecoverOptions) Recovered {
	r := Recovered{Kind: e.Kind, What: e.What, Scope: e.Scope, Prior: e.Prior.Text, New: e.New.Text}
	result := func(result, why string) Recovered {
		r.Result, r.Why = result, why
		return r
	}
	kept := func(why string) Recovered {
		switch {
		case options.Forget && options.List:
			return result(Pending, "it would be forgotten: "+why)
		case !options.Forget:
			return result(Kept, why)
		}
		m.done(e)
		return result(Forgotten, why)
	}
	if was.Boot != here.Boot {
		return result(Gone, "the machine has restarted since, and such changes end with that")
	}
	if was.gone(here, []*entry{e}) {
		return result(Gone, fmt.Sprintf("its network namespace no longer exists: %s is another one now", here.NetNS))
	}
	if !was.concerns(here, []*entry{e}) {
		return kept(fmt.Sprintf("it was made in another network namespace, %s; this is %s: recover inside that one (ip netns exec, nsenter), or forget it if that one no longer exists", was.NetNS, here.NetNS))
	}
	targets, err := m.host.targets(e.Setting)
	// A setting can be several changes, such as gso_max_size for IPv6 and IPv4.
	i := slices.IndexFunc(targets, func(t target) bool { return t.what() == e.What })
	if err == nil && i < 0 {
		err = errors.New("the journal's entry is not a change of its setting")
	}
	var is State
	if err == nil {
		e.target = targets[i]
		is, err = e.target.read()
		r.Now = is.Text
	}
	if err != nil {
		return kept(err.Error())
	}
	if options.List {
		switch {
		case e.target.same(e.Prior, is):
			return result(Pending, "it is as it was; only objects deleted with it may be missing")
		case !e.target.same(e.New, is) && !e.target.between(e.Prior, e.New, is) && !options.Force:
			return kept(ErrChanged.Error())
		}
		return result(Pending, "")
	}
	undone, err := m.revert(e, options.Force)
	switch {
	case err != nil:
		return kept(err.Error())
	case undone:
		return result(Reverted, "")
	}
	return result(Unchanged, "it was as before")
}
