package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "free", row: reads((*machine).free), sure: freeHead.MatchString, command: programs("free")},
	&format{name: "meminfo", row: reads((*machine).meminfo), sure: meminfoRow.MatchString,
		files: []string{"proc/meminfo", "meminfo"}},
	&format{name: "timedatectl", row: reads((*machine).timedatectl), sure: synchronisedRow.MatchString,
		command: programs("timedatectl")},
	&format{name: "chronyc", system: several, row: reads((*machine).chronyc), sure: leapRow.MatchString,
		command: func(c command) bool { return c.is("chronyc") && c.object() == "tracking" }},
	&format{name: "clocksource", row: reads((*machine).clocksource), sure: clocksourceRow.MatchString,
		files: []string{"clocksource/clocksource0/*_clocksource"}})

// system is what several lines say of a machine.
type system struct {
	synchronisation bool
	operatingSystem
}

// memory is what the lines of free(1) depend on.
type memory struct{ available bool } // there is the column available

var (
	freeHead = pattern.MustCompile(`^\s+total\s+used\s+free\s+shared\s+(?:buffers\s+cached|buff/cache\s+available|` +
		`buffers\s+cache\s+available)\s*$`)
	freeRow = pattern.MustCompile(`^Mem:\s+(\d{1,15}(?:\.\d+)?)([BKMGTPi]*)\s+(?:\S+\s+){3,5}?` +
		`(\d{1,15}(?:\.\d+)?)([BKMGTPi]*)\s*$`)

	meminfoRow = pattern.MustCompile(`^(MemTotal|MemFree|MemAvailable|SwapTotal|Hugepagesize|` +
		`Committed_AS):\s+(\d{1,15}) kB$`)
	meminfoAny = pattern.MustCompile(`^[A-Z]\w{2,30}(?:\(\w+\))?:\s+\d{1,20}(?: kB)?$`)

	synchronisedRow = pattern.MustCompile(`^\s*(?:System clock synchronized|NTP synchronized): (yes|no)$`)
	timedateRow     = pattern.MustCompile(`^\s*(?:Local time|Universal time|RTC time|Time ?zone|NTP enabled|NTP ` +
		`service|RTC in local TZ|DST active|` +
		`Last DST change|Next DST change|systemd-timesyncd\.service active|Network time on|Server|Poll interval|Leap|` +
		`Version|Stratum|` +
		`Reference|Precision|Root distance|Offset|Delay|Jitter|Packet count|Frequency|Warning): |^\s+[A-Z][a-z]{2} ` +
		`\d{4}-\d\d-\d\d `)

	leapRow    = pattern.MustCompile(`^Leap status +: (Normal|Insert second|Delete second|Not synchronised)$`)
	chronycRow = pattern.MustCompile(`^(?:Reference ID|Stratum|Ref time \(UTC\)|System time|Last offset|RMS offset|` +
		`Frequency|Residual freq|Skew|` +
		`Root delay|Root dispersion|Update interval) +: `)

	clocksourceRow = pattern.MustCompile(`^/sys/devices/system/clocksource/clocksource0/(current|` +
		`available)_clocksource:([\w -]{1,200})$`)
)

// free parses a line of free(1). Without the command, the unit of numbers without a suffix is not known.
func (m *machine) free(line string) bool {
	if freeHead.MatchString(line) {
		m.memory.available = strings.Contains(line, "available")
		return m.ignore()
	}
	name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
	row := freeRow.FindStringSubmatch(line)
	if row == nil {
		return slices.Contains([]string{"Mem", "Swap", "Total", "-/+ buffers/cache", "Low", "High", "Comm"}, name) &&
			(m.command.is("free") || m.last != nil && m.last.name == "free") && m.ignore()
	}
	total, known := m.bytesOf(row[1], row[2])
	if !known {
		return m.ignore()
	}
	m.State.MemoryBytes = total
	if available, _ := m.bytesOf(row[3], row[4]); m.memory.available && available > 0 {
		m.Reading.End.Memory = &netstate.MemoryLoad{AvailableBytes: available}
	}
	return true
}

// bytesOf converts a number of free(1) to bytes. Known is false if its unit is not known.
func (m *machine) bytesOf(number, unit string) (bytes int64, known bool) {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, false
	}
	step := 1024.0
	if m.command.has("--si") {
		step = 1000
	}
	powers := map[string]int{"B": 0, "K": 1, "Ki": 1, "M": 2, "Mi": 2, "G": 3, "Gi": 3, "T": 4, "Ti": 4}
	power, known := powers[unit]
	if unit == "" {
		if known = m.command.is("free"); !known {
			return 0, false
		}
		power = 1
		for letter, p := range map[byte]int{'b': 0, 'm': 2, 'g': 3} {
			if m.command.flag(letter) {
				power = p
			}
		}
	}
	for range power {
		n *= step
	}
	return int64(min(n, 1e18)), known
}

// meminfo parses a line of /proc/meminfo.
func (m *machine) meminfo(line string) bool {
	row := meminfoRow.FindStringSubmatch(line)
	if row == nil {
		known := m.last != nil && m.last.name == "meminfo" || m.prints("meminfo")
		return known && meminfoAny.MatchString(line) && m.ignore()
	}
	kib, _ := strconv.ParseInt(row[2], 10, 64)
	switch row[1] {
	case "MemTotal":
		m.State.MemoryBytes = kib << 10
	case "MemAvailable":
		m.Reading.End.Memory = &netstate.MemoryLoad{AvailableBytes: kib << 10}
	default:
		return m.ignore()
	}
	return true
}

// timedatectl parses a line of timedatectl(1).
func (m *machine) timedatectl(line string) bool {
	if row := synchronisedRow.FindStringSubmatch(line); row != nil {
		m.clock().Synchronised, m.synchronisation = row[1] == "yes", true
		return true
	}
	known := m.command.is("timedatectl") || m.last != nil && m.last.name == "timedatectl"
	return known && timedateRow.MatchString(line+" ") && m.ignore()
}

// chronyc parses a line of chronyc tracking.
func (m *machine) chronyc(line string) bool {
	if row := leapRow.FindStringSubmatch(line); row != nil {
		m.clock().Synchronised, m.synchronisation = row[1] != "Not synchronised", true
		return true
	}
	known := m.command.is("chronyc") || m.last != nil && m.last.name == "chronyc"
	return known && chronycRow.MatchString(line) && m.ignore()
}

// clocksource parses the clock source, or those that are available, after the name of the file that the
// command prints or that grep found.
func (m *machine) clocksource(line string) bool {
	file, text := m.command.prints(), line
	if row := clocksourceRow.FindStringSubmatch(line); row != nil {
		file, text = row[1]+"_clocksource", row[2]
	}
	if !strings.HasSuffix(file, "_clocksource") {
		return false
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 0 || len(words) > 20 || strings.Contains(file, "*"):
		return false
	case strings.HasSuffix(file, "current_clocksource") && len(words) == 1:
		m.clock().Source = words[0]
	case strings.HasSuffix(file, "available_clocksource"):
		m.clock().Available = words
	default:
		return false
	}
	return true
}
