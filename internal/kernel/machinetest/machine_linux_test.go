package machinetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/record"
)

// labModules are what a lab needs.
var labModules = []string{"veth", "bridge", "sch_netem", "sch_tbf", "sch_htb", "sch_fq_codel"}

const labStudy = `study: cable
topology:
  hosts:
    left:
      interfaces:
        eth0: {addresses: [192.0.2.1/24]}
    right:
      interfaces:
        eth0: {addresses: [192.0.2.2/24]}
  links:
    - {from: left, to: right, rate: 50mbit}
workload:
  duration: 1s
  warmup: 500ms
  flows:
    - {from: left, to: right}
design:
  replicates: 4
`

// TestUserModeLinux runs a study in a lab on another kernel.
func TestUserModeLinux(t *testing.T) {
	kernel := UserMode(t)
	m := Boot(t, Machine{Name: "uml", Kernel: kernel, Modules: labModules, Memory: 1024,
		Files: map[string][]byte{"/root/cable.yaml": []byte(labStudy)}})[0]
	if release := strings.TrimSpace(m.Do(t, "uname -r")); release != kernel.Release {
		t.Errorf("uname -r: %q, want %q", release, kernel.Release)
	}
	if output, status := m.Run(t, time.Minute, "echo one; echo two >&2; exit 3"); output != "one\ntwo\n" ||
		status != 3 {
		t.Errorf("output %q, status %d; want both streams, in order, and 3", output, status)
	}
	if _, status := m.Run(t, time.Second, "sleep 1000"); status == 0 {
		t.Error("a command outlived its time-out")
	}
	result, status := m.Run(t, 3*time.Minute, "cd /root && linerate run --json --quiet cable.yaml 2>errors")
	if status != 0 && status != doubt {
		t.Fatalf("exit status %d\n%s%s", status, result, m.Do(t, "cat /root/errors"))
	}
	var run record.Run
	if err := json.Unmarshal([]byte(result), &run); err != nil {
		t.Fatalf("%v\n%s", err, result)
	}
	if len(run.Treatments) != 1 || len(run.Trials) != 4 || run.Answer == "" {
		t.Fatalf("%d treatments, %d trials, answer %q; want 1, 4 and one", len(run.Treatments), len(run.Trials),
			run.Answer)
	}
	if got := run.Treatments[0]; got.Goodput.MeanBps <= 0 || got.LimitBps <= 0 {
		t.Errorf("goodput %.0f and limit %.0f bit/s, want more than 0", got.Goodput.MeanBps, got.LimitBps)
	}
}

// doubt is the exit status of a run whose trust checks failed.
const doubt = 3
