package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is an instruction set whose programs this kernel executes: its number in seccomp_data, and the numbers of
// the system calls by which a program gets sockets; 0: there is none.
type machine struct{ audit, socket, socketpair, socketcall uint32 }

// machines are those of this machine. The system calls of x32 are those of amd64 with another bit.
var machines = map[string][]machine{
	"amd64": {{unix.AUDIT_ARCH_X86_64, 41, 53, 0}, {unix.AUDIT_ARCH_I386, 359, 360, 102}},
	"arm64": {{unix.AUDIT_ARCH_AARCH64, 198, 199, 0}, {unix.AUDIT_ARCH_ARM, 281, 288, 102}},
}

// x32 is that bit.
const x32 = 0x40000000

// ioUringSetup is io_uring_setup(2) everywhere. What a ring does passes no filter.
const ioUringSetup = 425

// Offsets in seccomp_data, of which arguments are little-endian numbers of 64 bits.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg1   = 24
)

// noUnixSockets is a filter of system calls (seccomp(2)) by which there are no Unix sockets that could be connected to
// others: none of socket(2), and of socketpair(2) only those that stay with their peer, which datagram sockets do not.
func noUnixSockets(machines []machine) (filter []unix.SockFilter) {
	const load, and, jump, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_ALU | unix.BPF_AND | unix.BPF_K,
		unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	add := func(code uint16, k uint32) { filter = append(filter, unix.SockFilter{Code: code, K: k}) }
	// is executes what then adds if the loaded value is k.
	is := func(k uint32, then func()) {
		at := len(filter)
		add(jump, k)
		then()
		filter[at].Jf = uint8(len(filter) - at - 1)
	}
	allow := func() { add(end, unix.SECCOMP_RET_ALLOW) }
	refuse := func(with unix.Errno) func() {
		return func() { add(end, unix.SECCOMP_RET_ERRNO|uint32(with)) }
	}
	add(load, dataArch)
	for _, m := range machines {
		is(m.audit, func() {
			add(load, dataNumber)
			if m.audit == unix.AUDIT_ARCH_X86_64 {
				add(and, ^uint32(x32))
			}
			is(m.socket, func() {
				add(load, dataArg0)
				is(unix.AF_UNIX, refuse(unix.EAFNOSUPPORT))
				allow()
			})
			is(m.socketpair, func() {
				add(load, dataArg1)
				add(and, 0xf) // the type without its flags
				is(unix.SOCK_STREAM, allow)
				is(unix.SOCK_SEQPACKET, allow)
				refuse(unix.EAFNOSUPPORT)()
			})
			if m.socketcall != 0 { // its arguments are in memory; C libraries have not used it since Linux 4.3
				is(m.socketcall, refuse(unix.ENOSYS))
			}
			is(ioUringSetup, refuse(unix.ENOSYS))
			allow()
		})
	}
	refuse(unix.ENOSYS)()
	return filter
}

// withoutUnixSockets has the kernel refuse Unix sockets to what the calling thread executes. It needs
// PR_SET_NO_NEW_PRIVS.
func withoutUnixSockets() error {
	all := machines[runtime.GOARCH]
	if all == nil {
		return fmt.Errorf("no Unix sockets: seccomp(2) on %s: %w", runtime.GOARCH, unix.ENOSYS)
	}
	filter := noUnixSockets(all)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Without SPEC_ALLOW (Linux 4.17), programs are slower than outside before Linux 5.16.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0} {
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
			uintptr(unsafe.Pointer(&program)))
		if errno == 0 {
			return nil
		}
		if errno != unix.EINVAL || flags == 0 {
			return fmt.Errorf("no Unix sockets: seccomp(2): %w", errno)
		}
	}
	return nil
}

// visible are the directories of / that programs have of the machine; systems have no sockets of services there.
var visible = []string{"bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "proc", "sbin", "sys",
	"tmp", "usr"}

// hidden hides all other directories of / from a program, which may use Unix sockets, but for the one that it is in.
func hidden(program string) error {
	list, err := os.ReadDir("/")
	if err != nil {
		return fmt.Errorf("hiding directories: %w", err)
	}
	own, _, _ := strings.Cut(strings.TrimPrefix(filepath.Clean(program), "/"), "/")
	for _, entry := range list {
		if !entry.IsDir() || entry.Name() == own || slices.Contains(visible, entry.Name()) {
			continue
		}
		if err := unix.Mount("tmpfs", "/"+entry.Name(), "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|
			unix.MS_NOEXEC, "mode=0755,size=4k"); err != nil {
			return fmt.Errorf("hiding /%s: %w", entry.Name(), err)
		}
	}
	return nil
}
