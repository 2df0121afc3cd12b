//go:build !portable

package proc

import "golang.org/x/sys/unix"

// Release is the kernel's release as uname(2) gives it, such as "6.18.44"; empty: unknown.
func Release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
