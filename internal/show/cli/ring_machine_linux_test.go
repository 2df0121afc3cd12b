package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
)

// TestMachineRingOverrun: a NIC with the smallest ring whose packets are taken by a thread
// (threaded NAPI) that gets no CPU, as a program of a higher priority keeps it from one,
// misses packets, and doctor names ring-overrun with the counter.
//
// QEMU's e1000e and virtio-net have the sender wait where they have no buffer, and miss none.
// Its e1000 misses a frame of which not all parts find one.
func TestMachineRingOverrun(t *testing.T) {
	cable := machinetest.NewCable(t)
	left := machinetest.Machine{Name: "left", Kernel: machinetest.Debian(t), Modules: []string{"e1000"},
		Ports: []machinetest.Port{{Model: "e1000", Cable: cable}}}
	right := left
	right.Name, right.CPUs, right.Modules = "right", 2, []string{"e1000 RxDescriptors=80"}
	machines := machinetest.Boot(t, left, right)
	for i, m := range machines {
		m.Do(t, "ip link set dev eth0 mtu 9000 && ip address add 192.0.2."+string(rune('1'+i))+
			"/24 dev eth0 && ip link set dev eth0 up")
	}
	awaitLinks(t, machines)
	doctor := func() record.Evaluation {
		t.Helper()
		output, status := machines[1].Run(t, 3*time.Minute, "taskset 1 linerate doctor --over 10s --json 2>/dev/null")
		var e record.Evaluation
		if err := json.Unmarshal([]byte(output), &e); err != nil {
			t.Fatalf("exit status %d: %v\n%s", status, err, output)
		}
		return e
	}
	overrun := func(e record.Evaluation) int {
		return slices.IndexFunc(e.Findings, func(f record.Finding) bool {
			return f.ID == "ring-overrun" && f.Confidence == record.Certain
		})
	}
	machines[0].Do(t, "ping -q -s 8900 -i 0.5 -c 100000 192.0.2.2 >/dev/null 2>&1 &")
	if e := doctor(); overrun(e) >= 0 {
		t.Errorf("found before the fault: %+v", e.Findings)
	}
	machines[1].Do(t, `echo 1 >/sys/class/net/eth0/threaded
		for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in napi/eth0*) taskset -p 2 ${p#/proc/}; renice -n 19 -p ${p#/proc/} ;; esac; done
		taskset 2 sh -c 'renice -n -20 -p $$; while :; do :; done' >/dev/null 2>&1 &`)
	machines[0].Do(t, "for n in 1 2 3; do ping -q -s 8900 -i 0.01 -c 100000 192.0.2.2 >/dev/null 2>&1 & done")
	e := doctor()
	i := overrun(e)
	if i < 0 {
		t.Fatalf("no ring-overrun: %+v\n%s", e.Findings, machines[1].Do(t, "cat /proc/net/dev; cat /proc/interrupts"))
	}
	if f := e.Findings[i]; !strings.Contains(strings.Join(f.Evidence, "\n"), "eth0: rx_missed_errors grew by") {
		t.Errorf("%+v", f)
	}
	t.Logf("%v", e.Findings[i].Evidence)
}
