package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"

	"linerate/internal/kernel/sock"
)

// initProcess is the init process as seen by the conductor.
type initProcess struct {
	control net.Conn
	ended   chan error
}

func (k *initProcess) end() {
	k.control.Close()
	<-k.ended
}

// namespaceError is the kernel's refusal to make namespaces; it may permit them with a
// user namespace, or without one.
type namespaceError struct{ error }

func (r namespaceError) Unwrap() error { return r.error }

// namespaceErrnos are the errors by which clone(2) and unshare(2) refuse namespaces:
// not permitted, or more or deeper ones than user.max_*_namespaces allows.
var namespaceErrnos = []error{os.ErrPermission, syscall.ENOSPC, syscall.EUSERS}

func isNamespaceError(err error, others ...error) bool {
	return slices.ContainsFunc(slices.Concat(namespaceErrnos, others), func(no error) bool {
		return errors.Is(err, no)
	})
}

// startInit starts the init process, in a user namespace of its own unless it may run as
// root, and waits until all nodes and links are made.
func (l *Lab) startInit(p plan) error {
	// Root in a container may lack CAP_SYS_ADMIN; then the user namespace is tried.
	tries := []bool{true}
	if os.Geteuid() == 0 {
		tries = []bool{false, true}
	}
	var errs []error
	for _, rootless := range tries {
		err := l.tryInit(p, rootless)
		if err == nil {
			l.rootless = rootless
			return nil
		}
		errs = append(errs, err)
		if !errors.As(err, new(namespaceError)) {
			break
		}
	}
	err := errors.Join(errs...)
	if errors.As(err, new(namespaceError)) {
		return fmt.Errorf(
			"making a lab: %w (it needs root, or user namespaces for ordinary users: sysctl "+
				"user.max_user_namespaces above 0, user.max_net_namespaces above the number of hosts and switches, "+
				"and kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0 where "+
				"those exist)", err)
	}
	return fmt.Errorf("making a lab: %w", err)
}

func (l *Lab) tryInit(p plan, rootless bool) (err error) {
	var files []*os.File   // of the init process, in the order of its descriptors
	var streams []net.Conn // our ends: control, then one of each node
	defer func() {
		for _, f := range files {
			f.Close()
		}
		if err != nil {
			for _, s := range streams {
				s.Close()
			}
		}
	}()
	pair := func() error {
		near, far, err := sock.SocketPair()
		if err != nil {
			return err
		}
		files = append(files, far)
		stream, err := fileConn(near)
		if err == nil {
			streams = append(streams, stream)
		}
		return err
	}
	if err := pair(); err != nil {
		return err
	}
	listener, err := listenExec(l.options.Name)
	if err != nil {
		return err
	}
	files = append(files, listener)
	for range p.Nodes {
		if err := pair(); err != nil {
			return err
		}
	}
	control, nodes := streams[0], streams[1:]
	k := &initProcess{control: control, ended: make(chan error, 1)}
	if err := k.start(files, rootless); err != nil {
		if isNamespaceError(err, syscall.EINVAL) { // a kernel without such namespaces
			return namespaceError{err}
		}
		return err
	}
	// Only the init process may have the far ends, so that a stream ends with it.
	for _, f := range files {
		f.Close()
	}
	for i, n := range p.Nodes {
		l.bus.Attach(n.Name, nodes[i])
	}
	var reply initReply
	err = json.NewEncoder(control).Encode(p)
	if err == nil {
		err = json.NewDecoder(control).Decode(&reply)
	}
	switch {
	case err != nil:
		k.control.Close()
		return fmt.Errorf("the lab's init process ended: %w", errors.Join(err, <-k.ended))
	case reply.NamespaceError:
		k.end()
		return namespaceError{errors.New(reply.Error)}
	case reply.Error != "":
		k.end()
		return errors.New(reply.Error)
	}
	l.init, l.impairedBy = k, reply.ImpairedBy
	return nil
}

// start starts the process from a thread that lives as long as the process: the kernel
// sends the parent-death signal when the forking thread ends (prctl(2),
// PR_SET_PDEATHSIG).
func (k *initProcess) start(files []*os.File, rootless bool) error {
	started := make(chan error)
	go func() {
		cmd := program("lab", "init")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stderr, os.Stderr
		cmd.ExtraFiles = files
		cmd.SysProcAttr = initAttributes(rootless)
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			k.ended <- cmd.Wait()
		}
	}()
	return <-started
}

func fileConn(f *os.File) (net.Conn, error) {
	defer f.Close()
	return net.FileConn(f)
}
