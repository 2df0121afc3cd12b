//go:build linux

package cli

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/show/export"
)

// TestMeasureFindings: a measurement names causes by what this host knows of itself and
// what the server shows a client, and none where that is not enough or nothing is wrong.
func TestMeasureFindings(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		cabled(t, "100mbit")
		ip := func(args ...string) string { return kerneltest.Do(t, "ip", args...) }
		// A bridge behind which client and server have two interfaces each on one subnet.
		// Either's peer sends traffic for both to the first interface.
		ip("netns", "add", "switch")
		ip("-n", "switch", "link", "add", "name", "br0", "type", "bridge")
		ip("-n", "switch", "link", "set", "dev", "br0", "up")
		mac := func(host, name string) string {
			return strings.TrimSpace(kerneltest.Do(t, "ip", "netns", "exec", host, "cat", "/sys/class/net/"+name+
				"/address"))
		}
		for host, numbers := range map[string][2]string{"client": {"1", "2"}, "server": {"3", "4"}} {
			for i, name := range []string{"lan0", "lan1"} {
				ip("-n", host, "link", "add", "name", name, "type", "veth", "peer", "name", host+name,
					"netns", "switch")
				ip("-n", host, "address", "add", "10.9.0."+numbers[i]+"/24", "dev", name)
				ip("-n", host, "link", "set", "dev", name, "up")
				ip("-n", "switch", "link", "set", "dev", host+name, "master", "br0", "up")
				for _, key := range []string{"rp_filter", "arp_ignore", "arp_filter"} {
					for _, scope := range []string{"all", name} {
						ip("netns", "exec", host, "sysctl", "-qw", "net.ipv4.conf."+scope+"."+key+"=0")
					}
				}
			}
		}
		for _, number := range []string{"1", "2"} {
			for _, name := range []string{"lan0", "lan1"} {
				ip("-n", "server", "neighbour", "replace", "10.9.0."+number, "lladdr", mac("client", "lan0"),
					"dev", name)
			}
		}
		for _, number := range []string{"3", "4"} {
			for _, name := range []string{"lan0", "lan1"} {
				ip("-n", "client", "neighbour", "replace", "10.9.0."+number, "lladdr", mac("server", "lan0"),
					"dev", name)
			}
		}
		serving(t)
		// What a machine under test does beside is no cause that was put there.
		caused := func(m export.Measurement) (list []string) {
			for _, f := range m.Findings {
				if !slices.Contains([]string{"memory-pressure", "softirq-one-core", "softnet-drop"}, f.ID) {
					list = append(list, f.ID+" on "+f.Host)
				}
			}
			return list
		}
		// Both of the server's interfaces answer the client's ARP requests for either address.
		const answered = "10.9.0.3"
		m, status, said := measured(t, "client", "10.0.0.1", "--duration", "1s")
		if status != ExitOK && status != ExitDoubt {
			t.Fatalf("exit status %d: %s", status, said)
		}
		if found := caused(m); m.Findings == nil || !slices.Equal(found, []string{"arp-flux on " + answered}) {
			t.Errorf("only ARP answers are wrong, and there is %v", m.Findings)
		}
		m, status, said = measured(t, "client", "10.9.0.3", "10.9.0.4", "--source", "10.9.0.1", "--source", "10.9.0.2",
			"--direction", "both", "--streams", "2", "--duration", "1s")
		if status != ExitOK && status != ExitDoubt {
			t.Fatalf("exit status %d: %s", status, said)
		}
		found := caused(m)
		if !slices.Contains(found, "arp-flux on client") {
			t.Errorf("found %v, want arp-flux on the client; findings %+v", found, m.Findings)
		}
		for _, f := range m.Findings {
			if f.ID == "arp-flux" && f.Host != answered &&
				(len(f.Fix) == 0 || !strings.Contains(strings.Join(f.Evidence, " "), "lan0 took in")) {
				t.Errorf("%+v", f)
			}
		}
		if slices.ContainsFunc(found, func(text string) bool { return strings.HasSuffix(text, "on server") }) {
			t.Errorf("found %v: the server shows a client neither MAC addresses nor settings", found)
		}
		out, err := in(t, "client", "measure", "10.9.0.3", "--source", "10.9.0.2", "--direction", "read", "--duration",
			"500ms").Output()
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		for _, words := range []string{"Findings", "arp-flux (likely, client): client answers ARP for all", "fix: ",
			"arp_ignore=1"} {
			if !strings.Contains(string(out), words) {
				t.Errorf("no %q in\n%s", words, out)
			}
		}
	})
}
