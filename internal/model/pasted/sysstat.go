package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(&format{name: "mpstat", part: "cpu load", row: reads((*machine).loads), command: programs("mpstat"),
	sure: func(line string) bool { return sysstatHead.MatchString(line) || loadHead.MatchString(line) }},
	&format{name: "sar", row: reads((*machine).sar), command: programs("sar"), shapeless: true})

var (
	// sysstatHead matches the first line of mpstat and sar:
	// "Linux 4.11.11-coreos (node)  08/07/17  _x86_64_  (8 CPU)".
	sysstatHead = pattern.MustCompile(`^Linux (\S{1,64}) \((\S{1,64})\)\s+\S+\s+_\w+_\s+\((\d{1,5}) CPU\)$`)
	loadHead    = pattern.MustCompile(`^\d\d:\d\d:\d\d(?: [AP]M)?\s+CPU\s+%usr\s+%nice\s`)
	// sysstatTime matches what begins the rows: a time, or the word for the average.
	sysstatTime = pattern.MustCompile(
		`^(?:\d\d:\d\d:\d\d(?: [AP]M)?|(?:Average|Durchschn\.?|Moyenne|Media|Média|Summary) ?:)\s+`)
	decimal = pattern.MustCompile(`^\d{1,15}(?:[.,]\d{1,4})?$`)
)

// sysstatRow returns the columns of a row without the time. Nil: it is no row, such as the first line
// and notes.
func (m *machine) sysstatRow(line string) []string {
	if head := sysstatHead.FindStringSubmatch(line); head != nil {
		m.cpus = max(m.cpus, number(head[3]))
		m.Host.Kernel = head[1]
		return nil
	}
	at := sysstatTime.FindString(line)
	if at == "" {
		return nil
	}
	words := strings.Fields(line[len(at):])
	if len(words) == 0 {
		return nil
	}
	// A head has words that are no numbers, and "%idle" or "rxpck/s".
	if last := words[len(words)-1]; !decimal.MatchString(last) && !strings.HasPrefix(words[0], "all") &&
		len(words) > 1 && !decimal.MatchString(words[1]) {
		m.columnNames = words
		return nil
	}
	return words
}

// sysstatLine reports whether a line that is no row is one of sysstat's.
func (m *machine) sysstatLine(line string) bool {
	return sysstatHead.MatchString(line) || sysstatTime.MatchString(line) ||
		strings.Contains(line, "LINUX RESTART")
}

// loads parses a line of mpstat(1), of which the last interval or the average counts:
//
//	10:11:02       0    0.00    0.00    1.00    0.00    0.00   98.00    0.00    0.00    0.00    1.00
func (m *machine) loads(line string) bool {
	words := m.sysstatRow(line)
	if words == nil {
		return m.sysstatLine(line) && m.ignore()
	}
	if len(m.columnNames) == 0 || m.columnNames[0] != "CPU" || !slices.Contains(m.columnNames, "%soft") ||
		len(words) != len(m.columnNames) {
		return m.ignore() // another table: of nodes, interrupts or softirqs
	}
	value := func(names ...string) (sum float64) {
		for i, name := range m.columnNames {
			if slices.Contains(names, name) && decimal.MatchString(words[i]) {
				n, _ := strconv.ParseFloat(strings.Replace(words[i], ",", ".", 1), 64)
				sum += min(n, 100) / 100
			}
		}
		return sum
	}
	l := netstate.CPULoad{CPU: -1, User: value("%usr", "%user", "%nice", "%guest", "%gnice"), System: value("%sys"),
		IRQ: value("%irq"), SoftIRQ: value("%soft"), Steal: value("%steal"), Idle: value("%idle", "%iowait")}
	if words[0] != "all" {
		n, err := strconv.ParseUint(words[0], 10, 16)
		if err != nil {
			return false
		}
		l.CPU = int(n)
	}
	list := &m.State.CPULoad
	i, has := m.loadOf[l.CPU]
	if !has {
		if len(*list) >= mostInterfaces {
			return true
		}
		if m.loadOf == nil {
			m.loadOf = map[int]int{}
		}
		i = len(*list)
		m.loadOf[l.CPU] = i
		*list = append(*list, netstate.CPULoad{})
	}
	(*list)[i] = l
	return true
}

// loadIndex has the index of each CPU in CPULoad.
type loadIndex struct{ loadOf map[int]int }

// sarSockets maps the columns of sar -n SOCK to names of /proc/net/sockstat.
var sarSockets = map[string]string{"totsck": "sockets.used", "tcpsck": "TCP.inuse", "udpsck": "UDP.inuse",
	"rawsck": "RAW.inuse", "ip-frag": "FRAG.inuse", "tcp-tw": "TCP.tw"}

// sar parses a line of sar(1). Only sockets are used: the other tables have rates.
func (m *machine) sar(line string) bool {
	words := m.sysstatRow(line)
	if words == nil {
		return m.sysstatLine(line) && m.ignore()
	}
	if len(words) != len(m.columnNames) || m.columnNames[0] != "totsck" {
		return m.ignore()
	}
	if m.State.Sockstat == nil {
		m.State.Sockstat = map[string]int64{}
	}
	for i, name := range m.columnNames {
		if key := sarSockets[name]; key != "" {
			n, err := strconv.ParseInt(words[i], 10, 64)
			if err != nil {
				continue
			}
			m.State.Sockstat[key] = n
		}
	}
	return true
}
