package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// RaiseOpenFiles raises this process's limit of descriptors, which its children inherit, to the kernel's
// maximum (fs.nr_open), or without CAP_SYS_RESOURCE to its hard limit.
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
