package pasted

import (
	"slices"

	"linerate/internal/model/pattern"
)

// What these tools that measure rates print is known and ignored: it is the symptom, which no rule takes for a
// finding.
var _ = register(
	ignored("netperf", netperfSure, netperfRow, programs("netperf", "netserver")),
	ignored("dd", ddSure, nil, programs("dd")),
	ignored("curl", curlSure, curlRow, programs("curl", "wget")))

// ignored returns a format whose lines no rule uses. Sure matches those that no other tool prints, and
// others, unless it is nil, those that are known behind the command, in the file or behind such a line.
func ignored(name string, sure, others *pattern.Pattern, is func(command) bool, files ...string) *format {
	row := func(m *machine, line string) bool {
		if sure.MatchString(line) {
			return m.ignore()
		}
		return others != nil && (is(m.command) || m.last != nil && m.last.name == name || m.prints(name)) &&
			others.MatchString(line) && m.ignore()
	}
	return &format{name: name, system: several, sure: sure.MatchString, command: is, files: files, row: reads(row)}
}

// prints reports whether the section has a file of a format.
func (m *machine) prints(name string) bool {
	file := m.command.prints()
	return file != "" && slices.ContainsFunc(ofFile(file), func(f *format) bool { return f.name == name })
}

var (
	netperfSure = pattern.MustCompile(`^(?:MIGRATED )?[A-Z]{2,6}[A-Z_/ ]* TEST from \S+`)
	netperfRow  = pattern.MustCompile(`^(?:Recv +Send|Socket +(?:Size|Message)|Local +/?Remote|Size +Size|[Bb]ytes ` +
		`+[Bb]ytes|` +
		`Send +Recv|Throughput|[\w ]+,[\w ,]+$|[\d. ]+$)`)

	ddSure = pattern.MustCompile(`^dd: |^\d+\+\d+ records (?:in|out)$|^\d+ bytes .*(?:copied|transferred)`)

	curlSure = pattern.MustCompile(`^\s*% Total\s+% Received % Xferd`)
	curlRow  = pattern.MustCompile(`^(?:\s*% Total|\s+Dload  Upload|\s*\d{1,3} +[\d.]+[kMG]? +\d|` +
		`\s*(?:time|speed|size|http|response|url|content|remote|local|num|ssl)_\w+ ?[:=]|\s*-{5,}|[*<>{}] ?|curl: |` +
		`--\d{4}-\d\d-\d\d \d\d:\d\d:\d\d--|Resolving |Connecting to |HTTP request sent|Length: |Saving to: |\S+ ` +
		`+\d{1,3}%\[|` +
		`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(|HTTP/\d|[\w-]{1,40}: )`)
)
