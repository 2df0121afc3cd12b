package machinetest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// First arguments with which a test program is not a test program: see init.
const (
	superviseArgument = "machinetest-supervise"
	connectArgument   = "machinetest-connect"
	executeArgument   = "machinetest-execute"
)

// init makes every test program that uses this package also the supervisor of its machines
// and the programs of Via and Exec.
func init() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case superviseArgument:
		os.Exit(supervise(os.Args[2:]))
	case connectArgument:
		os.Exit(connect(os.Args[2:]))
	case executeArgument:
		os.Exit(executeInTree(os.Args[2:]))
	}
}

// namespaces are those of a machine's supervisor: it is root and process 1 there, so that
// the kernel ends all of the machine's processes with it, there is no network, and mounts
// are its own.
func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Setpgid:     true, // Ctrl-C ends the test, which ends the machine
	}
}

// supervise runs a machine, DIR TREE FILES COMMAND…, FILES being the number of open files
// that it inherits; if TREE is true, the machine can read all files and write none. It ends when
// its standard input does, which is when the test process has gone, or with the machine; the
// directory goes with it.
func supervise(args []string) int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	dir, command := args[0], args[3:]
	inherited, err := strconv.Atoi(args[2])
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	protected := args[1] == "true"
	if err == nil && protected {
		err = protect(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if protected {
			unprotect(dir)
		}
		os.RemoveAll(dir)
	}()
	machine := exec.Command(command[0], command[1:]...)
	machine.Dir, machine.Stdout, machine.Stderr = dir, os.Stdout, os.Stderr
	machine.Env = append(os.Environ(), "TMPDIR="+memoryDir)
	for i := range inherited {
		machine.ExtraFiles = append(machine.ExtraFiles, os.NewFile(uintptr(firstFile+i), "inherited"))
	}
	if err := machine.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	orphaned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(orphaned)
	}()
	ended := make(chan error, 1)
	go func() { ended <- machine.Wait() }()
	select {
	case <-orphaned:
		_ = machine.Process.Kill()
		<-ended
		return 0
	case err := <-ended:
		fmt.Fprintln(os.Stderr, "machinetest: the machine ended:",
			errors.Join(err, errors.New(machine.ProcessState.String())))
		return 1
	}
}

// memoryDir is where user-mode Linux has the file that is its memory.
const memoryDir = "/dev/shm"

// protect makes all file systems read-only in this mount namespace, but a directory and a
// new memoryDir: root in the machine can mount hostfs for writing.
func protect(dir string) error {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE,
		&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return os.NewSyscallError("mount_setattr (Linux 5.12)", err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return os.NewSyscallError("mount_setattr", err)
	}
	return os.NewSyscallError("mount", unix.Mount("tmpfs", memoryDir, "tmpfs", 0, ""))
}

// unprotect lets the directory of protect be removed. What fails leaves the directory behind.
func unprotect(dir string) {
	parent := filepath.Dir(dir)
	_ = unix.Unmount(dir, unix.MNT_DETACH)
	_ = unix.Mount(parent, parent, "", unix.MS_BIND, "")
	_ = unix.MountSetattr(unix.AT_FDCWD, parent, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
}
