//go:build linux && !portable

package snmp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/fabric"
	"linerate/internal/model/topology"
)

// TestSurveyRealAgents: LLDP-MIB of lldpd, as a subagent of snmpd, says which neighbour is at the other end of
// a veth pair: another lldpd.
func TestSurveyRealAgents(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		snmpd, lldpd := kerneltest.Program(t, "snmpd"), kerneltest.Program(t, "lldpd")
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run") // of this test's mounts only
		kerneltest.Do(t, "mkdir", "-p", "/run/lldpd")
		spaces := map[string]*netlink.Namespace{}
		for _, name := range []string{"own", "other"} {
			one, err := netlink.NewNamespace(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(one.Close)
			spaces[name] = one
		}
		a := netlink.LinkEnd{Namespace: spaces["own"], Interface: "lldp0", MAC: "02:00:00:00:08:01", MTU: 1500}
		if err := a.NewVethPair(netlink.LinkEnd{Namespace: spaces["other"], Interface: "lldp1",
			MAC: "02:00:00:00:08:02",
			MTU: 1500}); err != nil {
			t.Fatal(err)
		}
		start := func(in, program string, args ...string) {
			if err := spaces[in].Do(func() error {
				command := exec.Command(program, args...)
				command.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_FILE=/run/state")
				if err := command.Start(); err != nil {
					return err
				}
				t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		do := func(in string, words ...string) {
			if err := spaces[in].Do(func() error { return exec.Command(words[0], words[1:]...).Run() }); err != nil {
				t.Fatalf("%v: %v", words, err)
			}
		}
		do("own", "ip", "link", "set", "dev", "lo", "up")
		do("own", "ip", "link", "set", "dev", "lldp0", "up")
		do("other", "ip", "link", "set", "dev", "lldp1", "up")
		config := filepath.Join(t.TempDir(), "snmpd.conf")
		if err := os.WriteFile(config, fmt.Appendf(nil, "agentaddress udp:127.0.0.1:1161\nmaster agentx\n"+
			"agentXSocket /run/agentx\nrocommunity %s 127.0.0.1\n[snmp] persistentDir /run\n", community),
			0o600); err != nil {
			t.Fatal(err)
		}
		start("own", snmpd, "-f", "-Lo", "-C", "-c", config, "-I", "-smux")
		kerneltest.Await(t, "the socket of AgentX", func() bool { _, err := os.Stat("/run/agentx"); return err == nil })
		start("own", lldpd, "-d", "-x", "-X", "/run/agentx", "-u", "/run/own.socket", "-I", "lldp0")
		start("other", lldpd, "-d", "-u", "/run/other.socket", "-I", "lldp1")
		var got fabric.Device
		var err error
		for end := time.Now().Add(40 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			for _, socket := range []string{"/run/own.socket", "/run/other.socket"} {
				for _, verb := range []string{"resume", "update"} { // which sends at once
					_ = exec.Command("lldpcli", "-u", socket, verb).Run()
				}
			}
			// The socket is of the namespace, and of the thread, in which it is opened.
			_ = spaces["own"].Do(func() error {
				got, err = Survey(context.Background(), &topology.SNMP{Address: "127.0.0.1:1161"}, Community(community))
				return nil
			})
			if len(got.Neighbours) > 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("no neighbour: %+v, %v", got, err)
			}
		}
		n := got.Neighbours[0]
		if len(got.Neighbours) != 1 || n.Local != "lldp0" || n.Port != "02:00:00:00:08:02" ||
			n.Description != "lldp1" ||
			n.Chassis == "" || got.Chassis == "" {
			t.Errorf("%+v", got)
		}
		if !slices.ContainsFunc(got.Ports, func(p fabric.Port) bool { return p.Name == "lldp0" && p.MAC == a.MAC }) {
			t.Errorf("ports %+v", got.Ports)
		}
	})
}
