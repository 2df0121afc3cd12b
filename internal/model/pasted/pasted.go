// Package pasted reads what network tools print, of one or more machines in one text, as
// people paste it: arp(8), ip(8) address, link, neighbour, route and rule, bridge(8) fdb, the
// tables of MAC addresses of switches, nstat(8), netstat(8) -s, ss(8), ethtool(8), tc(8) -s
// qdisc, sysctl(8), dmesg(1) and /proc/net/softnet_stat. Each machine becomes a
// record.HostSnapshot, so that the rules for snapshots apply to it; its parts are those that
// the text has.
//
// The text is from anywhere: it is bounded, a line that is of no known form is listed, and no
// line is an error.
package pasted

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

// LargestText bounds what is pasted, in bytes.
const LargestText = 4 << 20

// Bounds of what is read: machines, rows of one table, interfaces, bytes of a line and of a name.
const mostMachines, mostRows, mostInterfaces, longestLine, longestName = 100, 20_000, 4096, 2000, 60

// Text is what was read.
type Text struct {
	// Machines are in the order of the text. Those without a prompt that names them are
	// host1, host2, … and switch1, …
	Machines []record.HostSnapshot
	// NotUnderstood are the lines of no known form, with their numbers, at most mostLost;
	// Lost counts all.
	NotUnderstood []string
	Lost          int
}

const mostLost = 20

// form is one kind of output.
type form struct {
	part string // of record.HostSnapshot.Pasted
	// header begins a new table: a second one is of another machine unless a prompt says
	// that it is of the same.
	header func(*machine, string) bool
	// row reads one line. False: it is not of this form.
	row func(*machine, string) bool
	// again reports whether a line contradicts or repeats what the machine has of this form: it
	// is of another machine unless a prompt says that it is of the same. gap: it is behind an
	// empty line or a command. nil: no line does.
	again func(m *machine, line string, gap bool) bool
}

func behindGap(_ *machine, _ string, gap bool) bool { return gap }

// forms are tried in this order; those with the strictest rows come first.
var forms = []form{
	{part: "nics", row: (*machine).ethtool, again: (*machine).sameNIC},
	{part: "interfaces", row: (*machine).link, again: behindGap},
	{part: "routes", row: (*machine).route, again: (*machine).otherRoute},
	{part: "qdiscs", row: (*machine).qdisc, again: (*machine).sameQdisc},
	{part: "sockets", row: (*machine).socket},
	{part: "softnet", row: (*machine).softnet, again: behindGap},
	{part: "parameters", row: (*machine).parameter, again: (*machine).otherValue},
	{part: "kernel log", row: (*machine).logged},
	{part: "neighbours", header: arpHeader, row: (*machine).neighbour, again: behindGap},
	{part: "forwarding table", header: (*machine).tableHeader, row: (*machine).forwarding},
	{part: "snmp", row: (*machine).counter},
}

// machine is one machine while its text is read.
type machine struct {
	record.HostSnapshot
	named bool // by a prompt
	// forms that it has, and that which the last line was of.
	has    map[string]bool
	last   string
	netifs map[string]int     // where each interface is
	qdiscs map[[2]string]bool // by interface and handle
	context
	ethtools
	sockets
	routing
}

// context is what lines depend on that were before them, behind one command.
type context struct {
	command command
	// columns of a switch's table, by the words of its header; section of netstat -s.
	columns []string
	section string
	// at is the interface that indented lines of ip(8) are of, -1: of none that is kept, and
	// counts the names of the counters on the next line.
	at     int
	inside bool // of an interface that is read, or of the loopback
	counts []string
	// block of ethtool, and the interface that it is of, empty: not known; the key of its link
	// modes that go on in the next line; and whether its rows are of the highest numbers.
	block, device, modes string
	most                 bool
}

// behind is the context of what a command prints.
func behind(line string) *context {
	c := context{command: commandOf(line), at: -1}
	c.block, c.device = c.command.ethtoolBlock()
	return &c
}

// command is one that a prompt has: its words, options included.
type command []string

// is reports whether it is a program's.
func (c command) is(program string) bool { return len(c) > 0 && c[0] == program }

// after is the word behind another one; empty: there is none.
func (c command) after(word string) string {
	if i := slices.Index(c, word); i >= 0 && i+1 < len(c) {
		return c[i+1]
	}
	return ""
}

// commandOf is the first command of a line of a shell.
func commandOf(line string) command {
	if i := strings.IndexAny(line, "|;&>"); i >= 0 {
		line = line[:i]
	}
	words := strings.Fields(line)
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	return words
}

// prompt is a shell's or a switch's: "root@nas:~#", "[me@nas ~]$", "switch#show mac", "nas>".
var prompt = regexp.MustCompile(
	`^\s*\[?(?:[\w.-]+@)?([A-Za-z][\w.-]*)(?:[: ][^\s#$>=\]]*)?\]?\s?[#$>](?:\s*([^\s:].*))?$`)

// bare is a command behind a prompt without a name, or without a prompt.
var bare = regexp.MustCompile(
	`^(?:\s*[#$>]\s+(?:sudo\s+)?(?:arp|ip|bridge|nstat|netstat|show|ss|ethtool|tc|sysctl|dmesg|cat)\b|(?:sudo\s+)?(?:ss|ethtool|tc|ip|sysctl|dmesg|cat)(?:\s+[-/\w]|$))`)

// title is a line that names what follows it: "brik1:". Others are of netstat -s, or have a
// value of ethtool -i that the driver leaves empty.
var title = regexp.MustCompile(`^([A-Za-z][\w.-]*):$`)

// control is a sequence for a terminal, as ip(8) -c writes colours and script(1) keeps a prompt's
// title (ECMA-48: CSI, OSC and the choice of a character set); and the carriage return by which
// readline ends the sequence that it writes before a command's output.
var control = regexp.MustCompile(
	`\x1b\[\?2004l\r?|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~])`)

// Parse reads a text. The error is that it is too large, or that nothing of it is understood.
func Parse(text string) (Text, error) {
	if len(text) > LargestText {
		return Text{}, fmt.Errorf("the text has %d bytes: expected at most %d", len(text), LargestText)
	}
	r := reader{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(control.ReplaceAllString(line, ""), "\r\n\t ")
		switch {
		case strings.TrimSpace(line) == "":
			r.gap = true
		case len(line) > longestLine || !r.read(line):
			if r.Lost++; len(r.NotUnderstood) < mostLost {
				r.NotUnderstood = append(r.NotUnderstood, fmt.Sprintf("line %d: %s", number,
					plain.Short(strings.TrimSpace(line), 100)))
			}
		}
	}
	r.finish()
	if len(r.Machines) == 0 {
		return r.Text, errors.New(
			"nothing in the text is understood: expected what arp, ip, bridge fdb, nstat, netstat -s, ss, ethtool, tc -s qdisc, sysctl or dmesg print, /proc/net/softnet_stat, or a switch's table of MAC addresses")
	}
	return r.Text, nil
}

// reader is the state between lines.
type reader struct {
	Text
	all  []*machine
	now  *machine
	next string // the name that a prompt or a title gave to what follows
	gap  bool   // an empty line was before
	// fresh is the context of what follows a command or a prompt; nil: that of the lines before
	// goes on.
	fresh *context
}

func (r *reader) read(line string) bool {
	if m := prompt.FindStringSubmatch(line); m != nil {
		r.begin(m[1], m[2])
		return true
	}
	if bare.MatchString(line) {
		r.gap, r.fresh = true, behind(strings.TrimLeft(line, "#$> \t"))
		return true
	}
	if m := title.FindStringSubmatch(line); m != nil && !slices.Contains(sections, m[1]) &&
		!slices.Contains(driverKeys, m[1]) {
		r.begin(m[1], "")
		return true
	}
	for _, f := range r.order() {
		m := r.at(f, line)
		if f.header != nil && f.header(m, line) {
			if m.has[f.part] && !m.named {
				m = r.other()
				f.header(m, line)
			}
			r.keep(m, f.part)
			return true
		}
		if f.row(m, line) {
			r.keep(m, f.part)
			return true
		}
	}
	return false
}

// order is the forms, that of the last line first.
func (r *reader) order() []form {
	if r.now == nil || r.gap {
		return forms
	}
	list := slices.Clone(forms)
	slices.SortStableFunc(list, func(a, b form) int { return rank(a, r.now.last) - rank(b, r.now.last) })
	return list
}

func rank(f form, last string) int {
	if f.part == last {
		return 0
	}
	return 1
}

// begin has the lines that follow be of a machine with a name.
func (r *reader) begin(name, line string) {
	name = plain.Short(name, longestName)
	r.fresh = behind(line)
	if i := slices.IndexFunc(r.all, func(m *machine) bool { return m.named && m.Reading.Host == name }); i >= 0 {
		r.now, r.next = r.all[i], ""
		return
	}
	r.now, r.next = nil, name
}

// at is the machine that a line of a form would be of. Without a prompt a switch is a machine
// of its own, and so is what repeats what the machine has.
func (r *reader) at(f form, line string) *machine {
	m := r.now
	if m == nil {
		return r.other()
	}
	const table = "forwarding table"
	if r.fresh != nil {
		m.context = *r.fresh
	}
	again := m.has[f.part] && f.again != nil && f.again(m, line, r.gap)
	if !m.named && (again || len(m.has) > 0 && m.has[table] != (f.part == table)) {
		return r.other()
	}
	return m
}

func (r *reader) other() *machine {
	m := &machine{has: map[string]bool{}, context: context{at: -1}}
	if r.next != "" {
		m.named, m.Reading.Host = true, r.next
	}
	if r.fresh != nil {
		m.context = *r.fresh
	}
	return m
}

// keep notes that a line of a form was read.
func (r *reader) keep(m *machine, part string) {
	if !slices.Contains(r.all, m) && len(r.all) < mostMachines {
		r.all = append(r.all, m)
	}
	if part != "nics" {
		m.block = ""
	}
	m.has[part], m.last = true, part
	r.now, r.gap, r.next, r.fresh = m, false, "", nil
}

// finish names the machines that no prompt named, and leaves out those of which a header alone
// was read.
func (r *reader) finish() {
	hosts, switches := 0, 0
	for _, m := range r.all {
		m.finishNICs()
		m.finishSockets()
		m.finishRules()
		if !m.rows() {
			continue
		}
		m.Schema, m.Reading.Snapshot.Host = record.HostSnapshotSchema, m.Reading.Host
		if !m.named {
			if m.has["forwarding table"] {
				switches++
				m.Reading.Host = fmt.Sprint("switch", switches)
			} else {
				hosts++
				m.Reading.Host = fmt.Sprint("host", hosts)
			}
		}
		m.Host.Host, m.Reading.Snapshot.Host = m.Reading.Host, m.Reading.Host
		m.Host.CPUs, m.Reading.Snapshot.Sysctls = len(m.Reading.End.Softnet), m.State.Parameters
		for part := range m.has {
			m.Pasted = append(m.Pasted, part)
		}
		if len(m.Reading.End.Interfaces) > 0 {
			m.Pasted = append(m.Pasted, "interface counters")
		}
		if len(m.State.Sockstat) > 0 {
			m.Pasted = append(m.Pasted, "sockstat")
		}
		slices.Sort(m.Pasted)
		r.Machines = append(r.Machines, m.HostSnapshot)
	}
}

func (m *machine) rows() bool {
	s, end, state := m.Reading.Snapshot, m.Reading.End, m.State
	return len(s.Interfaces)+len(s.Neighbours)+len(s.FDB)+len(s.Routes)+len(s.Rules)+len(s.Lookups)+len(end.SNMP)+
		len(end.Qdiscs)+len(end.Softnet)+
		len(state.NICs)+len(state.Parameters)+len(state.TCP)+len(state.Listeners) > 0 || state.Log != nil
}
