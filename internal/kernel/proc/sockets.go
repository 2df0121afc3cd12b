package proc

import (
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// AbstractSockets are the names of unix sockets in the abstract namespace (unix(7)) of this network
// namespace that begin with prefix, each once, without the prefix, in order. Any user's process
// can have bound one.
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
