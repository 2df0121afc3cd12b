//go:build linux

package cli

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/snmp"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/trust"
)

// throughASwitch is a steady flow from one host to another through a switch that is read.
const throughASwitch = `study: through-a-switch
topology:
  hosts:
    client: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    server: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  switches:
    sw: {snmp: {}}
  links:
    - {from: client, to: sw, rate: 200mbit}
    - {from: server, to: sw, rate: 200mbit}
workload:
  warmup: 500ms
  duration: 3s
  flows:
    - {from: client, to: server, protocol: udp, rate_cap: 50mbit, datagram: 1400}
design: {replicates: 1}
`

// requireSNMPD skips a test without snmpd.
func requireSNMPD(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/usr/sbin/snmpd", "/usr/local/sbin/snmpd", "/usr/bin/snmpd"} {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	kerneltest.Skip(t, "snmpd is not installed: package snmpd")
}

// writeStudy writes a study file.
func writeStudy(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// portOf is a switch's port in a trial, with figures.
func portOf(t *testing.T, trial record.Trial, name string) record.SwitchPort {
	t.Helper()
	for _, s := range trial.Switches {
		for _, p := range s.Ports {
			if p.Port == name {
				if p.Missing != "" || s.Missing != "" {
					t.Fatalf("%s: no figures: %s%s", name, s.Missing, p.Missing)
				}
				return p
			}
		}
	}
	t.Fatalf("no port %s in %+v", name, trial.Switches)
	return record.SwitchPort{}
}

// TestSwitchPorts compares what snmpd in a lab's switch says of its ports with the counters of
// the switch's kernel.
func TestSwitchPorts(t *testing.T) {
	kerneltest.Parallel(t)
	requireSNMPD(t)
	dir := t.TempDir()
	run := runLab(t, dir, writeStudy(t, dir, throughASwitch))
	trial := run.Trials[0]
	kernel, ok := trial.Reading("sw")
	if !ok {
		t.Fatal("the switch was not read")
	}
	for _, d := range kernel.Deltas() {
		if d.Interface != "client-eth0" && d.Interface != "server-eth0" {
			continue
		}
		p := portOf(t, trial, d.Interface)
		for _, one := range []struct {
			what            string
			kernel          float64
			counted, frames uint64
		}{{"received", d.RxBytes, p.Counters.InOctets, p.Counters.In()}, {"sent", d.TxBytes, p.Counters.OutOctets,
			p.Counters.Out()}} {
			there, here := float64(one.counted)/p.Seconds(), one.kernel/d.Seconds
			const edges = 16 << 10 // bytes that a burst at an edge has
			allowed := 0.002*here + here*p.DoubtS/p.Seconds() + edges/p.Seconds()
			t.Logf("%s %s: %.0f bytes/s by SNMP, %.0f by the kernel", d.Interface, one.what, there, here)
			if math.Abs(there-here) > allowed {
				t.Errorf("%s %s: %.0f bytes/s by SNMP, %.0f by the kernel (allowed %.0f apart)", d.Interface, one.what,
					there, here, allowed)
			}
			if (one.frames > 100) != (here > 1e6) {
				t.Errorf("%s %s: %d frames, %.0f bytes/s", d.Interface, one.what, one.frames, here)
			}
		}
	}
	if got := trial.Switches[0].RefreshS; got != 0 {
		t.Errorf("snmpd refreshed its counters every %.3g s, in place of at each request", got)
	}
}

// behindARealSwitch are two hosts that linerate did not make, and a switch without an agent.
const behindARealSwitch = `study: behind-a-real-switch
topology:
  hosts:
    client: {via: [ip, netns, exec, client], interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    server: {via: [ip, netns, exec, server], interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  switches:
    sg300:
      snmp: {address: "192.0.2.9:1161", version: 3, credentials: sg300.snmp, ports: {client-eth0: gi1, server-eth0: gi2}}
  links:
    - {from: client, to: sg300, rate: 1gbit}
    - {from: server, to: sg300, rate: 1gbit}
workload:
  warmup: 500ms
  duration: 3s
  flows:
    - {from: client, to: server, protocol: udp, rate_cap: 50mbit, datagram: 1400}
design: {replicates: 1}
`

const (
	rightPassword = "correct horse battery"
	wrongPassword = "incorrect horse battery"
)

// realSwitch makes hosts and a bridge with snmpd, which this machine reaches at 192.0.2.9. It
// refreshes its counters every 3 s, as it does by itself, or at each request.
func realSwitch(t *testing.T, dir string, cached bool) {
	t.Helper()
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	for _, name := range []string{"client", "server", "sw"} {
		kerneltest.Do(t, "ip", "netns", "add", name)
		kerneltest.Do(t, "ip", "-n", name, "link", "set", "dev", "lo", "up")
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	}
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
	text := "agentaddress udp:192.0.2.9:1161\ncreateUser linerate SHA-256 \"" + rightPassword + "\" AES \"" +
		rightPassword + "\"\n" +
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

func credentialsFile(t *testing.T, dir, password string) {
	t.Helper()
	text := "user: linerate\nauth_protocol: SHA-256\nauth_password: " + password +
		"\npriv_protocol: AES\npriv_password: " + password + "\n"
	if err := os.WriteFile(filepath.Join(dir, "sg300.snmp"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRealSwitch reads a switch that linerate did not make by SNMPv3, finds the port at which
// it drops each hundredth frame, and keeps the credentials to itself.
func TestRealSwitch(t *testing.T) {
	kerneltest.Parallel(t)
	requireSNMPD(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir, secrets := t.TempDir(), t.TempDir()
		realSwitch(t, t.TempDir(), false)
		if out, err := exec.Command("ip", "netns", "exec", "sw", "nft",
			"table bridge planted { chain drops { type filter hook forward priority 0; oifname gi2 numgen inc mod 100 0 drop; }; }").CombinedOutput(); err != nil {
			kerneltest.Skip(t, "this kernel's nftables have no numgen: "+string(out))
		}
		file := writeStudy(t, secrets, behindARealSwitch)

		credentialsFile(t, secrets, wrongPassword)
		out, err := command(t, t.Context(), dir, "run", "--trust", file).CombinedOutput()
		if text := string(out); err == nil ||
			!strings.Contains(text, "SNMP of sg300: the user's auth_password or auth_protocol is wrong") ||
			strings.Contains(text, wrongPassword) {
			t.Errorf("with a wrong password: %v\n%s", err, out)
		}
		if list, _ := command(t, t.Context(), dir, "runs").Output(); strings.Contains(string(list),
			"behind-a-real-switch") {
			t.Errorf("a run without credentials is in the notebook:\n%s", list)
		}

		credentialsFile(t, secrets, rightPassword)
		run := runLab(t, dir, file)
		trial := run.Trials[0]
		in, sent := portOf(t, trial, "client-eth0"), portOf(t, trial, "server-eth0")
		if in.Name != "gi1" || sent.Name != "gi2" || in.Found != "named in the study" {
			t.Errorf("ports %+v %+v", in, sent)
		}
		share := 1 - float64(sent.Counters.OutUcast)/float64(in.Counters.InUcast)
		t.Logf("the switch lost %.4f of the frames", share)
		if share < 0.008 || share > 0.012 {
			t.Errorf("the switch lost %.4f of the frames, want 0.01", share)
		}
		lost, is := found(run, "lost-at-hop", trial.Treatment)
		t.Log(lost.Summary)
		if !is || lost.Host != "sg300" || !strings.Contains(lost.Summary, "in sg300 before port server-eth0") {
			t.Errorf("findings %+v", run.Findings)
		}
		for _, c := range run.Trust {
			if c.Check == trust.Switch && (!c.Pass || c.Unevaluated) {
				t.Errorf("%+v", c)
			}
		}
		err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if data, _ := os.ReadFile(path); strings.Contains(string(data), rightPassword) {
				t.Errorf("%s has the password", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestCachingSwitch: a switch that refreshes its counters too rarely for the window has no
// figures, says so, and puts nothing in doubt.
func TestCachingSwitch(t *testing.T) {
	kerneltest.Parallel(t)
	requireSNMPD(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		realSwitch(t, t.TempDir(), true)
		credentialsFile(t, dir, rightPassword)
		run := runLab(t, dir, writeStudy(t, dir, behindARealSwitch))
		for _, p := range run.Trials[0].Switches[0].Ports {
			if !strings.Contains(p.Missing, "set workload.duration to") &&
				!strings.Contains(p.Missing, "changed too rarely") || p.Counters != (record.SwitchCounters{}) {
				t.Errorf("port %s: %q, %+v", p.Port, p.Missing, p.Counters)
			}
		}
		checked := false
		for _, c := range run.Trust {
			if c.Check == trust.Switch {
				checked = true
				if !c.Unevaluated || !strings.Contains(c.Detail, "port client-eth0 of sg300") {
					t.Errorf("%+v", c)
				}
			}
		}
		if !checked {
			t.Error("no check of the switch")
		}
		for _, id := range []string{"switch-discards", "switch-errors", "lost-at-hop"} {
			if f, is := found(run, id, run.Trials[0].Treatment); is {
				t.Errorf("%+v", f)
			}
		}
	})
}
