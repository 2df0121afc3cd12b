package apply

import (
	"context"
	"fmt"
	"slices"

	"linerate/internal/model/message"
	"linerate/internal/model/setting"
)

// Hold records which objects the kernel would delete if the interfaces in request lost
// their carrier, because the other end of the link is about to be set down: their
// nexthop objects, with the routes that use these (nh_netdev_event in
// net/ipv4/nexthop.c). It changes nothing. Reverting to the returned mark, once the
// carrier is back, restores what was deleted.
func (m *Manager) Hold(_ context.Context, request message.HoldRequest) (message.Mark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reply := message.Mark{Mark: len(m.entries)}
	for _, iface := range request.Interfaces {
		if err := m.hold(iface); err != nil {
			return reply, fmt.Errorf("recording what depends on the carrier of %s: %w", iface, err)
		}
	}
	return reply, nil
}

// regain restores the objects that were deleted with a carrier, as far as they were
// recorded by Hold and no later change concerns them: later changes may be reverted
// to objects that use them. Failures are reported by the undo of the hold.
func (m *Manager) regain(entries []*entry) {
	for i, held := range entries {
		if held.Prior.Text != held.New.Text { // this was a change
			continue
		}
		changed := map[string]bool{}
		for _, e := range entries[i+1:] {
			changed[e.Kind+" "+e.What] = true
		}
		objects := slices.DeleteFunc(slices.Clone(held.Around.Objects["nexthop"]), func(t kernelObject) bool {
			return slices.ContainsFunc(t.Nexthops, func(id int) bool {
				return changed[fmt.Sprintf("nexthop id %d", id)]
			})
		})
		var lost dependents
		lost.set("nexthop", objects)
		_ = m.host.restore(lost)
	}
}

// hold enters into the journal that an interface is up.
func (m *Manager) hold(iface string) error {
	up := true
	targets, err := m.host.targets(setting.Setting{Link: &setting.Link{Interface: iface, Up: &up}})
	if err != nil {
		return err
	}
	t := targets[0]
	is, err := t.read()
	if err != nil || !t.same(is, State{Text: "true"}) {
		return err // an interface that is down has no carrier to lose
	}
	around, err := m.host.capture(sideEffects{routes: true})
	if err != nil || len(around.Objects["nexthop"]) == 0 {
		return err
	}
	// Other routes stay, marked as without a carrier.
	around.set("route", slices.DeleteFunc(around.Objects["route"], func(r kernelObject) bool {
		return len(r.Nexthops) == 0
	}))
	return m.enter(&entry{Kind: t.kind(), What: t.what(), Scope: Namespace, Setting: t.setting(), Prior: is, New: is,
		Around: around, target: t})
}
