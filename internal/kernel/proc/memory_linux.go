package proc

import "github.com/prometheus/procfs"

// OwnMemory returns this process's resident anonymous memory in bytes (RssAnon of proc_pid_status(5)): without
// the program's text, which processes share. 0: unknown.
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
