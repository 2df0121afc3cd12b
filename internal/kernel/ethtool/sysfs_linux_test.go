//go:build !portable

package ethtool

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestInterrupts: those of a PCI device are in its directory; of a virtio device in that of the
// PCI device that it is on. The links are as in sysfs.
func TestInterrupts(t *testing.T) {
	root := t.TempDir()
	dir := func(path string) string {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(at, to string) {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, irq := range []string{"33", "34"} {
		dir("devices/0000:00:03.0/msi_irqs/" + irq)
	}
	link(dir("devices/0000:00:03.0/virtio1")+"/subsystem", "../../../bus/virtio")
	link(dir("devices/0000:00:03.0/virtio1/net/eth0")+"/device", "../../../virtio1")
	dir("devices/0000:00:04.0/msi_irqs/35")
	link(dir("devices/0000:00:04.0")+"/subsystem", "../../bus/pci")
	link(dir("devices/0000:00:04.0/net/eth1")+"/device", "../../../0000:00:04.0")
	link(dir("class/net")+"/eth0", "../../devices/0000:00:03.0/virtio1/net/eth0")
	link(dir("class/net")+"/eth1", "../../devices/0000:00:04.0/net/eth1")
	for name, want := range map[string][]int{"eth0": {33, 34}, "eth1": {35}} {
		if got := (sysfs{}).irqs(filepath.Join(root, "class/net", name, "device")); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
