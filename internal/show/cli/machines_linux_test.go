package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
	"linerate/internal/show/wording"
)

const machinesStudy = `study: machines
topology:
  hosts:
    left:
      via: %s
      interfaces:
        eth0: {addresses: [192.0.2.1/24]}
    right:
      via: %s
      interfaces:
        eth0: {addresses: [192.0.2.2/24]}
  links:
    - {from: left, to: right, rate: 1gbit}
workload:
  duration: 2s
  warmup: 1s
  flows:
    - {from: left, to: right, rate_cap: 10mbit}
design:
  replicates: 4
`

// TestMachinesReachedByVia runs a study between two machines with each driver, and unplugs
// their cable: the agents report the link's state, and the counters agree with the flows
// whatever the driver counts.
func TestMachinesReachedByVia(t *testing.T) {
	for model, driver := range map[string]struct {
		module, name string
		hasSpeed     bool
	}{
		"e1000e":         {"e1000e IntMode=0", "e1000e", true},
		"vmxnet3":        {"vmxnet3", "vmxnet3", true},
		"virtio-net-pci": {"virtio_net", "virtio_net", false},
	} {
		t.Run(model, func(t *testing.T) {
			cable := machinetest.NewCable(t)
			left := machinetest.Machine{Name: "left", Kernel: machinetest.Debian(t), Modules: []string{driver.module},
				Ports: []machinetest.Port{{Model: model, Cable: cable}}}
			right := left
			right.Name = "right"
			machines := machinetest.Boot(t, left, right)
			file := studyOverMachines(t, machines, driver.hasSpeed)
			run := runOverMachines(t, machines, file)
			for _, trial := range run.Trials {
				if late(trial) > 0.1*trial.WindowS {
					t.Logf("trial %d: not judged, since its edges were read %.0f ms late", trial.Order, 1e3*late(trial))
					continue
				}
				for _, c := range wording.Checks(trust.Trial(trial, nil)) {
					if c.Check == trust.Wire && !c.Pass {
						t.Errorf("trial %d: %s", trial.Order, c.Detail)
					}
				}
			}
			for _, host := range run.Trials[0].Hosts {
				for _, i := range host.Snapshot.Interfaces {
					if i.Interface == "eth0" && (i.Driver != driver.name || (i.SpeedBps > 0) != driver.hasSpeed) {
						t.Errorf("%s: driver %q, %g bit/s; want %q, and a speed: %t", host.Host, i.Driver, i.SpeedBps,
							driver.name, driver.hasSpeed)
					}
				}
			}
			if driver.hasSpeed {
				unplugInWindow(t, machines, cable, file)
			}
		})
	}
}

// late is how many seconds after their time a trial's edges were read.
func late(trial record.Trial) (s float64) {
	for _, h := range trial.Hosts {
		for _, r := range []netstate.Reading{h.Begin, h.End} {
			s = max(s, float64(r.EndedNs-r.ScheduledNs)/1e9)
		}
	}
	return s
}

// studyOverMachines gives two machines their addresses and returns the file of the study.
func studyOverMachines(t *testing.T, machines []*machinetest.Running, hasSpeed bool) (file string) {
	t.Helper()
	var via []any
	for i, m := range machines {
		m.Do(t, fmt.Sprintf("ip address add 192.0.2.%d/24 dev eth0 && ip link set dev eth0 up", i+1))
		via = append(via, viaOf(t, m)) // JSON is YAML, too
	}
	if hasSpeed {
		awaitLinks(t, machines)
	}
	file = filepath.Join(t.TempDir(), "machines.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, machinesStudy, via...), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// unplugInWindow pulls the cable while the flow runs, and plugs it in again: both ends are
// found to have lost their carrier, and the outage has the length of the time without it,
// and of TCP's wait for its next retransmission.
func unplugInWindow(t *testing.T, machines []*machinetest.Running, cable *machinetest.Cable, file string) {
	t.Helper()
	received := func() int {
		var n int
		if _, err := fmt.Sscan(machines[1].Do(t, "cat /sys/class/net/eth0/statistics/rx_bytes"), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	idle := received()
	wait := startLab(t, filepath.Dir(file), file, "--replicates", "1", "--set", "workload.duration=40s")
	// A megabyte is most of a second at the flow's rate: the window has begun soon after.
	for end := time.Now().Add(2 * time.Minute); received() < idle+1e6; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no flow within two minutes")
		}
	}
	time.Sleep(3 * time.Second)
	began := time.Now()
	cable.Unplug(t)
	for _, m := range machines {
		// The agent is the study's, and a machine executes one at a time.
		m.Do(t, "timeout 30 sh -c 'until [ $(cat /sys/class/net/eth0/carrier) = 0 ]; do sleep 0.1; done'")
	}
	cable.Plug(t)
	unplugged := time.Since(began)
	run := wait()
	trial := run.Trials[0]
	i := slices.IndexFunc(run.Findings, func(f record.Finding) bool { return f.ID == "carrier-lost" })
	if i < 0 {
		t.Fatalf("no finding carrier-lost; faults: %+v", trial.Faults)
	}
	evidence := strings.Join(run.Findings[i].Evidence, "\n")
	t.Log(evidence)
	for _, end := range []string{"left.eth0", "right.eth0"} {
		if !strings.Contains(evidence, end+" lost its carrier") {
			t.Errorf("%s is not in the evidence", end)
		}
	}
	flow := trial.Flows[0]
	if len(flow.Outages) == 0 || !flow.Outages[0].Resumed || flow.Outages[0].LostS < unplugged.Seconds()/2 {
		t.Errorf("unplugged for %v; outages %+v", unplugged, flow.Outages)
	}
}

// runOverMachines runs the study between two machines.
func runOverMachines(t *testing.T, machines []*machinetest.Running, file string) *record.Run {
	t.Helper()
	run := runLab(t, filepath.Dir(file), file)
	if len(run.Treatments) != 1 || len(run.Trials) != 4 {
		t.Fatalf("%d treatments and %d trials, want 1 and 4", len(run.Treatments), len(run.Trials))
	}
	// An emulated machine reads the edges of a window of two seconds some milliseconds late.
	if got := run.Treatments[0]; got.Goodput.MeanBps <= 0 || got.Goodput.MeanBps > 1.02*got.LimitBps {
		t.Errorf("goodput %.0f bit/s, want more than 0 and at most 2 %% more than the limit, %.0f", got.Goodput.MeanBps,
			got.LimitBps)
	}
	for _, trial := range run.Trials {
		for _, host := range trial.Hosts {
			for _, d := range host.Deltas() {
				if d.Interface == "eth0" && (d.TxBytes > d.RxBytes) != (host.Host == "left") {
					t.Errorf("trial %d: %s counts %.0f bytes sent and %.0f received: want more sent on left only",
						trial.Order, host.Host, d.TxBytes, d.RxBytes)
				}
			}
		}
	}
	for i, host := range run.Environment.Hosts {
		if want := machines[i].Kernel.Release; host.Kernel != want {
			t.Errorf("host %d has kernel %s, want %s", i, host.Kernel, want)
		}
	}
	return run
}

// awaitLinks waits until each machine's agent reports that eth0 has a link: a port without
// one has no speed.
func awaitLinks(t *testing.T, machines []*machinetest.Running) {
	t.Helper()
	for _, m := range machines {
		for end := time.Now().Add(time.Minute); !hasLink(t, m); time.Sleep(time.Second) {
			if time.Now().After(end) {
				t.Fatalf("%s: its agent does not report that the link of eth0 is there", m.Name)
			}
		}
	}
}

func hasLink(t *testing.T, m *machinetest.Running) bool {
	t.Helper()
	via := m.Via()
	agent := exec.CommandContext(t.Context(), via[0], append(via[1:], "linerate", "agent", "--stdio", "--node",
		m.Name)...)
	in, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	agent.Stdout, agent.Stderr = theirs, os.Stderr
	err = agent.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		out.Close()
		_ = agent.Wait()
	}()
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Attach(m.Name, bus.Pipes(out, in))
	hellos, err := b.Hellos(t.Context(), []string{m.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range hellos[m.Name].Interfaces {
		if i.Interface == "eth0" {
			return i.SpeedBps > 0
		}
	}
	t.Fatalf("%s has no eth0: %+v", m.Name, hellos[m.Name].Interfaces)
	return false
}
