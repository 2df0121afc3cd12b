package pasted

import (
	"fmt"
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
	// inside has the machine that each network namespace or container is on, by its name, and hosts those that have
	// the network namespace of their machine.
	inside map[string]*machine
	hosts  map[string]bool
	away   bool   // whether a command named another network namespace than that of home
	next   string // name from a prompt or title for the lines that follow
	gap    bool   // whether an empty line precedes, or a section begins
	// fresh is the context of the lines after the beginning of a section. Nil: that of the previous
	// lines continues.
	fresh  *context
	in     start
	number int // of the line that is read
	// collected has the lines of the section if one of its formats needs all of them, and json the
	// depth of the JSON in them.
	collected []line
	json      jsonDepth
	// tentative are lines of one shape that are too few to tell the format, and trial is a machine
	// that has read only them.
	tentative []line
	shape     *format
	trial     *machine
	scratch   *machine // to try formats
	lines     map[*format]*FormatLines
	// member is the file of an archive that is read: all of it is one section. Empty: none is. file is the
	// file that has the section.
	member, file string
}

// wholly reports whether a format of the section needs all of its lines.
func (r *reader) wholly() bool {
	return slices.ContainsFunc(r.in.formats, needsAll)
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
	if r.member != "" {
		r.readKnown(l)
		return
	}
	inside := len(r.collected) > 0 && r.json.depth > 0
	if s, is := startOf(l.text); is && (s.host != "" || !inside) && !r.commented(l.text, s) {
		r.begin(s)
		return
	}
	if list := wholes(l.text); !inside && len(list) > 0 && !r.wholly() {
		r.end()
		r.in = start{formats: list}
	}
	if m := title.FindStringSubmatch(l.text); m != nil && !inside && r.names(l.text, m[1]) {
		r.begin(start{host: m[1]})
		return
	}
	switch {
	case fence.MatchString(l.text):
		r.count(nil, idle)
		r.gap = true
		return
	case isNoise(l.text):
		r.count(nil, idle)
		return
	case len(r.in.formats) == 0:
		r.guess(l)
		return
	}
	r.readKnown(l)
}

// readKnown reads a line of a section of known formats.
func (r *reader) readKnown(l line) {
	if r.wholly() {
		r.collect(l)
		return
	}
	if isNoise(l.text) {
		r.count(nil, idle)
		return
	}
	for _, f := range r.ordered(r.in.formats) {
		if mark := r.take(f, l); mark != unread {
			return
		}
	}
	// The output of a command ends without a prompt where a line tells another format.
	if r.member == "" && l.gap && slices.ContainsFunc(formats, func(f *format) bool { return f.tells(l.text) }) {
		r.in.formats, r.fresh = nil, behind(nil)
		r.guess(l)
		return
	}
	r.lose(l)
}

// isNoise reports whether a line is what shells and programs print instead of an output.
func isNoise(text string) bool {
	const longest = 40 // of complaints with ": "
	if len(text) > longest && !strings.Contains(text[len(text)-longest:], ": ") &&
		text[0]|0x20 != 'l' && text[0] != '[' {
		return false
	}
	text = strings.ToLower(strings.TrimSuffix(text, "."))
	for _, said := range complaints {
		if before, is := strings.CutSuffix(text, said); is && (before == "" || strings.HasSuffix(before, ": ")) {
			return true
		}
	}
	return slices.Contains([]string{"logout", "exit", "^c"}, text) || strings.HasPrefix(text, "last login: ") ||
		strings.HasPrefix(text, "[sudo] password")
}

// complaints are the reasons of shells and of the C library, in small letters.
var complaints = []string{"command not found", "command not found or not executable", "permission denied",
	"operation not permitted", "no such file or directory", "no such device", "not found", "operation not supported",
	"cannot open", "invalid argument", "is a directory", "fib table does not exist", "dump terminated"}

// names reports whether a line that ends with a colon names a machine.
func (r *reader) names(text, name string) bool {
	if slices.Contains(sections, name) || slices.Contains(bsdHeads, name) || slices.Contains(driverKeys, name) ||
		slices.Contains(partTitles, name) {
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
	if r.member == "" {
		r.count(nil, idle)
	}
	r.in, r.gap, r.fresh = s, true, behind(s.command)
	r.fresh.filtered = s.filtered
	r.fresh.began = r.number
	if r.home != nil || r.away {
		r.now, r.next, r.home, r.away = r.home, "", nil, false
	}
	if s.host != "" {
		r.goTo(plain.Short(s.host, longestName))
	}
	if s.inside != "" {
		r.enter(s.inside)
	}
}

// section reads the text of a section that has so many lines before it in its file.
func (r *reader) section(s start, text string, before int) {
	r.begin(s)
	r.text(text, before)
	r.end()
	r.member = ""
}

// end ends the section.
func (r *reader) end() {
	r.drop()
	r.json = jsonDepth{}
	if len(r.collected) == 0 {
		return
	}
	list := r.collected
	r.collected = nil
	s := &section{lines: list, marks: make([]mark, len(list))}
	for _, f := range r.in.formats {
		if f.whole == nil {
			continue
		}
		r.mentioned(f, list)
		m := r.at(f, "")
		f.whole(m, s)
		if slices.Contains(s.marks, used) {
			m.used = true
			r.keep(m, f)
		}
		for i := range s.marks {
			if s.marks[i] != unread && list[i].text != "" {
				r.count(f, s.marks[i])
			}
		}
		if slices.Contains(s.marks, used) || slices.Contains(s.marks, idle) {
			break
		}
	}
	for i, l := range list {
		if s.marks[i] == unread && l.text != "" {
			r.lose(l)
		}
	}
}

// section is the text that a format reads at once.
type section struct {
	lines []line
	marks []mark
}

// text returns the lines of a section as one text.
func (s *section) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// all marks all lines that are unread.
func (s *section) all(m mark) {
	for i := range s.marks {
		if s.marks[i] == unread {
			s.marks[i] = m
		}
	}
}

// collect keeps a line for the end of the section.
func (r *reader) collect(l line) {
	if len(r.collected) >= mostRows {
		r.lose(l)
		return
	}
	r.collected = append(r.collected, l)
	r.gap = false
	if r.json.ends(l.text) { // what follows without a prompt is something else
		r.end()
		r.in, r.fresh = start{}, behind(nil)
	}
}

// ordered returns formats, beginning with that of the last line.
func (r *reader) ordered(list []*format) []*format {
	if r.now == nil || r.gap || r.now.last == nil || len(list) < 2 {
		return list
	}
	if i := slices.Index(list, r.now.last); i > 0 && !r.now.last.ignores {
		ordered := make([]*format, 0, len(list))
		ordered = append(ordered, list[i])
		ordered = append(ordered, list[:i]...)
		return append(ordered, list[i+1:]...)
	}
	return list
}

// take has a format read a line for the machine that it belongs to.
func (r *reader) take(f *format, l line) mark {
	r.mentioned(f, []line{l})
	m := r.at(f, l.text)
	m.number = l.number
	if f.header != nil && f.header(m, l.text) {
		if m.has[f] && !m.named {
			m = r.other()
			f.header(m, l.text)
		}
		r.keep(m, f)
		r.count(f, idle)
		m.countSystem(f, l.text)
		return idle
	}
	if f.row == nil {
		return unread
	}
	if !f.bounded && m.usedLines[f] >= mostRows {
		r.lose(l)
		return used
	}
	result := f.row(m, l.text)
	if result == used {
		m.used = true
		m.usedLines[f]++
	}
	if result != unread {
		r.keep(m, f)
		r.count(f, result)
		m.countSystem(f, l.text)
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
	if r.scratch == nil {
		r.scratch = &machine{}
	}
	trial := r.scratch
	r.blank(trial)
	guessed := func(f *format) bool { return !f.shapeless && f.row != nil && f != r.shape }
	if !slices.ContainsFunc(kindsOfFormats().guessed, func(f *format) bool {
		return f != r.shape && trial.try(f, l.text)
	}) {
		r.lose(l)
		return
	}
	for _, f := range likely(l.text) {
		if !guessed(f) {
			continue
		}
		r.blank(trial)
		headed := f.header != nil && f.header(trial, l.text)
		if !headed && f.row(trial, l.text) == unread {
			continue
		}
		r.drop()
		r.scratch, r.shape, r.trial, r.tentative = nil, f, trial, []line{l}
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

// blank makes a machine one that has read nothing, to try a format.
func (r *reader) blank(m *machine) {
	*m = machine{context: context{at: -1}}
	if r.fresh != nil {
		m.context = *r.fresh
	} else if r.now != nil {
		m.context = r.now.context
	}
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
		where := fmt.Sprintf("line %d", l.number)
		if r.file != "" {
			where = plain.Short(r.file, 200) + " " + where
		}
		r.NotUnderstood = append(r.NotUnderstood, where+": "+plain.Short(strings.TrimSpace(l.text), 100))
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

// keep records that a line of a format was read.
func (r *reader) keep(m *machine, f *format) {
	if !slices.Contains(r.all, m) && len(r.all) < mostMachines {
		r.all = append(r.all, m)
	}
	if f.part != "nics" && !f.ignores {
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
		m.finishLog()
		m.finishInterfaces()
		m.finishBonds()
		m.finishIRQs()
		m.finishPCI()
		m.finishNICs()
		m.finishCPUs()
		m.finishSockets()
		m.finishRules()
		m.finishParameters()
		m.finishProbes()
		m.finishFirewall()
		m.finishSystem()
		m.finishSystemName()
		m.finishMeasured()
		m.finishTransfers()
		if !m.used {
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
		m.Host.CPUs = max(len(m.Reading.End.Softnet), m.cpus)
		m.Reading.Snapshot.Sysctls = m.State.Parameters
		m.finishParts()
		r.prune(&m.HostSnapshot)
		r.Machines = append(r.Machines, m.HostSnapshot)
	}
}
