package apply

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/model/message"
)

// Flush deletes learned neighbour entries: of the interfaces and addresses in request; if
// it has no interfaces or no addresses, of all. Permanent and proxy entries stay. Flush
// is not undone, since entries are learned again.
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
		permanent := n.Proxy || n.State == "PERMANENT" || n.State == "NOARP"
		if permanent || len(request.Interfaces) > 0 && !slices.Contains(request.Interfaces, n.Interface) ||
			len(request.Addresses) > 0 && !slices.Contains(request.Addresses, n.Address) {
			continue
		}
		failed = append(failed, m.host.conn.DeleteNeighbour(n.Interface, n.Address))
	}
	return errors.Join(failed...)
}
