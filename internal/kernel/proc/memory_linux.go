package proc

import "github.com/prometheus/procfs"

// OwnMemory is this process's own memory, in bytes: anonymous pages that are in
// memory (RssAnon of proc(5)), so without the program's text, which processes
// share. 0: it cannot be read.
func OwnMemory() int64 {
	self, err := procfs.Self()
	if err != nil {
		return 0
	}
	status, err := self.NewStatus()
	if err != nil {
		return 0
	}
	return int64(status.RssAnon)
}
