package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
)

// This file finds mistakes in files of settings before anything is tried: settings that are
// set twice, have the wrong unit, are out of bounds, were removed from the kernel, do not
// concern the network, or have no effect because TCP autotunes its buffers. It uses what is
// known about kernels in general. If the kernel that was asked differs, that kernel counts.
//
// It does not say whether a setting helps on a path: that is measured.
//
// https://docs.kernel.org/networking/ip-sysctl.html,
// https://docs.kernel.org/admin-guide/sysctl/net.html

// Kernel is what a kernel reports about the parameters that the files set.
type Kernel struct {
	Release     string
	MemoryBytes int64 // of the machine; 0: unknown
	PageBytes   int64
	HZ          int64 // ticks a second (CONFIG_HZ); 0: not known
	// Namespaces says why it is unknown which parameters each network namespace has. Empty:
	// it is known.
	Namespaces string
	// Parameters has an entry for each key that was asked for.
	Parameters map[string]Known
	// Congestion lists the available congestion controls. Nil: unknown.
	Congestion []string
	// Qdiscs reports for queueing disciplines in the files whether the kernel was built with
	// them, perhaps as a module. Absent: unknown.
	Qdiscs map[string]bool
}

// Known is what a kernel reports about a parameter.
type Known struct {
	Exists bool
	Value  string // empty: it cannot be read
	Scope  string // record.ScopeNamespace, record.ScopeMachine; empty: not known
	Near   string // if the parameter does not exist: the most similar one that does
}

// pageBytes is the size of a page where no kernel says another.
const pageBytes = 4096

// Files checks files of settings, in the order in which they are read. K is what the kernel
// reports; nil: no kernel was asked.
func Files(files []settingfile.File, k *Kernel) *record.Lint {
	c := &checker{files: files, kernel: k, page: pageBytes, out: &record.Lint{
		Schema: record.LintSchema, Files: []record.LintFile{}, Settings: []record.LintSetting{},
		Findings: []record.LintFinding{}, Unread: []record.LintUnread{},
	}}
	if k != nil {
		c.page = cmp.Or(k.PageBytes, pageBytes)
		c.out.Kernel = &record.LintKernel{Release: k.Release, MemoryBytes: k.MemoryBytes, Namespaces: k.Namespaces}
	}
	c.winning = settingfile.Winning(files, c.refused)
	c.winner = make(map[string]settingfile.Line, len(c.winning))
	for _, l := range c.winning {
		c.winner[l.Identity()] = l
	}
	for i := range files {
		c.file(&files[i])
	}
	c.thresholds()
	gone := map[place]string{}
	for _, f := range c.out.Findings {
		if f.ID != "ignored" && f.Severity == record.LintError || f.ID == "unknown" || f.ID == "removed" {
			gone[place{f.File, f.Line, f.Key}] = f.ID
		}
	}
	for _, l := range c.winning {
		s := c.setting(l)
		s.Without = gone[place{l.File, l.Line, l.Key}]
		c.out.Settings = append(c.out.Settings, s)
	}
	order := map[string]int{}
	for i, file := range files {
		order[file.Name] = i
	}
	slices.SortStableFunc(c.out.Findings, func(a, b record.LintFinding) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line)
	})
	slices.SortStableFunc(c.out.Unread, func(a, b record.LintUnread) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line)
	})
	for _, f := range c.out.Findings {
		switch f.Severity {
		case record.LintError:
			c.out.Errors++
		case record.LintWarning:
			c.out.Warnings++
		default:
			c.out.Notes++
		}
	}
	return c.out
}

// place is a parameter on a line of a file, which may have several.
type place struct {
	file string
	line int
	key  string
}

// checker checks files and collects findings.
type checker struct {
	files   []settingfile.File
	winning []settingfile.Line
	winner  map[string]settingfile.Line // lines that are in effect in the end, by their identity
	// byteKeys has the first parameter in bytes for each text of numbers that one is set to.
	byteKeys map[string]string
	kernel   *Kernel
	page     int64
	out      *record.Lint
}

// add notes a finding with the code and the arguments of its remark; fix is what to write instead.
func (c *checker) add(l settingfile.Line, id, severity, fix, code string, args ...any) {
	if l.Optional && id == "unknown" {
		severity = record.LintNote
	}
	remark := record.Statement{Code: code}
	for _, arg := range args {
		remark.Args = append(remark.Args, fmt.Sprint(arg))
	}
	c.out.Findings = append(c.out.Findings, record.LintFinding{
		ID: id, Severity: severity, File: l.File, Line: l.Line, Key: l.Key, Value: l.Value, Remark: remark, Fix: fix,
	})
}

func (c *checker) latest() *record.LintFinding { return &c.out.Findings[len(c.out.Findings)-1] }

// advise notes what to do about the latest finding.
func (c *checker) advise(code string, args ...string) {
	c.latest().Advice = &record.Statement{Code: code, Args: args}
}

// correct notes what was meant in the line of the latest finding. What the line has is no correction,
// except of the way in which it is written.
func (c *checker) correct(key, value string) {
	f := c.latest()
	if key == "" || value == "" || f.ID != "syntax" && key == f.Key && same(value, f.Value) {
		return
	}
	f.Corrects = &setting.Sysctl{Key: key, Value: value}
}

func (c *checker) file(f *settingfile.File) {
	made := record.LintFile{File: f.Name, Format: f.Format, System: f.System, Settings: len(f.Lines),
		Unread: f.Unread(), Lines: f.Candidates(), Nothing: f.Nothing(), Blank: f.Blank,
		Unjudged: f.System != opsystem.Linux}
	for _, d := range f.Documents {
		made.Documents = append(made.Documents, record.LintDocument(d))
	}
	c.out.Files = append(c.out.Files, made)
	for _, a := range f.Apart {
		c.apart(a)
	}
	for _, l := range f.Lines {
		comment, first := "", len(c.out.Findings)
		if f.System == opsystem.Linux {
			l.Value, comment = l.Bare()
		}
		c.twice(l)
		if l.Slip != "" {
			c.add(l, "syntax", record.LintError, l.Fix, record.LintText, l.Slip)
			if !l.IsOption() {
				c.correct(l.Key, l.Value)
			}
		}
		if comment != "" {
			c.comment(l, comment)
		}
		if l.When != "" {
			c.add(l, "conditional", record.LintNote, "", record.LintWhen, l.When)
		}
		if f.System == opsystem.Linux {
			c.linux(l)
		} else {
			c.bsd(f, l)
		}
		c.mend(l, first)
	}
}

// apart adds a line that sets nothing, or a remark on one.
func (c *checker) apart(a settingfile.Apart) {
	id, severity := "apart", record.LintNote
	switch a.Kind {
	case settingfile.Unread:
		c.out.Unread = append(c.out.Unread, record.LintUnread{File: a.File, Line: a.Line, Text: a.Text, Why: a.Why})
		return
	case settingfile.Odd:
		id, severity = "script", record.LintWarning
	case settingfile.Wrong:
		id, severity = "syntax", record.LintError
	}
	fix := strings.Join(a.Instead, "\n")
	if key, _, is := strings.Cut(a.Maybe, " = "); is && find(key) != nil {
		fix = a.Maybe
	}
	c.out.Findings = append(c.out.Findings, record.LintFinding{ID: id, Severity: severity, File: a.File, Line: a.Line,
		Value: a.Text, Remark: statement(record.LintText, a.Why), Fix: fix})
}

// refused reports whether programs or the kernel refuse a line, so that an earlier line stays in
// effect.
func (c *checker) refused(l settingfile.Line) bool {
	i := slices.IndexFunc(c.files, func(f settingfile.File) bool { return f.Name == l.File })
	if c.files[i].System != opsystem.Linux {
		return false
	}
	alone := &checker{files: c.files, kernel: c.kernel, page: c.page, out: &record.Lint{}}
	l.Value, _ = l.Bare()
	if l.IsOption() {
		return l.Wrong() != ""
	}
	if p := find(l.Key); p != nil {
		alone.takes(l, p)
	} else {
		alone.switched(l)
	}
	return l.Slip != "" || slices.ContainsFunc(alone.out.Findings, func(f record.LintFinding) bool {
		return f.ID == "refused" && f.Severity == record.LintError
	})
}

// wins reports whether the line is in effect after all files were read.
func (c *checker) wins(l settingfile.Line) bool {
	w := c.winner[l.Identity()]
	return w.File == l.File && w.Line == l.Line
}

// after reports whether a line comes after another.
func (c *checker) after(l, other settingfile.Line) bool {
	at := func(l settingfile.Line) int {
		return slices.IndexFunc(c.files, func(f settingfile.File) bool { return f.Name == l.File })
	}
	return at(l) > at(other) || at(l) == at(other) && l.Line > other.Line
}

// twice reports a line that another one, of this file or a later one, overrides.
func (c *checker) twice(l settingfile.Line) {
	w := c.winner[l.Identity()]
	refused := c.refused(l) && !c.refused(w)                                    // which has a finding of its own
	if c.wins(l) || refused && !c.after(w, l) || l.When != "" || w.When != "" { // of conditions not both may hold
		return
	}
	severity, code, file := record.LintWarning, record.LintTwice, w.File
	if refused {
		severity = record.LintNote
	} else if value, _ := w.Bare(); same(value, l.Value) {
		severity, code = record.LintNote, record.LintTwiceSame
	}
	if file == l.File {
		file = ""
	}
	c.add(l, "twice", severity, "", code, file, w.Line, w.Value)
	c.advise(record.AdviceOne)
	c.latest().Other = w.Where()
}

// comment reports a comment after a value. The kernel ignores it after a number, and
// refuses a name with it.
func (c *checker) comment(l settingfile.Line, comment string) {
	severity, code := record.LintWarning, record.LintComment
	if p := find(l.Key); p != nil && p.values == 0 {
		severity, code = record.LintError, record.LintCommentName
	}
	c.add(l, "syntax", severity, "", code, comment)
	c.advise(record.AdviceOwnLine)
	c.correct(l.Key, l.Value)
}

// linux adds the findings about a line of a file for Linux.
func (c *checker) linux(l settingfile.Line) {
	if l.IsOption() { // what the interface has is known when it is tried
		if why := l.Wrong(); why != "" {
			c.add(l, "refused", record.LintError, "", record.LintText, why)
		}
		return
	}
	p := find(l.Key)
	if l.Container && c.ofMachine(l, p) {
		c.add(l, "refused", record.LintError, "", record.LintContainer, l.Within)
		return
	}
	if !c.exists(l) {
		return
	}
	if p != nil {
		if numbers, ok := c.takes(l, p); ok {
			c.amount(l, p, numbers)
			c.sizes(l, p, numbers)
		}
	} else {
		c.switched(l)
	}
	if !c.wins(l) {
		return // what it would do does not matter any more
	}
	c.now(l, p)
	c.harm(l)
	c.remarks(l)
	switch {
	case !aboutNetwork(opsystem.Linux, l.Key):
		c.add(l, "not-network", record.LintNote, "", record.LintOther)
	case p == nil || p.tcp == "":
	case p.misleads():
		c.add(l, "no-effect", record.LintWarning, "", record.LintMisleads, p.tcp)
	case p.key == DefaultQdisc:
		c.add(l, "no-effect", record.LintNote, "", record.LintNoEffectUntil, p.tcp)
	default:
		c.add(l, "no-effect", record.LintNote, "", record.LintNoEffect, p.tcp)
	}
}

// exists returns whether the kernel has the parameter of a line, and adds a finding if it was
// removed from Linux or this kernel lacks it.
func (c *checker) exists(l settingfile.Line) bool {
	known, asked := c.ask(l.Key)
	i := slices.IndexFunc(removed(), func(r removedParameter) bool { return r.key == l.Key })
	setBy, reported := readOnly[l.Key]
	switch module := moduleOf(l.Key); {
	case reported:
		c.add(l, "refused", record.LintError, "", record.LintReadOnly)
		if c.advise(record.AdviceLeaveOut); setBy != "" {
			c.advise(record.AdviceSetBy, setBy)
		}
		return false
	case strings.Contains(l.Key, "/") && setting.InterfaceOf(l.Key) == "":
		path := strings.NewReplacer(".", "/", "/", ".").Replace(l.Key)
		c.add(l, "syntax", record.LintError, "", record.LintSeparator, path)
		c.correct(strings.ReplaceAll(l.Key, "/", "."), l.Value)
		return false
	case i >= 0:
		c.gone(l, removed()[i])
		return false
	case asked && !known.Exists && setting.InterfaceOf(l.Key) != "":
		c.add(l, "unknown", record.LintWarning, "", record.LintNoInterface, setting.InterfaceOf(l.Key),
			c.kernel.Release)
		return false
	case asked && !known.Exists && module != "":
		c.add(l, "unknown", record.LintWarning, "", record.LintModule, module, c.kernel.Release)
		return false
	case asked && !known.Exists:
		c.missingKey(l, known.Near)
		return false
	case !asked && module != "":
		c.add(l, "module", record.LintNote, "", record.LintModuleNeeded, module)
	case !asked && strings.HasPrefix(l.Key, "net.") && find(l.Key) == nil:
		if key := similar(l.Key); key != "" && c.means(l, key) {
			_, value, _ := c.instead(l, key)
			c.add(l, "unknown", record.LintWarning, key, record.LintUnknown, key)
			c.correct(key, value)
			return false
		}
	}
	return true
}

// bsd adds the findings about a line of a file for another system than Linux.
func (c *checker) bsd(f *settingfile.File, l settingfile.Line) {
	for _, r := range remarks() {
		if r.system != f.System || !r.about(l.Key) || r.key == "net.inet.ip.mtudisc" && l.Value != "0" {
			continue
		}
		if r.id == "boot-time" {
			if f.Format != "loader.conf" {
				c.add(l, r.id, r.severity, "", record.LintElsewhere)
			}
			continue
		}
		c.add(l, r.id, r.severity, r.fix, record.LintText, r.says)
	}
	each := bufferBytes[l.Key]
	if n, ok := integer(l.Value); ok && each > 0 && each*n >= manyBytes {
		c.add(l, "unit", record.LintWarning, "", record.LintBuffers, size(each), n, size(each*n))
	}
	if !aboutNetwork(f.System, l.Key) {
		c.add(l, "not-network", record.LintNote, "", record.LintOther)
	}
}

// ask returns what the kernel reports about a key. Asked is false if no kernel was asked, or not
// for this key.
func (c *checker) ask(key string) (known Known, asked bool) {
	if c.kernel == nil {
		return Known{}, false
	}
	known, asked = c.kernel.Parameters[key]
	return known, asked
}

// setting describes a line that is in effect after all files were read.
func (c *checker) setting(l settingfile.Line) record.LintSetting {
	system := opsystem.Linux
	for _, f := range c.files {
		if f.Name == l.File {
			system = f.System
		}
	}
	s := record.LintSetting{File: l.File, Line: l.Line, Key: l.Key, Value: l.Value, Network: l.IsOption() ||
		aboutNetwork(system, l.Key), When: l.When, Within: l.Within}
	switch {
	case system != opsystem.Linux:
		return s
	case l.IsOption():
		if s.Scope = record.ScopeNamespace; l.MachineWide() {
			s.Scope = record.ScopeMachine
		}
		return s
	}
	known, asked := c.ask(l.Key)
	p := find(l.Key)
	s.Current, s.Scope = known.Value, known.Scope
	switch {
	case asked && !known.Exists:
		s.Scope = ""
	case s.Scope != "":
	case !strings.HasPrefix(l.Key, "net."):
		s.Scope = record.ScopeMachine
	case p != nil:
		s.Scope = p.scope
	}
	value, _ := l.Bare()
	n, ok := integers(value)
	switch {
	case p == nil || !ok:
	case p.unit == pages:
		s.Amounts = size(slices.Max(n) * c.page)
	case p.key == portRange && len(n) == 2 && n[0] <= n[1]:
		s.Amounts = fmt.Sprintf("%d ports", n[1]-n[0]+1)
	}
	if l.Container { // which has values of its own
		s.Current = ""
	}
	return s
}
