package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// top(1) prints shares of the CPUs' time since its last output, and vmstat(8) a row for each interval.
var _ = register(&format{name: "top, vmstat", system: several, part: "cpu load", row: reads((*machine).cpuShare),
	sure: func(line string) bool { return topRow.MatchString(line) || vmstatHead.MatchString(line) },
	command: func(c command) bool {
		return c.is("top") || c.is("vmstat") && !slices.ContainsFunc(c[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") && strings.ContainsAny(w, "imszdDpf")
		})
	}})

var (
	// topRow matches a row of top: "%Cpu(s):  0.2 us, …", "%Cpu1  : …", "Cpu(s):  0.2%us, …" of old ones, and "CPU:
	// 0% usr   2% sys …" of busybox and FreeBSD.
	topRow     = pattern.MustCompile(`^(?:%?Cpu(\(s\)|\d{1,4})\s*|CPU)\s*: {1,3}\d{1,3}(?:[.,]\d{1,2})?[ %]+us`)
	topShare   = pattern.MustCompile(`(\d{1,3}(?:[.,]\d{1,2})?)[ %]+([a-z]{2,9})\b`)
	vmstatHead = pattern.MustCompile(`^\s*r\s+b\s+(?:\S+\s+)+us\s+sy\s+id\b`)
)

// cpuTimesContext has the columns of vmstat and the number of its rows so far.
type cpuTimesContext struct {
	vmstat     []string
	vmstatRows int
}

// cpuShare parses a line of top or vmstat.
func (m *machine) cpuShare(line string) bool {
	if vmstatHead.MatchString(line) {
		m.vmstat = strings.Fields(line)
		return m.ignore()
	}
	l := netstate.CPULoad{CPU: -1}
	add := func(name, share string) {
		n, _ := strconv.ParseFloat(strings.Replace(share, ",", ".", 1), 64)
		fields := map[string]*float64{"us": &l.User, "ni": &l.User, "sy": &l.System, "hi": &l.IRQ, "ir": &l.IRQ,
			"in": &l.IRQ, "si": &l.SoftIRQ, "st": &l.Steal, "id": &l.Idle, "wa": &l.Idle, "io": &l.Idle}
		if name == "sirq" {
			name = "si"
		}
		if field := fields[name[:min(2, len(name))]]; field != nil {
			*field += min(n, 100) / 100
		}
	}
	switch words := strings.Fields(line); {
	case topRow.MatchString(line):
		if n := topRow.FindStringSubmatch(line)[1]; n != "" && n != "(s)" {
			l.CPU = number(n)
			m.cpus = max(m.cpus, l.CPU+1)
		}
		for _, share := range topShare.Regexp().FindAllStringSubmatch(line, 12) {
			add(share[2], share[1])
		}
		m.vmstatRows = 0
	case len(words) > 0 && len(words) == len(m.vmstat) && !slices.ContainsFunc(words, func(w string) bool {
		return !decimal.MatchString(w)
	}):
		for i := slices.Index(m.vmstat, "us"); i < len(words); i++ {
			add(m.vmstat[i], words[i])
		}
		m.vmstatRows++
	default:
		return false
	}
	x := m.measurementOf(subject{part: "cpu"}, interval{})
	if x == nil || len(x.loads) >= mostInterfaces {
		return m.ignore()
	}
	at := slices.IndexFunc(x.loads, func(o netstate.CPULoad) bool { return o.CPU == l.CPU })
	switch {
	case at < 0:
		x.loads = append(x.loads, l)
	case m.vmstatRows <= 2 || l.Idle < x.loads[at].Idle: // the first row is since the boot
		x.loads[at] = l
	}
	return true
}
