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

// The kernel's log is in several forms, of which the lines of the kernel about the network are kept:
//
//	[   12.345678] igc 0000:03:00.0 eth0: NIC Link is Down                     dmesg, also with -x, -r, -T, -e, -d
//	2026-11-29T10:00:00,123456+00:00 igc 0000:03:00.0 eth0: NIC Link is Down   dmesg --time-format iso
//	Nov 29 10:00:00 nas kernel: igc 0000:03:00.0 eth0: NIC Link is Down        journalctl, syslog
//	Nov 29 10:00:00 nas kern.info kernel: [   12.345678] igc …                 busybox syslogd
//	Sun Nov 29 10:00:00 2026 kern.info kernel: [   12.345678] igc …            logread of OpenWrt
//	{"_TRANSPORT":"kernel","PRIORITY":"6","MESSAGE":"igc …", …}                journalctl -o json

var _ = register(
	&format{name: "dmesg", system: several,
		part: kernelLog, bounded: true, row: reads((*machine).logged), sure: logRow.MatchString,
		host: func(_ command, line string) string {
			parts := monotonicRow.FindStringSubmatch(line)
			return strings.Join(parts[min(1, len(parts)):], "")
		},
		command: programs("dmesg", "journalctl", "logread"), files: []string{"dmesg", "dmesg_*", "log/dmesg.*"}},
	&format{name: "syslog", system: several,
		part: kernelLog, bounded: true, row: reads((*machine).syslog), host: syslogHost,
		sure: func(line string) bool {
			entry, is := syslogOf(line)
			return is && entry.program == "kernel"
		},
		command: programs("journalctl", "logread", "dmesg"), files: []string{"log/messages*", "log/syslog*", "log/kern*",
			"log/system.log", "log/daemon.log", "journalctl_*", "logs/journalctl*"}})

const kernelLog = "kernel log"

// logs has the lines of the log while the text is parsed.
type logs struct {
	// lines are those about the network of each message and subject, at most mostLogLines of each.
	lines map[logKey][]numbered
	seen  int
	more  int // lines that are not in lines
}

// stamping is what the lines of a section of the log have shown.
type stamping struct {
	stamped bool // those of dmesg(1) have time stamps
}

type logKey struct{ code, subject string }

// numbered is a line with its place in the order of time.
type numbered struct {
	n int
	netstate.LogLine
}

// mostLogLines and mostLogKeys limit the lines that are kept while the text is parsed.
const mostLogLines, mostLogKeys = 10, 1000

// decoded is what precedes the time stamp: the priority (-r), or facility and level (-x).
const decoded = `(?:<(\d{1,3})>|(kern|user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|local\d) *: *` +
	`(emerg|alert|crit|err|warn|notice|info|debug) *: ?)?`

// logRow matches a line of dmesg(1) with facility and level (-x) or priority (-r), and with the time
// since boot, the time of day (-T, -e, --time-format iso) or the thread (CONFIG_PRINTK_CALLER).
var logRow = pattern.MustCompile(`^ ?` + decoded +
	`(?:\[ *(\d{1,10}\.\d{1,9})(?: *<[ \d.]{1,20}>)?\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d ` +
	`\d{4}(?: ` +
	`*<[ \d.]{1,20}>)?\]|` +
	`\[[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d\]|\[ *\+\d{1,6}\.\d{1,9}\]|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:\d\d)` +
	`(?: ?\[ *[TC]\d{1,9}\])?(?: (.*))?$`)

// bareRow matches a line of dmesg without time stamps: with facility and level or priority, or alone.
var bareRow = pattern.MustCompile(`^` + decoded + `(.*)$`)

var (
	logLevels = []string{"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"}
	// otherNames are names that syslogd gives to some levels.
	otherNames = map[string]string{"error": "err", "warning": "warn", "panic": "emerg"}
)

// usualLevel is the level of messages that specify none (CONFIG_MESSAGE_LOGLEVEL_DEFAULT).
const usualLevel = 4

// program matches the beginning of a message that a program has written to the kernel's log.
var programLog = pattern.MustCompile(`^[\w./@-]{1,40}\[\d{1,8}\]: `)

// logged parses a line of dmesg(1), also without time stamps where the first line has none.
func (m *machine) logged(line string) bool {
	row := logRow.FindStringSubmatch(line)
	if row == nil {
		return m.loggedBare(line)
	}
	m.stamped = true
	text, program := row[5], ""
	if m.command.is("journalctl") || monotonicRow.MatchString(line) {
		if entry := hostAndProgram.FindStringSubmatch(text); entry != nil {
			program, text = entry[2], entry[3]
		}
	}
	if programLog.MatchString(text) || row[2] != "" && row[2] != "kern" || program != "" && program != "kernel" {
		return m.ignore()
	}
	level, kernel := levelOf(row[1], row[3])
	if !kernel {
		return m.ignore()
	}
	return m.log(netstate.LogLine{AtNs: sinceBoot(row[4]), Level: level, Text: text}, false)
}

// monotonicRow matches a line of the kernel of journalctl -o short-monotonic, which names the machine.
var monotonicRow = pattern.MustCompile(`^\[ *\d{1,10}\.\d{1,9}(?: *<[ \d.]{1,20}>)?\] ([\w.-]{1,64}) kernel: `)

var hostAndProgram = pattern.MustCompile(`^([\w.-]{1,64}) ([\w./@()-]{1,60})(?:\[\d{1,8}\])?: ?(.*)$`)

// loggedBare parses a line of the output of dmesg(1) without time stamps, such as that of FreeBSD.
func (m *machine) loggedBare(line string) bool {
	bare := m.command.is("dmesg") || m.command.is("journalctl") && m.command.hasOption("o", "output", "cat")
	if !bare || m.stamped || claimed(line, "dmesg") && netstate.MessageOf(line) == nil {
		return false
	}
	row := bareRow.FindStringSubmatch(line)
	level, kernel := levelOf(row[1], row[3])
	if !kernel || row[2] != "" && row[2] != "kern" || programLog.MatchString(row[4]) {
		return m.ignore()
	}
	return m.log(netstate.LogLine{Level: level, Text: row[4]}, false)
}

// hasOption reports whether a command has a value for an option: "-o cat", "-ocat", "--output=cat".
func (c command) hasOption(short, long, value string) bool {
	return c.after("-"+short) == value || c.after("--"+long) == value || c.has("-"+short+value, "--"+long+"="+value)
}

// claimed reports whether another format than the named one is sure that the line is its own.
func claimed(line, name string) bool {
	return slices.ContainsFunc(formats, func(f *format) bool {
		if f.name == name || !f.tells(line) || f.row == nil {
			return false
		}
		m := &machine{context: context{at: -1}, has: map[*format]bool{}}
		return f.header != nil && f.header(m, line) || f.row(m, line) != unread
	})
}

// levelOf returns the level of a message by its priority or the name of the level, one of which may be
// empty. Kernel is false if the priority has the facility of a program.
func levelOf(priority, name string) (level int, kernel bool) {
	const levels = 8
	if n, err := strconv.Atoi(priority); err == nil {
		return n % levels, n < levels
	}
	if i := slices.Index(logLevels, cmp.Or(otherNames[name], name)); i >= 0 {
		return i, true
	}
	return usualLevel, true
}

// sinceBoot converts seconds since the boot to nanoseconds. 0: it is no number.
func sinceBoot(text string) int64 {
	if s, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && s < 1e9 {
		return int64(s * 1e9)
	}
	return 0
}

// log keeps a line of the kernel if it concerns the network. Network says that it is known to.
func (m *machine) log(line netstate.LogLine, network bool) bool {
	if m.State.Log == nil {
		m.State.Log, m.used = &netstate.KernelLog{}, true
	}
	if !netstate.AboutNetwork(line.Text) && !network {
		return m.ignore()
	}
	key := logKey{}
	if of := netstate.MessageOf(line.Text); of != nil {
		key = logKey{of.Code, plain.Short(of.Subject(line.Text), longestName)}
	}
	if line.Text = plain.Short(line.Text, longestLog); m.lines == nil {
		m.lines = map[logKey][]numbered{}
	}
	m.seen++
	n := m.seen
	if m.command.is("journalctl") && (m.command.flag('r') || m.command.has("--reverse")) {
		n = -n
	}
	list := m.lines[key]
	switch {
	case line.AtNs != 0 && slices.ContainsFunc(list, func(l numbered) bool { return l.LogLine == line }):
		return true // the same log in another form
	case len(list) == 0 && len(m.lines) >= mostLogKeys:
		m.more++
		return true
	case len(list) == mostLogLines:
		m.more++
		if n < 0 {
			return true
		}
		list = list[1:]
	}
	m.lines[key] = append(list, numbered{n, line})
	return true
}

// longestLog limits a line of the log, in characters.
const longestLog = 300

// finishLog stores the lines in the order of time. If there are too many, those are left out first that
// repeat others, and that mean no fault.
func (m *machine) finishLog() {
	if m.State.Log == nil {
		return
	}
	var faults, others []numbered
	for key, list := range m.lines {
		keep := 0
		if of := netstate.MessageWith(key.code); of != nil && of.Sure != "" {
			keep = max(of.Least, 1)
		}
		keep = max(len(list)-keep, 0)
		faults, others = append(faults, list[keep:]...), append(others, list[:keep]...)
	}
	inTime := func(a, b numbered) int { return a.n - b.n }
	slices.SortFunc(faults, inTime)
	slices.SortFunc(others, inTime)
	m.more += max(len(faults)+len(others)-netstate.MostLogLines, 0)
	faults = faults[max(len(faults)-netstate.MostLogLines, 0):]
	list := append(others[max(len(others)-(netstate.MostLogLines-len(faults)), 0):], faults...)
	slices.SortFunc(list, inTime)
	for _, l := range list {
		m.State.Log.Lines = append(m.State.Log.Lines, l.LogLine)
	}
	m.State.Log.More = m.more
}
