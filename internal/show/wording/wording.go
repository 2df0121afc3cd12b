// Package wording turns findings, trust checks and limits into text. As data, they are in packages
// record, cause, fact and hint; no other package has sentences about them. A file here has the text
// for one family of rules.
//
// # How to add a finding
//
// A finding needs code in four packages, each in the file of its family:
//
//  1. internal/model/cause: a variable with the code of the cause and the type of its arguments. The
//     arguments are what the summary and the advice mention (an interface, an address, which of
//     several cases it is); figures that were read are evidence, not arguments. How the variable is
//     declared decides which findings on one host are merged: all (one), those with the same About
//     (about), those with the same About and arguments (each), or those with the same key (by). Use
//     by if an argument changes from trial to trial.
//  2. internal/model/fact: a type for each kind of evidence, registered by is. The types in
//     shared.go, such as Counter and Parameter, are for all families: rules that use the same reading
//     must return equal facts. A fact contains what was read, never text; Fact.Host is the host that
//     was read. If a fact names a kernel parameter or an interface, it returns the name from Names,
//     because findings about something that the run itself has set are left out.
//  3. internal/science/diagnose: the rule. It adds evidence by Finding.With, steps of the fix by
//     Fixed, and by At the touches, which say what another finding must share with this one to
//     explain it. About is the interface, address or object that the finding is about. A setting is a
//     step (record.Settings), and so is a flush of a neighbour table (Step.Flush). Advice that is the
//     same for all findings of a cause, or follows from the arguments, needs no step; advice with
//     other figures is record.Advice with a type of package hint. Rules name other causes by
//     cause.Codes.
//  4. this package: say for each cause, spell for each kind of facts, advise for each kind of hints.
//     words.found says when the cause is found, for doctor --explain and docs/doctor-rules.md.
//
// TestFindings compares the text of all recorded findings with testdata/findings.golden. After an
// intended change, go test -update rewrites that file.
package wording

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/kind"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// words is the text of a cause whose findings have arguments of type A.
type words[A any] struct {
	text    string                             // summary, if it is the same for all findings
	summary func(f record.Finding, a A) string // summary, if it depends on the finding; nil: text
	// fix is advice around the steps. The steps replace the line theSteps; without that line they come
	// first. DEV stands for the interface that the finding is about.
	fix     []string
	fixed   func(f record.Finding, a A) []string // fix, if it depends on the finding; nil: fix
	found   string                               // when it is found, for the documents and doctor --explain
	read    string                               // reference: kernel document, RFC or manual page
	readFor func(a A) string                     // reference, if it depends on the arguments; nil: read
	// anywhere reports whether the advice is for no particular host, so that no host is named.
	anywhere bool
	// instead returns the beginning of a step that can be taken instead of those before it; nil: "or,
	// instead: ".
	instead func(a A) string
}

// theSteps is replaced by the steps of a finding.
const theSteps = "\x00steps"

// nowhere begins a line of advice that is for no particular host.
const nowhere = "\x00nowhere "

// said is the text of a cause, for any type of arguments.
type said struct {
	summary, reference func(record.Finding) string
	instead            func(record.Finding) string
	fix                func(record.Finding) []string
	found              string
	anywhere           bool
}

var causes table[cause.Code, said]

// say adds the text of a cause. The compiler checks that it uses the arguments of the cause.
func say[A any](c cause.Of[A], w words[A]) {
	of := func(f record.Finding) A {
		a, _ := f.Args.(A)
		return a
	}
	s := said{found: w.found, anywhere: w.anywhere,
		summary:   func(record.Finding) string { return w.text },
		reference: func(record.Finding) string { return w.read },
		instead:   func(record.Finding) string { return "or, instead: " },
		fix:       func(record.Finding) []string { return w.fix }}
	if w.summary != nil {
		s.summary = func(f record.Finding) string { return w.summary(f, of(f)) }
	}
	if w.fixed != nil {
		s.fix = func(f record.Finding) []string { return w.fixed(f, of(f)) }
	}
	if w.readFor != nil {
		s.reference = func(f record.Finding) string { return w.readFor(of(f)) }
	}
	if w.instead != nil {
		s.instead = func(f record.Finding) string { return w.instead(of(f)) }
	}
	causes.set(c.Code, s)
}

var (
	facts table[reflect.Type, func(host string, is any) string]
	hints table[reflect.Type, func(is any) string]
)

// spell adds the text of a kind of facts.
func spell[F any](say func(host string, is F) string) {
	facts.set(reflect.TypeFor[F](), func(host string, is any) string { return say(host, is.(F)) })
}

// advise adds the text of a kind of hints.
func advise[H any](say func(is H) string) {
	hints.set(reflect.TypeFor[H](), func(is any) string { return say(is.(H)) })
}

// Worded returns a finding with its text. With alone, there is no other host, so that steps need
// not name theirs. A finding that has only text keeps it.
func Worded(f record.Finding, alone bool) record.Finding {
	s, known := causes.of(f.ID)
	if !known || !f.IsData() {
		return f
	}
	// A host that is named by an address was not read: its steps are of several.
	if _, err := netip.ParseAddr(f.Host); err == nil {
		alone = false
	}
	f.Summary, f.Reference = s.summary(f), s.reference(f)
	f.Evidence, f.Fix, f.Advice, f.Settings = []string{}, []string{}, nil, f.Changes()
	for _, one := range f.Facts {
		f.Evidence = append(f.Evidence, Fact(one))
	}
	pasted := forShell(f)
	around := s.fix(pasted)
	if f.System != "" {
		around, f.Reference, f.Settings = foreignFix(pasted, around), foreignReference(f, f.Reference), nil
	} else if !slices.Contains(around, theSteps) {
		around = append([]string{theSteps}, around...)
	}
	for _, line := range around {
		if line == theSteps {
			f = withSteps(f, alone)
			continue
		}
		line, anyHost := strings.CutPrefix(line, nowhere)
		line = on(f.Host, alone || s.anywhere || anyHost, withDevice(pasted, line))
		f.Fix, f.Advice = append(f.Fix, line), append(f.Advice, line)
	}
	f.Subject, f.Places = cmp.Or(subject(f.About), f.Subject), f.Spelled()
	return f
}

// withDevice replaces DEV by the interface that a finding is about.
func withDevice(f record.Finding, text string) string {
	return strings.ReplaceAll(text, "DEV", cmp.Or(f.About.Interface, "DEV"))
}

func subject(about record.Subject) string {
	if about.Address.IsValid() {
		return about.Address.String()
	}
	return about.Object
}

// withSteps adds the steps of a finding to its fix.
func withSteps(f record.Finding, alone bool) record.Finding {
	for _, s := range f.Steps {
		for i, line := range Step(s, alone) {
			if s.Instead && i == 0 {
				of, _ := causes.of(f.ID)
				line = of.instead(f) + line
			}
			if f.Fix = append(f.Fix, line); s.Instead || s.Setting == nil && s.Flush == nil {
				f.Advice = append(f.Advice, line)
			}
		}
	}
	return f
}

func on(host string, alone bool, line string) string {
	if alone || host == "" {
		return line
	}
	return "on " + host + ": " + line
}

// Step returns the lines of a step: commands or advice.
func Step(s record.Step, alone bool) (lines []string) {
	switch {
	case s.Setting != nil:
		lines = hostconfig.Commands([]setting.Setting{*s.Setting})
	case s.Flush != nil:
		lines = []string{hostconfig.Command(s.Flush.Command()...)}
	case s.Command != nil:
		lines = []string{hostconfig.Command(s.Command...)}
	case s.Hint != nil:
		lines = []string{unknown(s.Hint.Is)}
		if say, has := hints.of(reflect.TypeOf(s.Hint.Is)); has {
			lines[0] = say(quoted(s.Hint.Is))
		}
	}
	for i := range lines {
		lines[i] = on(s.Host, alone, lines[i])
	}
	return lines
}

// Fact returns a fact as text.
func Fact(f fact.Fact) string {
	if say, has := facts.of(reflect.TypeOf(f.Is)); has {
		return say(f.Host, f.Is)
	}
	return unknown(f.Is)
}

// unknown returns what a later version has written, of a kind that this version has no text for.
func unknown(is any) string {
	if u, is := is.(kind.Unknown); is {
		return u.Name + ": " + u.JSON
	}
	return fmt.Sprintf("%+v", is)
}

// Found returns when a cause is found; empty: this version does not know the cause.
func Found(code cause.Code) string {
	s, _ := causes.of(code)
	return s.found
}

// Causes returns the codes that have text, sorted.
func Causes() []cause.Code { return slices.Sorted(slices.Values(causes.keys())) }
