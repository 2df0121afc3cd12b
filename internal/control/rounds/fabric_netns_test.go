//go:build linux

package rounds

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/mesh"
)

// fabric makes leaves with hosts, each a network namespace, and a spine that joins them. hostRate is
// that of each host and uplinkRate that of each leaf, in both directions, as tc-tbf(8) takes it.
func fabric(t *testing.T, leaves, each int, hostRate, uplinkRate string) (hosts []mesh.Host) {
	t.Helper()
	list := []string{}
	for l := range leaves {
		for k := range each {
			name := fmt.Sprintf("r%dn%d", l+1, k+1)
			list = append(list, name)
			hosts = append(hosts, mesh.Host{Name: name, Rack: fmt.Sprintf("r%d", l+1)})
		}
	}
	controltest.Hosts(t, "", append([]string{"sw"}, list...)...)
	var ip, tc strings.Builder
	shape := func(to *strings.Builder, port, rate string) {
		fmt.Fprintf(to, "qdisc add dev %s root tbf rate %s burst 6250 limit 60k\n", port, rate)
	}
	bridge := func(name string) {
		fmt.Fprintf(&ip, "link add name %s type bridge\nlink set dev %[1]s up\n", name)
	}
	bridge("spine")
	for l := range leaves {
		leaf := fmt.Sprintf("r%d", l+1)
		bridge(leaf)
		fmt.Fprintf(&ip, "link add name %s-up type veth peer name %[1]s-down\nlink set dev %[1]s-up up master %[1]s\n"+
			"link set dev %[1]s-down up master spine\n", leaf)
		shape(&tc, leaf+"-up", uplinkRate)
		shape(&tc, leaf+"-down", uplinkRate)
	}
	for i, h := range hosts {
		fmt.Fprintf(&ip, "link add name %s type veth peer name eth0 netns %[1]s\nlink set dev %[1]s up master %s\n",
			h.Name, h.Rack)
		shape(&tc, h.Name, hostRate)
		hosts[i].RateBps = 0 // its shaper says
	}
	batch(t, "ip", "sw", ip.String())
	batch(t, "tc", "sw", tc.String())
	for i, h := range hosts {
		batch(t, "ip", h.Name, fmt.Sprintf("address add 10.1.%d.%d/16 dev eth0\nlink set dev eth0 up\n", i/200, i%200+1))
		kerneltest.Do(t, "tc", "-n", h.Name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", hostRate, "burst",
			"6250", "limit", "60k")
	}
	return hosts
}

// batch executes lines of ip(8) or tc(8) in a namespace.
func batch(t *testing.T, tool, host, lines string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "batch")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	kerneltest.Do(t, tool, "-n", host, "-batch", file)
}
