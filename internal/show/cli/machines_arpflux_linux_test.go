package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/trust"
	"linerate/internal/show/wording"
)

// Rates of the links between machines with emulated CPUs.
const (
	machineServerRate = unit.BitRate(3e6)
	machineClientRate = unit.BitRate(7.5e6)
)

// slowARPFlux is the study with the rates and the windows of machines.
func slowARPFlux(t *testing.T, replace ...string) string {
	return controltest.BuiltIn(t, "arp-flux", append([]string{
		"rate: 1gbit", "rate: " + machineServerRate.String(),
		"rate: 2.5gbit", "rate: " + machineClientRate.String(),
		"duration: 800ms", "duration: 3s",
		"warmup: 300ms", "warmup: 2s",
		"connect_timeout: 1200ms", "connect_timeout: 5s",
	}, replace...)...)
}

// arpFluxMachines boots a server with four ports of e1000e and two clients, on a switch.
func arpFluxMachines(t *testing.T) []*machinetest.Running {
	t.Helper()
	kernel := machinetest.Debian(t)
	fabric := machinetest.NewSwitch(t)
	server := machinetest.Machine{Name: "server", Kernel: kernel, Modules: []string{"e1000e"}}
	for range 4 {
		server.Ports = append(server.Ports,
			machinetest.Port{Model: "e1000e", Cable: fabric.NewCable(t, machineServerRate)})
	}
	client := func(name string) machinetest.Machine {
		return machinetest.Machine{Name: name, Kernel: kernel, Modules: []string{"e1000e"},
			Ports: []machinetest.Port{{Model: "e1000e", Cable: fabric.NewCable(t, machineClientRate)}}}
	}
	machines := machinetest.Boot(t, server, client("client1"), client("client2"))
	machines[0].Do(t,
		"for p in 0 1 2 3; do ip address add 192.168.1.$((15 + p))/24 dev eth$p && ip link set dev eth$p up; done")
	machines[1].Do(t, "ip address add 192.168.1.101/24 dev eth0 && ip link set dev eth0 up")
	machines[2].Do(t, "ip address add 192.168.1.102/24 dev eth0 && ip link set dev eth0 up")
	awaitLinks(t, machines)
	return machines
}

// viaOf is a machine's Via as YAML.
func viaOf(t *testing.T, m *machinetest.Running) string {
	t.Helper()
	text, err := json.Marshal(m.Via())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMachineARPFlux asks the first question of a server with four NICs, and expects the
// lab's effects and findings. With the kernel's defaults chance decides which NIC's answer to
// an ARP request is the last, so the answers may differ in figures.
func TestMachineARPFlux(t *testing.T) {
	machines := arpFluxMachines(t)
	before := hostState(t, machines)
	reached := slowARPFlux(t, "    switch: {}\n", "    switch: {unmanaged: true}\n",
		"    server:\n", "    server:\n      via: "+viaOf(t, machines[0])+"\n",
		"    client{c=1..2}:\n      interfaces:\n        eth0: {addresses: [\"192.168.1.{100+c}/24\"]}\n",
		"    client1:\n      via: "+viaOf(t, machines[1])+
			"\n      interfaces:\n        eth0: {addresses: [192.168.1.101/24]}\n"+
			"    client2:\n      via: "+viaOf(t, machines[2])+
			"\n      interfaces:\n        eth0: {addresses: [192.168.1.102/24]}\n")
	options := []string{"--seed", "7", "--replicates", "2", "--only",
		"kernel defaults,static ARP entries,arp + source routing"}
	dir := t.TempDir()
	onMachines := runLab(t, dir, append([]string{reached}, options...)...)
	if after := hostState(t, machines); after != before {
		t.Errorf("the machines are not as they were:\n%s", controltest.FirstDifference(before, after))
	}
	inLab := runLab(t, dir, append([]string{slowARPFlux(t)}, options...)...)
	t.Logf("machines: %s\nlab: %s", onMachines.Answer, inLab.Answer)
	if !slices.Equal(effectsOf(onMachines), effectsOf(inLab)) {
		t.Errorf("effects %q, in the lab %q", effectsOf(onMachines), effectsOf(inLab))
	}
	for _, want := range inLab.Treatments {
		for _, id := range []string{"arp-flux", "same-subnet-one-egress", "arp-wrong-source"} {
			_, here := controltest.Found(onMachines, id, want.Name)
			_, there := controltest.Found(inLab, id, want.Name)
			if here != there {
				t.Errorf("%s: finding %s: %t, in the lab %t", want.Name, id, here, there)
			}
		}
	}
	for _, c := range wording.Checks(onMachines.Trust) {
		t.Logf("%s, passed %t: trial %d: %s", c.Check, c.Pass, c.Trial, c.Detail)
		// QEMU queues frames that its socket does not take: an interface may have sent more
		// than its link carried.
		if !c.Pass && (c.Check == trust.Wire || c.Check == trust.Conservation) {
			t.Errorf("%s failed in trial %d: %s", c.Check, c.Trial, c.Detail)
		}
	}
}

// effectsOf are a run's comparisons with their verdicts.
func effectsOf(run *record.Run) (list []string) {
	for _, e := range run.Effects {
		list = append(list, e.From+" → "+e.To+": "+e.Verdict)
	}
	return list
}

// hostState is what settings change on machines.
func hostState(t *testing.T, machines []*machinetest.Running) string {
	t.Helper()
	var b strings.Builder
	for _, m := range machines {
		b.WriteString(
			m.Do(t,
				"ip address show | sed 's/ tentative//'; ip route show table all | sort; ip rule; ip neigh show "+
					"nud permanent; grep -r . /proc/sys/net/ipv4/conf/*/arp_* /proc/sys/net/ipv4/conf/*/rp_filter"))
	}
	return b.String()
}
