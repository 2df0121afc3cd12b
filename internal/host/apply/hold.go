package apply

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/setting"
)

// Hold notes what the kernel would take away if interfaces lost their carrier, because
// somebody is going to take the other end down: their nexthop objects, with the
// routes by them (nh_netdev_event in net/ipv4/nexthop.c). Reverting to the mark puts
// back what has gone, once the carrier is there again. Nothing is changed.
func (m *Manager) Hold(ports []string) (mark int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mark = len(m.entries)
	for _, port := range ports {
		if err := m.hold(port); err != nil {
			return mark, fmt.Errorf("noting what goes with the carrier of %s: %w", port, err)
		}
	}
	return mark, nil
}

// regain puts back the objects that have gone with a carrier, as far as they were held
// and none of the changes since is about them: what those go back to may go by them.
// What it cannot put back, the undo of the hold will say.
func (m *Manager) regain(entries []*entry) {
	for i, held := range entries {
		if held.Prior.Text != held.New.Text { // this was a change
			continue
		}
		changed := map[string]bool{}
		for _, e := range entries[i+1:] {
			changed[e.Kind+" "+e.What] = true
		}
		objects := slices.DeleteFunc(slices.Clone(held.Around.Nexthops), func(t thing) bool {
			ids, _ := grouped(t.Text)
			return slices.ContainsFunc(append(ids, strings.Fields(t.Text)[1]), func(id string) bool {
				id, _, _ = strings.Cut(id, ",") // without a member's weight
				return changed["nexthop id "+id]
			})
		})
		_ = m.host.restore(surroundings{Nexthops: objects})
	}
}

// hold enters that an interface which is up is to be up.
func (m *Manager) hold(port string) error {
	up := true
	targets, err := m.host.targets(setting.Setting{Link: &setting.Link{Interface: port, Up: &up}})
	if err != nil {
		return err
	}
	t := targets[0]
	is, err := t.read()
	if err != nil || !t.same(is, State{Text: "true"}) {
		return err // an interface that is down has no carrier to lose
	}
	around, err := m.host.capture(danger{routes: true})
	if err != nil || len(around.Nexthops) == 0 {
		return err
	}
	// Other routes stay, marked as without a carrier.
	around.Routes = slices.DeleteFunc(around.Routes, func(r thing) bool { return !strings.Contains(r.Text, " nhid ") })
	return m.enter(&entry{Kind: t.kind(), What: t.what(), Scope: Namespace, Setting: t.setting(), Prior: is, New: is, Around: around, target: t})
}
