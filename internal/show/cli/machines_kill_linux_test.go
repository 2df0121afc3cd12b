package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/machinetest"
)

const machinesSettings = machinesStudy + `factors:
  arp:
    levels:
      own:
        settings:
          - {host: right, sysctl: {net.ipv4.conf.all.arp_ignore: 1}}
          - {host: right, link: {interface: eth0, mtu: 1400}}
`

// TestMachineKilled kills the agent that has applied settings with its guard, and then the
// conductor; linerate recover on that machine reverts them.
func TestMachineKilled(t *testing.T) {
	cable := machinetest.NewCable(t)
	left := machinetest.Machine{Name: "left", Kernel: machinetest.Debian(t), Modules: []string{"e1000e"},
		Ports: []machinetest.Port{{Model: "e1000e", Cable: cable}}}
	right := left
	right.Name = "right"
	machines := machinetest.Boot(t, left, right)
	var via []any
	for i, m := range machines {
		m.Do(t, fmt.Sprintf("ip address add 192.0.2.%d/24 dev eth0 && ip link set dev eth0 up", i+1))
		via = append(via, viaOf(t, m))
	}
	awaitLinks(t, machines)
	before := hostState(t, machines)
	dir := t.TempDir()
	file := filepath.Join(dir, "machines.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, machinesSettings, via...), 0o600); err != nil {
		t.Fatal(err)
	}
	conductor := command(t, t.Context(), dir, "run", "--trust", "--quiet", "--set", "workload.duration=60s", file)
	if err := conductor.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = conductor.Process.Kill()
		_ = conductor.Wait()
	}()
	const applied = "cat /proc/sys/net/ipv4/conf/all/arp_ignore; ip link show dev eth0"
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		if state := machines[1].Do(t, applied); strings.HasPrefix(state, "1\n") && strings.Contains(state, "mtu 1400") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the settings were not applied")
		}
	}
	machines[1].Do(t, "killall -STOP linerate; killall -KILL linerate")
	_ = conductor.Process.Kill()
	_ = conductor.Wait()
	if hostState(t, machines) == before {
		t.Fatal("nothing was left to revert")
	}
	t.Log(machines[1].Do(t, "linerate recover"))
	// With its MTU, the NIC's driver starts the link anew.
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		after := hostState(t, machines)
		if after == before {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the machines are not as they were:\n%s", controltest.FirstDifference(before, after))
		}
	}
}
