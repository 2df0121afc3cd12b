package machinetest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// feature is something of a kernel that linerate uses, with a script that fails where the
// kernel does not have it. The script runs in a network namespace of its own with two
// interfaces that are joined, a0 and a1.
type feature struct {
	name, use, script string
}

var features = []feature{
	{"network namespace, veth", "labs", "true"},
	{"user namespace", "labs of ordinary users", "unshare --user --map-root-user --net true"},
	{"bridge", "switches of labs", "ip link add br0 type bridge"},
	{"VLAN filtering of bridges", "switches with VLANs", "ip link add br0 type bridge vlan_filtering 1"},
	{"bond", "bonds", "ip link add bond0 type bond mode 802.3ad"},
	{"VLAN", "VLANs", "ip link add link a0 name a0.5 type vlan id 5"},
	{"VXLAN", "tunnels", "ip link add vx0 type vxlan id 5 dstport 4789 dev a0"},
	{"GRE", "tunnels", "ip link add gre1 type gre local 192.0.2.1 remote 192.0.2.2"},
	{"macvlan", "several addresses on one NIC", "ip link add link a0 name m0 type macvlan mode bridge"},
	{"VRF", "several routing tables", "ip link add vrf0 type vrf table 10"},
	{"dummy", "addresses without a link", "ip link add d0 type dummy"},
	{"tun", "the link emulator", "ip tuntap add dev t0 mode tap"},
	{"tbf", "rates of links", "tc qdisc add dev a0 root tbf rate 10mbit burst 32k limit 100k"},
	{"htb", "rates of flows", "tc qdisc add dev a0 root handle 1: htb default 1"},
	{"netem", "delay and loss by the kernel", "tc qdisc add dev a0 root netem delay 10ms loss 1%"},
	{"fq", "pacing", "tc qdisc add dev a0 root fq"},
	{"fq_codel", "queueing disciplines", "tc qdisc add dev a0 root fq_codel"},
	{"codel", "queueing disciplines", "tc qdisc add dev a0 root codel"},
	{"cake", "queueing disciplines", "tc qdisc add dev a0 root cake bandwidth 10mbit"},
	{"sfq", "queueing disciplines", "tc qdisc add dev a0 root sfq"},
	{"red", "queueing disciplines", "tc qdisc add dev a0 root red limit 400000 avpkt 1000"},
	{"ets", "queueing disciplines", "tc qdisc add dev a0 root ets bands 3"},
	{"nexthop objects", "ECMP", "ip nexthop add id 1 dev a0"},
	{"multipath hash fields", "ECMP", "test -e /proc/sys/net/ipv4/fib_multipath_hash_fields"},
	{"arp_announce, arp_ignore, rp_filter", "ARP flux", "test -e /proc/sys/net/ipv4/conf/a0/arp_ignore"},
	{"BBR", "congestion control", "sysctl -qw net.ipv4.tcp_congestion_control=bbr"},
	{"MPTCP", "sockets", "sysctl -q net.mptcp.enabled"},
	{"PSI", "waits for memory", "test -e /proc/pressure/memory"},
}

// featuresScript prints a line for each feature: its number, and 1 if the kernel has it.
func featuresScript() string {
	var b strings.Builder
	b.WriteString("PATH=$PATH:/usr/sbin:/sbin\n")
	for i, f := range features {
		script := "ip link add a0 type veth peer name a1 && ip address add 192.0.2.1/24 dev a0 && ip link set a0 " +
			"up && ip link set a1 up && { " + f.script + "\n}"
		fmt.Fprintf(&b, "if unshare --net sh -c %s >/dev/null 2>&1; then echo %d 1; else echo %d 0; fi\n",
			quoted([]string{script}), i, i)
	}
	return b.String()
}

// tested is what is known of one kernel: the file docs/kernels.json.
type tested struct {
	Kernel   string          `json:"kernel"`
	Machine  string          `json:"machine"`
	Features map[string]bool `json:"features"`
}

const (
	kernelsData = "../../../docs/kernels.json"
	kernelsText = "../../../docs/kernels.md"
)

// series is a release's first two numbers: "6.1" of 6.1.0-56-amd64.
func series(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// TestMachineFeatures probes each kernel, and that of this machine, and writes what it has
// in place of what was known of its series in such a machine.
func TestMachineFeatures(t *testing.T) {
	kernels := Debians(t)
	local, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	script := featuresScript()
	unshare := []string{"--net", "sh", "-c", script}
	if os.Getuid() != 0 {
		unshare = append([]string{"--user", "--map-root-user"}, unshare...)
	}
	output, err := exec.CommandContext(t.Context(), "unshare", unshare...).Output()
	if err != nil {
		skip(t, fmt.Sprintf("probing this machine: %v", err))
	}
	list := known(t)
	add := func(k tested) {
		i := slices.IndexFunc(list, func(other tested) bool {
			return series(other.Kernel) == series(k.Kernel) &&
				other.Machine == k.Machine
		})
		if i < 0 {
			i, list = len(list), append(list, k)
		}
		list[i] = k
	}
	add(tested{strings.TrimSpace(string(local)), "reference machine", has(t, string(output))})
	probe := func(kernel Kernel, kind string) {
		t.Run(kernel.Release, func(t *testing.T) {
			m := bootTree(t, Machine{Name: kind, Kernel: kernel, Memory: 1024})
			command := m.Exec()
			output, err := exec.CommandContext(t.Context(), command[0], append(command[1:], "/bin/sh", "-c",
				script)...).Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			add(tested{kernel.Release, kind, has(t, string(output))})
		})
	}
	probe(UserMode(t), "user-mode Linux")
	for _, kernel := range kernels {
		probe(kernel, "QEMU, Debian's kernel")
	}
	for _, k := range list {
		for _, necessary := range []string{"network namespace, veth", "bridge", "tbf"} {
			if !k.Features[necessary] {
				t.Errorf("Linux %s: no %s, without which there is no lab", k.Kernel, necessary)
			}
		}
	}
	if t.Failed() {
		return
	}
	data, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kernelsData, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kernelsText, kernelsTable(t), 0o644); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, output string) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	for line := range strings.Lines(output) {
		var i, yes int
		if _, err := fmt.Sscan(line, &i, &yes); err != nil || i < 0 || i >= len(features) {
			t.Fatalf("%q: want NUMBER 0|1", line)
		}
		found[features[i].name] = yes == 1
	}
	if len(found) != len(features) {
		t.Fatalf("%d of %d features were probed:\n%s", len(found), len(features), output)
	}
	return found
}

var update = flag.Bool("update", false, "write docs/kernels.md from docs/kernels.json")

// TestKernelsTable: docs/kernels.md has what was probed.
func TestKernelsTable(t *testing.T) {
	want := kernelsTable(t)
	if *update {
		if err := os.WriteFile(kernelsText, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(kernelsText)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what %s says: go test ./internal/kernel/machinetest -run TestKernelsTable -update",
			kernelsText, kernelsData)
	}
}

// known is the content of docs/kernels.json.
func known(t *testing.T) (list []tested) {
	t.Helper()
	data, err := os.ReadFile(kernelsData)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// kernelsTable is docs/kernels.md.
func kernelsTable(t *testing.T) []byte {
	t.Helper()
	list := known(t)
	var b bytes.Buffer
	b.WriteString("# Kernels\n\n" +
		"What linerate uses of the kernel, and which kernels have it. `make machines` boots them, probes them and " +
		"writes this page. The reference machine's kernel is built without some modules; user-mode Linux and QEMU " +
		"are described in [0024](decisions/0024-machines-for-tests.md).\n\n" +
		"| feature | used for |")
	for _, k := range list {
		fmt.Fprintf(&b, " %s (%s) |", k.Kernel, k.Machine)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(list)) + "\n")
	for _, f := range features {
		fmt.Fprintf(&b, "| %s | %s |", f.name, f.use)
		for _, k := range list {
			mark, probed := k.Features[f.name]
			switch {
			case !probed:
				b.WriteString(" not probed |")
			case mark:
				b.WriteString(" yes |")
			default:
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}
