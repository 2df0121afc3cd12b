//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

func names(cases map[string]setting.Setting) []string {
	var list []string
	for name := range cases {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// kindsOfKernel is everyKind without the chains of nftables where the kernel has no tables of
// inet (CONFIG_NF_TABLES_INET), which TestNFT needs.
func kindsOfKernel(t *testing.T) map[string]setting.Setting {
	t.Helper()
	cases := everyKind()
	out, err := exec.Command("nft", "add", "table", "inet", "linerate_test").CombinedOutput()
	switch {
	case err == nil:
		kerneltest.Do(t, "nft", "delete", "table", "inet", "linerate_test")
	case strings.Contains(string(out), "Operation not supported"):
		t.Logf("without nftables: %s", out)
		delete(cases, "nft, filter")
		delete(cases, "nft, nat")
	}
	return cases
}

// Each kind is applied and reverted alone; what other tools see before and after
// must be the same exactly, and different in between.
func TestRoundTripOfEveryKind(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		path := filepath.Join(t.TempDir(), "journal")
		m := open(t, path)
		cases := kindsOfKernel(t)
		before := look(t)
		for _, name := range names(cases) {
			applied, mark, err := applySettings(m, context.Background(), []setting.Setting{cases[name]}, false)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, a := range applied {
				if a.Scope != Namespace || a.Prior == a.New || a.What == "" || a.Kind != cases[name].Kind() {
					t.Errorf("%s: applied %+v", name, a)
				}
			}
			if mark != 0 || len(m.entries) != len(applied) {
				t.Errorf("%s: mark %d, then %d, after %d changes", name, mark, len(m.entries), len(applied))
			}
			if look(t) == before {
				t.Errorf("%s: nothing changed", name)
			}
			if info, err := os.Stat(path); err != nil || info.Size() == 0 {
				t.Errorf("%s: no journal: %v", name, err)
			}
			if err := m.RevertTo(mark); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			after := look(t)
			if d := differences(before, after); d != "" {
				t.Errorf("%s: not as before:\n%s", name, d)
			}
			before = after
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the journal is still there: %v", name, err)
			}
		}
	})
}

// All kinds together, applied in one order and reverted in the other, in two
// halves.
func TestRoundTripOfAll(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		cases := kindsOfKernel(t)
		var first, second []setting.Setting
		for i, name := range names(cases) {
			if strings.Contains(name, "down") || strings.Contains(name, "everything") ||
				strings.Contains(name, "off") || strings.Contains(name, "below") || strings.Contains(name, "kernel") {
				continue // they leave the later ones nothing to work on
			}
			if i%2 == 0 {
				first = append(first, cases[name])
			} else {
				second = append(second, cases[name])
			}
		}
		start := look(t)
		if _, mark, err := applySettings(m, context.Background(), first, false); err != nil || mark != 0 {
			t.Fatal(mark, err)
		}
		middle := look(t)
		_, mark, err := applySettings(m, context.Background(), second, false)
		if err != nil || mark == 0 || mark == len(m.entries) {
			t.Fatal(mark, err)
		}
		if err := m.RevertTo(mark); err != nil {
			t.Error(err)
		}
		if d := differences(middle, look(t)); d != "" {
			t.Errorf("not as in the middle:\n%s", d)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
		if d := differences(start, look(t)); d != "" {
			t.Errorf("not as at the start:\n%s", d)
		}
	})
}

// An interface that comes up with another MAC address than it went down with makes
// itself another link-local address, which must not stay.
func TestLinkLocalAddressOfAnotherMAC(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		before := look(t)
		if _, _, err := applySettings(m, context.Background(), []setting.Setting{
			{Link: &setting.Link{Interface: "eth1", MAC: "02:00:00:09:00:02"}},
			{Link: &setting.Link{Interface: "eth1", Up: up(false)}},
		}, false); err != nil {
			t.Fatal(err)
		}
		if err := m.RevertTo(0); err != nil {
			t.Fatal(err)
		}
		if d := differences(before, look(t)); d != "" {
			t.Errorf("not as before:\n%s", d)
		}
	})
}

func TestFailureRevertsTheRequest(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		before := look(t)
		good := []setting.Setting{
			parameter("net.ipv4.conf.all.arp_ignore", "1"),
			{Link: &setting.Link{Interface: "eth0", Up: up(false)}},
			{Rule: &setting.Rule{From: "10.2.0.1", Table: 300}},
		}
		for what, bad := range map[string]setting.Setting{
			"no-such-port": {Address: &setting.Address{Interface: "no-such-port",
				Address: netip.MustParsePrefix("10.5.0.1/24")}},
			"10.250.0.1":    {Route: &setting.Route{To: "10.77.0.0/16", Via: "10.250.0.1", Interface: "eth1"}},
			"tcp_sack":      parameter("net.ipv4.tcp_sack", "nonsense"),
			"no_such_key":   parameter("net.ipv4.no_such_key", "1"),
			"kind \"fifo\"": {Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "fifo"}},
			"eth1 mtu":      {Link: &setting.Link{Interface: "eth1", MTU: 1 << 24}},
			"rmem_max":      parameter("net.core.rmem_max", "1000000"),
			"no_such_cc":    parameter("net.ipv4.tcp_congestion_control", "no_such_cc"),
		} {
			applied, mark, err := applySettings(m, context.Background(), append(good, bad), false)
			if err == nil || !strings.Contains(err.Error(), what) || applied != nil || mark != 0 {
				t.Errorf("%s: %v, %d, %v", what, applied, mark, err)
			}
			if d := differences(before, look(t)); d != "" {
				t.Errorf("%s: not as before:\n%s", what, d)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, _, err := applySettings(m, ctx, good, false); !errors.Is(err, context.Canceled) || len(m.entries) != 0 {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func TestWhatIsThereIsLeftAlone(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		before := look(t)
		there := []setting.Setting{
			{Address: &setting.Address{Interface: "eth0", Address: netip.MustParsePrefix("10.1.0.1/24")}},
			parameter("net.ipv4.conf.eth1.rp_filter", "2"),
			{Rule: &setting.Rule{From: "10.1.0.2", Table: 77}},
			{Link: &setting.Link{Interface: "eth0", MTU: 1500, Up: up(true)}},
			{Neighbour: &setting.Neighbour{Interface: "eth0", Address: netip.MustParseAddr("10.1.0.9"),
				LLAddr: "02:00:00:02:00:01"}},
		}
		applied, _, err := applySettings(m, context.Background(), there, false)
		if err != nil || len(m.entries) != 0 || len(applied) != 6 {
			t.Fatalf("%v, mark %d, %+v", err, len(m.entries), applied)
		}
		for _, a := range applied {
			if a.Prior != a.New {
				t.Errorf("changed: %+v", a)
			}
		}
		// Only with ifAbsent is another route or prefix length good enough.
		other := []setting.Setting{
			{Route: &setting.Route{To: "10.9.0.0/16", Via: "10.2.0.9", Metric: 50}},
			{Address: &setting.Address{Interface: "eth0", Address: netip.MustParsePrefix("10.1.0.1/8")}},
		}
		if _, _, err := applySettings(m, context.Background(), other, true); err != nil || len(m.entries) != 0 {
			t.Errorf("if absent: %v, mark %d", err, len(m.entries))
		}
		if _, _, err := applySettings(m, context.Background(), other, false); err == nil ||
			!strings.Contains(err.Error(), "another prefix length") {
			t.Errorf("another prefix length: %v", err)
		}
		if d := differences(before, look(t)); d != "" {
			t.Errorf("not as before:\n%s", d)
		}
	})
}

// A primary address that is deleted takes its secondaries and the interface's routes
// along, if they came after it.
func TestDeletingAPrimaryAddress(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		kerneltest.Do(t, "ip", "addr", "flush", "dev", "eth1")
		_, mark, err := applySettings(m, context.Background(), []setting.Setting{
			{Address: &setting.Address{Interface: "eth1", Address: netip.MustParsePrefix("10.5.0.1/24")}},
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "ip", "addr", "add", "10.5.0.2/24", "dev", "eth1")
		kerneltest.Do(t, "ip", "route", "add", "10.55.0.0/16", "via", "10.5.0.9")
		kerneltest.Do(t, "ip", "route", "add", "10.56.0.0/16", "via", "10.5.0.9", "src", "10.5.0.1")
		if err := m.RevertTo(mark); err != nil {
			t.Error(err)
		}
		addresses, routes := kerneltest.Do(t, "ip", "addr", "show", "dev", "eth1"), kerneltest.Do(t, "ip", "route")
		if strings.Contains(addresses, "10.5.0.1/") || !strings.Contains(addresses, "10.5.0.2/24") {
			t.Errorf("addresses:\n%s", addresses)
		}
		if !strings.Contains(routes, "10.55.0.0/16") || strings.Contains(routes, "10.56.0.0/16") {
			t.Errorf("routes:\n%s", routes)
		}
	})
}

func TestMachineWideNeedsPermission(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		m := open(t, "")
		_, _, err := applySettings(m, context.Background(),
			[]setting.Setting{parameter("net.core.rmem_max", "1000000")}, false)
		// Not every kernel shows it in a namespace.
		if err == nil || !strings.Contains(err.Error(), "machine-wide") ||
			!strings.Contains(err.Error(), "read-only here") && !strings.Contains(err.Error(), "No such file") {
			t.Errorf("read-only in a namespace: %v", err)
		}
		_, _, err = applySettings(m, context.Background(),
			[]setting.Setting{parameter("net.core.netdev_max_backlog", "1000")}, false)
		if err == nil || !strings.Contains(err.Error(),
			"net.core.netdev_max_backlog: cannot stat /proc/sys/net/core/netdev_max_backlog: No such file or "+
				"directory") {
			t.Errorf("absent in a namespace: %v", err)
		}
		_, _, err = applySettings(m, context.Background(), []setting.Setting{parameter("net.ipv4.tcp_tw_recycle", "1")},
			false)
		if err == nil || !strings.Contains(err.Error(), "since 4.12: it broke clients behind one address") ||
			strings.Contains(err.Error(), "did you mean") {
			t.Errorf("removed from the kernel: %v", err)
		}
	})
}

func TestQdiscThatCannotBeRestored(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		want := func(why string) {
			t.Helper()
			_, _, err := applySettings(m, context.Background(),
				[]setting.Setting{{Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "pfifo", Limit: 5}}}, false)
			if err == nil || !strings.Contains(err.Error(), "could not be restored exactly") ||
				!strings.Contains(err.Error(), why) {
				t.Errorf("want %q: %v", why, err)
			}
		}
		kerneltest.Do(t, "tc", "qdisc", "add", "dev", "eth0", "root", "handle", "1:", "htb")
		want("that is possible for pfifo")
		kerneltest.Do(t, "tc", "qdisc", "replace", "dev", "eth0", "root", "handle", "2:", "tbf", "rate", "1gbit",
			"burst", "64k", "limit", "1m")
		kerneltest.Do(t, "tc", "qdisc", "add", "dev", "eth0", "parent", "2:1", "handle", "20:", "bfifo",
			"limit", "9000")
		want("it has a bfifo qdisc (20:) inside")
		if len(m.entries) != 0 {
			t.Error("something was changed")
		}
	})
}

func TestForeignChangesAreKept(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		_, mark, err := applySettings(m, context.Background(), []setting.Setting{
			parameter("net.ipv4.conf.default.rp_filter", "1"),
			parameter("net.ipv4.conf.all.arp_ignore", "1"),
			parameter("net.ipv4.conf.all.arp_announce", "2"),
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		// One of ours, and one that ours carried along.
		kerneltest.Do(t, "sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=8", "net.ipv4.conf.far1.arp_ignore=3")
		err = m.RevertTo(mark)
		if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "arp_ignore") ||
			!strings.Contains(err.Error(), `"8"`) {
			t.Errorf("revert: %v", err)
		}
		if len(m.entries) != 1 {
			t.Errorf("%d changes are left, want the one that could not be undone", len(m.entries))
		}
		for key, want := range map[string]string{"all.arp_ignore": "8", "far1.arp_ignore": "3", "all.arp_announce": "0",
			"default.rp_filter": "0"} {
			if got := strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", "net.ipv4.conf."+key)); got != want {
				t.Errorf("%s is %s, want %s", key, got, want)
			}
		}
	})
}

func TestFlush(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		kerneltest.Do(t, "ip", "neigh", "add", "10.2.0.8", "lladdr", "02:00:00:02:00:08", "dev", "eth1", "nud",
			"reachable")
		neighbours := func() string { return kerneltest.Do(t, "ip", "neigh") }
		if err := m.Flush(message.FlushRequest{Interfaces: []string{"eth1"},
			Addresses: []netip.Addr{netip.MustParseAddr("10.1.0.8")}}); err != nil {
			t.Fatal(err)
		}
		if text := neighbours(); !strings.Contains(text, "10.1.0.8") || !strings.Contains(text, "10.2.0.8") {
			t.Errorf("interface and address name no entry, but one went:\n%s", text)
		}
		if err := m.Flush(message.FlushRequest{Interfaces: []string{"eth0"}}); err != nil {
			t.Fatal(err)
		}
		if text := neighbours(); strings.Contains(text, "10.1.0.8") || !strings.Contains(text, "10.2.0.8") ||
			!strings.Contains(text, "10.1.0.9") {
			t.Errorf("after flushing eth0:\n%s", text)
		}
		if err := m.Flush(message.FlushRequest{Interfaces: []string{"nowhere"}}); err == nil ||
			!strings.Contains(err.Error(), "nowhere") {
			t.Errorf("an interface that is not there: %v", err)
		}
	})
}

// An IPv6 address can be used only when duplicate address detection is done, and
// one that another host has is refused.
func TestDuplicateAddresses(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, words := range []string{
			"link add dev eth0 type veth peer name far0", "link set dev eth0 up", "link set dev far0 up",
			"-6 addr add fd00:5::5/64 dev far0 nodad",
		} {
			kerneltest.Do(t, "ip", strings.Fields(words)...)
		}
		m := open(t, "")
		before := look(t)
		source := netip.MustParseAddr("fd00:5::1")
		_, mark, err := applySettings(m, context.Background(), []setting.Setting{
			{Address: &setting.Address{Interface: "eth0", Address: netip.PrefixFrom(source, 64)}},
			{Route: &setting.Route{To: "fd00:6::/64", Via: "fd00:5::9", Source: source}},
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		if text := kerneltest.Do(t, "ip", "-6", "addr", "show", "tentative"); strings.Contains(text, "fd00:5::1") {
			t.Errorf("applied, but not ready:\n%s", text)
		}
		if err := m.RevertTo(mark); err != nil {
			t.Error(err)
		}
		_, _, err = applySettings(m, context.Background(), []setting.Setting{
			{Address: &setting.Address{Interface: "eth0", Address: netip.MustParsePrefix("fd00:5::5/64")}},
		}, false)
		if err == nil || !strings.Contains(err.Error(), "another host on the link has it") {
			t.Errorf("a duplicate address: %v", err)
		}
		if d := differences(before, look(t)); d != "" {
			t.Errorf("not as before:\n%s", d)
		}
	})
}

// Outside net.* everything is machine-wide. The tree is a copy, so that the
// machine is left alone.
func TestMachineWideWithPermission(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		root := t.TempDir()
		file := filepath.Join(root, "vm", "swappiness")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("60\n"),
			0o644)); err != nil {
			t.Fatal(err)
		}
		m := open(t, "")
		m.host.sysctls.Root = root
		change := []setting.Setting{parameter("vm.swappiness", "10")}
		_, _, err := applySettings(m, context.Background(), change, false)
		for _, part := range []string{"sysctl vm.swappiness", "machine-wide", "outside net.*",
			"--allow-machine-settings"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error lacks %q: %v", part, err)
			}
		}
		reply, err := m.Apply(context.Background(), message.ApplyRequest{Settings: change, AllowMachine: true})
		if err != nil || len(reply.Applied) != 1 ||
			reply.Applied[0] != (record.Applied{Host: "nas", Kind: "sysctl", Scope: Machine, What: "vm.swappiness",
				Prior: "60", New: "10"}) {
			t.Fatalf("%+v, %v", reply, err)
		}
		if err := m.RevertTo(reply.Mark); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "60\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}
