//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// odd are names that the kernel accepts for interfaces (dev_valid_name in net/core/dev.c).
var odd = []string{"$(x)", "`id`;a'b\"c", "../..", "..a", "a..b", "eth0.5", "-rf", "--", "!#$&()*+,-;<=>", "?@[\\]^_`{|}~.x",
	"größe😀", "*", "\x1b[31mred", "a\x07\x7fb", "null", "{\"a\",1}"}

// oddSettings are settings of each kind that names an interface.
func oddSettings(name string) map[string]setting.Setting {
	list := namingSettings(name)
	if strings.ContainsAny(name, "*?[\\") { // which are patterns in names of parameters (proc.Sysctls)
		delete(list, "sysctl")
		delete(list, "neighbour's times")
	}
	return list
}

func namingSettings(name string) map[string]setting.Setting {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	return map[string]setting.Setting{
		"address": {Address: &setting.Address{Interface: name, Address: prefix("10.44.0.1/16")}},
		"neighbour": {Neighbour: &setting.Neighbour{Interface: name, Address: addr("10.43.0.9"),
			LLAddr: "02:00:00:02:00:07"}},
		"route":  {Route: &setting.Route{To: "10.66.0.0/16", Interface: name}},
		"link":   {Link: &setting.Link{Interface: name, MTU: 1400, TxQueueLen: new(12)}},
		"qdisc":  {Qdisc: &setting.Qdisc{Interface: name, Kind: "pfifo", Limit: 7}},
		"nic":    {NIC: &setting.NIC{Interface: name, Features: []setting.Option{{Key: "tso", Value: "off"}}}},
		"sysctl": parameter("net.ipv4.conf."+strings.ReplaceAll(name, ".", "/")+".arp_ignore", "1"),
		"neighbour's times": parameter("net.ipv4.neigh."+strings.ReplaceAll(name, ".", "/")+
			".base_reachable_time_ms", "1500"),
	}
}

// TestOddNames: settings of an interface of any name are made, reverted and, of a killed agent, recovered, from a
// journal of lines of JSON; none of its characters is one of a path, a shell or a terminal.
func TestOddNames(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		for i, name := range odd {
			if strings.Contains(name, "/") {
				continue // below
			}
			far := fmt.Sprint("far", i)
			kerneltest.Do(t, "ip", "link", "add", "name", name, "type", "veth", "peer", "name", far)
			kerneltest.Do(t, "ip", "link", "set", "dev", name, "up")
			kerneltest.Do(t, "ip", "addr", "add", "10.43.0.1/16", "dev", name)
			seen := func() string {
				if name[0] == '-' { // ethtool takes it for an option
					return look(t)
				}
				return look(t) + kerneltest.Do(t, "ethtool", "-k", name)
			}
			before, path := seen(), filepath.Join(dir, "journal")
			m, err := Open(path, Lease)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range names(oddSettings(name)) {
				if _, mark, err := applySettings(m, context.Background(), []setting.Setting{oddSettings(name)[what]},
					false); err != nil {
					t.Errorf("%q: %s: %v", name, what, err)
				} else if seen() == before && (what != "nic" || name[0] != '-') {
					t.Errorf("%q: %s: nothing changed", name, what)
				} else if err := m.RevertTo(mark); err != nil {
					t.Errorf("%q: %s: %v", name, what, err)
				}
				if d := differences(before, seen()); d != "" {
					t.Fatalf("%q: %s: not as before:\n%s", name, what, d)
				}
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			var all []setting.Setting
			for _, what := range names(oddSettings(name)) {
				all = append(all, oddSettings(name)[what])
			}
			leave(t, path, all...)
			text, err := os.ReadFile(path)
			if err != nil || strings.ContainsAny(string(text), "\x1b\x07") {
				t.Errorf("%q: the journal: %v\n%q", name, err, text)
			}
			for what, r := range recoverAll(t, RecoverOptions{Journal: path}) {
				if r.Result != Reverted {
					t.Errorf("%q: %s: %+v", name, what, r)
				}
			}
			if d := differences(before, seen()); d != "" {
				t.Errorf("%q: not as before the agent was killed:\n%s", name, d)
			}
			kerneltest.Do(t, "ip", "link", "del", "dev", name)
		}
		// No interface has such a name, and no path is made of it.
		canary := filepath.Join(dir, "canary")
		if err := os.WriteFile(canary, []byte("0"), 0o600); err != nil {
			t.Fatal(err)
		}
		m := open(t, "")
		for _, name := range []string{"..", ".", "../..", "../../../../../.." + dir, "a b", "a\nb", "sixteen-byte-nam", "\xff"} {
			for what, one := range namingSettings(name) {
				if _, _, err := applySettings(m, context.Background(), []setting.Setting{one}, false); err == nil {
					t.Errorf("%q: %s is applied", name, what)
				}
			}
		}
		for _, key := range []string{"net.ipv4.conf.//.." + dir + "/canary", "../../.." + canary, canary,
			"net/../../../.." + canary, "net.ipv4.conf./../././././././" + strings.TrimPrefix(canary, "/")} {
			if _, _, err := applySettings(m, context.Background(), []setting.Setting{parameter(key, "1")},
				false); err == nil {
				t.Errorf("parameter %q is set", key)
			}
		}
		if text, err := os.ReadFile(canary); err != nil || string(text) != "0" {
			t.Errorf("a file is %q, %v", text, err)
		}
		if err := m.RevertTo(0); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}
