//go:build linux

package cli

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestForwardCommand: what a router forwards is printed, and what cannot be measured is an error
// that says why.
func TestForwardCommand(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
		for _, name := range []string{"tester", "device"} {
			kerneltest.Do(t, "ip", "netns", "add", name)
		}
		for _, n := range []string{"1", "2"} {
			kerneltest.Do(t, "ip", "-n", "tester", "link", "add", "eth"+n, "type", "veth", "peer", "name", "eth"+n,
				"netns", "device")
			for name, host := range map[string]string{"tester": "1", "device": "254"} {
				kerneltest.Do(t, "ip", "-n", name, "address", "add", "10.0."+n+"."+host+"/24", "dev", "eth"+n)
				kerneltest.Do(t, "ip", "-n", name, "link", "set", "eth"+n, "up")
			}
		}
		kerneltest.Do(t, "ip", "netns", "exec", "device", "sysctl", "-qw", "net.ipv4.ip_forward=1")
		ends := []string{"forward", "--quiet", "--interface", "eth1", "--receive", "eth2"}
		out, err := in(t, "tester", append(ends, "--json", "--router", "10.0.1.254", "--frame", "64", "--most", "200",
			"--duration", "500ms", "--resolution", "50%")...).Output()
		var r record.Forward
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err != nil || len(r.Sizes) != 1 || r.Sizes[0].Goals[0].BoundedBy != record.BoundedByCap ||
			r.Router != "10.0.1.254" || r.To != "10.0.2.1" {
			t.Errorf("%v: %+v", err, r)
		}
		kerneltest.Do(t, "ip", "netns", "exec", "device", "tc", "qdisc", "add", "dev", "eth2", "root", "tbf", "rate",
			"8kbit", "burst", "100", "limit", "100")
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

// TestForwardDevice: a switch whose counters are read by SNMP counts in what is sent, and out
// what arrives, at the rate that was found and beyond it.
func TestForwardDevice(t *testing.T) {
	kerneltest.Needs(t, "snmpd")
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		controltest.RealSwitch(t, t.TempDir(), false)
		for i, port := range []string{"gi3", "gi4"} {
			name := []string{"eth1", "eth2"}[i]
			kerneltest.Do(t, "ip", "link", "add", "name", name, "type", "veth", "peer", "name", port, "netns", "sw")
			kerneltest.Do(t, "ip", "link", "set", "dev", name, "up")
			kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", port, "up", "master", "br0")
		}
		kerneltest.Do(t, "tc", "-n", "sw", "qdisc", "add", "dev", "gi4", "root", "tbf", "rate", "20mbit", "burst",
			"10000", "limit", "20000")
		args := []string{"forward", "--quiet", "--interface", "eth1", "--receive", "eth2", "--frame", "512",
			"--duration", "2s", "--resolution", "5%",
			"--snmp", "192.0.2.9:1161", "--snmp-version", "3", "--snmp-credentials", filepath.Join(dir, "sg300.snmp")}
		controltest.Credentials(t, dir, "incorrect horse battery")
		if out, err := command(t, t.Context(), dir, args...).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "auth_password or auth_protocol is wrong") {
			t.Errorf("with a wrong password: %v\n%s", err, out)
		}
		controltest.Credentials(t, dir, controltest.RightPassword)
		// net-snmp gives no forwarding table.
		if out, err := command(t, t.Context(), dir, args...).CombinedOutput(); err == nil ||
			!strings.Contains(strings.ReplaceAll(string(out), "\n", " "), "its port towards eth1 is not found") {
			t.Errorf("without a forwarding table: %v\n%s", err, out)
		}
		args = append(args, "--snmp-ports", "gi3,gi4")
		out, err := command(t, t.Context(), dir, append(args, "--json")...).Output()
		var r record.Forward
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err != nil || len(r.Sizes) != 1 || r.Sizes[0].Goals[0].Device == nil ||
			r.Sizes[0].Goals[0].DeviceLosing == nil {
			t.Fatalf("%v: %s", err, out)
		}
		g := r.Sizes[0].Goals[0]
		for what, d := range map[string]*record.ForwardDevice{"confirmed": g.Device, "losing": g.DeviceLosing} {
			if len(d.Reading.Ports) != 2 || d.Reading.Ports[0].Name != "gi3" || d.Reading.Ports[1].Name != "gi4" {
				t.Fatalf("%s: %+v", what, d.Reading)
			}
			for i, want := range []float64{d.SentPerS, d.ArrivedPerS} {
				p := d.Reading.Ports[i]
				counted := float64([]uint64{p.Counters.In(), p.Counters.Out()}[i]) * 1e9 / float64(p.ToNs-p.FromNs)
				t.Logf("%s: %s %.0f/s, here %.0f/s %s", what, p.Name, counted, want, p.Missing)
				if p.Missing != "" || math.Abs(counted-want) > 0.1*want {
					t.Errorf("%s: %s counted %.0f/s, want %.0f/s (%s)", what, p.Name, counted, want, p.Missing)
				}
			}
		}
		if text, _ := command(t, t.Context(), dir, args...).Output(); !strings.Contains(string(text), "gi3 in") {
			t.Errorf("%s", text)
		}
		for want, more := range map[string][]string{
			"--snmp-ports: expected two":             {"--snmp-ports", "gi5"},
			"--snmp-version \"1\": expected 2c or 3": {"--snmp-version", "1"},
			"expected --snmp, the address":           {"--snmp", ""},
		} {
			if text, err := command(t, t.Context(), dir, append(args, more...)...).CombinedOutput(); err == nil ||
				!strings.Contains(string(text), want) {
				t.Errorf("%v: %v, %s, want %q", more, err, text, want)
			}
		}
	})
}
