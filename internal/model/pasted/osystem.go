package pasted

import (
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
	"linerate/internal/model/settingfile"
)

// operatingSystem is what the lines of a machine show of its operating system.
type operatingSystem struct {
	systems map[string]int // lines that are of one system, by its name
	judged  int            // lines that were looked at
}

// several is the system of a format that Linux and others print.
func several(string) string { return "" }

// only returns the system of a format that one system prints, or, with opsystem.OtherBSD, the BSDs and macOS.
func only(system string) func(string) string { return func(string) string { return system } }

// mostSeen is the most lines of a machine that are looked at for its operating system.
const mostSeen = 5000

// systemRows are lines that only the named system prints, or, with opsystem.OtherBSD, only the BSDs and macOS.
var systemRows = []struct {
	system string
	row    *pattern.Pattern
}{
	{opsystem.FreeBSD, pattern.MustCompile(`^(?:\S+: flags=[0-9a-f]+<[A-Z0-9_,]*> metric \d+ mtu \d+` +
		`|(?:---<<BOOT>>---|FreeBSD \d|Copyright \(c\) 1992-\d+ The FreeBSD)|\s*\d+/\d+/\d+(?:/\d+)? (?:mbufs` +
		`|mbuf clusters) in use \(current/cache|\s*\d+/\d+/\d+ requests for (?:mbufs|jumbo clusters) ` +
		`|Name\s+Mtu\s+Network\s+Address\s+Ipkts\s+Ierrs\s+Idrop|\s+\d+ (?:syncache` +
		`|hostcache) entries added)`)},
	{opsystem.OpenBSD, pattern.MustCompile(`^(?:\s+lladdr [0-9a-f:]{17}$|\s+index \d+ priority \d+ llprio \d+` +
		`|Destination\s+Gateway\s+Flags\s+Refs\s+Use\s+Mtu\s+Prio\s+Iface` +
		`|OpenBSD \d|Name\s+Mtu\s+Network\s+Address\s+(?:Ipkts\s+Ifail|Ibytes\s+Obytes$)` +
		`|\s+\d+ packets? (?:received|sent) software-checksummed` +
		`|\s*\d+/\d+(?:/\d+)? mbuf \d+ byte clusters in use|\s*\d+/\d+/\d+ Kbytes allocated to network)`)},
	{opsystem.MacOS, pattern.MustCompile(`^(?:(?:en|awdl|llw|utun|anpi` +
		`|ap)\d+(?:: flags=[0-9a-f]+<[A-Z0-9_,]*> mtu |\*?\s+\d+\s+<Link#)|\s*\d+/\d+ mbuf \d+KB clusters in use` +
		`|\s*\d+ KB allocated to network|Darwin )`)},
	{opsystem.NetBSD, pattern.MustCompile(`^(?:\S+: flags=0x[0-9a-f]+<|\s+address: [0-9a-f:]{17}$|NetBSD \d)`)},
	{opsystem.OtherBSD, pattern.MustCompile(`^(?:\S+\s+\d+\s+<Link(?:#\d+)?>\s|(?:tcp|udp)46?\s+\d` +
		`|\s+(?:media|status): |Destination\s+Gateway\s+Flags\s+(?:Refs\s+Use\s+)?Netif\s+Expire` +
		`|\S+ \([0-9a-f.:]+\) at \S+ on \S+ .*\[(?:ethernet|vlan|bridge)\])`)},
}

// countSystem counts a line that only one operating system prints, or the BSDs and macOS.
func (m *machine) countSystem(f *format, line string) {
	if m.judged++; m.judged > mostSeen {
		return
	}
	if f.system == nil {
		m.systems[opsystem.Linux]++
		return
	}
	system := f.system(line)
	for _, s := range systemRows {
		if s.row.MatchString(line) {
			system = s.system
			break
		}
	}
	if system != "" {
		m.systems[system]++
	}
}

// systemOfParameter returns the system of a line of sysctl(8) of a BSD. OpenBSD prints "=" without spaces.
func systemOfParameter(line string) string {
	row := bsdRow.FindStringSubmatch(line)
	switch {
	case row == nil:
		return opsystem.OtherBSD
	case row[2] == "=":
		return opsystem.OpenBSD
	}
	if system := settingfile.SystemOf(row[1]); system == opsystem.MacOS || onlyFreeBSD.MatchString(row[1]) {
		return system
	}
	return opsystem.OtherBSD
}

// onlyFreeBSD matches keys that macOS does not have.
var onlyFreeBSD = pattern.MustCompile(`^(?:dev|vfs|security|net\.isr|hw\.ix|hw\.igb|hw\.em)\.|^kern\.ipc\.(?:nmb` +
	`|soacc)`)

// finishSystemName decides which system the machine has by the most lines, unless uname(1) or
// hostnamectl(1) said it. What only says that it is one of the BSDs counts if nothing says which.
func (m *machine) finishSystemName() {
	if m.Host.OS != "" {
		return
	}
	best, most := "", 0
	for _, system := range []string{opsystem.Linux, opsystem.FreeBSD, opsystem.OpenBSD, opsystem.MacOS,
		opsystem.NetBSD, opsystem.OtherBSD} {
		if n := m.systems[system]; n > most && !(system == opsystem.OtherBSD && best != "") {
			best, most = system, n
		}
	}
	switch best {
	case opsystem.Linux: // the default
	case opsystem.MacOS:
		m.Host.OS = "darwin" // in the words of uname(1)
	default:
		m.Host.OS = best
	}
}
