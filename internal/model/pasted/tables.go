package pasted

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// mac parses a MAC address in any notation: 00:08:9b:c8:c4:31, 0:8:9b:c8:c4:31, 00-08-9b-c8-c4-31,
// 0008.9bc8.c431, 00089b-c8c431, 00089bc8c431.
func mac(word string) (string, bool) {
	if len(word) < shortestMAC || len(word) > longestMAC {
		return "", false
	}
	digits := word
	if strings.Count(word, ":") == 5 || strings.Count(word, "-") == 5 {
		digits = ""
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == ':' || r == '-' }) {
			if len(part) > 2 {
				return "", false
			}
			digits += "00"[len(part):] + part
		}
	} else if !grouped.MatchString(word) {
		return "", false
	} else {
		digits = strings.ReplaceAll(strings.ReplaceAll(word, ".", ""), "-", "")
	}
	if len(digits) != 12 {
		return "", false
	}
	var pairs []string
	for i := 0; i < 12; i += 2 {
		pairs = append(pairs, digits[i:i+2])
	}
	address, err := net.ParseMAC(strings.Join(pairs, ":"))
	return address.String(), err == nil
}

var grouped = pattern.MustCompile(
	`^(?i)([0-9a-f]{4}[.-][0-9a-f]{4}[.-][0-9a-f]{4}|[0-9a-f]{6}-[0-9a-f]{6}|[0-9a-f]{12})$`)

var _ = register(&format{name: "arp", system: several,
	part: "neighbours", header: arpHeader, row: reads((*machine).neighbour),
	again: behindGap, files: []string{"net/arp"}, sure: func(string) bool { return true },
	command: func(c command) bool {
		return c.is("arp") || c.ip("neighbour") || c.ip("neighbor") || c.is("show") && c.has("arp")
	}},
	&format{name: "bridge fdb", part: forwardingTable, header: (*machine).tableHeader,
		row: reads((*machine).forwarding), sure: func(line string) bool { return fdbRow.MatchString(line) },
		command: func(c command) bool {
			return c.is("bridge") && strings.HasPrefix("fdb", c.object()) || c.is("show") && c.has("mac",
				"mac-address", "mac-address-table", "fdb") || c.is("brctl") && c.has("showmacs")
		}})

// fdbRow matches a row of bridge fdb.
var fdbRow = pattern.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5} dev \S+ `)

func arpHeader(_ *machine, line string) bool {
	if !strings.Contains(line, "Address") && !strings.HasPrefix(line, "Interface: ") {
		return false
	}
	words := strings.Fields(line)
	return len(words) > 3 && (words[0] == "Address" && words[1] == "HWtype" || words[0] == "Protocol" &&
		words[1] == "Address") ||
		windows.MatchString(line)
}

// windows matches the head of a table of arp -a on Windows.
var windows = pattern.MustCompile(`^Interface: [\d.]+ --- 0x[0-9a-f]+$`)

// neighbour reads a row of a neighbour table:
//
//	192.0.2.15 ether 00:08:9b:c8:c4:31 C eth1                  arp -n
//	? (192.0.2.15) at 00:08:9b:c8:c4:31 [ether] on eth1        arp -a
//	192.0.2.15 dev eth1 lladdr 00:08:9b:c8:c4:31 REACHABLE     ip neigh
//	Internet 192.0.2.15 4 0008.9bc8.c431 ARPA Vlan101          show ip arp
//	192.0.2.15 00-08-9b-c8-c4-31 dynamic                       arp -a of Windows
func (m *machine) neighbour(line string) bool {
	if strings.HasPrefix(strings.TrimSpace(line), "Internet Address") {
		return m.ignore()
	}
	if !strings.ContainsAny(line, ".:") {
		return false
	}
	text := line
	if strings.ContainsAny(line, "(<") {
		text = incomplete.Replace(line)
	}
	words := strings.Fields(text)
	at := slices.IndexFunc(words[:min(len(words), 2)], func(w string) bool {
		if !strings.ContainsAny(w, ".:") {
			return false
		}
		_, err := netip.ParseAddr(w)
		return err == nil
	})
	if at < 0 || len(words) < at+2 {
		return false
	}
	if _, is := routeWords(line); is {
		return false
	}
	n := netstate.Neighbour{Address: netip.MustParseAddr(words[at]).String(), State: "STALE"}
	state := ""
	rest := words[at+1:]
	for i, w := range rest {
		address, is := mac(w)
		upper := strings.ToUpper(w)
		switch {
		case is:
			n.MAC = address
		case slices.Contains(states, upper):
			state = upper
		case i > 0 && (rest[i-1] == "dev" || rest[i-1] == "on"):
			n.Interface = w
		case w == "M" || w == "CM" || w == "static" || w == "PERM":
			state = "PERMANENT"
		case i < len(rest)-1 && !neighbourWord.MatchString(w):
			return false
		}
	}
	last := rest[len(rest)-1] // arp -n, show ip arp
	if _, is := mac(last); n.Interface == "" && !is && state != strings.ToUpper(last) &&
		!slices.Contains([]string{"dynamic", "static"}, last) {
		n.Interface = last
	}
	if state != "" {
		n.State = state
	}
	// Without a MAC address, only ip(8) has other states than that arp(8) prints: behind an interface,
	// or alone if the command has that.
	unanswered := state == "INCOMPLETE" || state != "" && (rest[0] == "dev" || m.command.has("dev"))
	if n.MAC == "" && !unanswered || n.Interface != "" && !isName(n.Interface) {
		return false
	}
	if len(m.Reading.Snapshot.Neighbours) < mostRows {
		m.Reading.Snapshot.Neighbours = append(m.Reading.Snapshot.Neighbours, n)
	}
	return true
}

// neighbourWord matches what a row has besides addresses, states and, at its end, an interface: types of
// hardware, flags, masks, ages and options.
var neighbourWord = pattern.MustCompile(`^(?:at|on|dev|lladdr|router|proxy|managed|offload|extern_\w+|nud|ref|used|` +
	`probes|` +
	`proto|kernel|zebra|bgp|expires|in|seconds|\[?ether(?:net)?\]?|ARPA|arpa|dynamic|published|PUB|[A-Z!]{1,4}|` +
	`0x[0-9a-f]+|[\d:.hmsd/-]+|\*)$`)

// incomplete makes words of what tools put in parentheses.
var incomplete = strings.NewReplacer("(incomplete)", "incomplete", "<incomplete>", "incomplete", "(", " ", ")", " ")

// states are the states of neighbour entries, as in netstate.Neighbour.
var states = []string{"REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "INCOMPLETE", "PERMANENT", "NOARP"}

// portWords are words that name the column of ports in the head of a switch's table.
var portWords = []string{"port", "ports", "interface", "intf", "destination", "port(s)", "port/intf"}

// columnNames makes one word of the names of columns.
var columnNames = strings.NewReplacer("mac address", "mac", "vlan id", "vlan", "located on port", "port",
	"mac addr", "mac", "destination port", "port")

// tableHeader parses the head of a switch's MAC address table, or the rule below it.
func (m *machine) tableHeader(line string) bool {
	text := strings.ToLower(line)
	if !strings.Contains(text, "mac") {
		return false
	}
	words := strings.FieldsFunc(columnNames.Replace(text), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '|'
	})
	column := func(names []string) int {
		return slices.IndexFunc(words, func(w string) bool { return slices.Contains(names, w) })
	}
	if column(portWords) >= 0 && len(words) <= 12 &&
		!slices.ContainsFunc(words, func(w string) bool { _, is := mac(w); return is }) {
		m.columns = words
		return true
	}
	return false
}

// furniture reports whether a line is around a switch's table.
func furniture(line string) bool {
	text := strings.TrimSpace(line)
	if len(text) >= 3 && strings.Trim(text, "-+=| ") == "" {
		return true
	}
	text = strings.ToLower(text)
	return furnitureRow.MatchString(text) || strings.Contains(text, "mac address table") ||
		strings.Contains(text, "mac addresses table")
}

const shortestMAC, longestMAC = 11, 17 // 0:0:0:0:0:1, 00:00:00:00:00:01

// betweenWords reports whether a character is between the words of a table of MAC addresses.
func betweenWords(r rune) bool { return r == ' ' || r == '\t' || r == '|' || r == ',' }

// hasMAC reports whether a word of a line has the length and the characters of a MAC address.
func hasMAC(line string) bool {
	length := 0
	for i := range len(line) {
		switch b := line[i]; {
		case betweenWords(rune(b)):
			if length >= shortestMAC && length <= longestMAC {
				return true
			}
			length = 0
		case isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' || b == ':' || b == '-' || b == '.':
			length++
		default:
			length = longestMAC + 1
		}
	}
	return length >= shortestMAC && length <= longestMAC
}

var furnitureRow = pattern.MustCompile(`^(?:total mac addresses|flags?: |aging time|mac entries|status and counters|` +
	`legend:|codes:)`)

// ofInterface matches lines of ifconfig, ip and netstat -i with the MAC address of an interface, and
// often a number behind it.
var ofInterface = pattern.MustCompile(
	`<Link|Link encap:|\b(?:txqueuelen|netmask|HWaddr)\b|^\s*(?:ether|lladdr|hwaddr|address:|link/\w+|HW Address:) ?`)

// forwarding parses a row of a switch's table, which has a MAC address, its port, and optionally a
// VLAN, in any order; or a row of bridge fdb.
func (m *machine) forwarding(line string) bool {
	if furniture(line) {
		return m.ignore()
	}
	if !hasMAC(line) {
		return false
	}
	words := strings.FieldsFunc(line, betweenWords)
	e, at := netstate.FDBEntry{}, -1
	for i, w := range words {
		address, is := mac(w)
		if is && at >= 0 {
			return false
		}
		if is {
			e.MAC, at = address, i
		}
	}
	ofNeighbour := func(w string) bool { _, err := netip.ParseAddr(w); return err == nil }
	if at < 0 || slices.ContainsFunc(words, ofNeighbour) || ofInterface.MatchString(line) {
		return false
	}
	if i := slices.Index(words, "dev"); i >= 0 && i+1 < len(words) {
		e.Interface = words[i+1]
		e.Local = slices.Contains(words, "permanent") || slices.Contains(words, "self")
	} else {
		e.Interface = m.port(words, at)
	}
	if e.Interface == "" {
		return false
	}
	switch strings.ToLower(e.Interface) {
	case "cpu", "self", "router", "drop", "0":
		e.Local = true
	}
	e.Local = e.Local || slices.ContainsFunc(words, func(w string) bool {
		return strings.EqualFold(w, "self") ||
			strings.EqualFold(w, "management")
	})
	if len(m.Reading.Snapshot.FDB) < mostRows {
		m.Reading.Snapshot.FDB = append(m.Reading.Snapshot.FDB, e)
	}
	return true
}

var (
	namedPort    = pattern.MustCompile(`^(?i)(cpu|router|[a-z][a-z-]*\d+([/:.]\d+)*)$`)
	numberedPort = pattern.MustCompile(`^\d+([/:]\d+)*$`)
)

// port returns the word of a row that is its port: one with a name; otherwise a number in the
// head's column of ports; without a head the first number after the MAC address. Empty: there is
// none.
func (m *machine) port(words []string, at int) string {
	for i, w := range words {
		if i != at && namedPort.MatchString(w) && !strings.HasPrefix(strings.ToLower(w), "vlan") {
			return w
		}
	}
	column := slices.IndexFunc(m.columns, func(w string) bool { return slices.Contains(portWords, w) })
	// Empty fields and fields of several words shift the columns after them. A word on the wrong
	// side of the MAC address is not the port.
	if address := slices.Index(m.columns, "mac"); column >= 0 && address >= 0 {
		column += at - address
		if column >= 0 && column < len(words) && column != at && numberedPort.MatchString(words[column]) {
			return words[column]
		}
		return ""
	}
	if i := slices.IndexFunc(words[at+1:], numberedPort.MatchString); i >= 0 {
		return words[at+1+i]
	}
	return ""
}
