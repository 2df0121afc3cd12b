package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// toolCapabilities are what root's programs keep: those over the network, such as for restricted congestion
// controls, and over their own priority.
var toolCapabilities = []Capability{
	unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW, unix.CAP_SYS_NICE, unix.CAP_IPC_LOCK,
}

// Capability is the number of a capability (capabilities(7)).
type Capability int

// Needs are what a program needs beyond what Confine leaves to every one.
type Needs struct {
	Capabilities []Capability
	// UnixSockets is the path of a program that makes Unix sockets of its own. It has them, and sees the system's
	// programs, libraries and configuration alone. Empty: the kernel refuses Unix sockets.
	UnixSockets string
}

// UserSwitching are the capabilities of a root program whose processes change to other users and exchange files
// and signals with them.
var UserSwitching = []Capability{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE,
	unix.CAP_FOWNER, unix.CAP_KILL}

// mostProcesses is how many processes and threads a thread's programs may have at the same time (Apart).
const mostProcesses = 4096

// Apart moves what the calling thread starts from now on to PID and IPC namespaces of its own: it sees, signals and
// traces nothing else, and leaves no process and no shared memory. The thread must be locked. The first process that
// it starts is that of the PID namespace, with whose end the kernel kills all others; it should execute limit, a
// command of the shell, which bounds their number. Before Linux 6.14, which has one bound for the machine, it does
// nothing.
func Apart() (limit string, err error) {
	if err := unix.Unshare(unix.CLONE_NEWPID | unix.CLONE_NEWIPC); err != nil {
		return "", fmt.Errorf("processes apart: unshare(CLONE_NEWPID): %w", err)
	}
	if !atLeast(Release(), 6, 14) {
		return ":", nil
	}
	return fmt.Sprintf("echo %d >/proc/sys/kernel/pid_max", mostProcesses), nil
}

// KilledFirst has the kernel kill a process, and what it starts, before others when memory runs out. Where /proc is
// that of another PID namespace, it does nothing.
func KilledFirst(pid int) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), os.O_WRONLY, 0)
	if err != nil {
		return // it has ended
	}
	defer f.Close()
	_, _ = f.WriteString("1000")
}

// atLeast reports whether a release of Linux is not before a version.
func atLeast(release string, major, minor int) bool {
	var has [2]int
	n, _ := fmt.Sscanf(release, "%d.%d", &has[0], &has[1])
	return n == 2 && (has[0] > major || has[0] == major && has[1] >= minor)
}

// Confine restricts what the calling thread starts from now on: it cannot gain privileges
// (PR_SET_NO_NEW_PRIVS), every file system is read-only to it, /tmp, /var/tmp and /dev/shm are its own and
// empty, it reaches no Unix socket outside, and root has only the capabilities over the network and those that
// it needs. The thread must be locked and used for nothing else.
//
// The error says what is not possible: a mount namespace needs CAP_SYS_ADMIN. PR_SET_NO_NEW_PRIVS is set even
// then.
func Confine(needs Needs) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err)
	}
	err := readOnly()
	switch {
	case needs.UnixSockets == "":
		err = errors.Join(err, withoutUnixSockets())
	case err == nil:
		err = hidden(needs.UnixSockets)
	}
	return errors.Join(err, boundCapabilities(slices.Concat(toolCapabilities, needs.Capabilities)))
}

// readOnly enters a mount namespace in which nothing can be written.
func readOnly() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("read-only file systems: unshare(CLONE_NEWNS): %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("read-only file systems: making mounts private: %w", err)
	}
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attributes); err != nil { // Linux 5.12
		return fmt.Errorf("read-only file systems: mount_setattr(2): %w", err)
	}
	for _, at := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			continue
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC,
			"mode=1777,size=64m"); err != nil {
			return fmt.Errorf("a private %s: %w", at, err)
		}
	}
	return nil
}

// boundCapabilities limits what root starts to these capabilities, so that it cannot undo the mounts either
// (capabilities(7), capability bounding set). The thread keeps its own.
func boundCapabilities(keep []Capability) error {
	for capability := Capability(0); ; capability++ {
		if slices.Contains(keep, capability) {
			continue
		}
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // no further capabilities
			return nil
		case errors.Is(err, unix.EPERM) && os.Geteuid() != 0:
			return nil // the thread has none to pass on
		case err != nil:
			return fmt.Errorf("prctl(PR_CAPBSET_DROP): %w", err)
		}
	}
}
