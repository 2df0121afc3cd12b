package pasted

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// Times of day in lines of syslog and journalctl(1): RFC 3164, RFC 5424, and those of -o short-full,
// -o short-unix.
const (
	stamp3164 = `[A-Z][a-z]{2} [ \d]\d(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d{1,9})?`
	stamp5424 = `\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`
	stampFull = `[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? [A-Z0-9+-]{1,5}`
	stampUnix = `\d{9,11}\.\d{6}`
)

var (
	syslog5424 = pattern.MustCompile(`^<(\d{1,3})>1 (?:-|` + stamp5424 + `) (\S{1,64}) ([\w./@-]{1,48}) \S{1,128} ` +
		`\S{1,32} (?:-|\[.*?\]) ?(.*)$`)
	logreadRow = pattern.MustCompile(
		`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} (\w{3,8})\.(\w{3,7}) ` +
			`([\w./@()-]{1,60})(?:\[\d{1,8}\])?:(?: (.*))?$`)
	repeatedRow = pattern.MustCompile(`^` + stamp3164 + ` (\S{1,64} )?(?:last )?message repeated \d+ times`)
	// fromFile is the name of the file before a line that grep found in one of several.
	fromFile = pattern.MustCompile(`^/[\w./+-]{1,100}[:-]`)
	// bootStamp is the time since boot that the kernel put before its message.
	bootStamp = pattern.MustCompile(`^\[ *(\d{1,10}\.\d{1,9})\](?:\[ *[TC]\d{1,9}\])? ?(.*)$`)
	// journalNote matches what journalctl(1) prints between lines, and the rows after the first of a
	// message with several.
	journalNote = pattern.MustCompile(
		`^(-- (Logs begin|Journal begins|Boot [0-9a-f]{32}|Reboot|No entries|Subject:|Defined-By|Support|cursor:)|` +
			`Hint: |` +
			`\s+Users in (the )?groups|\s+(Pass -q|turn off)|lines \d+-\d+| {12,}\S)`)
)

var _ = register(&format{name: "journalctl -o json", part: kernelLog, whole: (*machine).journalText,
	sure: beginsJSON,
	host: func(_ command, line string) string {
		name := prettyHost.FindStringSubmatch(line)
		return strings.Join(name[min(1, len(name)):], "")
	},
	command: func(c command) bool {
		return c.is("journalctl") && c.hasOption("o", "output", "json-pretty") ||
			c.is("dmesg") && (c.flag('J') || c.has("--json"))
	}})

// prettyHost matches the line with the machine's name of journalctl -o json-pretty.
var prettyHost = pattern.MustCompile(`^\s*"_HOSTNAME" ?: ?"([\w.-]{1,64})",?$`)

// journalText parses the output of journalctl -o json-pretty, or of dmesg -J.
func (m *machine) journalText(s *section) {
	decoder := json.NewDecoder(strings.NewReader(s.text()))
	seen, known := m.seen, false
	for {
		var e struct {
			journalEntry
			Lines []struct {
				Priority int     `json:"pri"`
				Time     float64 `json:"time"`
				Text     string  `json:"msg"`
			} `json:"dmesg"`
		}
		if decoder.Decode(&e) != nil {
			break
		}
		known = known || len(e.Lines) > 0 || len(e.Message) > 0
		for _, l := range e.Lines {
			if l.Priority >= 0 && l.Priority < len(logLevels) && !programLog.MatchString(l.Text) {
				at := int64(max(min(l.Time, 1e9), 0) * 1e9)
				m.log(netstate.LogLine{AtNs: at, Level: l.Priority, Text: l.Text}, false)
			}
		}
		if len(e.Message) > 0 {
			m.journalled(e.journalEntry)
		}
	}
	switch {
	case m.seen > seen:
		s.all(used)
	case known:
		s.all(idle)
	}
}

// syslogEntry is a line of syslog in its parts. Empty ones are not in the line.
type syslogEntry struct{ priority, host, facility, level, program, text string }

// syslogOf returns the parts of a line of syslog, of journalctl(1) or of logread. False: it is none.
func syslogOf(line string) (e syslogEntry, is bool) {
	if strings.HasPrefix(line, "/") {
		line = strings.TrimPrefix(line, fromFile.Regexp().FindString(line))
	}
	if e, is := syslogRowOf(line); is {
		return e, true
	}
	if row := logreadRow.FindStringSubmatch(line); row != nil {
		e = syslogEntry{facility: row[1], level: row[2], program: row[3], text: row[4]}
	} else if row := syslog5424.FindStringSubmatch(line); row != nil {
		e = syslogEntry{priority: row[1], host: row[2], program: row[3], text: row[4]}
	} else {
		return e, false
	}
	return e, true
}

// syslogHost returns the machine that a line of syslog names.
func syslogHost(_ command, line string) string {
	if strings.HasPrefix(line, "{") {
		e, _ := journalOf(line)
		return e.Host
	}
	e, _ := syslogOf(line)
	return e.host
}

// syslog parses a line of syslog, of journalctl(1) or of logread. Those of programs are ignored.
func (m *machine) syslog(line string) bool {
	if strings.HasPrefix(line, "{") {
		return m.journal(line)
	}
	e, is := syslogOf(line)
	switch {
	case !is && (m.command.is("journalctl") || m.behindPart(kernelLog) && m.last.name == "syslog") &&
		journalNote.MatchString(line), repeatedRow.MatchString(line):
		return m.ignore()
	case !is:
		return false
	}
	level, kernel := levelOf(e.priority, e.level)
	if e.program != "kernel" || e.facility != "" && e.facility != "kern" || !kernel {
		return m.ignore()
	}
	entry := netstate.LogLine{Level: level, Text: e.text}
	if stamped := bootStamp.FindStringSubmatch(e.text); stamped != nil {
		entry.AtNs, entry.Text = sinceBoot(stamped[1]), stamped[2]
	}
	return m.log(entry, false)
}

// journalEntry is an entry of the journal as journalctl -o json prints it. Message is a string, or the
// bytes of one that is not UTF-8.
type journalEntry struct {
	Host      string          `json:"_HOSTNAME"`
	Transport string          `json:"_TRANSPORT"`
	Program   string          `json:"SYSLOG_IDENTIFIER"`
	Priority  string          `json:"PRIORITY"`
	Message   json.RawMessage `json:"MESSAGE"`
	Device    string          `json:"_KERNEL_DEVICE"`
	SinceBoot string          `json:"_SOURCE_MONOTONIC_TIMESTAMP"` // in microseconds
	Written   string          `json:"__MONOTONIC_TIMESTAMP"`
	Cursor    string          `json:"__CURSOR"`
	RealTime  string          `json:"__REALTIME_TIMESTAMP"`
}

// journalOf parses an entry of journalctl -o json. False: it is none.
func journalOf(text string) (e journalEntry, is bool) {
	err := json.Unmarshal([]byte(text), &e)
	return e, err == nil && (e.Cursor != "" || e.RealTime != "" || e.Transport != "") && len(e.Message) > 0
}

// journal parses a line of journalctl -o json.
func (m *machine) journal(line string) bool {
	e, is := journalOf(line)
	return is && m.journalled(e)
}

func (m *machine) journalled(e journalEntry) bool {
	if cmp.Or(e.Transport, e.Program) != "kernel" {
		return m.ignore()
	}
	entry := netstate.LogLine{Level: usualLevel}
	var octets []int
	if json.Unmarshal(e.Message, &entry.Text) != nil && json.Unmarshal(e.Message, &octets) == nil {
		text := make([]byte, len(octets))
		for i, n := range octets {
			text[i] = byte(n)
		}
		entry.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	if n, err := strconv.Atoi(e.Priority); err == nil && n >= 0 && n < len(logLevels) {
		entry.Level = n
	}
	if us, err := strconv.ParseInt(cmp.Or(e.SinceBoot, e.Written), 10, 64); err == nil && us >= 0 && us < 1e15 {
		entry.AtNs = us * 1000
	}
	return m.log(entry, strings.HasPrefix(e.Device, "n"))
}
