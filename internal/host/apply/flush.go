package apply

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/model/message"
)

// Flush forgets learned neighbour entries: of the interfaces named, or of all interfaces if
// none is; and only those of the addresses named, if any is. Made entries stay.
// It has no undo: what was learned is learned again.
func (m *Manager) Flush(request message.FlushRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, iface := range request.Interfaces {
		if _, err := m.host.conn.LinkByName(iface); err != nil {
			return fmt.Errorf("flush neighbours: %w", err)
		}
	}
	all, err := m.host.conn.Neighbours()
	if err != nil {
		return fmt.Errorf("flush neighbours: %w", err)
	}
	var failed []error
	for _, n := range all {
		made := n.Proxy || n.State == "PERMANENT" || n.State == "NOARP"
		if made || len(request.Interfaces) > 0 && !slices.Contains(request.Interfaces, n.Interface) ||
			len(request.Addresses) > 0 && !slices.Contains(request.Addresses, n.Address) {
			continue
		}
		failed = append(failed, m.host.conn.DeleteNeighbour(n.Interface, n.Address))
	}
	return errors.Join(failed...)
}
