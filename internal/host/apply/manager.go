// Package apply applies settings to a host and reverts them: sysctls, neighbour
// entries, addresses, routes, rules, nexthop objects, attributes of interfaces, queueing
// disciplines, options of NICs and CPUs.
//
// For each change the prior state is read and written durably to an undo journal; the
// change is made, read back and compared. Changes are reverted in reverse order, and
// compared again. Objects that the kernel deletes along with a change (the routes of
// an interface that goes down) are restored with it. A value that another program has
// changed in the meantime is not overwritten unless the caller forces it.
//
// A change that could not be reverted exactly is refused with the reason. See docs/settings.md.
package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/bus"
	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// Scopes of a change.
const (
	Namespace = "namespace" // of this network namespace only
	Machine   = "machine"   // visible in every namespace of the machine
)

// Manager applies settings in the network namespace it was opened in, and
// reverts them. Its methods may be called from several goroutines.
type Manager struct {
	mu      sync.Mutex
	host    host
	journal *journal // nil: settings end with this process's namespace, and need no lock or guard
	lease   time.Duration
	locks   locks // held from the first change on
	guard   atomic.Pointer[guard]
	entries []*entry
	next    int // the next entry's number
	// step is called at each step, for tests that kill the process there.
	step func(name string)
}

// host is the access to the host that is changed.
type host struct {
	conn    *netlink.Conn
	sysctls proc.Sysctls
	nics    *ethtool.Handle // nil: of no interface
	cpufreq proc.CPUFreq
}

func openHost() (host, error) {
	conn, err := netlink.Dial()
	if err != nil {
		return host{}, err
	}
	nics, err := ethtool.Open()
	if err != nil {
		return host{}, errors.Join(err, conn.Close())
	}
	return host{conn: conn, nics: nics}, nil
}

func (h host) close() error {
	h.nics.Close()
	return h.conn.Close()
}

// Open prepares for changes. It records them in the undo journal at path, and they are reverted
// if the lease is not renewed in time; with an empty path there is neither, for hosts that end
// with their agent. If this journal, or another one in its directory, has changes to this host
// by an agent that was killed, the error is a *LeftoverError. They must be recovered first, or
// their prior values would be lost.
func Open(path string, lease time.Duration) (*Manager, error) {
	host, err := openHost()
	if err != nil {
		return nil, fmt.Errorf("prepare settings: %w", err)
	}
	m := &Manager{host: host, lease: lease, locks: locks{}, step: func(string) {}}
	if path == "" {
		return m, nil
	}
	header, err := newHeader()
	if err == nil {
		m.journal = &journal{path: path, header: header}
		err = leftovers(path, header)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare settings: %w", errors.Join(err, host.close()))
	}
	return m, nil
}

// LeftoverError means that a journal has changes of an agent that was killed. Journal is its
// path, and What describes each change.
type LeftoverError struct {
	Journal string
	What    []string
}

func (e *LeftoverError) Error() string {
	return fmt.Sprintf(
		"%s holds %d changes that an agent which was killed did not undo (%s): undo them with 'linerate recover "+
			"--journal %s'",
		e.Journal, len(e.What), strings.Join(e.What, ", "), e.Journal)
}

func descriptions(entries []*entry) []string {
	return lists.Map(entries, func(e *entry) string { return e.Kind + " " + e.What })
}

// Apply applies settings in order. If one fails, it reverts all settings of this call, and the
// error includes failures of that. With IfAbsent, addresses, routes and nexthop objects that
// exist already stay as they are. RevertTo with the mark in the reply reverts this call.
func (m *Manager) Apply(ctx context.Context, request message.ApplyRequest) (message.ApplyReply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reply := message.ApplyReply{Mark: len(m.entries)}
	var err error
	if reply.Applied, err = m.applyAll(ctx, request); err == nil {
		return reply, nil
	}
	if undo := m.revertTo(reply.Mark); undo != nil {
		err = errors.Join(err, fmt.Errorf("undoing the settings made before it: %w", undo))
	}
	return reply, err
}

func (m *Manager) applyAll(ctx context.Context, request message.ApplyRequest) (applied []record.Applied, err error) {
	mark := len(m.entries)
	settings := setting.Joined(request.Settings)
	for _, s := range settings { // what the host does not support is refused before anything is changed
		if _, err := m.host.targets(s); err != nil {
			return nil, err
		}
	}
	for _, s := range settings {
		targets, err := m.host.targets(s) // again: a setting before may have added queues
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			done, err := m.apply(s.Host, t, request)
			if err != nil {
				return nil, err
			}
			applied = append(applied, done)
		}
	}
	return applied, m.host.settleAdded(m.entries[mark:])
}

// apply makes one change.
func (m *Manager) apply(hostName string, t target, request message.ApplyRequest) (record.Applied, error) {
	fail := func(err error) (record.Applied, error) {
		return record.Applied{}, fmt.Errorf("%s %s: %w", t.kind(), t.what(), err)
	}
	scope, err := permittedScope(t, request.AllowMachine)
	if err != nil {
		return fail(err)
	}
	prior, err := t.read()
	if err != nil {
		return fail(err)
	}
	done := record.Applied{Host: hostName, Kind: t.kind(), Scope: scope, What: t.what(), Prior: prior.Text,
		New: prior.Text}
	if request.IfAbsent && t.leaveIfPresent(prior) {
		return done, nil
	}
	next, err := t.plan(prior)
	if err != nil {
		return fail(err)
	}
	done.What, done.New = t.what(), next.Text // a plan may have chosen a priority
	if t.same(prior, next) {
		return done, nil
	}
	around, err := m.host.capture(t.sideEffects(prior, next, false))
	if err != nil {
		return fail(err)
	}
	e := &entry{Kind: t.kind(), What: t.what(), Scope: scope, Host: hostName,
		Setting: t.setting(), Prior: prior, New: next, Around: around, target: t}
	m.step("read")
	if err := m.enter(e); err != nil {
		return fail(fmt.Errorf("nothing was changed: %w", err))
	}
	m.step("journaled")
	if err := t.change(next); err != nil {
		return fail(err)
	}
	m.step("changed")
	is, err := t.read()
	if err != nil {
		return fail(fmt.Errorf("reading it back: %w", err))
	}
	if !t.same(next, is) {
		// The state is the result of this change all the same, and is undone.
		e.New = is
		if err := m.write(line{Entry: e}, true); err != nil {
			return fail(err)
		}
		return fail(fmt.Errorf("expected %q, but the kernel made it %q", next.Text, is.Text))
	}
	if around.empty() {
		return done, nil
	}
	if around.Transient {
		if err := m.host.restore(around); err != nil {
			return fail(err)
		}
	}
	// Only what the change did delete is to be restored with it.
	if e.Around, err = m.host.missing(around); err != nil {
		return fail(err)
	}
	if err := m.write(line{Entry: e}, true); err != nil {
		return fail(err)
	}
	m.step("noted")
	return done, nil
}

// enter numbers a change and writes it to the journal. Other processes are excluded from
// such changes first, and the guard is there.
func (m *Manager) enter(e *entry) error {
	if m.journal != nil {
		isNew, err := m.locks.take(m.host.sysctls, e.outsideNet())
		if err == nil && isNew && m.journal.file == nil {
			err = leftovers(m.journal.path, m.journal.header)
		}
		if err == nil {
			err = m.protect()
		}
		if err != nil {
			return err
		}
	}
	m.next++
	e.Seq = m.next
	at, err := m.journal.append(line{Entry: e}, true)
	if err != nil {
		return fmt.Errorf("the undo journal %s could not be written: %w", m.journal.path, err)
	}
	e.offset = at
	m.entries = append(m.entries, e)
	return nil
}

// permittedScope returns the scope of a change, and an error if it is not permitted.
func permittedScope(t target, allowMachine bool) (string, error) {
	scope, why, err := t.scope()
	if err != nil || scope == Namespace || allowMachine {
		return scope, err
	}
	return scope, bus.Coded(message.NotPermitted,
		fmt.Errorf("this is a machine-wide setting (%s): it would change the whole machine and everything on it, "+
			"not only this host; permit that with --allow-machine-settings", why))
}

// RevertTo reverts all changes after mark, newest first; 0: all changes. A change that cannot
// be reverted stays in the journal, and the others are reverted nevertheless.
func (m *Manager) RevertTo(mark int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revertTo(mark)
}

func (m *Manager) revertTo(mark int) error {
	var failed []error
	m.regain(m.entries[min(max(mark, 0), len(m.entries)):])
	for i := len(m.entries) - 1; i >= max(mark, 0); i-- {
		e := m.entries[i]
		if _, err := m.revert(e, false); err != nil {
			failed = append(failed, fmt.Errorf("undo %s %s: %w", e.Kind, e.What, err))
			continue
		}
		m.entries = append(m.entries[:i], m.entries[i+1:]...)
	}
	if len(m.entries) == 0 {
		failed = append(failed, m.journal.reset())
	}
	return errors.Join(failed...)
}

// ErrChanged means that a value was not reverted because another program has changed it since.
var ErrChanged = errors.New("another program has changed it since")

// revert undoes one change and verifies it. It reports whether there was anything to
// undo.
func (m *Manager) revert(e *entry, force bool) (undone bool, err error) {
	t := e.target
	is, err := t.read()
	if err != nil {
		return false, err
	}
	around := e.Around
	if !t.same(e.Prior, is) {
		if !t.same(e.New, is) && !t.between(e.Prior, e.New, is) && !force {
			return false, fmt.Errorf("%w: it was %q, was set to %q, and is %q now, which is kept", ErrChanged,
				e.Prior.Text, e.New.Text, is.Text)
		}
		// The undo may delete objects as well. Those that the change deleted are
		// restored to their state before it, all others to the present one.
		now, err := m.host.capture(t.sideEffects(e.New, e.Prior, true))
		if err != nil {
			return false, err
		}
		if !now.empty() {
			around = around.with(now)
			e.Around = around
			// If this cannot be written, the undo goes on: only a kill before it ends
			// would lose what it deletes.
			_ = m.write(line{Entry: e}, true)
		}
		m.step("revert-journaled")
		undone = true
	}
	// Sysctls can exclude each other: a value may be accepted only when another one is
	// restored (vm.dirty_bytes and vm.dirty_ratio), so try twice, and judge the result.
	var failures []error
	for range 2 {
		if !t.same(e.Prior, is) {
			failures = append(failures, t.restore(e.Prior, is))
		}
		m.step("reverted")
		if err := m.host.restore(around); err != nil {
			failures = append(failures, err)
		}
		if is, err = t.read(); err != nil {
			return false, errors.Join(append(failures, err)...)
		}
		if t.same(e.Prior, is) {
			break
		}
	}
	left, err := m.host.missing(around)
	switch {
	case err != nil:
		return false, errors.Join(append(failures, err)...)
	case !t.same(e.Prior, is):
		return false, errors.Join(append(failures, fmt.Errorf("it was %q and is still %q", e.Prior.Text, is.Text))...)
	case !left.empty():
		return false, errors.Join(append(failures, fmt.Errorf("not restored along with it: %s", left))...)
	}
	m.done(e)
	m.step("done")
	return undone, nil
}

// done records that an entry is undone, without sync: the record is lost only when the
// machine restarts, which undoes everything. On a full disk the journal is truncated
// before the entry instead, since undone entries are the newest.
func (m *Manager) done(e *entry) {
	if m.write(line{Done: e.Seq}, false) == nil {
		return
	}
	if newest := m.entries[len(m.entries)-1]; newest == e {
		// If that fails too, recovery finds that there is nothing to undo.
		_ = m.journal.cut(e.offset)
	}
}

func (m *Manager) write(l line, durable bool) error {
	_, err := m.journal.append(l, durable)
	return err
}

// End reverts all changes and closes the manager. It renews the lease meanwhile.
func (m *Manager) End() error {
	defer m.Keep()()
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.revertTo(0), m.close())
}

// Close closes the journal and releases the locks. The guard then ends, and reverts changes
// that are left.
func (m *Manager) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.close()
}

func (m *Manager) close() error {
	err := m.host.close()
	if len(m.entries) == 0 {
		err = errors.Join(err, m.journal.reset())
	}
	err = errors.Join(err, m.journal.close(), m.locks.release())
	if g := m.guard.Swap(nil); g != nil {
		err = errors.Join(err, g.renewals.Close())
	}
	return err
}
