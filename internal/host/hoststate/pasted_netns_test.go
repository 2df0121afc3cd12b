//go:build linux && !portable

package hoststate

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
)

// pastedCommands are those whose output is to say the same as a snapshot.
var pastedCommands = []string{
	"ip -d addr", "ip -s -s link", "ip neigh", "ip route show table all", "ip -6 route show table all", "ip rule",
	"ip -6 rule", "tc -s qdisc", "ss -tinmpoa", "ss -uanmp",
	"sysctl -a", "cat /proc/net/softnet_stat", "ethtool paste0", "ethtool -i paste0", "ethtool -k paste0",
	"ethtool -l paste0", "ethtool -c paste0", "ethtool -S paste0",
}

// TestPasted: what the tools of a host print is read as the host's own snapshot has it.
func TestPasted(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, line := range []string{
			// Otherwise routes of link-local addresses appear between the tools' reading and the host's own.
			"sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0",
			"ip link add name paste0 type veth peer name paste1", "ip link set dev paste1 address 02:00:00:00:00:02",
			"ip addr add 192.0.2.1/24 dev paste0", "ip link set dev lo up", "ip link set dev paste0 mtu 9000 up",
			"ip link set dev paste1 up",
			"ip neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev paste0", "ip route add blackhole 198.51.100.0/24",
			"ip route add default via 192.0.2.9 dev paste0 metric 7",
			"ip route add 203.0.113.0/24 nexthop via 192.0.2.9 dev paste0 weight 1 nexthop via 192.0.2.8 dev " +
				"paste0 weight 3",
			"ip route add 10.0.0.0/8 via 192.0.2.9 table 101", "ip rule add from 192.0.2.1 lookup 101 priority 100",
			"ip rule add fwmark 1 lookup 102 priority 101",
			"tc qdisc add dev paste0 root handle 7: tbf rate 100mbit burst 32k limit 30000",
			"sysctl -qw net.ipv4.conf.paste0.rp_filter=1", "ethtool -K paste0 tso off",
		} {
			words := strings.Fields(line)
			kerneltest.Do(t, words[0], words[1:]...)
		}
		waitingSockets(t)
		var text strings.Builder
		for _, command := range pastedCommands {
			words := strings.Fields(command)
			if _, err := exec.LookPath(words[0]); err != nil {
				kerneltest.Skip(t, err.Error())
			}
			output, _ := exec.Command(words[0], words[1:]...).CombinedOutput() // a part may not be supported
			fmt.Fprintf(&text, "root@here:~# %s\n%s", command, output)
		}
		p, err := pasted.Parse(text.String())
		if err != nil || p.Lost > 0 || len(p.Machines) != 1 {
			for _, m := range p.Machines {
				t.Log(m.Reading.Host, m.Pasted)
			}
			t.Fatalf("%v, not understood: %q", err, p.NotUnderstood)
		}
		live, err := Read(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		// A connection may have waited for an acknowledgement when ss read it, and not when the host was read.
		notable := &p.Machines[0].State.Notable
		*notable = slices.DeleteFunc(*notable, func(c netstate.Connection) bool {
			return !slices.ContainsFunc(live.State.Notable, func(other netstate.Connection) bool {
				return c.Local == other.Local && c.Remote == other.Remote
			})
		})
		want, got := comparable(live), comparable(p.Machines[0])
		for _, part := range slices.Sorted(maps.Keys(want)) {
			if !reflect.DeepEqual(got[part], want[part]) {
				t.Errorf("%s:\npasted %+v\n  live %+v", part, got[part], want[part])
			}
		}
	})
}

// waitingSockets are a listener whose queue is full, a datagram and a connection that are not read.
func waitingSockets(t *testing.T) {
	keep := func(c interface{ Close() error }, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	at := netip.MustParseAddrPort("127.0.0.1:7001")
	keep(listenOf(at, 1))
	for range 2 {
		keep(net.Dial("tcp", at.String()))
	}
	reader, err := net.ListenPacket("udp", "127.0.0.1:7002")
	keep(reader, err)
	sender, err := net.Dial("udp", "127.0.0.1:7002")
	keep(sender, err)
	_, err = sender.Write(make([]byte, 1000))
	keep(sender, err)
	listener, err := net.Listen("tcp", "127.0.0.1:7003")
	keep(listener, err)
	client, err := net.Dial("tcp", "127.0.0.1:7003")
	keep(client, err)
	server, err := listener.Accept()
	keep(server, err)
	_, err = client.Write(make([]byte, 5000))
	keep(client, err)
}

// comparable are the parts of a snapshot that tools and snapshot are to agree on, without what
// changes between two readings and what the tools do not print.
func comparable(s netstate.HostSnapshot) map[string]any {
	r := s.Reading
	parts := map[string]any{"softnet": len(r.End.Softnet), "states": s.State.TCP}
	list := func(part string, rows []string) {
		slices.Sort(rows)
		parts[part] = slices.Compact(rows)
	}
	var rows []string
	for _, i := range r.Snapshot.Interfaces {
		slices.Sort(i.Addresses)
		rows = append(rows, fmt.Sprint(i.Interface, i.Index, i.MAC, i.MTU, i.Up, i.Addresses, i.Master, i.Kind))
	}
	list("interfaces", rows)
	rows = nil
	for _, n := range r.Snapshot.Neighbours {
		if n.State == "PERMANENT" {
			rows = append(rows, fmt.Sprint(n))
		}
	}
	list("neighbours", rows)
	rows = nil
	for _, x := range r.Snapshot.Routes {
		if strings.Contains(x.To, ":") {
			x.Text = "" // a tool prints more of those of IPv6
		}
		if x.Protocol == "boot" { // which ip(8) leaves out
			x.Protocol = ""
		}
		rows = append(rows, strings.Replace(fmt.Sprint(x), " proto boot", "", 1))
	}
	list("routes", rows)
	rows = nil
	for _, x := range r.Snapshot.Rules {
		rows = append(rows, fmt.Sprint(x))
	}
	list("rules", rows)
	rows = nil
	for _, q := range r.End.Qdiscs {
		if q.Interface != "lo" && q.Kind != "noqueue" {
			rows = append(rows, fmt.Sprint(q.Interface, q.Kind, q.Handle))
		}
	}
	list("qdiscs", rows)
	rows = nil
	for _, l := range s.State.Listeners {
		rows = append(rows, fmt.Sprint(l))
	}
	list("listeners", rows)
	rows = nil
	for _, c := range s.State.Notable {
		i := cmp.Or(c.Info, &netstate.TCPInfo{})
		rows = append(rows, fmt.Sprint(c.Local, c.Remote, c.State, c.Program, c.CongestionControl, c.ReceiveQueue,
			c.SendQueue, i.SndMSS, i.RcvMSS, i.PMTU, i.RTTUs, i.MinRTTUs, i.SndCwnd, i.SndWnd, i.Options,
			i.BytesAcked, i.BytesReceived, i.SegsIn, i.SegsOut, i.TotalRetrans, i.BusyUs, i.RwndLimitedUs, i.Lacks))
	}
	list("connections", rows)
	parameters := map[string]string{}
	for key, value := range s.State.Parameters {
		if strings.HasPrefix(key, "net.ipv4.conf.") || strings.HasPrefix(key, "net.ipv4.tcp_") &&
			!strings.Contains(key, "key") || strings.HasPrefix(key, "net.core.") {
			parameters[key] = strings.Join(strings.Fields(value), " ")
		}
	}
	parts["parameters"], parts["rp_filter"] = parameters, r.Snapshot.Sysctls["net.ipv4.conf.paste0.rp_filter"]
	for _, n := range s.State.NICs {
		if n.Interface == "paste0" {
			// A snapshot leaves out features that are fixed to off; a text has them as fixed.
			n.Fixed = slices.DeleteFunc(n.Fixed, func(name string) bool { _, has := n.Features[name]; return !has })
			slices.Sort(n.Fixed)
			parts["nic"] = fmt.Sprint(n.Driver, n.Version, n.Carrier, n.OperState, n.SpeedMbps, n.Duplex, n.Autoneg,
				n.BestMbps, n.Fixed)
			parts["features"], parts["channels"], parts["counters"] = n.Features,
				cmp.Or(n.Channels, &netstate.Channels{}), slices.Sorted(maps.Keys(n.Counters))
		}
	}
	return parts
}
