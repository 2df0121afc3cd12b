package file

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// directories are where an empty one can be put: they exist everywhere, and no
// program needs what it does not see of them.
var directories = []string{"/run", "/tmp", "/mnt"}

// PrivateTmpfs gives the calling thread a mount namespace of its own, with an empty
// directory in memory (tmpfs(5)) that only it and the processes it starts see, and
// that is gone with the last of them. The thread must be locked, and is not to be
// used for anything else.
func PrivateTmpfs() (string, error) {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return "", fmt.Errorf("unshare(CLONE_NEWNS): %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return "", fmt.Errorf("keeping mounts to a namespace of their own: %w", err)
	}
	for _, at := range directories {
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0700,size=16m"); err != nil {
			return "", fmt.Errorf("mounting a file system in memory on %s: %w", at, err)
		}
		return at, nil
	}
	return "", fmt.Errorf("none of the directories %v is there to mount on", directories)
}
