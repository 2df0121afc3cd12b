package pasted

import (
	"strings"

	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "lscpu", row: reads((*machine).lscpu), command: programs("lscpu"), sure: lscpuKey.MatchString},
	&format{name: "nproc", system: several, row: reads((*machine).nproc), command: programs("nproc"), shapeless: true},
	&format{name: "/proc/cpuinfo", row: reads((*machine).cpuinfo), files: []string{"proc/cpuinfo"}, shapeless: true},
	&format{name: "cpupower", part: "frequency governors", row: reads((*machine).governor),
		sure: policyRow.MatchString, command: func(c command) bool {
			return c.is("cpupower") && c.has("frequency-info") || c.is("cpufreq-info")
		}},
	&format{name: "scaling_governor", part: "frequency governors", row: reads((*machine).scalingGovernor),
		files: []string{"cpufreq/scaling_governor"}, sure: governorFile.MatchString})

var (
	lscpuKey = pattern.MustCompile(`^(?:CPU\(s\)|On-line CPU\(s\) list|NUMA node\(s\)|NUMA node\d+ CPU\(s\)|` +
		`Thread\(s\) per core|Core\(s\) per socket|CPU op-mode\(s\)):\s+\S`)
	lscpuRow   = pattern.MustCompile(`^\s*([A-Za-z][A-Za-z0-9 ()/.,_-]{0,50}):(?:\s+(.*))?$`)
	lscpuTable = pattern.MustCompile(
		`^(?:CPU\s+(?:NODE|SOCKET|CORE|MAXMHZ|ONLINE).*|\s*\d{1,5}(?:\s+\S+){3,}|#.*|[\d,]+)$`)
	cpuinfoRow   = pattern.MustCompile(`^[A-Za-z0-9_ .()/-]{1,40}\s*:(?: .*)?$`)
	policyRow    = pattern.MustCompile(`^\s+The governor "([a-z_]{1,20})" may decide which speed to use`)
	analyzed     = pattern.MustCompile(`^analyzing CPU (\d{1,5}):?`)
	cpupowerRow  = pattern.MustCompile(`^(?:cpufrequtils .*|Report errors .*|  +\S.*|Not Available|CPU \d{1,5}: .*)$`)
	governorName = pattern.MustCompile(
		`^(?:performance|powersave|ondemand|conservative|schedutil|userspace|interactive)$`)
	governorFile = pattern.MustCompile(
		`^/sys/devices/system/cpu/(?:cpufreq/policy|cpu)(\d{1,5})/(?:cpufreq/)?scaling_governor:(\w+)$`)
)

// governors has the governor of each CPU.
type governors struct{ governorOf map[int]string }

// lscpu parses a line of lscpu(1), of which the number of CPUs is used. "CPU(s)" includes those that
// are offline; the list of those that are online follows.
func (m *machine) lscpu(line string) bool {
	if !m.command.is("lscpu") && !m.lscpuBegan && !lscpuKey.MatchString(line) &&
		!strings.HasPrefix(strings.TrimLeft(line, " \t"), "Architecture:") {
		return false
	}
	row := lscpuRow.FindStringSubmatch(line)
	if row == nil {
		return m.command.is("lscpu") && lscpuTable.MatchString(line) && m.ignore()
	}
	m.lscpuBegan = true
	switch row[1] {
	case "CPU(s)":
		m.cpus = number(row[2])
	case "On-line CPU(s) list":
		if n := countList(row[2]); n > 0 {
			m.cpus = n
		}
	default:
		return m.ignore()
	}
	return true
}

// countList returns the number of CPUs of a list such as 0-3,8. 0: it is none.
func countList(text string) (n int) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, is := strings.Cut(strings.TrimSpace(part), "-")
		if !is {
			last = first
		}
		if !isNumber(first) || !isNumber(last) || number(last) < number(first) || n > 1<<16 {
			return 0
		}
		n += number(last) - number(first) + 1
	}
	return n
}

// nproc parses what nproc(1) prints.
func (m *machine) nproc(line string) bool {
	n := number(strings.TrimSpace(line))
	if n <= 0 {
		return false
	}
	m.cpus = max(m.cpus, n)
	return true
}

// cpuinfo parses a line of /proc/cpuinfo, of which the number of CPUs is used.
func (m *machine) cpuinfo(line string) bool {
	if !cpuinfoRow.MatchString(line) {
		return false
	}
	name, value, _ := strings.Cut(line, ":")
	if strings.TrimSpace(name) == "processor" && isNumber(strings.TrimSpace(value)) && !m.filtered {
		m.cpus = max(m.cpus, number(strings.TrimSpace(value))+1)
		return true
	}
	return m.ignore()
}

// setGovernor stores the governor of a CPU. Negative: the CPU is unknown.
func (m *machine) setGovernor(cpu int, name string) bool {
	if m.governorOf == nil {
		m.governorOf = map[int]string{}
	}
	if cpu < 0 {
		cpu = len(m.governorOf)
	}
	if len(m.governorOf) < mostRows && governorName.MatchString(name) {
		m.governorOf[cpu] = name
	}
	return true
}

// finishCPUs counts the governors.
func (m *machine) finishCPUs() {
	for _, name := range m.governorOf {
		if m.State.Governors == nil {
			m.State.Governors = map[string]int{}
		}
		m.State.Governors[name]++
	}
}

// cpuState is what rows about CPUs depend on: the columns of a table, the CPU that cpupower analyzes,
// and whether lscpu began.
type cpuState struct {
	columnCPUs  cpuColumns
	analyzedCPU int
	lscpuBegan  bool
}

// governor parses a line of cpupower frequency-info:
//
//	The governor "powersave" may decide which speed to use
func (m *machine) governor(line string) bool {
	if cpu := analyzed.FindStringSubmatch(line); cpu != nil {
		m.analyzedCPU = number(cpu[1])
		return m.ignore()
	}
	if p := policyRow.FindStringSubmatch(line); p != nil {
		return m.setGovernor(m.analyzedCPU, p[1])
	}
	return (m.command.is("cpupower") || m.command.is("cpufreq-info")) && cpupowerRow.MatchString(line) && m.ignore()
}

// scalingGovernor parses the text of /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor, as cat or
// grep prints it.
func (m *machine) scalingGovernor(line string) bool {
	if g := governorFile.FindStringSubmatch(line); g != nil {
		return m.setGovernor(number(g[1]), g[2])
	}
	file := m.command.prints()
	if !strings.HasSuffix(file, "scaling_governor") || !governorName.MatchString(line) {
		return false
	}
	if g := governorFile.FindStringSubmatch(file + ":" + line); g != nil {
		return m.setGovernor(number(g[1]), line)
	}
	return m.setGovernor(-1, line) // of cpu*
}
