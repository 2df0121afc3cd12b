package netlink

import (
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/proc"
)

// NamespacedSysctl says whether each network namespace has its own value of a
// parameter. No table of names could keep up with kernels, so it looks: a net.*
// parameter is a namespace's own exactly if it exists and can be written in a
// network namespace that was just made, where the kernel shows machine-wide
// ones read-only or not at all. Everything outside net.* is machine-wide.
//
// Making the namespace needs CAP_SYS_ADMIN (in a lab, the user namespace's);
// without it the error says so, and the question is open.
func NamespacedSysctl(key string) (bool, error) {
	if !strings.HasPrefix(key, "net.") {
		return false, nil
	}
	key = withLoopback(key)
	namespaced.mu.Lock()
	defer namespaced.mu.Unlock()
	if known, found := namespaced.of[key]; found {
		return known, nil
	}
	var own bool
	err := inFreshNetNS(func() error {
		exists, writable, err := proc.Sysctls{}.Writable(key)
		own = exists && writable
		return err
	})
	if err == nil {
		namespaced.of[key] = own
	}
	return own, err
}

var namespaced = struct {
	mu sync.Mutex
	of map[string]bool
}{of: map[string]bool{}}

// withLoopback replaces the interface in a per-port parameter by lo, the only interface
// that a new namespace has.
func withLoopback(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) > 4 && (parts[1] == "ipv4" || parts[1] == "ipv6") && (parts[2] == "conf" || parts[2] == "neigh") &&
		parts[3] != "all" && parts[3] != "default" {
		parts[3] = "lo"
	}
	return strings.Join(parts, ".")
}

// inFreshNetNS runs f on a thread of its own in a new network namespace, which
// ends with it.
func inFreshNetNS(f func() error) error {
	return onOwnThread(func() (bool, error) {
		own, err := ownNamespace()
		if err != nil {
			return true, err
		}
		defer unix.Close(own)
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return true, &kernel.Error{Op: "make", Object: "a network namespace to look into", Err: err}
		}
		err = f()
		return unix.Setns(own, unix.CLONE_NEWNET) == nil, err
	})
}
