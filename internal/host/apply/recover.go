package apply

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/kernel/file"
)

// Results of recovering one change.
const (
	Reverted  = "reverted"  // it existed, and has been reverted
	Unchanged = "unchanged" // it was never made, or had been reverted already
	Gone      = "gone"      // it ended with a restart of the machine, or with its namespace
	Kept      = "kept"      // it could not be reverted, or may be only with Force
	Forgotten = "forgotten" // it was removed from the journal and left as it is
	Pending   = "pending"   // it would be reverted or forgotten (RecoverOptions.List)
	InUse     = "in use"    // its agent is alive, or another process is recovering it
)

// Recovered is the result for one change that an agent has left.
type Recovered struct {
	Journal string `json:"journal"`
	Kind    string `json:"kind"`
	What    string `json:"what"`
	Scope   string `json:"scope"`
	Prior   string `json:"prior"`
	New     string `json:"new"`
	// Now is the value before recovery; empty: it cannot be read.
	Now    string `json:"now,omitempty"`
	Result string `json:"result"`
	Why    string `json:"why,omitempty"`

	busy bool // another process has a lock that recovery needs
}

// RecoverOptions say how to recover.
type RecoverOptions struct {
	Journal string
	// List says to report changes and revert none.
	List bool
	// Force says to overwrite values that another program has changed since.
	Force bool
	// Forget says to remove from the journal what cannot be reverted, and to leave it
	// as it is.
	Forget bool
}

// Recover reverts the changes of an agent that was killed, newest first. It may be
// repeated: a change is reverted once. The list has the result for each change; the
// error is about the journal.
func Recover(options RecoverOptions) ([]Recovered, error) {
	here, err := newHeader()
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	journal, was, entries, err := openJournal(options.Journal, here)
	live := errors.Is(err, file.ErrLocked)
	if live {
		was, entries, err = peekJournal(options.Journal)
	}
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	host, err := openHost()
	if err != nil {
		return nil, errors.Join(err, journal.close())
	}
	m := &Manager{host: host, journal: journal, entries: entries, locks: locks{}, step: func(string) {}}
	var list []Recovered
	if live {
		for _, e := range entries {
			list = append(list, e.recovered(options.Journal, InUse,
				fmt.Sprintf("process %d has changed it and lives, or its journal is being recovered", was.PID)))
		}
		return list, m.Close()
	}
	locked := map[*entry]error{}
	for _, e := range entries {
		if !options.List && was.concerns(here, []*entry{e}) {
			_, locked[e] = m.locks.take(m.host.sysctls, e.outsideNet())
		}
	}
	if m.locks[namespaceLock] != nil {
		m.regain(m.entries)
	}
	for i := len(m.entries) - 1; i >= 0; i-- {
		e := m.entries[i]
		r := m.recoverOne(e, locked[e], was, here, options)
		list = append(list, r)
		if r.Result != Kept && !options.List {
			m.entries = append(m.entries[:i], m.entries[i+1:]...)
		}
	}
	return list, m.Close()
}

// recovered is the result for a change.
func (e *entry) recovered(journal, result, why string) Recovered {
	return Recovered{Journal: journal, Kind: e.Kind, What: e.What, Scope: e.Scope, Prior: e.Prior.Text, New: e.New.Text,
		Result: result, Why: why}
}

// recoverOne recovers one change; locked is why its lock could not be taken.
func (m *Manager) recoverOne(e *entry, locked error, was, here header, options RecoverOptions) Recovered {
	r := e.recovered(options.Journal, "", "")
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
		return kept(fmt.Sprintf(
			"it was made in another network namespace, %s; this is %s: recover inside that one (ip netns exec, "+
				"nsenter), or forget it if that one no longer exists", was.NetNS, here.NetNS))
	}
	if locked != nil {
		r.busy = errors.Is(locked, file.ErrLocked)
		return result(Kept, locked.Error())
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
