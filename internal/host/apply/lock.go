package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/proc"
)

// One process at a time changes settings: those of a network namespace, and those of the
// machine outside of it. The locks are flock(2) on kernel parameters that the kernel lets
// only those open who may change such settings: of every user, in whatever directory their
// journals are. They end with their process and leave no file behind. See
// docs/decisions/0029-locks-journals-and-leases.md.
const (
	namespaceLock = "net.ipv4.tcp_fastopen_key" // mode 0600, CAP_NET_ADMIN over the namespace
	machineLock   = "kernel.cad_pid"            // mode 0600, root of the machine
)

// locks are the locks that a process holds.
type locks map[string]*os.File

// take takes the lock for a change, unless this process has it; new: it had not. If another
// process has it, the error is file.ErrLocked.
func (l locks) take(sysctls proc.Sysctls, outsideNet bool) (isNew bool, err error) {
	key, of := namespaceLock, "this network namespace"
	if outsideNet {
		key, of = machineLock, "the machine"
	}
	if l[key] != nil {
		return false, nil
	}
	if l[key], err = sysctls.Lock(key); err == nil {
		return true, nil
	}
	delete(l, key)
	if errors.Is(err, file.ErrLocked) {
		return false, fmt.Errorf("another linerate process changes settings of %s, or reverts them: %w", of, err)
	}
	if errors.Is(err, fs.ErrPermission) && !outsideNet {
		return false, fmt.Errorf("settings of %s need root or the capability CAP_NET_ADMIN over it: %w", of,
			syscall.EPERM)
	}
	return false, fmt.Errorf("settings of %s cannot be changed from here: %w", of, err)
}

// release releases all.
func (l locks) release() error {
	var errs []error
	for key, f := range l {
		errs = append(errs, f.Close())
		delete(l, key)
	}
	return errors.Join(errs...)
}
