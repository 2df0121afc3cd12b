//go:build linux && !portable

package agent

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/attacks"
	"linerate/internal/model/message"
)

// TestAttacksAreOfLabs: an agent that no lab's init process has started does not answer the
// request for any attack, nor does a server; one that has a membership of another host refuses.
func TestAttacksAreOfLabs(t *testing.T) {
	ask := func(t *testing.T, b *bus.Bus, node string, want message.Code) {
		t.Helper()
		for _, k := range attacks.Kinds {
			r := message.AttacksRequest{Key: "0123456789abcdef0123456789abcdef", Attacks: []message.AttackRequest{
				{Kind: k.Name, Target: netip.MustParseAddrPort("192.0.2.1:80"), PerSecond: 1, Connections: 1}}}
			if _, err := bus.Call(t.Context(), b, node, message.Attacks, r); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %q", k.Name, err, want)
			}
		}
	}
	_, b, _ := visiting(t, bounds, nil)
	ask(t, b, "server", message.Unsupported)
	for name, o := range map[string]struct {
		lab  *message.Membership
		want message.Code
	}{"real": {nil, message.Unsupported}, "elsewhere": {&message.Membership{Key: "0123456789abcdef0123456789abcdef",
		Inode: 1}, message.NotPermitted}} {
		near, far := net.Pipe()
		b.Attach(name, near)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		go func() { _ = Serve(ctx, far, Options{Node: name, Access: message.Client | message.Own, Lab: o.lab}) }()
		if _, err := b.Hellos(ctx, []string{name}); err != nil {
			t.Fatal(err)
		}
		ask(t, b, name, o.want)
	}
}
