//go:build !portable

package drops

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"linerate/internal/kernel/machinetest"
)

// TestMachineDrops executes TestFull and TestNothingIsLeft on other kernels, whose structures,
// reasons and tracepoint differ.
func TestMachineDrops(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range machinetest.Debians(t) {
		t.Run(kernel.Release, func(t *testing.T) {
			m := machinetest.Boot(t, machinetest.Machine{Name: "traced", Kernel: kernel,
				Modules: []string{"veth", "ipv6", "sch_tbf", "af_packet"}, Memory: 1024, CPUs: 2, Tree: true})[0]
			command := append(m.Exec(), program, "-test.v", "-test.run=^(TestFull|TestNothingIsLeft)$")
			output, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
			t.Logf("%s", output)
			if err != nil || bytes.Count(output, []byte("\n--- PASS")) != 2 {
				t.Errorf("not passed: %v", err)
			}
		})
	}
}
