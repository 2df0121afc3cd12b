package proc

import (
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// AbstractSockets returns the names of abstract unix sockets (unix(7)) of this network namespace that begin
// with prefix, without it, sorted and unique. Processes of any user can have bound them.
func (p Proc) AbstractSockets(prefix string) ([]string, error) {
	sockets, err := by(p.netRoot(), procfs.FS.NetUNIX)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range sockets.Rows {
		if name, ok := strings.CutPrefix(s.Path, "@"+prefix); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
