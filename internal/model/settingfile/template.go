package settingfile

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/pattern"
)

// This file has parts of texts that another program replaces before a text is used: those of Jinja, Go
// templates (Helm), ERB, and variables.

// template matches such a part, also one that mask has replaced. blanks does so for lines that are
// evaluated.
var (
	template = pattern.MustCompile(
		`\{\{-?\s*(.*?)\s*-?\}\}|<%=?\s*(.*?)\s*-?%>|\$\{[^}]*\}|@[A-Z][A-Z0-9_]*@|` + maskBegin + `[0-9]+` + maskEnd)
	blanks = pattern.MustCompile(`^(\{%|\{\{|<%)`)
)

// templated returns the part of a text that another program replaces. Empty: there is none.
func templated(text string) string { return template.Regexp().FindString(text) }

// Characters around the number of a part that is replaced in a document, so that it can be parsed. They
// are of Unicode's private use.
const maskBegin, maskEnd = "\ue000", "\ue001"

var (
	// bare matches a part of a template that is no text of YAML or JSON.
	bare = pattern.MustCompile(`(?m)^\s*(-\s+)?(\{%|\{\{|\{#)|:\s+\{\{|\{%`)
	// control matches a line that has only a part of a template.
	control = pattern.MustCompile(`^\s*(?:\{%[-+]?\s*(\w*).*%\}|\{\{-?\s*(\w*).*\}\}|\{#.*#\})\s*$`)
	part    = pattern.MustCompile(`\{\{.*?\}\}|\{%.*?%\}`)
	masked  = pattern.MustCompile(maskBegin + `([0-9]+)` + maskEnd)
)

// opening are the words that begin a block of a template, up to a word that begins with "end".
var opening = wordSet("if with range for define block macro unless")

// masking is a text whose parts of a template are replaced.
type masking struct {
	text  string
	parts []string
	when  map[int]string // the blocks that a line is in
	calls []call         // lines that another program may replace by settings
}

// call is a line that is one part of a template.
type call struct {
	line int
	text string
}

// blocksOf are the blocks of a template that a line is in.
type blocksOf []string

// enter takes a line that has only a part of a template, with its word. False: the part is no block's beginning, middle
// or end.
func (b *blocksOf) enter(n int, line, word string) bool {
	switch {
	case opening[word] && len(*b) < deepest && !strings.Contains(line, "end"):
		*b = append(*b, fmt.Sprintf("%s of the template on line %d", word, n))
	case strings.HasPrefix(word, "end") && len(*b) > 0:
		*b = (*b)[:len(*b)-1]
	case strings.HasPrefix(word, "el") && len(*b) > 0: // else, elif, elsif
	default:
		return false
	}
	return true
}

func (b blocksOf) String() string { return strings.Join(b, ", ") }

// mask replaces the parts of templates in a document.
func mask(text string) *masking {
	m := &masking{when: map[int]string{}}
	var b strings.Builder
	var blocks blocksOf
	before, n := "", 0 // before is the last line that is not only a part of a template
	for line := range strings.SplitAfterSeq(text, "\n") {
		n++
		if c := control.FindStringSubmatch(strings.TrimRight(line, "\r\n")); c != nil {
			values := strings.HasSuffix(before, ":") && relevant(before)
			if !blocks.enter(n, line, c[1]+c[2]) && (relevant(line) || values) {
				m.calls = append(m.calls, call{n, strings.TrimSpace(line)})
			}
			b.WriteByte('\n')
			continue
		}
		if before = cmp.Or(strings.TrimSpace(line), before); len(blocks) > 0 {
			m.when[n] = blocks.String()
		}
		b.WriteString(part.Regexp().ReplaceAllStringFunc(line, func(whole string) string {
			m.parts = append(m.parts, whole)
			return fmt.Sprint(maskBegin, len(m.parts)-1, maskEnd)
		}))
	}
	m.text = b.String()
	return m
}

// reveal puts the parts back into a text.
func (m *masking) reveal(text string) string {
	return masked.Regexp().ReplaceAllStringFunc(text, func(whole string) string {
		n := 0
		if fmt.Sscan(masked.FindStringSubmatch(whole)[1], &n); n < len(m.parts) {
			return m.parts[n]
		}
		return whole
	})
}

// unmask puts back what mask has replaced: a line that depends on it was not read.
func (f *File) unmask(m *masking) {
	kept := f.Lines[:0]
	for _, l := range f.Lines {
		if on := masked.Regexp().FindString(l.Key + l.Value); on != "" {
			f.apart(Unread, l.Line, m.reveal(l.Setting()), dependsOn(m.reveal(on)))
			continue
		}
		l.When, l.Within = strings.Trim(m.when[l.Line]+", "+l.When, ", "), m.reveal(l.Within)
		kept = append(kept, l)
	}
	f.Lines = kept
	for i := range f.Apart {
		f.Apart[i].Text, f.Apart[i].Why = short(m.reveal(f.Apart[i].Text)), m.reveal(f.Apart[i].Why)
	}
	for _, c := range m.calls {
		f.apart(Unread, c.line, c.text, "a template: what it becomes is not known here")
	}
}

// dependsOn says that a line has a part that another program replaces.
func dependsOn(part string) string {
	return "it depends on " + part + ", which another program replaces"
}
