package pasted

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
	"linerate/internal/model/settingfile"
)

var _ = register(
	&format{name: "sysctl", system: several,
		part: "parameters", row: reads((*machine).parameter), again: (*machine).otherValue,
		sure: linuxParameter, command: programs("sysctl"), files: []string{"sysctl_-a", "sysctl.out"}},
	&format{name: "/proc/sys", part: "parameters", row: reads((*machine).procParameter),
		sure:  procParameterRow.MatchString,
		files: []string{"sys/*/*", "sys/net/*/*", "sys/net/*/*/*", "sys/net/*/*/*/*"}},
	&format{name: "sysctl.conf", system: several, part: "parameter files", row: reads((*machine).parameterLine),
		sure: filedParameter.MatchString, comments: true,
		files: []string{"etc/sysctl.conf", "sysctl.d/*.conf", "etc/sysctl.d", "lib/sysctl.d", "run/sysctl.d"}},
	&format{name: "sysctl of BSD", system: systemOfParameter,
		row: reads((*machine).foreignParameter), sure: bsdParameter,
		command: programs("sysctl")})

var (
	sysctlRow = pattern.MustCompile(
		`^((?:net|kernel|vm|fs|dev|abi|user|debug|sunrpc|crypto|fscache)\.[\w./@:-]{1,200}) ?= ?(.*)$`)
	sysctlOther = pattern.MustCompile(`^sysctl: `) // permission denied on key …
	// applyingRow is printed by sysctl --system before the lines of a file.
	applyingRow = pattern.MustCompile(`^\* Applying (/\S{1,200}) \.\.\.$`)
	// procParameterRow is a file below /proc/sys with its value, as grep prints it.
	procParameterRow = pattern.MustCompile(`^/proc/sys/((?:net|kernel|vm|fs|dev|user)/[\w./@-]{1,200}):(.*)$`)
	procPath         = pattern.MustCompile(`^/proc/sys/([\w./@:-]{1,200})$`)
	// filedParameter is a line of a sysctl.d(5) file with the file's name, as grep prints it.
	filedParameter = pattern.MustCompile(`^/(?:etc|run|usr/lib|usr/local/lib)/sysctl[\w./-]{0,100}\.conf:`)
	// bsdRow is a parameter as FreeBSD and macOS print it, with a colon, or OpenBSD, with "=".
	bsdRow = pattern.MustCompile(`^((?:kern|vm|vfs|net|hw|dev|machdep|security|debug|user|compat|ddb|hint|kstat|` +
		`p1003_1b)` +
		`\.[\w.%-]{1,200})(: |:$|=)`)
	bsdNet = pattern.MustCompile(`^net\.(inet6?|link|isr|route|bpf|local|key|pf\w*|pipex|etherip|my|wlan|accf|graph|` +
		`necp|smb|cfil|utun|network|classq|qos|soflow|stats|aggregate\w*)\.`)
)

// parameters is what the lines of parameters of a section depend on.
type parameters struct {
	applying string // the file whose lines follow
	values   int    // values without a name so far
}

// bsdParameter reports whether a line has a parameter of a BSD system or of macOS.
func bsdParameter(line string) bool {
	row := bsdRow.FindStringSubmatch(line)
	if row == nil || row[2] != "=" {
		return row != nil
	}
	group, _, _ := strings.Cut(row[1], ".")
	return bsdNet.MatchString(row[1]) ||
		slices.Contains([]string{"kern", "vfs", "hw", "machdep", "security", "ddb", "hint"}, group)
}

// linuxParameter reports whether a line has a parameter of Linux.
func linuxParameter(line string) bool {
	return sysctlRow.MatchString(line) && !bsdParameter(line) || applyingRow.MatchString(line)
}

// parameter parses a line of sysctl(8).
func (m *machine) parameter(line string) bool {
	if file := applyingRow.FindStringSubmatch(line); file != nil {
		m.applying = plain.Short(file[1], 2*longestName)
		return m.ignore()
	}
	if m.command.is("sysctl") && (m.command.flag('n') || m.command.has("--values")) {
		return m.parameterValue(line)
	}
	row := sysctlRow.FindStringSubmatch(line)
	if row == nil || bsdParameter(line) {
		return sysctlOther.MatchString(line) && m.ignore()
	}
	if m.applying != "" && len(m.State.Files) < mostRows {
		m.State.Files = append(m.State.Files, netstate.ParameterLine{File: m.applying, Key: row[1],
			Value: plain.Short(strings.TrimSpace(row[2]), longestLine)})
	}
	return m.setParameter(row[1], row[2])
}

// setParameter stores a kernel parameter, if rules may use it.
func (m *machine) setParameter(key, value string) bool {
	if m.State.Parameters == nil {
		m.State.Parameters = map[string]string{}
	}
	if value = strings.TrimSpace(value); key == "fs.file-nr" {
		return m.openFiles(value)
	}
	if !strings.HasPrefix(key, "net.") {
		return m.ignore()
	}
	if len(m.State.Parameters) < mostRows {
		m.State.Parameters[key] = value
	}
	return true
}

// parameterValue parses a line of sysctl -n, which has the value of the next parameter of the command.
func (m *machine) parameterValue(line string) bool {
	keys := lists.Where(m.command[1:], func(w string) bool { return !strings.HasPrefix(w, "-") })
	if m.values >= len(keys) || m.filtered || !sysctlRow.MatchString(keys[m.values]+" =") {
		return false
	}
	key := keys[m.values]
	m.values++
	if bsdParameter(key + "=") {
		return m.ignore()
	}
	return m.setParameter(key, line)
}

// procParameter parses the value of a file below /proc/sys, whose name is in the command or, as grep
// prints it, before the value.
func (m *machine) procParameter(line string) bool {
	if row := procParameterRow.FindStringSubmatch(line); row != nil {
		return m.setParameter(parameterOf(row[1]), row[2])
	}
	if !strings.HasPrefix(m.command.prints(), "/proc/sys/") || !m.prints("/proc/sys") {
		return false
	}
	var names []string
	for _, w := range m.command {
		if path := procPath.FindStringSubmatch(w); path != nil {
			names = append(names, path[1])
		} else if strings.HasPrefix(w, "/") { // a pattern of the shell
			return m.ignore()
		}
	}
	if len(names) != 1 {
		return len(names) > 1 && m.ignore() // it is not known which file has which line
	}
	if m.values++; m.values > 1 {
		return false
	}
	return m.setParameter(parameterOf(names[0]), line)
}

// parameterOf returns the name of a parameter of a file below /proc/sys.
func parameterOf(path string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '/':
			return '.'
		case '.':
			return '/'
		}
		return r
	}, path)
}

// otherValue reports whether a line has a value of a parameter that differs from the machine's.
func (m *machine) otherValue(line string, gap bool) bool {
	row := sysctlRow.FindStringSubmatch(line)
	if !gap || row == nil {
		return false
	}
	value, has := m.State.Parameters[row[1]]
	return has && value != strings.TrimSpace(row[2])
}

// parameterLine parses a line of a sysctl.d(5) file.
func (m *machine) parameterLine(line string) bool {
	text := strings.TrimSpace(line)
	file := plain.Short(m.command.prints(), 2*longestName)
	found := filedParameter.MatchString(text) // by grep
	if found {
		name, rest, _ := strings.Cut(text, ":")
		file, text = plain.Short(name, 2*longestName), strings.TrimSpace(rest)
	}
	if !found && !(strings.Contains(file, "sysctl") && m.prints("sysctl.conf")) {
		return false
	}
	if text == "" || text[0] == '#' || text[0] == ';' {
		return m.ignore()
	}
	if bsdParameter(text) {
		return m.ignore()
	}
	lines := settingfile.Read(file, []byte(text), opsystem.Linux).Lines
	if len(lines) != 1 || !strings.Contains(lines[0].Key, ".") || lines[0].IsPattern() {
		return strings.HasPrefix(text, "-") && m.ignore()
	}
	l := netstate.ParameterLine{File: file, Key: plain.Short(lines[0].Key, 4*longestName), Value: lines[0].Value}
	if !m.filtered && !found {
		l.Line = m.number - m.began
	}
	if len(m.State.Files) < mostRows {
		m.State.Files = append(m.State.Files, l)
	}
	return true
}

// openFiles parses the value of fs.file-nr: open descriptors, unused ones, and the limit.
func (m *machine) openFiles(value string) bool {
	words := strings.Fields(value)
	if len(words) != 3 {
		return m.ignore()
	}
	open, err := strconv.ParseInt(words[0], 10, 64)
	most, mostErr := strconv.ParseInt(words[2], 10, 64)
	if err != nil || mostErr != nil || open < 0 || most <= 0 {
		return m.ignore()
	}
	m.State.OpenFiles, m.State.MostFiles = open, most
	return true
}

// finishParameters adds what parameters say of tables.
func (m *machine) finishParameters() {
	const prefix = "net.netfilter.nf_conntrack_"
	number := func(key string) int64 {
		n, err := strconv.ParseInt(m.State.Parameters[prefix+key], 10, 64)
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	count, most := number("count"), number("max")
	if m.State.Conntrack != nil { // of conntrack -C
		count = m.State.Conntrack.Count
	}
	if m.State.Conntrack = nil; count > 0 && most > 0 {
		m.State.Conntrack = &netstate.Conntrack{Count: count, Most: most, Buckets: number("buckets")}
	}
	slices.SortStableFunc(m.State.Files, func(a, b netstate.ParameterLine) int { // as sysctl --system applies them
		last := func(l netstate.ParameterLine) int { return map[bool]int{true: 1}[l.File == "/etc/sysctl.conf"] }
		return cmp.Or(last(a)-last(b), strings.Compare(path.Base(a.File), path.Base(b.File)))
	})
	m.addPart("conntrack", m.State.Conntrack != nil)
	m.addPart("open files", m.State.MostFiles > 0)
}

// addPart adds a part of the snapshot that lines of several formats make, if it is there.
func (m *machine) addPart(part string, there bool) {
	if there && !slices.Contains(m.Pasted, part) {
		m.Pasted = append(m.Pasted, part)
	}
}
