package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
	"linerate/internal/show/export"
	"linerate/internal/show/wording"
)

// machineDrivers are QEMU's models and the modules that drive them.
var machineDrivers = [][2]string{{"e1000e", "e1000e"}, {"vmxnet3", "vmxnet3"}, {"virtio-net-pci", "virtio_net"}}

// driverMachines boots two machines with a port of each driver; port N of both is on a switch
// of its own, with the addresses 10.1.N+1.1 and 10.1.N+1.2.
func driverMachines(t *testing.T) []*machinetest.Running {
	t.Helper()
	machines := []machinetest.Machine{{Name: "server1", Kernel: machinetest.Debian(t)},
		{Name: "server2", Kernel: machinetest.Debian(t)}}
	for _, driver := range machineDrivers {
		fabric := machinetest.NewSwitch(t)
		for i := range machines {
			machines[i].Modules = append(machines[i].Modules, driver[1])
			machines[i].Ports = append(machines[i].Ports, machinetest.Port{Model: driver[0],
				Cable: fabric.NewCable(t, machineServerRate)})
		}
	}
	running := machinetest.Boot(t, machines...)
	for i, m := range running {
		for port := range machineDrivers {
			m.Do(t, fmt.Sprintf("ip address add 10.1.%d.%d/24 dev eth%d && ip link set dev eth%d up", port+1, i+1,
				port, port))
		}
	}
	awaitLinks(t, running)
	for _, m := range running { // with the carrier comes a link-local address, later
		m.Do(t, fmt.Sprintf("until [ $(ip -6 route show table local | grep -c '^local fe80') = %d ]; do sleep 1; done",
			len(machineDrivers)))
	}
	return running
}

// TestMachineECMPHash: flows between two machines with two links, of e1000e and vmxnet3, take
// the paths that the kernel has predicted, and have the effects and findings of the lab.
func TestMachineECMPHash(t *testing.T) {
	machines := driverMachines(t)
	for i, m := range machines {
		m.Do(t, fmt.Sprintf("ip address add 10.0.200.%d/32 dev eth0", i+1))
	}
	before := hostState(t, machines)
	file, err := filepath.Abs(filepath.Join("testdata", "ecmp-pair.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "    server{s=1..2}:\n")
	_, links, _ := strings.Cut(rest, "  links:\n")
	var hosts strings.Builder
	for i, m := range machines {
		fmt.Fprintf(&hosts,
			"    server%d:\n      via: %s\n      interfaces: {eth0: {addresses: [10.1.1.%[1]d/24, "+
				"10.0.200.%[1]d/32]}, eth1: {addresses: [10.1.2.%[1]d/24]}}\n", i+1, viaOf(t, m))
	}
	dir := t.TempDir()
	reached := filepath.Join(dir, "reached.yaml")
	if err := os.WriteFile(reached, []byte(head+hosts.String()+"  links:\n"+links), 0o600); err != nil {
		t.Fatal(err)
	}
	onMachines := runLab(t, dir, reached, "--seed", "7")
	if after := hostState(t, machines); after != before {
		t.Errorf("the machines are not as they were:\n%s", controltest.FirstDifference(before, after))
	}
	inLab := runLab(t, dir, file, "--seed", "7")
	t.Logf("machines: %s\nlab: %s", onMachines.Answer, inLab.Answer)
	for _, run := range []*record.Run{onMachines, inLab} {
		controltest.AsPredicted(t, run, 0)
		for _, trial := range run.Trials {
			want := map[string]int{"policy 0": 1, "chosen ports": 2}[trial.Treatment]
			used := map[string]bool{}
			for _, f := range trial.Flows {
				for _, end := range f.Observed {
					used[end] = true
				}
			}
			if len(used) != want {
				t.Errorf("trial %d (%s): flows came in by %v, want %d links", trial.Order, trial.Treatment, used, want)
			}
		}
	}
	if slices.ContainsFunc(inLab.Effects, func(e record.Effect) bool { return e.Verdict == record.Inconclusive }) {
		t.Errorf("effects of the lab %q: want a verdict", effectsOf(inLab))
	}
	if !slices.Equal(effectsOf(onMachines), effectsOf(inLab)) {
		t.Errorf("effects %q, in the lab %q", effectsOf(onMachines), effectsOf(inLab))
	}
	for _, want := range inLab.Treatments {
		for _, id := range []string{"ecmp-l3-hash", "ecmp-few-flows", "ecmp-dead-nexthop", "ecmp-weight-mismatch"} {
			_, here := controltest.Found(onMachines, id, want.Name)
			_, there := controltest.Found(inLab, id, want.Name)
			if here != there {
				t.Errorf("%s: finding %s: %t, in the lab %t", want.Name, id, here, there)
			}
		}
	}
	if _, is := controltest.Found(inLab, "ecmp-l3-hash", "policy 0"); !is {
		t.Errorf("the lab has no finding ecmp-l3-hash: %+v", inLab.Findings)
	}
	// an interface may have sent more than its link carried: QEMU queues what its socket does not
	// take
	checkTrust(t, "machines", onMachines.Trust, trust.Limit)
}

// TestMachinesMeasure measures between two machines by each driver, in both directions: no
// check of the figures fails; what cannot be evaluated says so, and without a speed of the NIC
// there is no limit to check.
func TestMachinesMeasure(t *testing.T) {
	machines := driverMachines(t)
	machines[1].Do(t,
		"linerate serve >/run/serve 2>&1 & for i in $(seq 30); do grep -q 'listening on' /run/serve && exit; sleep "+
			"1; done; cat /run/serve; exit 1")
	for port, driver := range machineDrivers {
		for _, direction := range []string{"write", "read"} {
			on := driver[0] + ", " + direction
			result, status := machines[0].Run(t, 2*time.Minute,
				fmt.Sprintf("linerate measure --json --quiet --duration 4s --warmup 2s --direction %s 10.1.%d.2 "+
					"2>/run/errors", direction, port+1))
			if status != ExitOK && status != ExitDoubt {
				t.Fatalf("%s: exit status %d\n%s%s", on, status, result, machines[0].Do(t, "cat /run/errors"))
			}
			var m export.Measurement
			if err := json.Unmarshal([]byte(result), &m); err != nil {
				t.Fatalf("%s: %v\n%s", on, err, result)
			}
			if len(m.Directions) != 1 || m.Directions[0].GoodputBps <= 0 {
				t.Errorf("%s: directions %+v, want one with goodput", on, m.Directions)
			}
			checkTrust(t, on, m.Trust)
			limited := slices.ContainsFunc(m.Trust, func(c record.Check) bool { return c.Check == trust.Limit })
			if hasSpeed := driver[0] != "virtio-net-pci"; limited != hasSpeed {
				t.Errorf("%s: the driver reports a speed: %t, and the limit was checked: %t", on, hasSpeed, limited)
			}
		}
	}
}

// checkTrust fails for each check of figures that failed: those of time and of CPUs may, since
// a machine's CPU is emulated, and those that are excused.
func checkTrust(t *testing.T, on string, checks []record.Check, excused ...string) {
	t.Helper()
	if len(checks) == 0 {
		t.Errorf("%s: nothing was checked", on)
	}
	for _, c := range wording.Checks(checks) {
		t.Logf("%s: %s, passed %t, unevaluated %t: trial %d: %s", on, c.Check, c.Pass, c.Unevaluated, c.Trial, c.Detail)
		if c.Unevaluated && c.Detail == "" {
			t.Errorf("%s: %s was not evaluated without a reason", on, c.Check)
		}
		if !c.Pass && !c.Unevaluated &&
			!slices.Contains(append(excused, trust.Clock, trust.Generator, trust.Steal, trust.Steady), c.Check) {
			t.Errorf("%s: %s failed: %s", on, c.Check, c.Detail)
		}
	}
}
