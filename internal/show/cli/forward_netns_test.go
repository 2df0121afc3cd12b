//go:build linux

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestForwardCommand: what a router forwards is printed, and what cannot be measured is an error
// that says why.
func TestForwardCommand(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
		for _, name := range []string{"tester", "device"} {
			kerneltest.Do(t, "ip", "netns", "add", name)
		}
		for _, n := range []string{"1", "2"} {
			kerneltest.Do(t, "ip", "-n", "tester", "link", "add", "eth"+n, "type", "veth", "peer", "name", "eth"+n, "netns", "device")
			for name, host := range map[string]string{"tester": "1", "device": "254"} {
				kerneltest.Do(t, "ip", "-n", name, "address", "add", "10.0."+n+"."+host+"/24", "dev", "eth"+n)
				kerneltest.Do(t, "ip", "-n", name, "link", "set", "eth"+n, "up")
			}
		}
		kerneltest.Do(t, "ip", "netns", "exec", "device", "sysctl", "-qw", "net.ipv4.ip_forward=1")
		ends := []string{"forward", "--quiet", "--interface", "eth1", "--receive", "eth2"}
		out, err := in(t, "tester", append(ends, "--json", "--router", "10.0.1.254", "--frame", "64", "--most", "200", "--duration", "500ms", "--resolution", "50%")...).Output()
		var r record.Forward
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err != nil || len(r.Sizes) != 1 || r.Sizes[0].Goals[0].BoundedBy != record.BoundedByCap || r.Router != "10.0.1.254" || r.To != "10.0.2.1" {
			t.Errorf("%v: %+v", err, r)
		}
		kerneltest.Do(t, "ip", "netns", "exec", "device", "tc", "qdisc", "add", "dev", "eth2", "root", "tbf", "rate", "8kbit", "burst", "100", "limit", "100")
		text, err := in(t, "tester", append(ends, "--router", "10.0.1.254", "--frame", "1518")...).CombinedOutput()
		kerneltest.Do(t, "ip", "netns", "exec", "device", "tc", "qdisc", "del", "dev", "eth2", "root")
		if err == nil || !strings.Contains(string(text), "no frame to 10.0.2.1 arrives") {
			t.Errorf("a queue that takes no frame: %v, %s", err, text)
		}
		for want, args := range map[string][]string{
			"does not answer on eth1":          {"--router", "10.0.1.99"},
			"the router has to forward":        {"--router", "10.0.1.254", "--to", "192.0.2.1"},
			"no frame arrives by eth2":         {"--frame", "64"},
			"expected another interface":       {"--receive", "eth1"},
			"--loss 60%: expected 0% to 50%":   {"--loss", "60%"},
			"--back-to-back: expected 0%":      {"--loss", "1%", "--back-to-back", "3"},
			"expected imix":                    {"--frame", "63"},
			"longer than the MTU":              {"--router", "10.0.1.254", "--frame", "9000"},
			"expected an IP address":           {"--router", "here"},
			"expected addresses of one family": {"--router", "10.0.1.254", "--to", "2001:db8:2::1"},
			"is no Ethernet":                   {"--receive", "lo"},
		} {
			text, err := in(t, "tester", append(ends, args...)...).CombinedOutput()
			if err == nil || !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), want) {
				t.Errorf("%v: %v, %s, want %q", args, err, text, want)
			}
		}
	})
}
