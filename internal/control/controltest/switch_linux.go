package controltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"linerate/internal/control/snmp"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/topology"
)

// RightPassword is the SNMP password of the switch that RealSwitch makes.
const RightPassword = "correct horse battery"

// RealSwitch makes two hosts and a bridge with snmpd as their switch, which this machine
// reaches at 192.0.2.9. Its counters are refreshed every 3 s if cached, as is snmpd's
// default, and otherwise at each request.
func RealSwitch(t *testing.T, dir string, cached bool) {
	t.Helper()
	Hosts(t, "", "client", "server", "sw")
	kerneltest.Do(t, "ip", "-n", "sw", "link", "add", "name", "br0", "type", "bridge")
	kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", "br0", "up")
	for host, port := range map[string]string{"client": "gi1", "server": "gi2"} {
		kerneltest.Do(t, "ip", "-n", host, "link", "add", "name", "eth0", "type", "veth", "peer", "name", port,
			"netns", "sw")
		address := map[string]string{"client": "10.0.0.1/24", "server": "10.0.0.2/24"}[host]
		kerneltest.Do(t, "ip", "-n", host, "address", "add", address, "dev", "eth0")
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", port, "up", "master", "br0")
	}
	kerneltest.Do(t, "ip", "link", "add", "name", "mgmt", "type", "veth", "peer", "name", "m0", "netns", "sw")
	kerneltest.Do(t, "ip", "address", "add", "192.0.2.1/24", "dev", "mgmt")
	kerneltest.Do(t, "ip", "link", "set", "dev", "mgmt", "up")
	kerneltest.Do(t, "ip", "-n", "sw", "address", "add", "192.0.2.9/24", "dev", "m0")
	kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", "m0", "up")

	config := filepath.Join(dir, "snmpd.conf")
	text := "agentaddress udp:192.0.2.9:1161\ncreateUser linerate SHA-256 \"" + RightPassword + "\" AES \"" +
		RightPassword + "\"\n" +
		"rouser linerate priv\nrwcommunity for-the-test 192.0.2.1\n[snmp] persistentDir " +
		filepath.Join(dir, "state") + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("ip", "netns", "exec", "sw", "snmpd", "-f", "-Lo", "-C", "-c", config, "-I", "-smux")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	device, err := snmp.Open(t.Context(), "sg300", &topology.SNMP{Address: "192.0.2.9:1161"},
		snmp.Community("for-the-test"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for range 500 {
		if err = device.Discover(t.Context(), nil); err == nil && !cached {
			err = device.Uncached(t.Context())
		}
		if err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("snmpd: %v", err)
}

// Credentials writes the file with the credentials that a study names for the switch of
// RealSwitch.
func Credentials(t *testing.T, dir, password string) {
	t.Helper()
	text := "user: linerate\nauth_protocol: SHA-256\nauth_password: " + password +
		"\npriv_protocol: AES\npriv_password: " + password + "\n"
	if err := os.WriteFile(filepath.Join(dir, "sg300.snmp"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
