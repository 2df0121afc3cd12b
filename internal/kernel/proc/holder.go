package proc

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/prometheus/procfs"
)

// SocketHolder is the first process that has a socket open, by the socket's inode, and its name
// as the kernel has it; 0: none into whose files this process may look.
func (p Proc) SocketHolder(inode uint32) (pid int, name string) {
	all, _ := by(filepath.Dir(p.path("self")), procfs.FS.AllProcs)
	file := fmt.Sprintf("socket:[%d]", inode)
	for _, one := range all {
		if targets, err := one.FileDescriptorTargets(); err == nil && slices.Contains(targets, file) {
			name, _ = one.Comm()
			return one.PID, name
		}
	}
	return 0, ""
}
