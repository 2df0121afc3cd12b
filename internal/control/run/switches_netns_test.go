//go:build linux

package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
	"linerate/internal/show/html"
)

const wrongPassword = "incorrect horse battery"

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
	kerneltest.Needs(t, "snmpd")
	run := controltest.Run(t, controltest.Study{File: controltest.Write(t, throughASwitch)})
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

// TestRealSwitch reads a switch that linerate did not make by SNMPv3, finds the port at which
// it drops each twentieth frame, and keeps the credentials to itself.
func TestRealSwitch(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "snmpd")
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir, secrets := t.TempDir(), t.TempDir()
		controltest.RealSwitch(t, t.TempDir(), false)
		if out, err := exec.Command("ip", "netns", "exec", "sw", "nft",
			"table bridge planted { chain drops { type filter hook forward priority 0; oifname gi2 numgen inc mod "+
				"20 0 drop; }; }").CombinedOutput(); err != nil {
			kerneltest.Skip(t, "this kernel's nftables have no numgen: "+string(out))
		}
		file := writeStudy(t, secrets, behindARealSwitch)
		kept := filepath.Join(dir, "notebook.db")

		controltest.Credentials(t, secrets, wrongPassword)
		_, err := controltest.Try(t, controltest.Study{File: file, Notebook: kept})
		if err == nil || !strings.Contains(err.Error(),
			"SNMP of sg300: the user's auth_password or auth_protocol is wrong") ||
			strings.Contains(err.Error(), wrongPassword) {
			t.Errorf("with a wrong password: %v", err)
		}
		store, err := sqlite.Open(t.Context(), kept)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if list, err := store.Runs(t.Context(), notebook.Filter{}); err != nil || len(list) > 0 {
			t.Errorf("a run without credentials is in the notebook: %+v, %v", list, err)
		}

		controltest.Credentials(t, secrets, controltest.RightPassword)
		run := controltest.Run(t, controltest.Study{File: file, Notebook: kept})
		trial := run.Trials[0]
		in, sent := portOf(t, trial, "client-eth0"), portOf(t, trial, "server-eth0")
		if in.Name != "gi1" || sent.Name != "gi2" || in.Found != "named in the study" {
			t.Errorf("ports %+v %+v", in, sent)
		}
		share := 1 - float64(sent.Counters.OutUcast)/float64(in.Counters.InUcast)
		t.Logf("the switch lost %.4f of the frames", share)
		if share < 0.045 || share > 0.055 {
			t.Errorf("the switch lost %.4f of the frames, want 0.05", share)
		}
		lost, is := controltest.Found(run, "lost-at-hop", trial.Treatment)
		if !is || lost.Host != "sg300" || lost.Of() != "sg300.server-eth0" {
			t.Errorf("findings %+v", run.Findings)
		}
		for _, c := range run.Trust {
			if c.Check == trust.Switch && (!c.Pass || c.Unevaluated) {
				t.Errorf("%+v", c)
			}
		}
		// The notebook is compressed: what is read from it is searched, and the page that is made of it.
		read, err := store.Run(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := html.Run(&page, read); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"the run": string(text), "its page": page.String()} {
			if !strings.Contains(text, "sg300") {
				t.Errorf("%s does not name the switch", what)
			}
			for _, secret := range []string{controltest.RightPassword, wrongPassword} {
				if strings.Contains(text, secret) {
					t.Errorf("%s has the password %q", what, secret)
				}
			}
		}
	})
}

// TestCachingSwitch: a switch that refreshes its counters too rarely for the window has no
// figures, says so, and puts nothing in doubt.
func TestCachingSwitch(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "snmpd")
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		controltest.RealSwitch(t, t.TempDir(), true)
		controltest.Credentials(t, dir, controltest.RightPassword)
		run := controltest.Run(t, controltest.Study{File: writeStudy(t, dir, behindARealSwitch)})
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
				if !c.Unevaluated || !strings.Contains(fmt.Sprint(c.Facts), "{sg300 client-eth0 ") {
					t.Errorf("%+v", c)
				}
			}
		}
		if !checked {
			t.Error("no check of the switch")
		}
		for _, id := range []string{"switch-discards", "switch-errors", "lost-at-hop"} {
			if f, is := controltest.Found(run, id, run.Trials[0].Treatment); is {
				t.Errorf("%+v", f)
			}
		}
	})
}
