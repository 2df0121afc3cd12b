package program

import (
	"fmt"
	"os"
	"syscall"

	"linerate/internal/kernel/proc"
)

// attributes returns the attributes of a process that leads a group and dies with the agent. If alone, it is the first
// of a PID namespace, whose processes die with it. If apart, the namespace that apart made ends with the agent:
// package syscall takes the agent, whose process ID is none there, for a parent that has died.
func attributes(alone, apart bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !apart {
		a.Pdeathsig = syscall.SIGKILL
	}
	if alone {
		a.Cloneflags = syscall.CLONE_NEWPID
	}
	return a
}

// shell is the first process of the programs' PID namespace.
const shell = "/bin/sh"

// apart sets namespaces of their own for the programs that this thread starts (proc.Apart), and starts the first
// process there, which does nothing. When end is called, or the agent ends, the kernel kills whatever is left of the
// programs. is reports whether there are the namespaces, and the error says what is not possible.
func apart() (is bool, end func(), err error) {
	none := func() {}
	if _, err := os.Stat(shell); err != nil { // the first process must not fail: none could follow it
		return false, none, fmt.Errorf("processes apart: %w", err)
	}
	// Package os starts a process at its first use to see what the kernel can do: not there.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	limit, err := proc.Apart()
	if err != nil {
		return false, none, err
	}
	in, hold, err := os.Pipe()
	if err != nil {
		return false, none, err
	}
	defer in.Close()
	said, out, err := os.Pipe()
	if err != nil {
		hold.Close()
		return false, none, err
	}
	defer said.Close()
	// The shell reaps orphans, whose ends interrupt read.
	first := proc.Command(shell, "-c", limit+"; echo; exec >/dev/null; while :; do read end; done")
	first.Dir, first.Stdin, first.Stdout, first.SysProcAttr = "/", in, out, attributes(false, false)
	err = first.Start()
	out.Close()
	if err != nil {
		hold.Close()
		return false, none, fmt.Errorf("processes apart: %w", err)
	}
	end = func() {
		hold.Close()
		_ = first.Process.Kill()
		_ = first.Wait()
	}
	// Nothing is started before the limit is set, or is known to be none.
	if _, err := said.Read(make([]byte, 1)); err != nil {
		return true, end, fmt.Errorf("processes apart: %s: %w", shell, err)
	}
	return true, end, nil
}
