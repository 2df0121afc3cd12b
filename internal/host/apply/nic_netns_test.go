//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
)

// TestNICQueues: the files of queues are changed and come back, by themselves and with channels
// whose change makes them go and come; also when the agent is killed at any step.
func TestNICQueues(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		scene(t)
		if !strings.Contains(look(t), "rps_cpus") {
			kerneltest.Without(t, "this kernel has no receive packet steering (CONFIG_RPS)")
		}
		inSysfs(t,
			"echo 1 > eth1/queues/rx-2/rps_cpus; echo 64 > eth1/queues/rx-2/rps_flow_cnt; echo 1000 > "+
				"eth1/gro_flush_timeout")
		before := look(t)
		if !strings.Contains(before, "eth1/queues/rx-2/rps_cpus:1") {
			t.Fatalf("no such queue:\n%s", before)
		}
		cases := queueKinds()
		cases["channels"] = everyKind()["nic channels"]
		for _, name := range names(cases) {
			m := open(t, filepath.Join(t.TempDir(), "journal"))
			applied, _, err := applySettings(m, context.Background(), []setting.Setting{cases[name]}, false)
			if err != nil || len(applied) == 0 {
				t.Errorf("%s: %v, %v", name, applied, err)
			}
			if look(t) == before {
				t.Errorf("%s: nothing changed", name)
			}
			if err := m.RevertTo(0); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if d := differences(before, look(t)); d != "" {
				t.Errorf("%s: not as before:\n%s", name, d)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		killAtEveryStep(t, []string{asRoot})
	})
}

// TestNICRefused: what an interface does not have is refused by name, also behind settings that
// it has, before anything is changed.
func TestNICRefused(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, filepath.Join(t.TempDir(), "journal"))
		before := look(t)
		nic := func(change func(*setting.NIC)) setting.Setting {
			n := setting.NIC{Interface: "eth1"}
			change(&n)
			return setting.Setting{NIC: &n}
		}
		option := func(key, value string) []setting.Option { return []setting.Option{{Key: key, Value: value}} }
		for _, test := range []struct {
			setting setting.Setting
			want    string
		}{
			{nic(func(n *setting.NIC) { n.Rings = option("rx", "4096") }), "rings rx of eth1 (driver veth)"},
			{nic(func(n *setting.NIC) { n.Pause = option("rx", "off") }), "pause rx of eth1 (driver veth)"},
			{nic(func(n *setting.NIC) { n.Coalesce = option("rx-usecs", "9") }),
				"coalesce rx-usecs of eth1 (driver veth)"},
			{nic(func(n *setting.NIC) { n.RSS = option("table", "equal 2") }), "rss table of eth1 (driver veth)"},
			{nic(func(n *setting.NIC) { n.Steering = option("5", "tcp4 dst-port 80 action 1") }),
				"steering 5 of eth1 (driver veth)"},
			{nic(func(n *setting.NIC) { n.Steering = option("5", "tcp4 dst-prt 80") }),
				"steering.5: a rule of tcp4 has no \"dst-prt\""},
			{nic(func(n *setting.NIC) { n.IRQs = option("smp_affinity_list", "0") }), "irqs smp_affinity_list of eth1"},
			{nic(func(n *setting.NIC) { n.Channels = option("rx", "4") }), "4 exceeds its maximum of 3"},
			{nic(func(n *setting.NIC) { n.Features = option("lro", "on") }), "fixed to off"},
			{nic(func(n *setting.NIC) { n.Features = option("warp-drive", "on") }), "no such feature"},
			{nic(func(n *setting.NIC) { n.Queues = option("rx-7/rps_cpus", "1") }), "no such file"},
			{nic(func(n *setting.NIC) { n.Interface, n.Features = "eth9", option("gro", "on") }), "no such device"},
			{nic(func(n *setting.NIC) { n.Features = option("gro", "yes") }), "on or off"},
		} {
			applied, _, err := applySettings(m, context.Background(), []setting.Setting{everyKind()["sysctl"],
				everyKind()["nic features"], test.setting}, false)
			if err == nil || !strings.Contains(err.Error(), test.want) || len(applied) > 0 {
				t.Errorf("%s: %v, want %q", test.setting.Lines(), err, test.want)
			}
			if d := differences(before, look(t)); d != "" {
				t.Fatalf("%s: something changed:\n%s", test.setting.Lines(), d)
			}
		}
	})
}

// TestNICMachineWide: interrupts and CPUs are the machine's.
func TestNICMachineWide(t *testing.T) {
	irq := &nic{option: setting.NICOption{Group: "irqs"}}
	if scope, _, _ := irq.scope(); scope != Machine {
		t.Errorf("interrupts: scope %q", scope)
	}
	if scope, _, _ := (&governor{}).scope(); scope != Machine {
		t.Errorf("governor: scope %q", scope)
	}
}

// TestGovernor: in a tree like that of sysfs, the governor of each policy is changed and comes
// back, and one that the kernel does not have is refused.
func TestGovernor(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		m := open(t, filepath.Join(t.TempDir(), "journal"))
		dir := t.TempDir()
		m.host.cpufreq = proc.CPUFreq(dir)
		want := map[string]string{"policy0": "powersave", "policy1": "schedutil"}
		for policy, governor := range want {
			err := errors.Join(os.Mkdir(filepath.Join(dir, policy), 0o755),
				os.WriteFile(filepath.Join(dir, policy, "scaling_governor"), []byte(governor), 0o644),
				os.WriteFile(filepath.Join(dir, policy, "scaling_available_governors"),
					[]byte("performance powersave schedutil \n"), 0o644))
			if err != nil {
				t.Fatal(err)
			}
		}
		all := func() map[string]int { return m.host.cpufreq.Governors() }
		to := func(name string) error {
			_, err := m.Apply(context.Background(),
				message.ApplyRequest{Settings: []setting.Setting{{CPU: &setting.CPU{Governor: name}}},
					AllowMachine: true})
			return err
		}
		if err := to("ondemand"); err == nil ||
			!strings.Contains(err.Error(), "it has performance, powersave, schedutil") {
			t.Errorf("a governor that is not there: %v", err)
		}
		if all()["powersave"] != 1 || all()["schedutil"] != 1 {
			t.Errorf("changed by that: %v", all())
		}
		if err := to("performance"); err != nil || all()["performance"] != 2 {
			t.Errorf("%v, %v", all(), err)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
		for policy, governor := range want {
			if is, err := m.host.cpufreq.Governor(policy); is != governor {
				t.Errorf("%s is %q afterwards (%v), was %q", policy, is, err, governor)
			}
		}
	})
}
