package proc

import (
	"bytes"
	"os"
	"strconv"
)

// OwnMemory is this process's own memory, in bytes: anonymous pages that are in
// memory (RssAnon of proc(5)), so without the program's text, which processes
// share. 0: it cannot be told.
func OwnMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if text, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			if fields := bytes.Fields(text); len(fields) > 0 {
				kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
				return kib << 10
			}
		}
	}
	return 0
}
