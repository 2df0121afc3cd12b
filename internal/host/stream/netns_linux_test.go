package stream

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

const isolatedIn = "LINERATE_TEST_ISOLATED_IN"

// isolated runs the calling test again in a process with its own network
// namespace and reports whether this is that process.
func isolated(t *testing.T) bool {
	t.Helper()
	if os.Getenv(isolatedIn) == t.Name() {
		network(t, "link", "set", "dev", "lo", "up")
		return true
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), isolatedIn+"="+t.Name())
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if cmd.Process == nil {
		kerneltest.Skip(t, fmt.Sprintf("no network namespace: %v", err))
	}
	if err != nil {
		t.Errorf("in its own network namespace: %v", err)
	}
	return false
}

// network changes the namespace this process has for itself.
func network(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %q: %v\n%s", args, err, out)
	}
}

// TestUnreachable tells apart no route, no neighbour, and no answer in time.
func TestUnreachable(t *testing.T) {
	t.Parallel() // it mostly waits, for ARP to give up
	if !isolated(t) {
		return
	}
	network(t, "link", "add", "name", "near", "type", "veth", "peer", "name", "far")
	network(t, "address", "add", "10.9.9.1/24", "dev", "near")
	network(t, "-6", "address", "add", "fd09::1/64", "dev", "near", "nodad")
	network(t, "link", "set", "dev", "near", "up")
	network(t, "link", "set", "dev", "far", "up")
	opener, acceptor := engine(t, platform), engine(t, platform)
	l := acceptor.Listen(context.Background(), requests(1, message.FlowRequest{Local: loopback}))[0]
	local := netip.MustParseAddr("10.9.9.1")
	opened := opener.Connect(context.Background(), []message.FlowRequest{
		{ID: "no route", Sends: true, Remote: netip.MustParseAddrPort("192.0.2.7:5000")},
		{ID: "no neighbour", Sends: true, Local: local, Remote: netip.MustParseAddrPort("10.9.9.2:5000")},
		{ID: "no neighbour, IPv6", Sends: true, Remote: netip.MustParseAddrPort("[fd09::2]:5000")},
		{ID: "good", Sends: true, Remote: l.Local},
	}, patience)
	contains(t, opened[0].Error.Error(), "connect to 192.0.2.7:5000", "ENETUNREACH")
	contains(t, opened[1].Error.Error(), "connect 10.9.9.1 → 10.9.9.2:5000", "EHOSTUNREACH", "ARP got no answer")
	contains(t, opened[2].Error.Error(), "[fd09::2]:5000", "EHOSTUNREACH", "neighbour discovery")
	if opened[3].Error != nil {
		t.Errorf("the good flow: %s", opened[3].Error)
	}
	o := opener.Connect(context.Background(), []message.FlowRequest{
		{ID: "late", Local: local, Remote: netip.MustParseAddrPort("10.9.9.3:5000")},
	}, 100*time.Millisecond)[0]
	contains(t, o.Error.Error(),
		"connect 10.9.9.1 → 10.9.9.3:5000: connection timed out: no answer to SYN within 100ms")
}

// TestSilence: a peer that can no longer be reached counts as gone while it is
// silent, and as alive when it answers again.
func TestSilence(t *testing.T) {
	needsLinux(t)
	t.Parallel() // it mostly waits, for retransmissions
	if !isolated(t) {
		return
	}
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 50e6}}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	network(t, "link", "set", "dev", "lo", "down")
	eventually(t, "the silence is noticed", func() bool { return !sender.Read()[0].Alive })
	contains(t, sender.Read()[0].Error.Error(), "127.0.0.1:", "retransmissions in a row")
	network(t, "link", "set", "dev", "lo", "up")
	eventually(t, "the answer is noticed", func() bool { return sender.Read()[0].Alive })
}
