package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/show/wording"
)

// deviceModules are what a lab with every kind of device needs.
var deviceModules = []string{"veth", "bridge", "sch_tbf", "bonding", "8021q", "vrf", "dummy", "vxlan", "macvlan"}

// runOn runs a study in a machine and returns the run's record.
func runOn(t *testing.T, m *machinetest.Running, name string, arguments ...string) record.Run {
	t.Helper()
	result, status := m.Run(t, 5*time.Minute, "cd /root && linerate run --trust --json --quiet "+
		strings.Join(append(arguments, name), " ")+" 2>errors")
	if status != 0 && status != ExitDoubt {
		t.Fatalf("%s: exit status %d\n%s%s", name, status, result, m.Do(t, "cat /root/errors"))
	}
	var run record.Run
	if err := json.Unmarshal([]byte(result), &run); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, result)
	}
	return run
}

const everyDevice = `study: every-device
topology:
  hosts:
    nas:
      interfaces:
        eth0: {}
        eth1: {}
        bond0: {bond: {mode: 802.3ad, xmit_hash_policy: layer3+4, members: [eth0, eth1]}, addresses: [10.0.1.1/24]}
        bond0.5: {vlan: 5, addresses: [10.0.5.1/24]}
        mac: {macvlan: bridge, link: bond0, addresses: [10.0.6.1/24]}
        lo1: {dummy: true, addresses: [10.9.9.9/32]}
    client:
      interfaces:
        eth0: {addresses: [10.0.1.2/24, 10.0.6.2/24]}
        eth0.5: {vlan: 5, addresses: [10.0.5.2/24]}
        vx: {vxlan: {id: 42, local: 10.0.1.2, remote: 10.0.2.2}, addresses: [10.7.0.1/24]}
      routes: [{to: 10.9.9.9/32, via: 10.0.1.1}, {to: 10.0.2.0/24, via: 10.0.1.254}]
    access:
      interfaces:
        eth0: {addresses: [10.0.5.3/24]}
    router:
      forward: true
      interfaces:
        left: {addresses: [10.0.1.254/24]}
        right: {addresses: [10.0.2.254/24]}
        red: {vrf: {table: 10, members: [left, right]}}
    far:
      interfaces:
        eth0: {addresses: [10.0.2.2/24]}
        vx: {vxlan: {id: 42, local: 10.0.2.2, remote: 10.0.1.2}, addresses: [10.7.0.2/24]}
      routes: [{to: default, via: 10.0.2.254}]
  switches:
    switch:
      ports:
        nas: {bond: {mode: 802.3ad, xmit_hash_policy: layer3+4, members: [p0, p1]}, untagged: 1, tagged: [5]}
        client-eth0: {untagged: 1, tagged: [5]}
        access-eth0: {untagged: 5}
  links:
    - {from: "nas.eth{n=0..1}", to: "switch.p{n}", rate: 20mbit}
    - {from: client, to: switch, rate: 50mbit}
    - {from: access, to: switch, rate: 50mbit}
    - {from: router.left, to: switch, rate: 50mbit}
    - {from: router.right, to: far, rate: 50mbit}
workload:
  duration: 2s
  warmup: 1s
  source_ports: drawn
  flows: [{from: nas, to: client, streams: 6}]
factors:
  over:
    role: condition
    levels:
      bond: {}
      switch's bond: {workload: {flows: [{from: client, to: nas, streams: 6}]}}
      VLAN: {workload: {flows: [{from: nas, to: access, destination: 10.0.5.3}]}}
      tagged: {workload: {flows: [{from: client, to: nas, destination: 10.0.5.1}]}}
      macvlan: {workload: {flows: [{from: client, to: nas, source: 10.0.6.2, destination: 10.0.6.1}]}}
      dummy: {workload: {flows: [{from: client, to: nas, destination: 10.9.9.9}]}}
      VRF: {workload: {flows: [{from: client, to: far, destination: 10.0.2.2}]}}
      VXLAN: {workload: {flows: [{from: client, to: far, source: 10.7.0.1, destination: 10.7.0.2}]}}
design: {replicates: 1}
`

// TestMachineDevices runs flows over every kind of device on Linux 6.1: which member of a bond
// each takes is as predicted, and what the interfaces counted are the flows' bytes.
func TestMachineDevices(t *testing.T) {
	kerneltest.Parallel(t) // no rate is judged
	kernel := machinetest.UserMode(t)
	m := machinetest.Boot(t, machinetest.Machine{Name: "uml", Kernel: kernel, Modules: deviceModules, Memory: 1024,
		Files: map[string][]byte{"/root/every.yaml": []byte(everyDevice)}})[0]
	run := runOn(t, m, "every.yaml")
	if len(run.Trials) != 8 {
		t.Fatalf("%d trials, want 8", len(run.Trials))
	}
	for _, trial := range run.Trials {
		if trial.GoodputBps <= 0 || trial.LimitBps <= 0 {
			t.Errorf("%s: %.0f bit/s, limit %.0f; want more than 0", trial.Treatment, trial.GoodputBps, trial.LimitBps)
		}
		asPredicted(t, trial)
	}
	for _, c := range wording.Checks(run.Trust) {
		switch c.Check {
		case "connected", "alive", "conservation", "wire", "foreign-traffic", "limit":
			if !c.Pass {
				t.Errorf("trial %d: %s: %s", c.Trial, c.Check, c.Detail)
			}
		}
	}
}

// asPredicted checks that flows with several paths were observed on the predicted one.
func asPredicted(t *testing.T, trial record.Trial) {
	t.Helper()
	for _, f := range trial.Flows {
		if f.Paths < 2 {
			continue
		}
		// What received nothing was seen nowhere: its first segments were lost in full queues.
		if len(f.Observed) == 0 && f.ReceivedBytes > 0 || f.PredictedNote != "" {
			t.Errorf("%s, flow %s of %d bytes: observed at %v, predicted %v %s", trial.Treatment, f.ID, f.ReceivedBytes,
				f.Observed, f.Predicted, f.PredictedNote)
		}
		for _, end := range f.Observed {
			if !slices.Contains(f.Predicted, end) {
				t.Errorf("%s, flow %s (%s to %s) came in by %s, predicted %v", trial.Treatment, f.ID, f.Source,
					f.Destination, end, f.Predicted)
			}
		}
	}
}

// TestMachineWithoutDevices: a kind that the kernel lacks is named, and nothing is made.
func TestMachineWithoutDevices(t *testing.T) {
	kerneltest.Parallel(t)
	m := machinetest.Boot(t, machinetest.Machine{Name: "uml", Kernel: machinetest.UserMode(t),
		Modules: []string{"veth", "bridge", "sch_tbf"},
		Files:   map[string][]byte{"/root/every.yaml": []byte(everyDevice)}})[0]
	output, status := m.Run(t, time.Minute, "cd /root && linerate run --trust --quiet every.yaml")
	const want = "has no bond: it needs the module bonding (modprobe bonding)"
	if status == 0 || !strings.Contains(strings.Join(strings.Fields(output), " "), want) ||
		!strings.Contains(output, "nas: ") {
		t.Errorf("exit status %d; want one with %q for nas:\n%s", status, want, output)
	}
}
