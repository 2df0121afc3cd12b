// Package hostconfig formats settings as the configuration of a host: as commands, and as files
// that apply them at the next boot, for sysctl.d, netplan, systemd-networkd, NetworkManager and
// ifupdown. A change for which a format has no key is written to a companion file that can express
// it. No setting is left out.
//
// Formats: sysctl.d(5), netplan(5), systemd.network(5), nm-settings-nmcli(5),
// interfaces(5). The package does no I/O, and resolves no reference to other hosts.
package hostconfig

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
)

// Host is a host and the settings to be made on it.
type Host struct {
	Name       string
	Interfaces []Interface
	Settings   []setting.Setting
}

// Interface is an interface of a host with its addresses, which decide to which interface rules and
// routes are assigned.
type Interface struct {
	Name     string
	Prefixes []netip.Prefix
}

// File is a configuration file of a host. Path is relative to the root directory.
type File struct {
	Path string `json:"path"`
	// Mode is the permission bits, such as 0o644.
	Mode uint32 `json:"mode"`
	Text string `json:"text"`
}

// Config is a host's configuration.
type Config struct {
	Files []File `json:"files"`
	// Apply has the commands that put the files into effect without a reboot.
	Apply []string `json:"apply"`
	// Notes tells the reader what to check.
	Notes []string `json:"notes,omitempty"`
}

// Format is a way to configure a host: by commands or by the files of a program.
type Format struct {
	Name, Doc string
	// begin returns a writer for the files of this format. Nil: the format has only the files that
	// all formats share.
	begin func(*Host) writer
	// note is the entry of Config.Notes if begin's writer has files. Empty: none.
	note string
}

// writer collects the changes that a format can express. For all others add returns false.
type writer interface {
	add(change) bool
	files(head []string) []File
	apply() []string
}

// Formats lists the formats in the order of the documents.
var Formats = []Format{
	{Name: "sysctl", Doc: "a file for /etc/sysctl.d"},
	{Name: "netplan", Doc: "YAML for /etc/netplan", begin: newNetplan,
		note: "netplan merges the file with your others by the interfaces' names: move a bond or VLAN below bonds: " +
			"or vlans:, and where your files have an ID in place of the name, write that"},
	{Name: "systemd-networkd", Doc: "drop-ins of the interfaces' .network files", begin: newNetworkd,
		note: "rename each IF.network.d after the .network file that networkctl status IF names"},
	{Name: "networkmanager", Doc: "nmcli commands, which NetworkManager keeps", begin: newNMCLI},
	{Name: "ifupdown", Doc: "stanzas that /etc/network/interfaces sources at its end", begin: newIfupdown,
		note: "ifup brings up an interface by its stanzas in the order in which it reads them: the source line has " +
			"to be after those with the addresses"},
}

// Paths of the files.
const (
	sysctlPath = settingfile.SysctlPath
	scriptPath = "usr/local/sbin/linerate-fix"
	unitPath   = "etc/systemd/system/linerate-fix.service"
)

// sysctlNote is for programs that apply /etc/sysctl.conf last, whatever the names of other files
// are (sysctl(8)).
const sysctlNote = "where sysctl --system or tuned applies the files, a line for the same parameter in " +
	"/etc/sysctl.conf wins, since both read that file last: remove it there"

// Config returns the configuration files of a host. Each begins with the lines of head as comments.
func (f Format) Config(h Host, head []string) Config {
	var c Config
	var sysctls, companion []change
	var own writer
	if f.begin != nil {
		own = f.begin(&h)
	}
	written := false
	scripted := map[int]bool{} // nexthop objects that the script creates
	for _, one := range changes(&h) {
		switch {
		case one.Kind() == "sysctl" && one.plain():
			sysctls = append(sysctls, one)
		case own != nil && one.plain() && !one.refers(scripted) && own.add(one):
			written = true
		default:
			companion = append(companion, one)
			if one.Nexthop != nil {
				scripted[one.Nexthop.ID] = true
			}
		}
	}
	if len(sysctls) > 0 {
		c.Files = append(c.Files, File{sysctlPath, 0o644, sysctlFile(sysctls, head)})
		c.Apply = append(c.Apply, "sysctl -p /"+sysctlPath)
		c.Notes = append(c.Notes, sysctlNote)
	}
	if written {
		c.Files, c.Apply = append(c.Files, own.files(head)...), append(c.Apply, own.apply()...)
		if f.note != "" {
			c.Notes = append(c.Notes, f.note)
		}
	}
	if len(companion) > 0 {
		c.Files = append(c.Files, File{scriptPath, 0o755, script(companion, head)}, File{unitPath, 0o644, unit})
		c.Apply = append(c.Apply, "systemctl daemon-reload", "systemctl enable --now linerate-fix")
		if own != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("%s has no key for what is in /%s, which systemd runs at boot",
				f.Name, scriptPath))
		}
	}
	return c
}

// change is a setting that makes one change, and the interface that it is assigned to. On is empty
// if that is unknown.
type change struct {
	setting.Setting
	on string
}

// changes splits the settings of a host into single changes.
func changes(h *Host) (list []change) {
	for _, s := range h.Settings {
		for _, one := range single(s) {
			list = append(list, change{one, h.interfaceOf(one)})
		}
	}
	return list
}

// single splits a setting into settings that make one change each.
func single(s setting.Setting) (list []setting.Setting) {
	switch {
	case len(s.Sysctl) > 0:
		for _, one := range s.Sysctl {
			list = append(list, setting.Setting{Host: s.Host, Sysctl: []setting.Sysctl{one}})
		}
	case s.Address != nil:
		for _, p := range s.Address.All() {
			list = append(list, setting.Setting{Host: s.Host, Address: &setting.Address{Interface: s.Address.Interface,
				Address: p}})
		}
	case s.Route != nil && s.Route.Number() > 1:
		for p := range s.Route.All() {
			one := *s.Route
			one.To, one.Count = p.String(), 0
			list = append(list, setting.Setting{Host: s.Host, Route: &one})
		}
	case s.Link != nil:
		l := *s.Link
		for _, part := range []setting.Link{{MTU: l.MTU}, {TxQueueLen: l.TxQueueLen}, {MAC: l.MAC},
			{GSOMaxSize: l.GSOMaxSize}, {GROMaxSize: l.GROMaxSize}, {XmitHashPolicy: l.XmitHashPolicy}, {XDP: l.XDP},
			{Up: l.Up}} {
			if part != (setting.Link{}) {
				part.Interface = l.Interface
				list = append(list, setting.Setting{Host: s.Host, Link: &part})
			}
		}
	case s.NIC != nil:
		for _, o := range s.NIC.Options() {
			one := s.NIC.With(o)
			list = append(list, setting.Setting{Host: s.Host, NIC: &one})
		}
	case s.Kind() != "":
		list = append(list, s)
	}
	return list
}

// refers reports whether the change needs one of these nexthop objects.
func (c change) refers(objects map[int]bool) bool {
	switch {
	case c.Route != nil:
		return objects[c.Route.Object]
	case c.Nexthop != nil:
		return slices.ContainsFunc(c.Nexthop.Group, func(m setting.Member) bool { return objects[m.ID] })
	}
	return false
}

// interfaceOf returns the interface that a change belongs to. Of several it is the last, so that
// the others already exist when the change is made.
func (h *Host) interfaceOf(s setting.Setting) string {
	switch {
	case s.Neighbour != nil:
		return s.Neighbour.Interface
	case s.Address != nil:
		return s.Address.Interface
	case s.Link != nil:
		return s.Link.Interface
	case s.NFT != nil:
		return "" // of the whole host
	case s.Qdisc != nil:
		return s.Qdisc.Interface
	case s.NIC != nil:
		return s.NIC.Interface
	case s.Route != nil:
		return h.routeInterface(*s.Route)
	case s.Nexthop != nil && s.Nexthop.Interface != "":
		return s.Nexthop.Interface
	case s.Rule != nil:
		if on := h.holder(address(s.Rule.From)); on != "" {
			return on
		}
		for _, other := range h.Settings {
			if other.Route != nil && other.Route.Table == s.Rule.Table {
				return h.routeInterface(*other.Route)
			}
		}
	}
	return h.last()
}

func (h *Host) routeInterface(r setting.Route) string {
	hops := r.Nexthops
	if r.Object == 0 && len(hops) == 0 {
		hops = []setting.Nexthop{{Via: r.Via, Interface: r.Interface}}
	}
	last := -1
	for _, hop := range hops {
		on := hop.Interface
		if on == "" {
			on = h.toward(address(gateway(hop.Via)))
		}
		last = max(last, slices.IndexFunc(h.Interfaces, func(i Interface) bool { return i.Name == on }))
	}
	switch {
	case last >= 0:
		return h.Interfaces[last].Name
	case len(hops) > 0: // an interface that is not in the topology
		return hops[len(hops)-1].Interface
	}
	return h.last()
}

func (h *Host) last() string {
	if len(h.Interfaces) == 0 {
		return ""
	}
	return h.Interfaces[len(h.Interfaces)-1].Name
}

// holder returns the interface that has the address addr.
func (h *Host) holder(addr netip.Addr) string {
	return h.find(func(p netip.Prefix) bool { return p.Addr() == addr })
}

func (h *Host) toward(addr netip.Addr) string {
	return h.find(func(p netip.Prefix) bool { return p.Masked().Contains(addr) })
}

func (h *Host) find(is func(netip.Prefix) bool) string {
	for _, i := range h.Interfaces {
		if slices.ContainsFunc(i.Prefixes, is) {
			return i.Name
		}
	}
	return ""
}

// address returns the address in a text such as 10.0.0.1 or 10.0.0.1/32. The zero Addr means that
// there is none.
func address(text string) netip.Addr {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Addr()
	}
	addr, _ := netip.ParseAddr(text)
	return addr
}

// gateway returns the address in a via, which may be "inet6 ADDRESS".
func gateway(via string) string { return strings.TrimPrefix(via, "inet6 ") }

// six reports whether one of the texts is an IPv6 address or prefix.
func six(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, ":") &&
			!strings.HasPrefix(text, "inet6 ")
	})
}

// destination returns the destination of a route as a prefix, or "default".
func destination(r setting.Route) string {
	if p, err := netip.ParsePrefix(r.To); err == nil {
		return p.Masked().String()
	}
	if addr, err := netip.ParseAddr(r.To); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()).String()
	}
	return r.To
}
