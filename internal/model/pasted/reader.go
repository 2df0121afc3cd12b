package pasted

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// reader reads a text line by line. It is in one section at a time.
type reader struct {
	Text
	all  []*machine
	now  *machine // that of the previous lines; nil: none yet
	home *machine // that of the lines before those that named another one; nil: none did
	next string   // name from a prompt or title for the lines that follow
	gap  bool     // whether an empty line precedes, or a section begins
	// fresh is the context of the lines after the beginning of a section. Nil: that of the previous
	// lines continues.
	fresh  *context
	in     start
	number int // of the line that is read
	// collected has the lines of the section if one of its formats needs all of them.
	collected []line
	// tentative are lines of one shape that are too few to tell the format, and trial is a machine
	// that has read only them.
	tentative []line
	shape     *format
	trial     *machine
	spare     *machine
	lines     map[*format]*FormatLines
}

// line is a line of the text.
type line struct {
	number int
	text   string
	gap    bool // whether an empty line precedes it
}

// read reads a line.
func (r *reader) read(l line) {
	l.gap, r.number = r.gap, l.number
	if len(r.collected) > 0 && strings.IndexByte(" \t{}]\"", l.text[0]) >= 0 { // JSON
		r.collect(l)
		if r.in.json && (l.text == "}" || l.text == "]" || l.text == "}]") {
			r.end()
			r.in, r.gap, r.fresh = start{}, true, behind(nil)
		}
		return
	}
	if s, is := startOf(l.text); is && !r.commented(l.text, s) {
		r.begin(s)
		return
	}
	if m := title.FindStringSubmatch(l.text); m != nil && r.names(l.text, m[1]) {
		r.begin(start{host: m[1]})
		return
	}
	switch {
	case fence.MatchString(l.text):
		r.count(nil, idle)
		r.gap = true
		return
	case noise.MatchString(l.text):
		r.count(nil, idle)
		return
	case r.collects():
		r.collect(l)
		return
	case len(r.in.formats) == 0 && (r.gap || r.Lines == 0) && (l.text == "{" || l.text == "[" || l.text == "[{"):
		r.collectJSON(l)
		return
	case len(r.in.formats) == 0:
		r.guess(l)
		return
	}
	for _, f := range r.ordered(r.in.formats) {
		if mark := r.take(f, l); mark != unread {
			return
		}
	}
	// The output of a command ends without a prompt where a line tells another format.
	if l.gap && slices.ContainsFunc(formats, func(f *format) bool { return f.tells(l.text) }) {
		r.in.formats, r.fresh = nil, behind(nil)
		r.guess(l)
		return
	}
	r.lose(l)
}

// commented reports whether a line that looks like a command behind the prompt "#" is a comment of a
// file.
func (r *reader) commented(text string, s start) bool {
	prompt := r.in.root && len(s.formats) > 0 && plausible(s.command)
	return strings.HasPrefix(strings.TrimSpace(text), "#") && !prompt &&
		slices.ContainsFunc(r.in.formats, func(f *format) bool { return f.comments })
}

// noise matches what shells and programs say instead of an output.
var noise = regexp.MustCompile(`(?i)(^|: )(command not found|permission denied|operation not permitted|no such (file or directory|device)` +
	`|not found|operation not supported|cannot open|invalid argument|is a directory)\.?$|^(Last login: |logout$|exit$|\^C$|\[sudo\] password)`)

// names reports whether a line that ends with a colon names a machine.
func (r *reader) names(text, name string) bool {
	if slices.Contains(sections, name) || slices.Contains(driverKeys, name) {
		return false
	}
	// Within the output of a command, such lines are heads of its parts, unless a gap precedes.
	return len(r.in.formats) == 0 || r.gap && !slices.ContainsFunc(r.in.formats, func(f *format) bool {
		return f.header != nil && r.now != nil && f.header(r.now, text)
	})
}

// begin begins a section.
func (r *reader) begin(s start) {
	r.end()
	r.count(nil, idle)
	r.in, r.gap, r.fresh = s, true, behind(s.command)
	r.fresh.filtered, r.fresh.began = s.filtered, r.number
	if r.home != nil {
		r.now, r.next, r.home = r.home, "", nil
	}
	if s.host != "" {
		r.goTo(plain.Short(s.host, longestName))
	}
}

// ordered returns formats, beginning with that of the last line.
func (r *reader) ordered(list []*format) []*format {
	if r.now == nil || r.gap || r.now.last == nil || len(list) < 2 {
		return list
	}
	if i := slices.Index(list, r.now.last); i > 0 {
		ordered := make([]*format, 0, len(list))
		ordered = append(ordered, list[i])
		ordered = append(ordered, list[:i]...)
		return append(ordered, list[i+1:]...)
	}
	return list
}

// take has a format read a line for the machine that it belongs to.
func (r *reader) take(f *format, l line) mark {
	if f.host != nil {
		r.mention(f.host(r.in.command, l.text))
	}
	m := r.at(f, l.text)
	m.number = l.number
	if f.header != nil && f.header(m, l.text) {
		if m.has[f] && !m.named {
			m = r.other()
			f.header(m, l.text)
		}
		r.keep(m, f)
		r.count(f, idle)
		return idle
	}
	if f.row == nil {
		return unread
	}
	result := f.row(m, l.text)
	if result != unread {
		r.keep(m, f)
		r.count(f, result)
	}
	return result
}

// guess reads a line of an unknown command by its shape.
func (r *reader) guess(l line) {
	if r.shape != nil { // more of the same
		if r.trial.try(r.shape, l.text) {
			r.tentative = append(r.tentative, l)
			r.commit()
			return
		}
	} else if r.now != nil && r.now.last != nil && !r.gap && !r.now.last.shapeless && r.fresh == nil &&
		r.take(r.now.last, l) != unread {
		return
	}
	for _, f := range likely(l.text) {
		if f.shapeless || f.row == nil || f == r.shape {
			continue
		}
		trial := r.blank()
		headed := f.header != nil && f.header(trial, l.text)
		if !headed && f.row(trial, l.text) == unread {
			continue
		}
		r.drop()
		r.shape, r.trial, r.tentative = f, trial, []line{l}
		trial.last = f
		if headed || f.tells(l.text) {
			r.commit()
		}
		return
	}
	r.lose(l)
}

// likely returns the formats, beginning with those that a single line tells.
func likely(text string) []*format {
	for i, f := range formats {
		if f.tells(text) && f != formats[0] {
			list := make([]*format, 0, len(formats))
			list = append(list, f)
			list = append(list, formats[:i]...)
			return append(list, formats[i+1:]...)
		}
	}
	return formats
}

// tells reports whether a single line tells that it is of the format.
func (f *format) tells(text string) bool { return !f.shapeless && f.sure != nil && f.sure(text) }

// blank returns a machine that has read nothing, to try a format. It knows the names of interfaces. It
// is the same one until it is taken as r.trial: most lines try each format.
func (r *reader) blank() *machine {
	if r.spare == nil || r.spare == r.trial {
		r.spare = &machine{}
	}
	*r.spare = machine{context: context{at: -1}}
	if r.fresh != nil {
		r.spare.context = *r.fresh
	} else if r.now != nil {
		r.spare.context = r.now.context
	}
	return r.spare
}

// try reads a line, and reports whether it has the format's form.
func (m *machine) try(f *format, text string) bool {
	if f.header != nil && f.header(m, text) || f.row(m, text) != unread {
		m.last = f
		return true
	}
	return false
}

// commit reads the tentative lines for the machine that they belong to. The format of the next
// lines is then known to be possible, but not certain.
func (r *reader) commit() {
	list, f := r.tentative, r.shape
	r.tentative, r.shape, r.trial = nil, nil, nil
	for _, l := range list {
		r.gap = l.gap
		if r.take(f, l) == unread {
			r.lose(l)
		}
	}
}

// drop gives up the tentative lines.
func (r *reader) drop() {
	for _, l := range r.tentative {
		r.lose(l)
	}
	r.tentative, r.shape, r.trial = nil, nil, nil
}

// lose counts a line that is not read.
func (r *reader) lose(l line) {
	r.Lines++
	if r.Lost++; len(r.NotUnderstood) < mostLost {
		r.NotUnderstood = append(r.NotUnderstood, fmt.Sprintf("line %d: %s", l.number,
			plain.Short(strings.TrimSpace(l.text), 100)))
	}
}

// count counts a line of a format. Nil: it is of none, such as a prompt.
func (r *reader) count(f *format, m mark) {
	r.Lines++
	if m == idle {
		r.Idle++
	}
	if f == nil {
		return
	}
	if r.lines == nil {
		r.lines = map[*format]*FormatLines{}
	}
	c := r.lines[f]
	if c == nil {
		c = &FormatLines{Format: f.name}
		r.lines[f] = c
	}
	if m == used {
		c.Used++
	} else {
		c.Idle++
	}
}

// at returns the machine that a line of a format belongs to. Without a prompt, a switch's table and
// whatever repeats what the machine already has belong to a new machine.
func (r *reader) at(f *format, text string) *machine {
	m := r.now
	if m == nil {
		return r.other()
	}
	if r.fresh != nil {
		m.context = *r.fresh
	}
	again := m.has[f] && f.again != nil && f.again(m, text, r.gap)
	if !m.named && (again || len(m.has) > 0 && m.isSwitch() != (f.part == forwardingTable)) {
		return r.other()
	}
	return m
}

const forwardingTable = "forwarding table"

// isSwitch reports whether the machine has a switch's table of MAC addresses.
func (m *machine) isSwitch() bool {
	for f := range m.has {
		if f.part == forwardingTable {
			return true
		}
	}
	return false
}

func (r *reader) other() *machine {
	m := &machine{has: map[*format]bool{}, context: context{at: -1}}
	if r.next != "" {
		m.named, m.Reading.Host = true, r.next
	}
	if r.fresh != nil {
		m.context = *r.fresh
	}
	return m
}

// keep records that a line of a format was read.
func (r *reader) keep(m *machine, f *format) {
	if !slices.Contains(r.all, m) && len(r.all) < mostMachines {
		r.all = append(r.all, m)
	}
	if f.part != "nics" {
		m.block = ""
	}
	m.has[f], m.last = true, f
	r.now, r.gap, r.next, r.fresh = m, false, "", nil
}

// finish names the machines without a prompt, and removes those of which only a header was read.
func (r *reader) finish() {
	r.end()
	for _, f := range formats {
		if c := r.lines[f]; c != nil {
			r.Formats = append(r.Formats, *c)
		}
	}
	hosts, switches := 0, 0
	for _, m := range r.all {
		m.finishNICs()
		m.finishSockets()
		m.finishRules()
		m.finishLog()
		m.finishParameters()
		m.finishProbes()
		m.finishFirewall()
		m.finishSystem()
		if !m.rows() {
			continue
		}
		m.Schema, m.Reading.Snapshot.Host = netstate.HostSnapshotSchema, m.Reading.Host
		if !m.named {
			if m.isSwitch() {
				switches++
				m.Reading.Host = fmt.Sprint("switch", switches)
			} else {
				hosts++
				m.Reading.Host = fmt.Sprint("host", hosts)
			}
		}
		m.Host.Host, m.Reading.Snapshot.Host = m.Reading.Host, m.Reading.Host
		m.Host.CPUs, m.Reading.Snapshot.Sysctls = max(len(m.Reading.End.Softnet), m.Host.CPUs), m.State.Parameters
		for f := range m.has {
			if f.part != "" && !slices.Contains(m.Pasted, f.part) {
				m.Pasted = append(m.Pasted, f.part)
			}
		}
		if len(m.Reading.End.Interfaces) > 0 {
			m.Pasted = append(m.Pasted, "interface counters")
		}
		if len(m.State.Sockstat) > 0 && !slices.Contains(m.Pasted, "sockstat") {
			m.Pasted = append(m.Pasted, "sockstat")
		}
		slices.Sort(m.Pasted)
		r.Machines = append(r.Machines, m.HostSnapshot)
	}
}

func (m *machine) rows() bool {
	s, end, state := m.Reading.Snapshot, m.Reading.End, m.State
	return len(s.Interfaces)+len(s.Neighbours)+len(s.FDB)+len(s.Routes)+len(s.Rules)+len(s.Lookups)+len(end.SNMP)+
		len(end.Qdiscs)+len(end.Softnet)+len(state.NICs)+len(state.Parameters)+len(state.TCP)+len(state.Listeners)+
		len(state.Files)+len(state.LLDP) > 0 ||
		state.Log != nil || len(m.Pasted) > 0
}
