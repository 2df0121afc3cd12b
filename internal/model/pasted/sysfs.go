package pasted

import (
	"path"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// netFiles are the files below /sys/class/net/IF that are known.
var netFiles = []string{"class/net/*/mtu", "class/net/*/address", "class/net/*/statistics/*", "class/net/*/speed",
	"class/net/*/duplex", "class/net/*/carrier", "class/net/*/operstate", "class/net/*/tx_queue_len",
	"class/net/*/queues/*/*", "class/net/*/*"}

// Files of an interface and those of its NIC are formats of their own: a text with one part does not
// have the other.
var _ = register(
	&format{name: "/sys/class/net", files: netFiles,
		row: reads(func(m *machine, line string) bool { return m.sysfs(line, (*machine).sysfsInterface) }),
		sure: func(line string) bool {
			f := sysfsRow.FindStringSubmatch(line)
			return f != nil && (&machine{}).sysfsInterface(f[1], f[2], f[3])
		}},
	&format{name: "/sys/class/net of NICs", part: "nics", files: netFiles,
		row:  reads(func(m *machine, line string) bool { return m.sysfs(line, (*machine).sysfsNIC) }),
		sure: sysfsRow.MatchString})

var (
	// sysfsRow matches a line that grep prints of several files: "/sys/class/net/eth0/mtu:1500".
	sysfsRow  = pattern.MustCompile(`^/sys/class/net/([^/:\s]{1,15})/([a-z0-9_/-]{1,40}):(.{0,200})$`)
	sysfsPath = pattern.MustCompile(`^/sys/class/net/([^/:\s*?{\[]{1,15})/([a-z0-9_/-]{1,40})$`)
	cpuMask   = pattern.MustCompile(`^[0-9a-f]{1,8}(?:,[0-9a-f]{1,8})*$`)
)

// sysfsIndex has the index of queues in their NIC.
type sysfsIndex struct{ queueAt map[[2]string]int }

// sysfs reads a line of a file below /sys/class/net, as cat or grep prints it.
func (m *machine) sysfs(line string, store func(m *machine, name, file, value string) bool) bool {
	if f := sysfsRow.FindStringSubmatch(line); f != nil {
		return store(m, f[1], f[2], strings.TrimSpace(f[3]))
	}
	if f := sysfsPath.FindStringSubmatch(path.Clean(m.command.prints())); f != nil && !strings.Contains(line, " ") {
		return store(m, f[1], f[2], line)
	}
	return false
}

// sysfsInterface stores the value of a file that the kernel has for each interface.
func (m *machine) sysfsInterface(name, file, value string) bool {
	counter, is := strings.CutPrefix(file, "statistics/")
	switch {
	case is:
		if !isNumber(value) {
			return false
		}
		field := kernelCounters(m.countersOf(name, false))[counter]
		if field == nil {
			return m.ignore()
		}
		*field, _ = strconv.ParseUint(value, 10, 64)
		m.hasCounter(counter)
	case file == "mtu":
		if at := m.netif(name); at >= 0 {
			m.Reading.Snapshot.Interfaces[at].MTU = min(max(number(value), 0), 1<<20)
		}
	case file == "address":
		if at := m.netif(name); at >= 0 {
			m.Reading.Snapshot.Interfaces[at].MAC, _ = mac(value)
		}
	default:
		return false
	}
	return true
}

// sysfsNIC stores the value of a file that describes a NIC.
func (m *machine) sysfsNIC(name, file, value string) bool {
	if parts := strings.Split(file, "/"); len(parts) == 3 && parts[0] == "queues" {
		return m.sysfsQueue(name, parts[1], parts[2], value)
	}
	switch file {
	case "speed":
		if n := number(value); n >= 0 { // -1: unknown
			m.nicOf(name).SpeedMbps = int64(n)
		}
	case "duplex":
		if value == "full" || value == "half" {
			m.nicOf(name).Duplex = value
		}
	case "carrier":
		if value != "0" && value != "1" {
			return false
		}
		m.nicOf(name).Carrier = value == "1"
	case "operstate":
		if !ifname.MatchString(value) {
			return false
		}
		nic := m.nicOf(name)
		nic.OperState = value
		nic.Carrier = nic.Carrier && value != "down" && value != "lowerlayerdown"
	case "tx_queue_len":
		m.nicOf(name).TxQueueLen = max(number(value), 0)
	case "mtu", "address":
		return false // of the interface
	default:
		return !strings.Contains(file, "/") && m.ignore() // known to the kernel's documents, and to no rule
	}
	return true
}

// sysfsQueue stores the CPUs that packets of a queue are steered to.
func (m *machine) sysfsQueue(name, queue, file, value string) bool {
	if file != "rps_cpus" && file != "xps_cpus" && file != "rps_flow_cnt" {
		return m.ignore()
	}
	nic := m.nicOf(name)
	if m.queueAt == nil {
		m.queueAt = map[[2]string]int{}
	}
	at, has := m.queueAt[[2]string{name, queue}]
	if !has {
		if len(m.queueAt) >= mostRows || nic.Interface == "" {
			return true
		}
		at = len(nic.Queues)
		nic.Queues = append(nic.Queues, netstate.NICQueue{Queue: queue})
		m.queueAt[[2]string{name, queue}] = at
	}
	switch {
	case file == "rps_flow_cnt":
		nic.Queues[at].Flows = max(number(value), 0)
	case !cpuMask.MatchString(value):
		return false
	case strings.Trim(value, "0,") != "":
		nic.Queues[at].CPUs = value
	}
	return true
}
