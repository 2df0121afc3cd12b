package hostconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/model/setting"
)

// TestInterrupts: the commands write to each interrupt of the interface, also of a virtio device,
// whose parent has them, and fail where there is none.
func TestInterrupts(t *testing.T) {
	root := t.TempDir()
	dir := func(names ...string) {
		for _, name := range names {
			if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(to, name string) {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir("sys/bus/pci", "sys/bus/virtio", "sys/class/net", "sys/devices/port/msi_irqs/24",
		"sys/devices/port/card/msi_irqs/30", "sys/devices/port/card/msi_irqs/31",
		"sys/devices/port/guest/msi_irqs/40", "sys/devices/port/guest/virtio0", "sys/devices/port/line")
	for iface, device := range map[string]string{"card": "port/card", "guest": "port/guest/virtio0",
		"line": "port/line"} {
		dir("sys/class/net/" + iface)
		link("sys/devices/"+device, "sys/class/net/"+iface+"/device")
		link("sys/bus/"+map[bool]string{true: "virtio", false: "pci"}[iface == "guest"], "sys/devices/"+device+
			"/subsystem")
	}
	// line has an interrupt without messages
	for iface, want := range map[string]string{"card": "30 31", "guest": "40", "line": ""} {
		for _, value := range []string{"spread", "0"} {
			if err := os.RemoveAll(filepath.Join(root, "irq")); err != nil {
				t.Fatal(err)
			}
			dir("irq/24", "irq/30", "irq/31", "irq/40")
			lines := nicLines(setting.NIC{Interface: iface,
				IRQs: []setting.Option{{Key: "smp_affinity_list", Value: value}}})
			line := strings.NewReplacer("/sys/", root+"/sys/", irqDirectory, root+"/irq/").Replace(
				strings.Join(lines, "\n"))
			out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
			if (err == nil) != (want != "") {
				t.Errorf("%s: %v: %s\n%s", iface, err, out, line)
			}
			written, _ := filepath.Glob(filepath.Join(root, "irq/*/smp_affinity_list"))
			for i, file := range written {
				written[i] = filepath.Base(filepath.Dir(file))
			}
			if got := strings.Join(written, " "); got != want {
				t.Errorf("%s: wrote to %q, want %q\n%s", iface, got, want, line)
			}
		}
	}
}
