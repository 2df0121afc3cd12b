// Package pasted reads what network tools print, of one or more machines in one text, as
// people paste it: arp(8), ip(8) address, link and neighbour, bridge(8) fdb, the tables of MAC
// addresses of switches, nstat(8) and netstat(8) -s. Each machine becomes a
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

// Bounds of what is read: machines, rows of one table, bytes of a line and of a name.
const mostMachines, mostRows, longestLine, longestName = 100, 20_000, 1000, 60

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
}

// forms are tried in this order; those with the strictest rows come first.
var forms = []form{
	{part: "interfaces", header: nil, row: (*machine).link},
	{part: "neighbours", header: arpHeader, row: (*machine).neighbour},
	{part: "forwarding table", header: (*machine).tableHeader, row: (*machine).forwarding},
	{part: "snmp", header: nil, row: (*machine).counter},
}

// machine is one machine while its text is read.
type machine struct {
	record.HostSnapshot
	named bool // by a prompt
	// forms that it has, and that which the last line was of.
	has  map[string]bool
	last string
	// columns of a switch's table, by the words of its header; section of netstat -s.
	columns []string
	section string
	// at is the interface that indented lines of ip(8) are of, and counts the names of the
	// counters on the next line.
	at     int
	inside bool // of an interface that is read, or of the loopback
	counts []string
}

// prompt is a shell's or a switch's: "root@nas:~#", "[me@nas ~]$", "switch#show mac", "nas>".
var prompt = regexp.MustCompile(`^\s*\[?(?:[\w.-]+@)?([A-Za-z][\w.-]*)(?:[: ][^\s#$>\]]*)?\]?\s?[#$>](?:\s*\S.*)?$`)

// bare is a prompt without a name, in front of a command.
var bare = regexp.MustCompile(`^\s*[#$>]\s+(?:sudo\s+)?(?:arp|ip|bridge|nstat|netstat|show)\b`)

// title is a line that names what follows it: "brik1:".
var title = regexp.MustCompile(`^([A-Za-z][\w.-]*):$`)

// Parse reads a text. The error is that it is too large, or that nothing of it is understood.
func Parse(text string) (Text, error) {
	if len(text) > LargestText {
		return Text{}, fmt.Errorf("the text has %d bytes: expected at most %d", len(text), LargestText)
	}
	r := reader{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n\t ")
		switch {
		case strings.TrimSpace(line) == "":
			r.gap = true
		case len(line) > longestLine || !r.read(line):
			if r.Lost++; len(r.NotUnderstood) < mostLost {
				r.NotUnderstood = append(r.NotUnderstood, fmt.Sprintf("line %d: %s", number, plain.Short(strings.TrimSpace(line), 100)))
			}
		}
	}
	r.finish()
	if len(r.Machines) == 0 {
		return r.Text, errors.New("nothing in the text is understood: expected what arp, ip neigh, ip addr, ip -s link, bridge fdb, nstat or netstat -s print, or a switch's table of MAC addresses")
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
}

func (r *reader) read(line string) bool {
	if m := prompt.FindStringSubmatch(line); m != nil {
		r.begin(m[1])
		return true
	}
	if bare.MatchString(line) {
		r.gap = true
		return true
	}
	if m := title.FindStringSubmatch(line); m != nil && !slices.Contains(sections, m[1]) {
		r.begin(m[1])
		return true
	}
	for _, f := range r.order() {
		m := r.at(f.part)
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
func (r *reader) begin(name string) {
	name = plain.Short(name, longestName)
	if i := slices.IndexFunc(r.all, func(m *machine) bool { return m.named && m.Reading.Host == name }); i >= 0 {
		r.now, r.next = r.all[i], ""
		r.now.counts, r.now.columns = nil, nil
		return
	}
	r.now, r.next = nil, name
}

// at is the machine that a line of a form would be of. Without a prompt a switch is a machine
// of its own, and so is what follows an empty line and repeats what the machine has.
func (r *reader) at(part string) *machine {
	m := r.now
	if m == nil {
		return r.other()
	}
	const table = "forwarding table"
	again := r.gap && m.has[part] && part != table && part != "snmp"
	if !m.named && (again || len(m.has) > 0 && m.has[table] != (part == table)) {
		return r.other()
	}
	return m
}

func (r *reader) other() *machine {
	m := &machine{has: map[string]bool{}, at: -1}
	if r.next != "" {
		m.named, m.Reading.Host = true, r.next
	}
	return m
}

// keep notes that a line of a form was read.
func (r *reader) keep(m *machine, part string) {
	if !slices.Contains(r.all, m) && len(r.all) < mostMachines {
		r.all = append(r.all, m)
	}
	m.has[part], m.last = true, part
	r.now, r.gap, r.next = m, false, ""
}

// finish names the machines that no prompt named, and leaves out those of which a header alone
// was read.
func (r *reader) finish() {
	hosts, switches := 0, 0
	for _, m := range r.all {
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
		for part := range m.has {
			m.Pasted = append(m.Pasted, part)
		}
		if len(m.Reading.End.Interfaces) > 0 {
			m.Pasted = append(m.Pasted, "interface counters")
		}
		slices.Sort(m.Pasted)
		r.Machines = append(r.Machines, m.HostSnapshot)
	}
}

func (m *machine) rows() bool {
	s := m.Reading.Snapshot
	return len(s.Interfaces)+len(s.Neighbours)+len(s.FDB)+len(m.Reading.End.SNMP) > 0
}
