package kerneltest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supervised is the environment variable with the directory, set in the supervised process.
const supervised = "LINERATE_TEST_SUPERVISED"

// Supervised runs body in a process of its own, like InNamespace, with an empty directory. For each call of
// that process that changes a file or sends, in order, it calls answer in this process; the call waits until
// answer returns. So a test can make any call fail and knows what was written before. In the other process it
// returns false and the test ends. It uses seccomp's user notification (seccomp_unotify(2)); writes to mapped
// memory are not seen.
func Supervised(t *testing.T, body func(t *testing.T, dir string), answer func(dir string, c Call) Fault) bool {
	t.Helper()
	if dir := os.Getenv(supervised); dir != "" {
		if err := submit(); err != nil {
			t.Fatal("no supervision: ", err)
		}
		body(t, dir)
		return false
	}
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as /proc names files
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v",
		"-test.count=1")
	command.Env = append(os.Environ(), supervised+"="+dir)
	command.ExtraFiles = []*os.File{theirs}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err = Start(command)
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- supervise(command.Process.Pid, ours, func(c Call) Fault { return answer(dir, c) }) }()
	ended := command.Wait()
	ours.Close()
	if err := <-done; err != nil {
		Skip(t, fmt.Sprintf("system calls cannot be supervised: %v\n%s", err, &output))
	}
	if ended != nil || !strings.Contains(output.String(), "--- PASS: "+t.Name()) {
		t.Fatalf("supervised: %v\n%s", ended, &output)
	}
	return true
}

// channel is the descriptor on which the supervised process sends the number of its filter's descriptor.
const channel = 3

// submit installs the filter in this process.
func submit() error {
	const (
		number = 0  // offsets in struct seccomp_data
		low    = 16 // of the first argument, its lower half
		each   = 8  // size of an argument
		made   = unix.O_CREAT | unix.O_TRUNC
	)
	op := func(code uint16, k uint32, jt, jf uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf}
	}
	load := func(at uint32) unix.SockFilter { return op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
	verdict := func(v uint32) unix.SockFilter { return op(unix.BPF_RET|unix.BPF_K, v, 0, 0) }
	const equal, set = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	program := []unix.SockFilter{
		// A write to the channel happens before there is a supervisor.
		load(number), op(equal, unix.SYS_WRITE, 0, 3), load(low), op(equal, channel, 0, 1),
		verdict(unix.SECCOMP_RET_ALLOW), load(number),
		op(equal, unix.SYS_OPENAT, 0, 4), load(low + 2*each), op(set, made, 0, 1), verdict(unix.SECCOMP_RET_USER_NOTIF),
		verdict(unix.SECCOMP_RET_ALLOW),
		op(equal, unix.SYS_OPEN, 0, 4), load(low + each), op(set, made, 0, 1), verdict(unix.SECCOMP_RET_USER_NOTIF),
		verdict(unix.SECCOMP_RET_ALLOW),
	}
	for nr := range supervisedCalls {
		program = append(program, op(equal, uint32(nr), 0, 1), verdict(unix.SECCOMP_RET_USER_NOTIF))
	}
	program = append(program, verdict(unix.SECCOMP_RET_ALLOW))
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread() // prctl applies to the thread, until the filter is set for all
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC |
		unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	_, err := unix.Write(channel, fmt.Appendf(nil, "%d\n", listener))
	return err
}

// supervisedCalls convert the arguments of each system call.
var supervisedCalls = map[int]func(p process, a [6]uint64) Call{
	unix.SYS_WRITE: func(p process, a [6]uint64) Call {
		return Call{Op: Write, Path: p.file(a[0]), Data: p.memory(a[1], a[2]), Offset: p.position(a[0])}
	},
	unix.SYS_PWRITE64: func(p process, a [6]uint64) Call {
		return Call{Op: Write, Path: p.file(a[0]), Data: p.memory(a[1], a[2]), Offset: int64(a[3])}
	},
	unix.SYS_FSYNC:     func(p process, a [6]uint64) Call { return Call{Op: Sync, Path: p.file(a[0])} },
	unix.SYS_FDATASYNC: func(p process, a [6]uint64) Call { return Call{Op: Sync, Path: p.file(a[0])} },
	unix.SYS_FTRUNCATE: func(p process, a [6]uint64) Call {
		return Call{Op: Truncate, Path: p.file(a[0]), Offset: int64(a[1])}
	},
	unix.SYS_RENAME: func(p process, a [6]uint64) Call {
		return Call{Op: Rename, Path: p.path(here, a[0]), To: p.path(here, a[1])}
	},
	unix.SYS_RENAMEAT: func(p process, a [6]uint64) Call {
		return Call{Op: Rename, Path: p.path(a[0], a[1]), To: p.path(a[2], a[3])}
	},
	unix.SYS_RENAMEAT2: func(p process, a [6]uint64) Call {
		return Call{Op: Rename, Path: p.path(a[0], a[1]), To: p.path(a[2], a[3])}
	},
	unix.SYS_LINKAT: func(p process, a [6]uint64) Call {
		return Call{Op: Link, Path: p.path(a[0], a[1]), To: p.path(a[2], a[3])}
	},
	unix.SYS_UNLINK:   func(p process, a [6]uint64) Call { return Call{Op: Remove, Path: p.path(here, a[0])} },
	unix.SYS_UNLINKAT: func(p process, a [6]uint64) Call { return Call{Op: Remove, Path: p.path(a[0], a[1])} },
	unix.SYS_SENDTO:   func(p process, a [6]uint64) Call { return Call{Op: Send, Path: p.file(a[0])} },
	unix.SYS_SENDMSG:  func(p process, a [6]uint64) Call { return Call{Op: Send, Path: p.file(a[0])} },
}

// opened returns the Call for open(2) and openat(2); the filter passes on those that create or truncate a file.
func opened(path string, flags uint64) Call {
	c := Call{Op: Create, Path: path}
	if flags&unix.O_TRUNC != 0 {
		c.Offset = 1
	}
	return c
}

// here stands for the current directory, in calls without a directory argument.
const here = ^uint64(0)

// notification and response are struct seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// supervise answers the calls of a process until it has ended.
func supervise(pid int, name io.Reader, answer func(Call) Fault) error {
	var number int
	if _, err := fmt.Fscanln(name, &number); err != nil {
		return fmt.Errorf("the process names no filter: %w", err)
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	defer unix.Close(pidfd)
	listener, err := unix.PidfdGetfd(pidfd, number, 0)
	if err != nil {
		return os.NewSyscallError("pidfd_getfd", err)
	}
	defer unix.Close(listener)
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			return os.NewSyscallError("poll", err)
		}
		if poll[0].Revents&unix.POLLIN == 0 { // all its processes have ended
			return nil
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&n))); errno == unix.EINTR || errno == unix.ENOENT {
			continue // killed meanwhile
		} else if errno != 0 {
			return os.NewSyscallError("receive a notification", errno)
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		p := process(n.pid)
		var c Call
		switch int(n.number) {
		case unix.SYS_OPEN:
			c = opened(p.path(here, n.args[0]), n.args[1])
		case unix.SYS_OPENAT:
			c = opened(p.path(n.args[0], n.args[1]), n.args[2])
		default:
			c = supervisedCalls[int(n.number)](p, n.args)
		}
		if fault := answer(c); fault.Errno != 0 {
			r.flags, r.errno = 0, -int32(fault.Errno)
			if fault.Torn && c.Op == Write {
				if err := p.tear(n.args[0], c); err != nil {
					return err
				}
			}
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND,
			uintptr(unsafe.Pointer(&r))); errno != 0 && errno != unix.ENOENT {
			return os.NewSyscallError("answer a notification", errno)
		}
	}
}

// process is the ID of a thread that waits for the answer to its call.
type process uint32

func (p process) at(name string) string {
	return filepath.Join("/proc", strconv.Itoa(int(p)), name)
}

// file returns the path of a descriptor.
func (p process) file(descriptor uint64) string {
	// a closed descriptor makes the call fail by itself
	path, _ := os.Readlink(p.at(fmt.Sprintf("fd/%d", int32(descriptor))))
	return path
}

// position returns the offset of the next write to a descriptor.
func (p process) position(descriptor uint64) (at int64) {
	text, _ := os.ReadFile(p.at(fmt.Sprintf("fdinfo/%d", int32(descriptor))))
	_, _ = fmt.Sscanf(string(text), "pos: %d", &at)
	return at
}

// memory copies memory of the process.
func (p process) memory(at, length uint64) []byte {
	f, err := os.Open(p.at("mem"))
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, min(length, 1<<24))
	n, _ := f.ReadAt(data, int64(at))
	return data[:n]
}

// path resolves a string argument relative to a directory.
func (p process) path(directory, at uint64) string {
	text, _, _ := bytes.Cut(p.memory(at, unix.PathMax), []byte{0})
	if filepath.IsAbs(string(text)) {
		return filepath.Clean(string(text))
	}
	from := p.at("cwd")
	if int32(directory) >= 0 {
		from = p.at(fmt.Sprintf("fd/%d", int32(directory)))
	}
	base, _ := os.Readlink(from)
	return filepath.Join(base, string(text))
}

// tear writes the first half of a call's data.
func (p process) tear(descriptor uint64, c Call) error {
	f, err := os.OpenFile(p.at(fmt.Sprintf("fd/%d", int32(descriptor))), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(c.Data[:len(c.Data)/2], c.Offset)
	return err
}
