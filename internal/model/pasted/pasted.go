// Package pasted parses the output of network tools, of one or more machines in one text, as people
// paste it: arp(8), ip(8) address, link, neighbour, route and rule, bridge(8) fdb, MAC address
// tables of switches, nstat(8), netstat(8) -s, ss(8), ethtool(8), tc(8) -s qdisc, sysctl(8),
// dmesg(1) and /proc/net/softnet_stat. Each machine becomes a netstate.HostSnapshot with the parts
// that the text contains, so that the rules for snapshots apply to it.
//
// The text is untrusted: its size is limited, lines of unknown form are listed, and no line causes
// an error.
package pasted

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// LargestText is the maximum size of a pasted text in bytes.
const LargestText = 4 << 20

// Limits: machines, rows of a table, interfaces, bytes of a line and of a name.
const mostMachines, mostRows, mostInterfaces, longestLine, longestName = 100, 20_000, 4096, 2000, 60

// Text is the result of Parse.
type Text struct {
	// Machines are in the order of the text. Machines without a name in the text are called host1,
	// host2, … and switch1, …
	Machines []netstate.HostSnapshot
	// NotUnderstood has lines of unknown form with their numbers, at most mostLost. Lost counts all
	// of them.
	NotUnderstood []string
	Lost          int
}

const mostLost = 20

// form is a kind of output.
type form struct {
	part string // of netstate.HostSnapshot.Pasted
	// header reports whether a line begins a table. A second table belongs to another machine
	// unless a prompt names the same one.
	header func(*machine, string) bool
	// row parses a line. It returns false if the line does not have this form.
	row func(*machine, string) bool
	// again reports whether a line contradicts or repeats what the machine already has of this
	// form. Such a line belongs to another machine unless a prompt names the same one. Gap says
	// that an empty line or a command precedes the line. Nil: no line contradicts or repeats.
	again func(m *machine, line string, gap bool) bool
}

func behindGap(_ *machine, _ string, gap bool) bool { return gap }

// forms are tried in this order. Those with the strictest rows come first.
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

// machine is a machine while its text is parsed.
type machine struct {
	netstate.HostSnapshot
	named bool // by a prompt
	// has has the parts of the forms that the machine has, and last the part of the last line.
	has    map[string]bool
	last   string
	netifs map[string]int     // index of each interface
	qdiscs map[[2]string]bool // by interface and handle
	context
	ethtools
	sockets
	routing
}

// context is the state on which the meaning of the lines after a command depends.
type context struct {
	command command
	// columns are the words of the header of a switch's table. section is the section of netstat -s
	// that the lines belong to.
	columns []string
	section string
	// at is the index of the interface that indented lines of ip(8) belong to; -1: an interface
	// that is not kept. counts has the counter names for the next line.
	at     int
	inside bool // whether an interface or the loopback is being parsed
	counts []string
	// block and device are the block of ethtool and its interface, empty if unknown. modes is the
	// key of link modes that continue on the next line. most reports whether the rows contain
	// maximum values.
	block, device, modes string
	most                 bool
}

// behind returns the context for the output of a command.
func behind(line string) *context {
	c := context{command: commandOf(line), at: -1}
	c.block, c.device = c.command.ethtoolBlock()
	return &c
}

// command is a command after a prompt: its words, including options.
type command []string

// is reports whether the command executes program.
func (c command) is(program string) bool { return len(c) > 0 && c[0] == program }

// after returns the word that follows another one. Empty: there is none.
func (c command) after(word string) string {
	if i := slices.Index(c, word); i >= 0 && i+1 < len(c) {
		return c[i+1]
	}
	return ""
}

// commandOf returns the first command of a shell line.
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

// prompt matches the prompt of a shell or a switch: "root@nas:~#", "[me@nas ~]$", "switch#show
// mac", "nas>".
var prompt = regexp.MustCompile(
	`^\s*\[?(?:[\w.-]+@)?([A-Za-z][\w.-]*)(?:[: ][^\s#$>=\]]*)?\]?\s?[#$>](?:\s*([^\s:].*))?$`)

// bare matches a command after a prompt without a name, or without a prompt.
var bare = regexp.MustCompile(
	`^(?:\s*[#$>]\s+(?:sudo\s+)?(?:arp|ip|bridge|nstat|netstat|show|ss|ethtool|tc|sysctl|dmesg|cat)\b|(?:sudo\s+)?(?:ss|ethtool|tc|ip|sysctl|dmesg|cat)(?:\s+[-/\w]|$))`)

// title matches a line that names what follows it: "brik1:". Similar lines are sections of netstat
// -s, or keys of ethtool -i that the driver leaves empty.
var title = regexp.MustCompile(`^([A-Za-z][\w.-]*):$`)

// control matches terminal control sequences, such as the colours of ip(8) -c and the window title
// of a prompt in the output of script(1) (ECMA-48: CSI, OSC and the choice of a character set), and
// the carriage return with which readline ends the sequence that it writes before the output of a
// command.
var control = regexp.MustCompile(
	`\x1b\[\?2004l\r?|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~])`)

// Parse parses a text. It returns an error if the text is too large, or if no line is understood.
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
			"no part of the text could be read: expected the output of arp, ip, bridge fdb, nstat, netstat -s, ss, " +
				"ethtool, tc -s qdisc, sysctl or dmesg, /proc/net/softnet_stat, or a switch's table of MAC addresses")
	}
	return r.Text, nil
}

// reader is the state between lines.
type reader struct {
	Text
	all  []*machine
	now  *machine
	next string // name from a prompt or title for the lines that follow
	gap  bool   // whether the previous line was empty
	// fresh is the context of the lines after a command or prompt. Nil: the context of the previous
	// lines continues.
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

// order returns the forms, beginning with that of the last line.
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

// begin assigns the following lines to the machine with a name.
func (r *reader) begin(name, line string) {
	name = plain.Short(name, longestName)
	r.fresh = behind(line)
	if i := slices.IndexFunc(r.all, func(m *machine) bool { return m.named && m.Reading.Host == name }); i >= 0 {
		r.now, r.next = r.all[i], ""
		return
	}
	r.now, r.next = nil, name
}

// at returns the machine that a line of a form belongs to. Without a prompt, a switch's table and
// whatever repeats what the machine already has belong to a new machine.
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

// keep records that a line of a form was parsed.
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

// finish names the machines without a prompt, and removes those of which only a header was parsed.
func (r *reader) finish() {
	hosts, switches := 0, 0
	for _, m := range r.all {
		m.finishNICs()
		m.finishSockets()
		m.finishRules()
		if !m.rows() {
			continue
		}
		m.Schema, m.Reading.Snapshot.Host = netstate.HostSnapshotSchema, m.Reading.Host
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
