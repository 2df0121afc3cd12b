//go:build linux && !portable

package measure

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
)

// TestSilentPeer: the error of a peer that does not answer says whether it answers ARP.
func TestSilentPeer(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		namespace := func(name string) *netlink.Namespace {
			n, err := netlink.NewNamespace(name)
			if err != nil {
				kerneltest.Skip(t, err.Error())
			}
			t.Cleanup(n.Close)
			return n
		}
		client, server := namespace("client"), namespace("server")
		end := netlink.LinkEnd{Namespace: client, Interface: "eth0", MAC: "02:00:00:00:00:02", MTU: 1500}
		if err := end.NewVethPair(netlink.LinkEnd{Namespace: server, Interface: "eth0", MAC: "02:00:00:00:00:01",
			MTU: 1500}); err != nil {
			t.Fatal(err)
		}
		in := func(n *netlink.Namespace, script string) {
			if err := n.DoAsHost(func() error { kerneltest.Do(t, "sh", "-c", script); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		in(client,
			"ip address add 10.0.0.2/24 dev eth0 && ip link set dev eth0 up && ip route add 10.9.0.0/24 via "+
				"10.0.0.1 && ip neighbour add 10.0.0.7 lladdr 02:00:00:00:00:07 dev eth0 nud permanent")
		in(server,
			"ip address add 10.0.0.1/24 dev eth0 && ip link set dev eth0 up && ip neighbour add 10.0.0.2 lladdr "+
				"02:00:00:00:00:99 dev eth0 nud permanent")
		for address, want := range map[string]string{
			"10.0.0.1": "It answers ARP",
			"10.9.0.9": "The gateway 10.0.0.1 answers ARP",
			"10.0.0.7": "The host is down, or",
		} {
			err := client.DoAsHost(func() error {
				_, err := greeting.Dial(t.Context(), address+":5202", netip.Addr{}, 300*time.Millisecond,
					"linerate serve")
				return withHop(err)
			})
			if err == nil || !strings.Contains(err.Error(), "\n"+want) {
				t.Errorf("%s: %v, want %q", address, err, want)
			}
		}
	})
}
