package proc

import (
	"fmt"
	"path/filepath"

	"github.com/prometheus/procfs"
)

// Holder is a process that has a socket open, and its name (comm).
type Holder struct {
	PID  int
	Name string
}

// Holders maps the inode of each open socket to one process that has it open. It omits processes whose files
// the caller may not read (proc(5), ptrace access mode).
func (p Proc) Holders() map[uint32]Holder {
	holders := map[uint32]Holder{}
	all, _ := by(filepath.Dir(p.path("self")), procfs.FS.AllProcs)
	for _, one := range all {
		targets, err := one.FileDescriptorTargets()
		if err != nil {
			continue
		}
		name, _ := one.Comm()
		for _, target := range targets {
			var inode uint32
			if n, _ := fmt.Sscanf(target, "socket:[%d]", &inode); n == 0 {
				continue
			}
			if _, known := holders[inode]; !known {
				holders[inode] = Holder{one.PID, name}
			}
		}
	}
	return holders
}
