package pasted

import (
	"strings"

	"linerate/internal/model/pattern"
)

// sar(1) and mpstat(1) have the same head, times and columns.
var _ = register(&format{name: "sysstat", row: reads((*machine).sysstatLine), command: programs("sar", "mpstat"),
	files: []string{"sa/sar[0-3][0-9]", "sysstat/sar[0-3][0-9]", "sar/sar[0-3][0-9]"}, host: sysstatHost,
	sure: func(line string) bool { return sysstatHead.MatchString(line) || sarHead.MatchString(line) }})

var (
	// sysstatHead matches the first line: "Linux 4.11.11-coreos (node)  08/07/17  _x86_64_  (8 CPU)".
	sysstatHead = pattern.MustCompile(`^Linux (\S{1,64}) \(([\w.-]{1,64})\)\s+(\S{1,12})\s+_\w+_\s+\((\d{1,5}) CPU\)$`)
	// sarHead matches the heads of tables that no other program prints.
	sarHead = pattern.MustCompile(`^(?:\d\d:\d\d:\d\d(?: [AP]M)?|[A-ZÀ-Ýa-zà-ý]{3,10}\.? ?:)\s+(?:` +
		`CPU\s+%us\w+\s+%nice\s|CPU\s+total/s\s|IFACE\s+rx|active/s\s|atmptf/s\s|i\w+6?/s\s|totsck\s)`)
	// sysstatTime matches what begins the rows: a time, or the word for the average.
	sysstatTime = pattern.MustCompile(
		`^(?:(\d\d:\d\d:\d\d(?: [AP]M)?)|(?:Average|Durchschn\.?|Moyenne|Media|Média|Summary) ?:)\s+`)
	decimal = pattern.MustCompile(`^\d{1,15}(?:[.,]\d{1,4})?$`)
)

// sysstatContext is what a row depends on: the day and the columns of its table, and the time at which
// its interval began. Empty: unknown.
type sysstatContext struct {
	columnNames       []string
	day, since, until string
}

// sysstatHost returns the host that the first line names.
func sysstatHost(_ command, line string) string {
	if head := sysstatHead.FindStringSubmatch(line); head != nil {
		return head[2]
	}
	return ""
}

// sysstatLine parses a line of sar(1) or mpstat(1): the first line, the head of a table, or a row.
//
//	Linux 4.18.0 (web1)   11/29/2026      _x86_64_        (4 CPU)
//	12:00:01 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
//	12:10:01 AM      eth0   1000.00    500.00   1500.00     40.00      0.00      0.00      0.00      1.23
func (m *machine) sysstatLine(line string) bool {
	if head := sysstatHead.FindStringSubmatch(line); head != nil {
		m.cpus = max(m.cpus, number(head[4]))
		m.Host.Kernel, m.day, m.columnNames = head[1], head[3], nil
		return m.ignore()
	}
	time := sysstatTime.FindStringSubmatch(line)
	if time == nil {
		return false
	}
	at, words := time[1], strings.Fields(line[len(time[0]):])
	switch {
	case strings.Contains(line, "LINUX RESTART"):
		m.columnNames = nil
		return m.ignore()
	case len(words) > 1 && !decimal.MatchString(words[1]): // a head has no number, such as "CPU %usr"
		m.columnNames, m.since, m.until = words, at, at
		return m.ignore()
	case len(words) == 0 || len(words) != len(m.columnNames):
		return m.ignore()
	}
	if at != m.until {
		m.since, m.until = m.until, at
	}
	return m.measure(interval{m.day, m.since, at}, words) || m.ignore()
}
