package snmp

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/topology"
)

// netSNMP runs snmpd of net-snmp on the loopback with a user of SNMPv3, and returns where.
func netSNMP(t *testing.T) *topology.SNMP {
	t.Helper()
	path := kerneltest.Program(t, "snmpd")
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.LocalAddr().String()
	free.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "snmpd.conf")
	text := fmt.Sprintf(
		"agentaddress udp:%s\ncreateUser linerate SHA-256 \"correct horse\" AES \"battery staple\"\nrouser "+
			"linerate priv\nrocommunity %s 127.0.0.1\n[snmp] persistentDir %s\n",
		address, community, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(path, "-f", "-Lo", "-C", "-c", config, "-I", "-smux")
	daemon.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_FILE="+filepath.Join(dir, "state"))
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	at := &topology.SNMP{Address: address}
	for range 500 {
		if opened(t, at, Community(community)).Discover(context.Background(), nil) == nil {
			return at
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("snmpd does not answer")
	return nil
}

// TestNetSNMP reads an agent that is not ours, by both versions, and is refused by it with a
// sentence for each of the credentials that is wrong.
func TestNetSNMP(t *testing.T) {
	t.Parallel()
	at := netSNMP(t)
	lo := []Wanted{{Port: "lo", Peer: topology.End{Node: "nas", Interface: "eth0"}}}
	right := "user: linerate\nauth_protocol: SHA-256\nauth_password: correct horse\npriv_protocol: " +
		"AES\npriv_password: battery staple\n"
	for _, c := range []struct{ name, text, version, wrong string }{
		{"community", "community: " + community, "2c", ""},
		{"privacy", right, "3", ""},
		{"no such user", strings.Replace(right, "user: linerate", "user: nobody", 1), "3", "does not know the user"},
		{"password", strings.Replace(right, "correct horse", "hunter2hunter2", 1), "3",
			"auth_password or auth_protocol is wrong"},
		{"protocol", strings.Replace(right, "SHA-256", "SHA", 1), "3", "auth_password or auth_protocol is wrong"},
		{"privacy password", strings.Replace(right, "battery staple", "hunter2hunter2", 1), "3",
			"priv_password is wrong"},
		{"no privacy", "user: linerate\nauth_protocol: SHA-256\nauth_password: correct horse\n", "3",
			"not at this security level"},
	} {
		credentials, err := ReadCredentials(secret(t, c.text, 0o600), c.version)
		if err != nil {
			t.Fatal(err)
		}
		err = opened(t, at, credentials).Discover(context.Background(), lo)
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error has the secret: %v", c.name, err)
		}
	}
}
