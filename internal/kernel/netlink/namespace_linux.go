//go:build !portable

package netlink

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace that linerate created (network_namespaces(7)). The kernel
// deletes it when no process and no descriptor refers to it any more. Creating and entering one
// requires CAP_SYS_ADMIN.
type Namespace struct {
	name string // for error messages
	fd   int
	conn *Conn
}

// ownNamespace opens the calling thread's network namespace. /proc/thread-self is correct even if
// /proc belongs to an outer PID namespace with different process IDs.
func ownNamespace() (int, error) {
	fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening /proc/thread-self/ns/net: %w", err)
	}
	return fd, nil
}

// onOwnThread runs f on a locked thread. If f reports that it restored the thread's namespaces, the
// thread is unlocked; otherwise it ends.
func onOwnThread(f func() (restored bool, err error)) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		restored, err := f()
		if restored {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// inNamespace runs f on its own thread after enter has moved that to another network namespace, and
// moves it back.
func inNamespace(enter, f func() error) error {
	return onOwnThread(func() (bool, error) {
		own, err := ownNamespace()
		if err != nil {
			return true, err
		}
		defer unix.Close(own)
		if err := enter(); err != nil {
			return true, err
		}
		err = f()
		return unix.Setns(own, unix.CLONE_NEWNET) == nil, err
	})
}

func unshareNetwork() error {
	return os.NewSyscallError("unshare(CLONE_NEWNET)", unix.Unshare(unix.CLONE_NEWNET))
}

// NewNamespace creates an empty network namespace. The name is only used in errors.
func NewNamespace(name string) (*Namespace, error) {
	n := &Namespace{name: name, fd: -1}
	err := inNamespace(unshareNetwork, func() (err error) {
		if n.fd, err = ownNamespace(); err == nil {
			n.conn, err = Dial()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("making a network namespace for %s: %w", name, err)
	}
	return n, nil
}

// Name returns the name given to NewNamespace.
func (n *Namespace) Name() string { return n.name }

// Close releases the descriptors.
func (n *Namespace) Close() {
	_ = n.conn.Close()
	unix.Close(n.fd)
}

// Do runs f on a thread inside the namespace. Processes that f starts are also inside it.
func (n *Namespace) Do(f func() error) error { return inNamespace(n.enter, f) }

func (n *Namespace) enter() error {
	if err := unix.Setns(n.fd, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering the network namespace of %s: %w", n.name, err)
	}
	return nil
}

// DoAsHost is like Do, but in a new mount namespace whose /sys and /proc show the network
// namespace, so that tools such as ip(8) see the host's interfaces, and in which the machine's parameters cannot be
// written by mistake. If mounting is not permitted (in some containers), they see those of the machine.
func (n *Namespace) DoAsHost(f func() error) error {
	return onOwnThread(func() (bool, error) {
		if err := n.enter(); err != nil {
			return false, err
		}
		if unix.Unshare(unix.CLONE_NEWNS) == nil && unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") == nil {
			_ = unix.Mount("sysfs", "/sys", "sysfs", 0, "")
			_ = unix.Mount("proc", "/proc", "proc", 0, "")
			keepMachine()
		}
		return false, f()
	})
}

// keepMachine makes read-only what of /proc is the machine's: all parameters but those of the network.
func keepMachine() {
	machine := []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}
	for _, path := range append(machine, "/proc/sys/net") { // a mount of its own
		_ = unix.Mount(path, path, "", unix.MS_BIND, "")
	}
	for _, path := range machine {
		_ = unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
}

// addName adds the namespace's name to an error.
func (n *Namespace) addName(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", n.name, err)
}
