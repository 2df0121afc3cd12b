//go:build linux && !portable

package apply

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/setting"
)

// The files of package hostconfig, read by the programs that they are for: where it has
// no side effect, also carried out, and the effect read back.

// parsers is where script/parsers unpacks the programs that this machine does not have.
func parsers() string {
	if dir := os.Getenv("LINERATE_PARSERS"); dir != "" {
		return dir
	}
	dir, _ := filepath.Abs("../../../.cache/parsers")
	return dir
}

// parser returns a function that prepares a program, the first of some paths that is there.
// The test is skipped where none is.
func parser(t *testing.T, paths ...string) func(args ...string) *exec.Cmd {
	t.Helper()
	for _, root := range []string{"/", parsers()} {
		for _, path := range paths {
			path = filepath.Join(root, path)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			return func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), path, args...)
				if root != "/" {
					libraries, _ := filepath.Glob(filepath.Join(root, "*lib*", "*-linux-gnu*"))
					for _, pattern := range []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*/systemd",
						"usr/lib/*-linux-gnu*/systemd", "lib/systemd", "usr/lib/systemd"} {
						more, _ := filepath.Glob(filepath.Join(root, pattern))
						libraries = append(libraries, more...)
					}
					cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.Join(libraries, ":"))
				}
				return cmd
			}
		}
	}
	kerneltest.Without(t, fmt.Sprintf("%s is not on this machine, nor in %s, where script/parsers unpacks it",
		filepath.Base(paths[0]), parsers()))
	return nil
}

// formatCases are everyKind with nexthop objects, and a rule of neither source nor
// destination.
func formatCases() map[string]setting.Setting {
	cases := everyKind()
	maps.Copy(cases, map[string]setting.Setting{
		"rule of a table":     {Rule: &setting.Rule{Table: 300, Priority: 99}},
		"nexthop":             {Nexthop: &setting.NexthopObject{ID: 1, Via: "10.1.0.9", Interface: "eth0"}},
		"nexthop, IPv6":       {Nexthop: &setting.NexthopObject{ID: 2, Via: "inet6 fe80::1", Interface: "eth1"}},
		"nexthop on its link": {Nexthop: &setting.NexthopObject{ID: 5, Interface: "eth1"}},
		"nexthop, a group": {Nexthop: &setting.NexthopObject{ID: 3, Group: []setting.Member{{ID: 1, Weight: 2},
			{ID: 5}}}},
		"route by a nexthop":      {Route: &setting.Route{To: "10.77.0.0/16", Object: 3}},
		"route, IPv6 on its link": {Route: &setting.Route{To: "fd00:78::/64", Interface: "eth1"}},
		"qdisc tbf with its limit": {Qdisc: &setting.Qdisc{Interface: "eth1", Kind: "tbf", Rate: 1e8, Burst: 64 << 10,
			Limit: 100_000}},
	})
	maps.Copy(cases, queueKinds())
	return withQdiscKinds(cases)
}

// files writes a host's files in a format below a directory. own is the one that is of
// the format's program; empty: there is none.
func files(t *testing.T, format string, settings ...setting.Setting) (dir string, own []string) {
	t.Helper()
	dir = t.TempDir()
	for _, file := range config(format, settings...).Files {
		path := filepath.Join(dir, file.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file.Text), os.FileMode(file.Mode)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(path, "sysctl.d") && !strings.Contains(path, "linerate-fix") {
			own = append(own, path)
		}
	}
	return dir, own
}

func config(format string, settings ...setting.Setting) hostconfig.Config {
	prefix := netip.MustParsePrefix
	h := hostconfig.Host{Name: "nas", Settings: settings, Interfaces: []hostconfig.Interface{
		{Name: "eth0", Prefixes: []netip.Prefix{prefix("10.1.0.1/24"), prefix("fd00:1::1/64")}},
		{Name: "eth1", Prefixes: []netip.Prefix{prefix("10.2.0.1/24")}},
	}}
	at := slices.IndexFunc(hostconfig.Formats, func(f hostconfig.Format) bool { return f.Name == format })
	return hostconfig.Formats[at].Config(h, []string{"Made by a test: \n$(false) \\"})
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// eachCase calls check with the files of each case that the format has some of its own for.
func eachCase(t *testing.T, format string, check func(t *testing.T, s setting.Setting, dir, own string)) {
	t.Helper()
	checked := 0
	for name, s := range formatCases() {
		t.Run(name, func(t *testing.T) {
			if dir, own := files(t, format, s); len(own) > 0 {
				checked++
				check(t, s, dir, own[0])
			}
		})
	}
	if checked == 0 {
		t.Errorf("no case has files of %s", format)
	}
}

// TestNetplanParses: netplan takes every file, and makes something of each key.
func TestNetplanParses(t *testing.T) {
	generate := parser(t, "usr/libexec/netplan/generate", "lib/netplan/generate")
	eachCase(t, "netplan", func(t *testing.T, s setting.Setting, dir, own string) {
		if out, err := generate("--root-dir", dir).CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s\n%s", err, out, contents(t, own))
		}
		made, err := filepath.Glob(filepath.Join(dir, "run/systemd/network/*.network"))
		if err != nil || len(made) == 0 {
			t.Fatalf("netplan made nothing of it: %v", err)
		}
		text := ""
		for _, path := range made {
			text += contents(t, path)
		}
		for _, want := range wordsOf(s) {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in what netplan makes of it:\n%s", want, text)
			}
		}
		wrong := strings.Replace(contents(t, own), `  ethernets:`, "  ethernet:", 1)
		if err := os.WriteFile(own, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := generate("--root-dir", dir).CombinedOutput(); err == nil {
			t.Errorf("a wrong key is taken: %s", out)
		}
	})
}

// wordsOf are addresses and numbers that each program has to have understood.
func wordsOf(s setting.Setting) (words []string) {
	switch {
	case s.Address != nil:
		for _, p := range s.Address.All() {
			words = append(words, p.String())
		}
	case s.Route != nil:
		if s.Route.To != "default" {
			words = append(words, s.Route.To)
		}
		words = append(words, s.Route.Via)
	case s.Rule != nil:
		words = append(words, s.Rule.From, s.Rule.To)
	case s.Link != nil && s.Link.MTU != 0:
		words = append(words, fmt.Sprint(s.Link.MTU))
	}
	return words
}

// nmcliStandIn changes connections in files below $CONNECTIONS, since there is no daemon.
const nmcliStandIn = `#!/bin/sh
case $1 in
-g) echo "the profile of $5"; exit ;;
esac
file=$CONNECTIONS/$3
case $2 in
up) exec test -e "$file" ;;
esac
shift 3
[ -e "$file" ] || "$NMCLI" --offline connection add type ethernet con-name x >"$file" || exit 1
"$NMCLI" --offline connection modify "$@" <"$file" >"$file.new" && mv "$file.new" "$file"
`

// TestNMCLITakes: the script for NetworkManager runs, and nmcli takes every property.
func TestNMCLITakes(t *testing.T) {
	nmcli := parser(t, "usr/bin/nmcli")()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "nmcli"), []byte(nmcliStandIn), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, script string) (connections string, out []byte, err error) {
		connections = t.TempDir()
		cmd := exec.CommandContext(t.Context(), "sh", script)
		cmd.Env = append(slices.Concat(os.Environ(), nmcli.Env), "PATH="+bin+":"+os.Getenv("PATH"), "NMCLI="+nmcli.Path,
			"CONNECTIONS="+connections)
		out, err = cmd.CombinedOutput()
		return connections, out, err
	}
	eachCase(t, "networkmanager", func(t *testing.T, s setting.Setting, _, own string) {
		connections, out, err := run(t, own)
		if err != nil || len(out) > 0 {
			t.Fatalf("%v: %s\n%s", err, out, contents(t, own))
		}
		text := ""
		for _, name := range []string{"eth0", "eth1"} {
			if path := filepath.Join(connections, "the profile of "+name); exists(path) {
				text += contents(t, path)
			}
		}
		for _, want := range wordsOf(s) {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in the connection:\n%s", want, text)
			}
		}
	})
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.WriteFile(wrong,
		[]byte("set -e\nnmcli connection modify x +ipv4.routes '10.0.0.0/8 sauce=10.1.0.1'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, out, err := run(t, wrong); err == nil {
		t.Errorf("a wrong property is taken: %s", out)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestIfupdownParses: ifquery has each command as an option of its interface.
func TestIfupdownParses(t *testing.T) {
	ifquery := parser(t, "usr/sbin/ifquery", "sbin/ifquery")
	eachCase(t, "ifupdown", func(t *testing.T, s setting.Setting, _, own string) {
		query, err := ifquery("-i", own, stanza(t, own)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, query)
		}
		for _, command := range hostconfig.Commands([]setting.Setting{s}) {
			if !strings.Contains("\n"+string(query), "\nup: "+command+"\n") {
				t.Errorf("ifquery does not have %q:\n%s", command, query)
			}
		}
		if err := os.WriteFile(own, []byte(strings.Replace(contents(t, own), "inet manual", "inet manuel", 1)),
			0o644); err != nil {
			t.Fatal(err)
		}
		if query, err := ifquery("-i", own, stanza(t, own)).CombinedOutput(); err == nil {
			t.Errorf("a wrong method is taken: %s", query)
		}
	})
}

// stanza is the interface of a file's first stanza.
func stanza(t *testing.T, file string) string {
	t.Helper()
	_, rest, _ := strings.Cut(contents(t, file), "\niface ")
	name, _, found := strings.Cut(rest, " ")
	if !found {
		t.Fatalf("no stanza in %s", contents(t, file))
	}
	return name
}

// TestIfupdownApplies: what ifup makes of the stanzas is what the settings are, and ifdown
// takes the rule away again.
func TestIfupdownApplies(t *testing.T) {
	ifup, ifdown := parser(t, "usr/sbin/ifup", "sbin/ifup"), parser(t, "usr/sbin/ifdown", "sbin/ifdown")
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		cases := formatCases()
		var all []setting.Setting
		for _, name := range []string{"neighbour, new", "address", "route, initial window", "route, multipath",
			"route, table", "rule", "link mtu", "link txqueuelen", "qdisc of the same kind"} {
			all = append(all, cases[name])
		}
		m := open(t, "")
		if _, _, err := applySettings(m, t.Context(), all, false); err != nil {
			t.Fatal(err)
		}
		want := look(t)
		if err := m.RevertTo(0); err != nil {
			t.Fatal(err)
		}
		_, own := files(t, "ifupdown", all...)
		state := t.TempDir()
		for _, name := range []string{"eth0", "eth1"} {
			if out, err := ifup("--no-scripts", "--force", "--state-dir", state, "-i", own[0],
				name).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		plain := func(text string) string {
			return handle.ReplaceAllString(strings.ReplaceAll(text, " proto static", ""), "$1")
		}
		if diff := differences(plain(want), plain(look(t))); diff != "" {
			t.Errorf("before is by the settings, after by ifup:\n%s", diff)
		}
		if out, err := ifdown("--no-scripts", "--state-dir", state, "-i", own[0], "eth1").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if rules := kerneltest.Do(t, "ip", "rule"); strings.Contains(rules, "from 10.2.0.1 lookup 300") {
			t.Errorf("ifdown leaves the rule:\n%s", rules)
		}
	})
}

// TestIfupdownOnDebian: ifup makes routes with a source address beside Debian's own file,
// which sources interfaces.d first and has the address in a stanza of its own.
func TestIfupdownOnDebian(t *testing.T) {
	ifup := parser(t, "usr/sbin/ifup", "sbin/ifup")
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Do(t, "ip", "address", "flush", "dev", "eth0")
		route := setting.Setting{Route: &setting.Route{To: "10.1.0.0/24", Interface: "eth0",
			Source: netip.MustParseAddr("10.1.0.1"), Table: 100}}
		dir, own := files(t, "ifupdown", route)
		interfaces := filepath.Join(dir, "interfaces")
		debian := "source " + dir + "/interfaces.d/*\n\nauto eth0\niface eth0 inet static\n    address 10.1.0.1/24\n"
		if err := os.WriteFile(interfaces, []byte(debian), 0o644); err != nil {
			t.Fatal(err)
		}
		add := strings.NewReplacer("/etc/network/interfaces", interfaces, "/etc/network/linerate", own[0]).Replace(
			config("ifupdown", route).Apply[0])
		for range 2 { // the second time adds nothing
			kerneltest.Do(t, "sh", "-c", add)
		}
		if n := strings.Count(contents(t, interfaces), "source "+own[0]); n != 1 {
			t.Errorf("the file is sourced %d times:\n%s", n, contents(t, interfaces))
		}
		if out, err := ifup("--no-scripts", "--force", "--state-dir", t.TempDir(), "-i", interfaces,
			"eth0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if routes := kerneltest.Do(t, "ip", "route", "show", "table", "100"); !strings.Contains(routes,
			"10.1.0.0/24 dev eth0") {
			t.Errorf("table 100:\n%s", routes)
		}
	})
}

// TestSysctlAtBoot: systemd-sysctl takes a parameter from the file for sysctl.d where
// /etc/sysctl.conf sets it, too, as distributions have that among the files.
func TestSysctlAtBoot(t *testing.T) {
	program := parser(t, "usr/lib/systemd/systemd-sysctl", "lib/systemd/systemd-sysctl")
	kerneltest.InNamespace(t, func(t *testing.T) {
		const key = "net.ipv4.tcp_sack"
		kerneltest.Do(t, "mount", "-t", "tmpfs", "x", "/etc/sysctl.d")
		dir, _ := files(t, "sysctl", setting.Setting{Sysctl: []setting.Sysctl{{Key: key, Value: "0"}}})
		kerneltest.Do(t, "cp", "-r", dir+"/etc/sysctl.d", "/etc")
		if err := os.WriteFile("/etc/sysctl.d/99-sysctl.conf", []byte(key+" = 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := program("--prefix=" + key).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", key)); got != "0" {
			t.Errorf("%s is %s: the line of 99-sysctl.conf has won", key, got)
		}
	})
}
