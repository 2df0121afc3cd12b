package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// nicOptions are options that the emulated NICs have, each other than the driver's default, as
// a study file has them.
var nicOptions = map[string]map[string]string{
	"e1000e": {
		"rings":    "{rx: 512, tx: 1024}",
		"coalesce": "{rx-usecs: 30}",
		"pause":    "{autoneg: off, rx: off, tx: off}",
		"features": "{tso: off, rxhash: off}",
		"irqs":     "{smp_affinity_list: 1}",
	},
	"vmxnet3": {
		"rss":      "{table: equal 1}",
		"rings":    "{rx: 512, tx: 1024}",
		"features": "{tso: off, gro: off}",
		"irqs":     "{smp_affinity_list: 1}",
	},
	// QEMU 8.0 and later have it, as an 82576.
	"igb": {
		"rings":    "{rx: 512, tx: 1024}",
		"channels": "{combined: 1}",
		"coalesce": "{rx-usecs: 30}",
		"pause":    "{autoneg: off, rx: off, tx: off}",
		"features": "{tso: off}",
		"rss":      "{udp4: sdfn, table: weight 3 1}",
		"irqs":     "{smp_affinity_list: 1}",
	},
	"virtio-net-pci": {
		"features": "{gro: off, tx: off}",
		"napi":     "{threaded: 1}",
		"irqs":     "{smp_affinity_list: spread}",
	},
}

const machinesNIC = `factors:
  nic:
    levels:
      as it is: {}
`

// TestMachineNIC changes options of emulated NICs: each is applied, read back and reverted, and
// is other than before in between; what the driver does not have is refused by its name.
func TestMachineNIC(t *testing.T) {
	for model, options := range nicOptions {
		t.Run(model, func(t *testing.T) { changeNIC(t, nicMachine(t, model, machinetest.NewCable(t)), options) })
	}
}

// TestMachineQueues does the same to a NIC with several queues, of which each CPU has one.
func TestMachineQueues(t *testing.T) {
	machinetest.Debian(t) // skips before a namespace is made
	kerneltest.InNamespace(t, func(t *testing.T) {
		changeNIC(t, nicMachine(t, "virtio-net-pci", machinetest.NewQueuedCable(t, 4)), map[string]string{
			"channels": "{combined: 1}",
			"queues":   "{rx-1/rps_cpus: 1, tx-0/xps_cpus: 3}",
			"irqs":     "{smp_affinity_list: spread}",
		})
	})
}

// nicMachine is a machine with one NIC of a model.
func nicMachine(t *testing.T, model string, cable *machinetest.Cable) machinetest.Machine {
	m := machinetest.Machine{Name: "left", Kernel: machinetest.Debian(t),
		Modules: []string{strings.Replace(strings.TrimSuffix(model, "-pci"), "-", "_", 1)},
		Ports:   []machinetest.Port{{Model: model, Cable: cable}}, CPUs: 2}
	if model == "igb" {
		m.Emulator = machinetest.EmulatorOf(t, "trixie")
		m.Ports[0].Model += ",romfile=" // Debian has none
	}
	return m
}

// changeNIC changes options of the NIC of one of two such machines that a cable joins.
func changeNIC(t *testing.T, left machinetest.Machine, options map[string]string) {
	model, _, _ := strings.Cut(left.Ports[0].Model, ",")
	right := left
	right.Name = "right"
	machines := machinetest.Boot(t, left, right)
	var via []any
	for i, m := range machines {
		m.Do(t, fmt.Sprintf("ip address add 192.0.2.%d/24 dev eth0 && ip link set dev eth0 up", i+1))
		via = append(via, viaOf(t, m))
	}
	if model != "virtio-net-pci" {
		awaitLinks(t, machines)
	}
	before := nicOf(t, machines[1])
	run := func(options map[string]string) (r record.Run, said string) {
		levels := ""
		for group, value := range options {
			levels += fmt.Sprintf("      %s:\n        settings: [{host: right, nic: {interface: eth0, %s: %s}}]\n",
				group, group, value)
		}
		file := filepath.Join(t.TempDir(), "nic.yaml")
		if err := os.WriteFile(file, []byte(fmt.Sprintf(machinesStudy, via...)+machinesNIC+levels), 0o600); err != nil {
			t.Fatal(err)
		}
		var errors strings.Builder
		command := command(t, t.Context(), filepath.Dir(file), "run", "--trust", "--quiet", "--allow-machine-settings",
			"--replicates", "1", "--json", file)
		command.Stderr = &errors
		out, _ := command.Output() // 3: in doubt, as on a machine that is emulated
		_ = json.Unmarshal(out, &r)
		return r, errors.String()
	}
	r, said := run(options)
	changed := map[string]int{}
	for _, trial := range r.Trials {
		for _, a := range trial.Settings {
			if a.Kind == "nic" && a.Prior != a.New {
				t.Logf("%s: %q, was %q", a.What, a.New, a.Prior)
				changed[strings.Fields(a.What)[1]]++
			}
		}
	}
	for group := range options {
		if changed[group] == 0 {
			t.Errorf("%s: nothing was changed: %s", group, said)
		}
	}
	if model != "virtio-net-pci" {
		awaitLinks(t, machines) // some changes take the link down, and the last undo as well
	}
	if after := nicOf(t, machines[1]); after != before {
		t.Errorf("not as before:\n%s\nbefore:\n%s", after, before)
	}
	driver := strings.NewReplacer("virtio-net-pci", "virtio_net").Replace(model)
	if r, said := run(map[string]string{"rings": "{rx: 999999999}"}); len(r.Trials) > 0 ||
		!strings.Contains(said, "rings rx of eth0 (driver "+driver+")") {
		t.Errorf("rings of 999999999: %q", said)
	}
}

// nicOf is what a machine's snapshot says of its NIC, without what changes by itself.
func nicOf(t *testing.T, m *machinetest.Running) string {
	t.Helper()
	var s netstate.HostSnapshot
	if err := json.Unmarshal([]byte(m.Do(t, "linerate snapshot")), &s); err != nil {
		t.Fatal(err)
	}
	for _, nic := range s.State.NICs {
		if nic.Interface != "eth0" {
			continue
		}
		nic.Counters, nic.Meanings, nic.Unknown, nic.CarrierChanges = nil, nil, nil, 0
		for i := range nic.IRQs {
			nic.IRQs[i].Count, nic.IRQs[i].Effective = 0, "" // which follows the affinity with the next interrupt
		}
		text, err := json.Marshal(nic)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Fatal("no eth0")
	return ""
}
