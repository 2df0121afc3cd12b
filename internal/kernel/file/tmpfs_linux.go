package file

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// directories are possible mount points: they exist on most systems, and no program that linerate starts needs
// their content.
var directories = []string{"/run", "/tmp", "/mnt"}

// PrivateTmpfs moves the calling thread to its own mount namespace with an empty tmpfs(5) of at most 64 MiB,
// and returns its path. Only the thread and processes that it starts see it, and it disappears with the last of
// them. The thread must be locked and used for nothing else. It needs CAP_SYS_ADMIN.
func PrivateTmpfs() (string, error) {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return "", fmt.Errorf("unshare(CLONE_NEWNS): %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return "", fmt.Errorf("making mounts private: %w", err)
	}
	for _, at := range directories {
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC,
			"mode=0700,size=64m"); err != nil {
			return "", fmt.Errorf("mounting a file system in memory on %s: %w", at, err)
		}
		return at, nil
	}
	return "", fmt.Errorf("none of the directories %v exists to mount on", directories)
}
