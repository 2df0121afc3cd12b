//go:build !portable

package ethtool

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// sysfs reads the device model from a sysfs tree, and interrupts from a /proc tree.
type sysfs struct{ sys, proc string }

// text returns the content of a file without its last newline; empty if it cannot be read.
func text(parts ...string) string {
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func number(parts ...string) int64 {
	n, _ := strconv.ParseInt(text(parts...), 0, 64)
	return n
}

// errOtherNamespace means that sysfs shows the interfaces of another network namespace: that in which it was
// mounted.
var errOtherNamespace = errors.New(
	"/sys is that of another network namespace, and mounting another needs CAP_SYS_ADMIN")

// shows reports whether the tree has an interface with this index and MAC address.
func (s sysfs) shows(name string, index int, mac string) bool {
	dir := filepath.Join(s.sys, "class/net", name)
	return number(dir, "ifindex") == int64(index) &&
		strings.EqualFold(text(dir, "address"), cmp.Or(mac, text(dir, "address")))
}

// add adds what the device model has about an interface.
func (s sysfs) add(nic *netstate.NIC, l netlink.Link) error {
	dir := filepath.Join(s.sys, "class/net", l.Name)
	if !s.shows(l.Name, l.Index, l.MAC) {
		return errOtherNamespace
	}
	if _, err := os.Stat(filepath.Join(dir, "phy80211")); err == nil {
		nic.Wireless = true
	}
	s.addDevice(nic, filepath.Join(dir, "device"))
	s.addQueues(nic, filepath.Join(dir, "queues"))
	return nil
}

func (s sysfs) addDevice(nic *netstate.NIC, dir string) {
	if _, err := os.Stat(dir); err != nil {
		return
	}
	if node, err := strconv.Atoi(text(dir, "numa_node")); err == nil {
		nic.NUMA = &node
	}
	if vendor, device := text(dir, "vendor"), text(dir, "device"); vendor != "" {
		nic.Device = strings.TrimPrefix(vendor, "0x") + ":" + strings.TrimPrefix(device, "0x")
	}
	link := netstate.PCIeLink{
		Width: int(number(dir, "current_link_width")), MostWidth: int(number(dir, "max_link_width")),
		GTps: transfers(text(dir, "current_link_speed")), MostGTps: transfers(text(dir, "max_link_speed")),
	}
	if link.Width > 0 {
		nic.PCIe = &link
	}
	// The device of a USB adapter is an interface of the USB device, its parent.
	if real, err := filepath.EvalSymlinks(dir); err == nil && strings.Contains(real, "/usb") {
		nic.USBMbps, _ = strconv.ParseFloat(text(filepath.Dir(real), "speed"), 64)
	}
	counts := s.interrupts()
	for _, n := range s.irqs(dir) {
		dir := filepath.Join(s.proc, "irq", strconv.Itoa(n))
		irq := netstate.IRQ{IRQ: n, Name: counts[n].name, Affinity: text(dir, "smp_affinity_list"),
			Effective: text(dir, "effective_affinity_list"), Count: counts[n].count}
		if node, err := strconv.Atoi(text(dir, "node")); err == nil {
			irq.NUMA = &node
		}
		nic.IRQs = append(nic.IRQs, irq)
	}
}

// Interrupts returns the sorted interrupts of the interfaces' devices; none for an interface of another network
// namespace than that of /sys.
func (h *Handle) Interrupts(links []netlink.Link) (list []int) {
	if h == nil {
		return nil
	}
	for _, l := range links {
		if h.sys.shows(l.Name, l.Index, l.MAC) {
			list = append(list, h.sys.irqs(filepath.Join(h.sys.sys, "class/net", l.Name, "device"))...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// irqs returns the sorted interrupts of a device. A virtio device uses those of its parent, a PCI device.
func (s sysfs) irqs(device string) (list []int) {
	if bus, _ := os.Readlink(filepath.Join(device, "subsystem")); filepath.Base(bus) == "virtio" {
		device += "/.." // resolved by the kernel: package filepath would drop the link instead
	}
	line, _ := os.ReadFile(device + "/irq")
	names := []string{strings.TrimSpace(string(line))}
	if messages, _ := os.ReadDir(device + "/msi_irqs"); len(messages) > 0 {
		names = nil
		for _, m := range messages {
			names = append(names, m.Name())
		}
	}
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil && n > 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// transfers parses "8.0 GT/s PCIe".
func transfers(speed string) float64 {
	value, _, _ := strings.Cut(speed, " ")
	n, _ := strconv.ParseFloat(value, 64)
	return n
}

// interrupt is a line of /proc/interrupts: the sum over all CPUs, and the driver's name for it.
type interrupt struct {
	count int64
	name  string
}

func (s sysfs) interrupts() map[int]interrupt {
	counts := map[int]interrupt{}
	for line := range strings.Lines(text(s.proc, "interrupts")) {
		name, rest, ok := strings.Cut(line, ":")
		irq, err := strconv.Atoi(strings.TrimSpace(name))
		if !ok || err != nil {
			continue
		}
		var one interrupt
		words := strings.Fields(rest)
		for i, word := range words {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				one.name = plain.Short(strings.Join(words[max(i, len(words)-1):], " "), 60)
				break
			}
			one.count += n
		}
		counts[irq] = one
	}
	return counts
}

func (s sysfs) addQueues(nic *netstate.NIC, dir string) {
	queues, _ := os.ReadDir(dir)
	for _, q := range queues {
		queue := netstate.NICQueue{Queue: q.Name()}
		if strings.HasPrefix(queue.Queue, "rx-") {
			queue.CPUs, queue.Flows = text(dir, queue.Queue, "rps_cpus"), int(number(dir, queue.Queue, "rps_flow_cnt"))
		} else {
			queue.CPUs = text(dir, queue.Queue, "xps_cpus")
		}
		if strings.Trim(queue.CPUs, "0,") == "" {
			queue.CPUs = "" // no CPU is set
		}
		nic.Queues = append(nic.Queues, queue)
	}
	slices.SortFunc(nic.Queues, func(a, b netstate.NICQueue) int { return cmp.Compare(a.Queue, b.Queue) })
}
