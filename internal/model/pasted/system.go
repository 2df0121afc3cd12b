package pasted

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "uname", system: several,
		row: reads((*machine).uname), sure: isUname, host: unameHost, command: programs("uname")},
	&format{name: "hostname", system: several, row: reads((*machine).hostname), shapeless: true, host: hostnameHost,
		command: programs("hostname", "hostnamectl"), files: []string{"etc/hostname"}},
	&format{name: "uptime", system: several, row: reads((*machine).uptime), sure: uptimeRow.MatchString,
		command: programs("uptime", "w", "top"), files: []string{"proc/uptime"}})

// architectures are the names of uname -m, by those of Go.
var architectures = map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
	"i386": "386", "i586": "386", "i686": "386", "armv6l": "arm", "armv7l": "arm", "armv8l": "arm", "ppc64le": "ppc64le",
	"s390x": "s390x", "riscv64": "riscv64", "mips": "mips", "mips64": "mips64", "loongarch64": "loong64"}

var (
	// unameRow matches uname -a: system, host, release, version and machine.
	unameRow = pattern.MustCompile(`^(Linux|FreeBSD|OpenBSD|NetBSD|DragonFly|Darwin) ([\w.-]{1,64}) ` +
		`(\d[\w.+~-]{1,60}) (.*)$`)
	staticName = pattern.MustCompile(`^\s*Static hostname: ([\w.-]{1,64})$`)
	hostWord   = pattern.MustCompile(`^[A-Za-z0-9][\w.-]{0,63}$`)
	hostKeys   = pattern.MustCompile(`^\s*(?:Static hostname|Transient hostname|Pretty hostname|Icon name|Chassis|` +
		`Deployment|Location|Machine ID|` +
		`Boot ID|AF_VSOCK CID|Virtualization|Operating System|CPE OS Name|OS Support \w+|OS Support|Kernel|` +
		`Architecture|Hardware \w+|Firmware \w+|Product UUID): `)
	uptimeRow = pattern.MustCompile(`^(?:top - )?\s*\d{1,2}:\d\d(?::\d\d)?(?:[AaPp][Mm])? +up +(.*?), +` +
		`(?:\d+ users?, ` +
		`+)?load averages?: `)
	upFor = pattern.MustCompile(`(\d{1,7}) (year|week|day|hour|hr|minute|min|second|sec)s?\b|\b(\d{1,3}):(\d\d)\b`)
)

// isUname reports whether a line is the output of uname -a: it has the name of a machine.
func isUname(line string) bool { return unameHost(nil, line) != "" }

func unameHost(c command, line string) string {
	if c.is("uname") && c.flag('n') && len(strings.Fields(line)) == 1 {
		return strings.TrimSpace(line)
	}
	row := unameRow.FindStringSubmatch(line)
	if row == nil || machineOf(row[4]) == "" {
		return ""
	}
	return row[2]
}

// machineOf returns the last word that names an architecture, as Go does. Empty: there is none.
func machineOf(text string) string {
	words := strings.Fields(text)
	for _, w := range slices.Backward(words) {
		if arch := architectures[strings.ToLower(w)]; arch != "" {
			return arch
		}
	}
	return ""
}

// uname parses the output of uname(1).
func (m *machine) uname(line string) bool {
	if row := unameRow.FindStringSubmatch(line); row != nil && machineOf(row[4]) != "" {
		m.Host.OS, m.Host.Kernel, m.Host.Arch = strings.ToLower(row[1]), row[3], machineOf(row[4])
		return true
	}
	words := strings.Fields(line)
	if !m.command.is("uname") || len(words) == 0 {
		return false
	}
	var values []string // what the options ask for, in the order in which uname(1) prints it
	for _, letter := range "snrvmpio" {
		if m.command.flag(byte(letter)) {
			values = append(values, string(letter))
		}
	}
	if len(values) != len(words) {
		return strings.HasPrefix(words[0], "#") && m.ignore() // -v
	}
	for i, letter := range values {
		word := plain.Short(words[i], longestName)
		switch letter {
		case "s":
			m.Host.OS = strings.ToLower(word)
		case "r":
			m.Host.Kernel = word
		case "m":
			m.Host.Arch = cmp.Or(architectures[strings.ToLower(word)], word)
		}
	}
	return true
}

// hostnameHost returns the name that hostname(1) or hostnamectl(1) prints.
func hostnameHost(c command, line string) string {
	switch {
	case c.is("hostnamectl"):
		name := staticName.FindStringSubmatch(line)
		return strings.Join(name[min(1, len(name)):], "")
	case hostWord.MatchString(line) && (c.prints() != "" || len(c) == 1 || c.has("-f", "-s", "--fqdn", "--short")):
		return line
	}
	return ""
}

// hostname parses a line of hostname(1) or hostnamectl(1).
func (m *machine) hostname(line string) bool {
	key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
	switch {
	case !m.command.is("hostnamectl"):
		return len(strings.Fields(line)) <= 20 && m.ignore()
	case key == "Kernel":
		system, release, _ := strings.Cut(value, " ")
		m.Host.OS, m.Host.Kernel = strings.ToLower(plain.Short(system, longestName)), plain.Short(release, longestName)
		return true
	case key == "Architecture":
		m.Host.Arch = cmp.Or(architectures[strings.ReplaceAll(value, "-", "_")], plain.Short(value, longestName))
		return true
	}
	return hostKeys.MatchString(line) && m.ignore()
}

// uptime parses the line of uptime(1) that w(1) and top(1) print as well, uptime -p, or /proc/uptime.
func (m *machine) uptime(line string) bool {
	text := ""
	if row := uptimeRow.FindStringSubmatch(line); row != nil {
		text = row[1]
	} else if rest, is := strings.CutPrefix(line, "up "); is && m.command.is("uptime") {
		text = rest
	} else if strings.HasSuffix(m.command.prints(), "/uptime") {
		s, err := strconv.ParseFloat(strings.Fields(line)[0], 64)
		if err != nil || !(s >= 0 && s < 1e10) {
			return false
		}
		m.State.UptimeS = s
		return true
	}
	if text == "" {
		return m.command.is("uptime") && len(strings.Fields(line)) == 2 && m.ignore() // -s
	}
	seconds := map[string]int{"year": 365 * 86400, "week": 7 * 86400, "day": 86400, "hour": 3600, "hr": 3600,
		"minute": 60, "min": 60, "second": 1, "sec": 1}
	total := 0
	for _, part := range upFor.Regexp().FindAllStringSubmatch(text, 8) {
		n, _ := strconv.Atoi(part[1])
		hours, _ := strconv.Atoi(part[3])
		minutes, _ := strconv.Atoi(part[4])
		total += n*seconds[part[2]] + hours*3600 + minutes*60
	}
	m.State.UptimeS = float64(total)
	return true
}

// finishSystem adds the parts of what several tools say of the machine.
func (m *machine) finishSystem() {
	load := m.Reading.End.Memory
	m.addPart("memory", load != nil && load.AvailableBytes > 0 && m.State.MemoryBytes > 0)
	m.addPart("clock", m.State.Clock != nil && (m.synchronisation || m.State.Clock.Source != ""))
	m.addPart("synchronisation", m.synchronisation)
	if m.State.Clock != nil && !m.synchronisation { // only the sources are known
		m.State.Clock.Synchronised = true
	}
}

// clock returns the clock source, which it adds if there is none yet.
func (m *machine) clock() *netstate.ClockSource {
	if m.State.Clock == nil {
		m.State.Clock = &netstate.ClockSource{}
	}
	return m.State.Clock
}
