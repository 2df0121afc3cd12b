package pasted

import (
	"encoding/json"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
)

// What tools that measure rates print is known and ignored: it is the symptom, which no rule takes for a
// finding.
var _ = register(
	ignored("iperf", iperfSure, iperfRow, func(c command) bool { return measures(c) && !jsonOf(c) }),
	&format{name: "iperf3 -J", system: several, whole: ignoreRates, sure: beginsJSON,
		command: func(c command) bool { return measures(c) && jsonOf(c) }},
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

func measures(c command) bool { return c.is("iperf") || c.is("iperf3") || c.is("iperf2") }

// jsonOf reports whether iperf3(1) is to print JSON.
func jsonOf(c command) bool { return c.flag('J') || c.has("--json", "--json-stream") }

// beginsJSON reports whether a line is the first of JSON on several lines. What it is is then known at its
// end.
func beginsJSON(line string) bool { return line == "{" }

// ignoreRates ignores what iperf3(1) prints as JSON.
func ignoreRates(_ *machine, s *section) {
	var one struct{ Start, Event json.RawMessage }
	if json.NewDecoder(strings.NewReader(s.text())).Decode(&one) == nil && len(one.Start)+len(one.Event) > 0 {
		s.all(idle)
	}
}

var (
	// iperfPrefix is what iperf3 -T and --timestamps put before a line.
	iperfPrefix = `^(?:[\w.-]{1,20}:  |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d |[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ ` +
		`\d\d:\d\d:\d\d \d{4} )?`
	iperfSure = pattern.MustCompile(iperfPrefix + `(?:Connecting to host \S+, port \d+$|` +
		`\[ *(?:\*?\d{1,5}|SUM)\](?:\[[TR]X-[CS]\])? +(?:local \S+ port \d+ connected (?:to|with) \S+ port \d+|` +
		`\d+\.\d+ *- *\d+\.\d+ +sec +[\d.]+ +[KMGT]?(?:i?Bytes|Byte))|\[ *ID\](?:\[Role\])? +Interval|` +
		`Accepted connection from \S+, port \d+$|iperf Done\.$|` +
		`(?:Client connecting to \S+|Server listening on) (?:TCP|UDP|\d+).*)`)
	iperfRow = pattern.MustCompile(iperfPrefix + `(?:(?:- ){5,}-? ?$|-{20,}$|Test Complete\. Summary Results:|` +
		`iperf \d|iperf version|Linux \S+ \S+ #|Control connection MSS|Time: |\s+Cookie: |\s+TCP MSS: |\s+Target ` +
		`Bitrate|` +
		`Starting Test: |CPU Utilization: |(?:snd|rcv)_tcp_congestion |Cookie: |Reverse mode, |Server output:|` +
		`TCP window size|UDP buffer size|Sending \d+ byte datagrams|Binding to |Server listening on|Client ` +
		`connecting ` +
		`to|` +
		`\[ *(?:\*?\d{1,5}|SUM)\](?:\[[TR]X-[CS]\])? |\[ *ID\]|WARNING: |warning: |MSS size|Window |` +
		`iperf3?: |bind failed|connect failed|Write buffer size|Read buffer size|Enhanced (?:latency|Interval)|TOS )`)

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
