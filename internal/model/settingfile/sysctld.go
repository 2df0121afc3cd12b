package settingfile

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// SysctlDirectories are the directories of sysctl.d(5): a file in an earlier one masks those of the same name in
// later ones.
var SysctlDirectories = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d",
	"/lib/sysctl.d"}

// ApplyOrder returns files of directories in the order in which sysctl.d(5) has them applied, which is that of their
// names, and those that others mask. Directories may be below another root, such as that of an archive. Of
// directories that are none of sysctl.d(5), the later one masks the earlier.
func ApplyOrder(files []string) (applied, masked []string) {
	rank := func(name string) int {
		dir := path.Dir(name)
		i := slices.IndexFunc(SysctlDirectories, func(of string) bool { return strings.HasSuffix(dir, of) })
		if i < 0 {
			return len(SysctlDirectories)
		}
		return i
	}
	files = slices.Clone(files)
	slices.Reverse(files)
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Or(strings.Compare(path.Base(a), path.Base(b)), rank(a)-rank(b))
	})
	for i, name := range files {
		if i > 0 && path.Base(files[i-1]) == path.Base(name) {
			masked = append(masked, name)
		} else {
			applied = append(applied, name)
		}
	}
	return applied, masked
}
