package apply

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/model/record"
)

// Flush forgets learned neighbour entries: of the ports named, or of all ports if
// none is; and only those of the addresses named, if any is. Made entries stay.
// It has no undo: what was learned is learned again.
func (m *Manager) Flush(request record.FlushRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, port := range request.Ports {
		if _, err := m.host.conn.LinkByName(port); err != nil {
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
		if made || len(request.Ports) > 0 && !slices.Contains(request.Ports, n.Port) ||
			len(request.Addresses) > 0 && !slices.Contains(request.Addresses, n.Address) {
			continue
		}
		failed = append(failed, m.host.conn.DeleteNeighbour(n.Port, n.Address))
	}
	return errors.Join(failed...)
}
