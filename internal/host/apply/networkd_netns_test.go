//go:build linux && !portable

package apply

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// networkd runs systemd-networkd in this test's namespaces with drop-ins for both
// interfaces, until a line of its log, and returns the log.
func networkd(t *testing.T, program func(...string) *exec.Cmd, settings []setting.Setting, until ...string) string {
	t.Helper()
	dir, own := files(t, "systemd-networkd", settings...)
	if len(own) == 0 {
		t.Fatal("no drop-ins")
	}
	users := regexp.MustCompile(`(?m)^systemd-network:.*\n`).ReplaceAllString(contents(t, "/etc/passwd"), "") +
		"systemd-network:x:0:0::/:/bin/false\n"
	passwd := filepath.Join(dir, "passwd")
	if err := os.WriteFile(passwd, []byte(users), 0o644); err != nil {
		t.Fatal(err)
	}
	kerneltest.Do(t, "mount", "--bind", passwd, "/etc/passwd")              // the only user here is root
	kerneltest.Do(t, "mount", "-t", "sysfs", "-o", "ro", "sysfs", "/sys")   // there is no udev to wait for
	kerneltest.Do(t, "mount", "-t", "tmpfs", "-o", "mode=755", "x", "/run") // this machine's own files and bus
	for name, address := range map[string]string{"eth0": "10.1.0.1/24\nAddress=fd00:1::1/64", "eth1": "10.2.0.1/24"} {
		path := "/run/systemd/network/01-" + name + ".network"
		if err := os.MkdirAll(path+".d", 0o755); err != nil {
			t.Fatal(err)
		}
		text := "[Match]\nName=" + name + "\n[Network]\nIPv6AcceptRA=no\nAddress=" + address + "\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if dropIn := filepath.Join(dir, "etc/systemd/network", name+".network.d/90-linerate.conf"); exists(dropIn) {
			if err := os.WriteFile(path+".d/90-linerate.conf", []byte(contents(t, dropIn)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := program()
	cmd.Env = append(slices.Concat(os.Environ(), cmd.Env), "SYSTEMD_LOG_LEVEL=debug", "SYSTEMD_LOG_TARGET=console")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var log strings.Builder
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		fmt.Fprintln(&log, lines.Text())
		until = slices.DeleteFunc(until, func(want string) bool { return strings.Contains(lines.Text(), want) })
		if len(until) == 0 {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
	if len(until) > 0 {
		t.Fatalf("no line of systemd-networkd has %q:\n%s", until, &log)
	}
	return log.String()
}

// cables are two interfaces, each with one at its other end.
func cables(t *testing.T) {
	t.Helper()
	kerneltest.Do(t, "sysctl", "-qw", "net.ipv6.conf.default.dad_transmits=0")
	for _, i := range []string{"0", "1"} {
		kerneltest.Do(t, "ip", "link", "add", "dev", "eth"+i, "type", "veth", "peer", "name", "far"+i)
		kerneltest.Do(t, "ip", "link", "set", "dev", "far"+i, "up")
	}
}

// complaint is what systemd-networkd says of a line of ours. That two cases exclude each
// other is none.
var complaint = regexp.MustCompile(`90-linerate\.conf(:\d+: |: .*(Route|Rule|Neighbor|NextHop|Address). section)`)

// TestNetworkdParses: systemd-networkd knows every key and takes every value.
func TestNetworkdParses(t *testing.T) {
	program := parser(t, "usr/lib/systemd/systemd-networkd", "lib/systemd/systemd-networkd")
	kerneltest.InNamespace(t, func(t *testing.T) {
		cables(t)
		var all []setting.Setting
		for _, name := range slices.Sorted(maps.Keys(formatCases())) {
			all = append(all, formatCases()[name])
		}
		for line := range strings.Lines(networkd(t, program, all, "Enumeration completed")) {
			if complaint.MatchString(line) {
				t.Error(line)
			}
		}
	})
}

// TestNetworkdComplains: what is wrong in a drop-in is in the log, which TestNetworkdParses
// relies on.
func TestNetworkdComplains(t *testing.T) {
	program := parser(t, "usr/lib/systemd/systemd-networkd", "lib/systemd/systemd-networkd")
	kerneltest.InNamespace(t, func(t *testing.T) {
		cables(t)
		log := networkd(t, program,
			[]setting.Setting{{Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "tbf", Rate: 1e9, Burst: 4, Limit: -1}}},
			"Enumeration completed")
		if !complaint.MatchString(log) {
			t.Errorf("no complaint about a limit of -1:\n%s", log)
		}
	})
}

var (
	number = regexp.MustCompile(` [0-9a-f]+:`) // the handle of a qdisc, which the kernel chooses
	group  = regexp.MustCompile(`group \S+`)   // of nexthops, in an order that systemd-networkd chooses
)

// spelled is a setting without what systemd-networkd and the kernel choose.
func spelled(s string) string {
	return group.ReplaceAllStringFunc(number.ReplaceAllString(s, ":"), func(s string) string {
		members := strings.Split(strings.TrimPrefix(s, "group "), "/")
		slices.Sort(members)
		return "group " + strings.Join(members, "/")
	})
}

// TestNetworkdApplies: what systemd-networkd makes of the files is what the settings
// are, as linerate's own readers have it: there is nothing left to change.
func TestNetworkdApplies(t *testing.T) {
	program := parser(t, "usr/lib/systemd/systemd-networkd", "lib/systemd/systemd-networkd")
	kerneltest.InNamespace(t, func(t *testing.T) {
		cables(t)
		cases := formatCases()
		var all []setting.Setting
		for _, name := range []string{
			"neighbour, new", "neighbour, IPv6", "address", "addresses, IPv6", "route, new", "route, initial window",
			"route, multipath",
			"route via inet6", "route, table", "route, IPv6", "rule", "rule with everything", "rule, IPv6", "nexthop",
			"nexthop on its link",
			"nexthop, a group", "route by a nexthop", "link mtu", "link mac", "qdisc in place of default",
			"qdisc of the same kind",
		} {
			s, known := cases[name]
			if !known {
				t.Fatalf("no case %q", name)
			}
			all = append(all, s)
		}
		log := networkd(t, program, all, "eth0: State changed: configuring -> configured",
			"eth1: State changed: configuring -> configured")
		applied, _, err := applySettings(open(t, ""), t.Context(), all, false)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		if len(applied) < len(all) {
			t.Errorf("%d settings, of which %d were applied", len(all), len(applied))
		}
		for _, a := range applied {
			if left, want := spelled(a.Prior), spelled(a.New); left != want {
				t.Errorf("%s: systemd-networkd left %q, want %q", a.What, left, want)
			}
		}
	})
}
