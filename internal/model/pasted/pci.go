package pasted

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(&format{name: "lspci", system: several,
	part: "pci", row: reads((*machine).lspci), command: programs("lspci"),
	sure: func(line string) bool { return pciHead.MatchString(line) || linkStatus.MatchString(line) }})

var (
	// pciHead matches the line that begins a device: its address, its class and its name.
	pciHead = pattern.MustCompile(`^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ` +
		`([A-Z][A-Za-z /-]{1,40}(?: \[[0-9a-f]{4}\])?|"[^"]{1,60}"|[0-9a-f]{4})(?:: | ")(.*)$`)
	// linkStatus and linkMost match the negotiated and the highest state of a PCIe link:
	// "LnkSta: Speed 8GT/s (downgraded), Width x4 (downgraded)".
	linkStatus = pattern.MustCompile(`^\s*LnkSta:\s+Speed (\d{1,3}(?:\.\d)?)GT/s(?: \(\w+\))?, Width x(\d{1,2})\b`)
	linkMost   = pattern.MustCompile(`^\s*LnkCap:\s+Port #\d{1,3}, Speed (\d{1,3}(?:\.\d)?)GT/s, Width x(\d{1,2})\b`)
	pciNode    = pattern.MustCompile(`^\s+NUMA node: (\d{1,4})$`)
	pciDriver  = pattern.MustCompile(`^\s+Kernel driver in use: ([\w-]{1,30})$`)
	pciDump    = pattern.MustCompile(`^(?:[0-9a-f]{2,3}: (?:[0-9a-f]{2} ?){16}|[ -]*[-+\\|].*)$`)
	// bandwidth matches a message of the kernel (pcie_print_link_status in drivers/pci/pci.c).
	bandwidth = pattern.MustCompile(`([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S{1,15})?: ` +
		`\d{1,4}\.\d{3} Gb/s available PCIe bandwidth(?:, limited by (\d{1,3}\.\d) GT/s PCIe x(\d{1,2}) link at \S+ ` +
		`\(capable of \d{1,4}\.\d{3} Gb/s with (\d{1,3}\.\d) GT/s PCIe x(\d{1,2}) link\)|` +
		` \((\d{1,3}\.\d) GT/s PCIe x(\d{1,2}) link\))`)
	renamed = pattern.MustCompile(
		`\b([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (\S{1,15}): renamed from \S{1,15}$`)
	// busName matches a name of systemd.net-naming-scheme(7) that has the device's PCI address.
	busName = pattern.MustCompile(`^en(?:P(\d{1,5}))?p(\d{1,3})s(\d{1,2})(?:f([0-7]))?(?:np\d{1,3}|d\d{1,3})?$`)
)

// pciDevice is a device of the class of networks.
type pciDevice struct {
	link   netstate.PCIeLink
	driver string
	numa   *int
}

// pciDevices has the devices by address.
type pciDevices struct{ pci map[string]*pciDevice }

// pciState is the address of the device that indented lines belong to; empty: none, or it is not of
// the class of networks. pciOther reports whether it is of another class.
type pciState struct {
	pciAt    string
	pciOther bool
}

// networkClasses are the classes of devices that are kept, by name and number (pci.ids).
var networkClasses = []string{"Ethernet controller", "Network controller", "Infiniband controller",
	"InfiniBand controller", "Fabric controller", "0200", "0207", "0208", "0280"}

// pciAddressWithDomain returns an address with the domain, as the kernel prints it.
func pciAddressWithDomain(text string) string {
	if strings.Count(text, ":") == 1 {
		return "0000:" + text
	}
	return text
}

// device returns a device, which it adds if it is new. Nil: there are too many.
func (m *machine) pciDevice(address string) *pciDevice {
	if m.pci == nil {
		m.pci = map[string]*pciDevice{}
	}
	if m.pci[address] == nil && len(m.pci) < mostInterfaces {
		m.pci[address] = &pciDevice{}
	}
	return m.pci[address]
}

// lspci parses a line of lspci(8), of which the link of network devices is used.
func (m *machine) lspci(line string) bool {
	if head := pciHead.FindStringSubmatch(line); head != nil {
		class, _, _ := strings.Cut(strings.Trim(head[2], `"`), " [")
		m.pciAt, m.pciOther = pciAddressWithDomain(head[1]), !slices.Contains(networkClasses, class)
		if m.pciOther {
			m.pciAt = ""
		}
		return m.ignore()
	}
	at := m.pciAt
	if at == "" && !m.pciOther && m.command.is("lspci") { // the head was filtered out
		if selected := strings.TrimSpace(m.command.after("-s")); pciSelected.MatchString(selected) {
			at = pciAddressWithDomain(selected)
		}
	}
	status, most := linkStatus.FindStringSubmatch(line), linkMost.FindStringSubmatch(line)
	node, driver := pciNode.FindStringSubmatch(line), pciDriver.FindStringSubmatch(line)
	if status == nil && most == nil && node == nil && driver == nil || at == "" {
		inside := m.pciAt != "" || m.pciOther || m.command.is("lspci")
		return (inside && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")) ||
			m.command.is("lspci") && pciDump.MatchString(line)) && m.ignore()
	}
	d := m.pciDevice(at)
	switch {
	case d == nil:
	case status != nil:
		d.link.GTps, _ = strconv.ParseFloat(status[1], 64)
		d.link.Width = number(status[2])
	case most != nil:
		d.link.MostGTps, _ = strconv.ParseFloat(most[1], 64)
		d.link.MostWidth = number(most[2])
	case node != nil:
		n := number(node[1])
		d.numa = &n
	default:
		d.driver = driver[1]
	}
	return true
}

var pciSelected = pattern.MustCompile(`^(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// pciLogged adds what the kernel's log says of PCIe links, and of names of interfaces: it maps
// interfaces to addresses.
func (m *machine) pciLogged() map[string]string {
	names := map[string]string{}
	if m.State.Log == nil {
		return names
	}
	for _, l := range m.State.Log.Lines {
		if r := renamed.FindStringSubmatch(l.Text); r != nil {
			names[r[2]] = r[1]
		}
		b := bandwidth.FindStringSubmatch(l.Text)
		if b == nil {
			continue
		}
		d := m.pciDevice(b[1])
		if d == nil {
			continue
		}
		var logged netstate.PCIeLink
		logged.GTps, _ = strconv.ParseFloat(b[2]+b[6], 64)
		logged.MostGTps, _ = strconv.ParseFloat(b[4]+b[6], 64)
		logged.Width, logged.MostWidth = number(b[3]+b[7]), number(b[5]+b[7])
		// The narrowest link on the way may be another one than that of the device.
		if d.link.Width == 0 || float64(logged.Width)*logged.GTps < float64(d.link.Width)*d.link.GTps {
			d.link = logged
		}
	}
	return names
}

// finishPCI adds the PCIe links to their NICs. The link of a device whose interface is unknown becomes
// a NIC with the address as its name.
func (m *machine) finishPCI() {
	named := m.pciLogged()
	byBus := map[string]string{}
	for _, i := range m.Reading.Snapshot.Interfaces {
		if i.Kind == "" && busOf(i.Interface) != "" {
			byBus[busOf(i.Interface)] = i.Interface
		}
	}
	for name, address := range named {
		if _, has := m.netifs[name]; has {
			byBus[address] = name
		}
	}
	for _, n := range m.State.NICs {
		if n.Bus != "" {
			byBus[n.Bus] = n.Interface
		}
	}
	for _, address := range slices.Sorted(maps.Keys(m.pci)) {
		d := m.pci[address]
		name, known := byBus[address]
		complete := d.link.Width > 0 && d.link.MostWidth > 0
		if !known && complete {
			if name = address; m.netif(name) < 0 {
				continue
			}
			m.interfaceOf(name).Kind = ""
		} else if !known {
			continue
		}
		nic := m.nicOf(name)
		if nic.Bus = address; complete {
			nic.PCIe = &d.link
		}
		if nic.Driver == "" {
			nic.Driver = d.driver
		}
		if nic.NUMA == nil {
			nic.NUMA = d.numa
		}
	}
}

// busOf returns the PCI address that the name of an interface has: enp29s0f0 is of 0000:1d:00.0.
// Empty: it has none.
func busOf(name string) string {
	match := busName.FindStringSubmatch(name)
	if match == nil {
		return ""
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(match[i+1])
	}
	if n[0] > 0xffff || n[1] > 0xff || n[2] > 0x1f {
		return ""
	}
	hex := func(n, digits int) string {
		text := strconv.FormatInt(int64(n), 16)
		return strings.Repeat("0", max(digits-len(text), 0)) + text
	}
	return hex(n[0], 4) + ":" + hex(n[1], 2) + ":" + hex(n[2], 2) + "." + strconv.Itoa(n[3])
}
