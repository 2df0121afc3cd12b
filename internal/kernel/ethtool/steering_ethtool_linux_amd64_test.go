//go:build !portable

package ethtool

import (
	"encoding/binary"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// ruleOf runs ethtool(8) and returns the rule that it hands to the kernel, from its memory.
func ruleOf(t *testing.T, arguments ...string) (flowSpec, bool) {
	t.Helper()
	runtime.LockOSThread() // ptrace(2) goes by threads
	defer runtime.UnlockOSThread()
	command := exec.Command("ethtool", arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var status unix.WaitStatus
	var found flowSpec
	have, pid := false, command.Process.Pid
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			_ = command.Process.Release()
			return found, have
		}
		var r unix.PtraceRegs
		if err := unix.PtraceGetRegs(pid, &r); err != nil {
			t.Fatal(err)
		}
		// On entry the kernel has put -ENOSYS in the register of the result.
		if r.Orig_rax == unix.SYS_IOCTL && r.Rsi == unix.SIOCETHTOOL && int64(r.Rax) == -int64(unix.ENOSYS) {
			var request ifreqData
			memory := unsafe.Slice((*byte)(unsafe.Pointer(&request)), unsafe.Sizeof(request))
			if _, err := unix.PtracePeekData(pid, uintptr(r.Rdx), memory); err != nil {
				t.Fatal(err)
			}
			at := uintptr(binary.NativeEndian.Uint64(memory[unix.IFNAMSIZ:]))
			request.data = nil // another process's
			var c struct {
				cmd, flowType uint32
				data          uint64
				spec          flowSpec
			}
			memory = unsafe.Slice((*byte)(unsafe.Pointer(&c)), unsafe.Sizeof(c))
			if _, err := unix.PtracePeekData(pid, at, memory[:4]); err == nil && c.cmd == insertRule {
				if _, err := unix.PtracePeekData(pid, at, memory); err != nil {
					t.Fatal(err)
				}
				found, have = c.spec, true
			}
		}
		if err := unix.PtraceSyscall(pid, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlowRulesLikeEthtool: a rule reaches the kernel with the same bytes as from ethtool(8).
func TestFlowRulesLikeEthtool(t *testing.T) {
	if _, err := exec.LookPath("ethtool"); err != nil {
		kerneltest.Skip(t, "ethtool is not installed")
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1")
		for _, text := range []string{
			"tcp4 dst-port 80 action 2",
			"udp4 src-ip 192.0.2.0 m 0.0.0.255 dst-ip 198.51.100.7 src-port 53 action -1",
			"sctp4 tos 16 dst-port 9 action 1",
			"ip4 src-ip 192.0.2.1 tos 4 l4proto 47 action 3",
			"tcp6 src-ip 2001:db8::1 dst-ip 2001:db8::2 src-port 1024 m 0x03ff dst-port 443 action 1",
			"udp6 tclass 8 dst-port 53 action 0",
			"ip6 dst-ip 2001:db8:: m ::ffff:ffff:ffff:ffff l4proto 58 action 5",
			"ether src 02:00:00:00:00:01 dst 02:00:00:00:00:02 m 00:00:00:ff:ff:ff proto 0x88f7 action 1",
			"ether proto 0x0806 vlan 5 m 0xf000 action 2",
			"tcp4 dst-port 80 vlan 5 vlan-etype 0x8100 dst-mac 02:00:00:00:00:09 action 7",
		} {
			r, err := setting.ParseFlowRule(text)
			if err != nil {
				t.Fatal(err)
			}
			is := encode(r, 5)
			want, have := ruleOf(t, append([]string{"-N", "eth0", "flow-type"}, append(strings.Fields(r.String()),
				"loc", "5")...)...)
			if !have {
				t.Errorf("%s: ethtool hands over no rule", text)
				continue
			}
			// ethtool does not clear bits of a value that are not compared; this does.
			for i, b := range want.mask.header {
				want.value.header[i] &= b
			}
			is.value.header[13] &= is.mask.header[13] // the version of ip4
			for i, b := range want.mask.ext {
				want.value.ext[i] &= b
			}
			if is != want {
				t.Errorf("%s:\n%+v, ethtool has\n%+v", text, is, want)
			}
		}
	})
}
