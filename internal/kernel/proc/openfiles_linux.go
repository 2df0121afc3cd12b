package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// RaiseOpenFiles lets this process, and those that it starts, have as many descriptors as the
// kernel allows one (fs.nr_open), or where that takes a privilege that it lacks
// (CAP_SYS_RESOURCE), as many as its hard limit.
func RaiseOpenFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if text, err := (Sysctls{}).Read("fs.nr_open"); err == nil {
		if most, err := strconv.ParseUint(text, 10, 64); err == nil && most > limit.Max {
			if unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most}) == nil {
				return nil
			}
		}
	}
	limit.Cur = limit.Max
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
}
