package pasted

import (
	"strings"
	"testing"
)

// TestPlaces: what a command prints of another network namespace or of a container belongs to a machine of its own,
// unless that has the interfaces of the machine.
func TestPlaces(t *testing.T) {
	address := func(iface, last string) string {
		return "2: " + iface + ": <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n" +
			"    link/ether 52:54:00:12:34:" + last + " brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2." + last + "/24 scope global " +
			iface + "\n"
	}
	for command, want := range map[string]string{
		"ip netns exec red ip addr":                        "nas eth0; nas/red p0",
		"sudo ip netns exec red sudo ip addr":              "nas eth0; nas/red p0",
		"ip -n red addr":                                   "nas eth0; nas/red p0",
		"nsenter -t 42 -n ip addr":                         "nas eth0; nas/42 p0",
		"nsenter --target=42 --mount --net ip addr":        "nas eth0; nas/42 p0",
		"nsenter --net=/run/netns/red ip addr":             "nas eth0; nas/red p0",
		"nsenter -t 42 -m ip addr":                         "nas eth0 p0",
		"nsenter -t 1 -m -u -n -i ip addr":                 "nas eth0 p0",
		"docker exec -it web ip addr":                      "nas eth0; nas/web p0",
		"kubectl exec -n shop web-0 -c app -- ip addr":     "nas eth0; nas/web-0 p0",
		"ip vrf exec blue ip addr":                         "nas eth0 p0",
		"ssh box ip netns exec red ip addr":                "nas eth0; box/red p0",
		"chroot /host ip addr":                             "nas eth0 p0",
		"kubectl exec -n kube-system cilium-x -- ip route": "nas eth0",
	} {
		text := "root@nas:~# ip addr\n" + address("eth0", "10") + "root@nas:~# " + command + "\n"
		if strings.HasSuffix(command, "addr") {
			text += address("p0", "11")
		} else { // a container with the network of the host
			text = strings.Replace(text, "route", "addr", 1) + address("eth0", "10")
		}
		if got := interfacesOf(t, text); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
		unnamed := interfacesOf(t, strings.ReplaceAll(text, "root@nas:~#", "#"))
		if _, inside, apart := strings.Cut(want, "; nas/"); apart && unnamed != "host1 eth0; "+inside {
			t.Errorf("%s: without a name %q", command, unnamed)
		}
	}
	// The machine is that of the lines before and behind a namespace.
	text := "# ip netns exec red ip addr\n" + address("p0", "11") + "# ip addr\n" + address("eth0", "10") +
		"# ip netns exec red ip -br link\np1 UP 52:54:00:12:34:12 <BROADCAST,UP,LOWER_UP>\n"
	if got, want := interfacesOf(t, text), "red p0 p1; host1 eth0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSupportconfigAlone: a file of supportconfig is read by its heads, without the archive.
func TestSupportconfigAlone(t *testing.T) {
	head := func(kind, what string) string { return "\n#==[ " + kind + " ]==========#\n# " + what + "\n" }
	p, err := Parse(head("Command", "/sbin/ip addr") + "2: eth0: <UP> mtu 1500\n    inet 192.0.2.10/24 scope global eth0\n" +
		head("Command", "/sbin/ip netns exec red ip addr") + "2: p0: <UP> mtu 1500\n    inet 192.0.2.11/24 scope global p0\n" +
		head("Configuration File", "/etc/resolv.conf") + "nameserver 192.0.2.53\n" +
		head("Command", "/usr/bin/unknown") + "what nothing knows\n" +
		head("Command", "ping -n -c1 -W1 192.0.2.1") + "ERROR: Command not found or not executable\n\n# Connectivity Test, " +
		"Default Route 192.0.2.1: Failure\n")
	if err != nil || p.Lost > 0 || len(p.Machines) != 2 || p.Machines[0].State.Resolver == nil {
		t.Errorf("%v, not understood %q: %+v", err, p.NotUnderstood, p.Machines)
	}
}

// TestCPUsOfRows: there are at least the CPUs that have rows, whatever their load is.
func TestCPUsOfRows(t *testing.T) {
	p, err := Parse("12:01:02     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %idle\n" +
		"12:01:03       0    0.00    0.00    0.00    0.00    0.00  100.00    0.00    0.00\n" +
		"12:01:03       3    1.00    0.00    2.00    0.00    0.00    0.00    0.00   97.00\n")
	if err != nil || len(p.Machines) != 1 || p.Machines[0].Host.CPUs != 4 {
		t.Errorf("%v: %+v, want 4 CPUs", err, p.Machines)
	}
}

// interfacesOf returns the machines of a text with their interfaces.
func interfacesOf(t *testing.T, text string) string {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range p.Machines {
		words := []string{m.Reading.Host}
		for _, i := range m.Reading.Snapshot.Interfaces {
			words = append(words, i.Interface)
		}
		list = append(list, strings.Join(words, " "))
	}
	return strings.Join(list, "; ")
}
