//go:build !portable

package netlink

import (
	"strings"
	"sync"

	"linerate/internal/kernel/proc"
)

// NamespacedSysctl reports whether each network namespace has its own value of a parameter. There
// is no list of names: a net.* parameter is namespaced exactly if it exists and can be written in a
// new network namespace, where the kernel shows machine-wide ones read-only or not at all.
// Everything outside net.* is machine-wide.
//
// Creating the namespace requires CAP_SYS_ADMIN (in a lab, in the user namespace); without it the
// result is an error. Results are cached.
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
	err := inNamespace(unshareNetwork, func() error {
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

// withLoopback replaces the interface in a parameter by lo, the only interface of a new namespace.
func withLoopback(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) > 4 && (parts[1] == "ipv4" || parts[1] == "ipv6") && (parts[2] == "conf" || parts[2] == "neigh") &&
		parts[3] != "all" && parts[3] != "default" {
		parts[3] = "lo"
	}
	return strings.Join(parts, ".")
}
