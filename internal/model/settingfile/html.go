package settingfile

import (
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"linerate/internal/model/pattern"
)

const htmlFile = "html"

var _ = register(&format{
	name: htmlFile, label: "HTML page", by: "`.html`, or `<!DOCTYPE html>`",
	yields: "what is in `<pre>`, or in `<code>` over several lines, each as a file of the kind that its content " +
		"shows; text and tables are not read",
	named: func(base, _ string) bool { return path.Ext(base) == ".html" || path.Ext(base) == ".htm" },
	read:  (*File).html,
})

// htmlHead matches the beginning of a page.
var htmlHead = pattern.MustCompile(`(?i)\A[\s\x{feff}]*(<!--[^>]*-->\s*)*(<\?xml[^>]*\?>\s*)?` +
	`<(!doctype html|html[\s>])`)

// htmlReader reads a page.
type htmlReader struct {
	f     *File
	row   int // line of the page at which the next token begins
	block strings.Builder
	rows  []int     // the line of the page for each line of the block
	open  atom.Atom // of the block. 0: there is none
	deep  int       // elements of that name in the block
	quiet atom.Atom // script or style
	text  strings.Builder
}

// html parses the blocks of code of a page.
func (f *File) html(text string) {
	r := &htmlReader{f: f, row: 1}
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := z.Next()
		breaks := strings.Count(string(z.Raw()), "\n")
		switch kind {
		case html.ErrorToken:
			r.endText()
			r.end()
			return
		case html.TextToken:
			r.words(html.UnescapeString(string(z.Raw())))
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			r.tag(atom.Lookup(name), kind)
		}
		r.row += breaks
	}
}

// tag begins or ends an element.
func (r *htmlReader) tag(name atom.Atom, kind html.TokenType) {
	begins := kind == html.StartTagToken
	switch name {
	case atom.Script, atom.Style:
		if r.quiet = 0; begins {
			r.quiet = name
		}
	case atom.Br:
		if r.open != 0 && r.quiet == 0 { // a line of the block on the same line of the page
			r.block.WriteByte('\n')
			r.rows = append(r.rows, r.row)
			return
		}
		r.words("\n")
	case atom.P, atom.Div, atom.Li, atom.Tr, atom.H1, atom.H2, atom.H3, atom.Table, atom.Dd, atom.Dt:
		r.endText()
	case atom.Pre, atom.Code, atom.Textarea:
		switch {
		case r.open == 0 && begins:
			r.open, r.deep, r.rows = name, 1, []int{r.row}
		case r.open == name && begins:
			r.deep++
		case r.open == name:
			if r.deep--; r.deep == 0 {
				r.end()
			}
		}
	}
}

// words adds text to the block, or to the paragraph.
func (r *htmlReader) words(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\u00a0", " ").Replace(text)
	switch {
	case r.quiet != 0:
	case r.open != 0:
		r.block.WriteString(text)
		for i := range strings.Count(text, "\n") {
			r.rows = append(r.rows, r.row+i+1)
		}
	default:
		r.text.WriteString(text)
		if strings.Contains(text, "\n") {
			r.endText()
		}
	}
}

// end reads the block, if it is one of code: code on one line is a word of the text.
func (r *htmlReader) end() {
	if r.open == 0 {
		return
	}
	text, rows, word := r.block.String(), r.rows, r.open == atom.Code
	r.block.Reset()
	r.rows, r.open = nil, 0
	if word && !strings.Contains(strings.TrimSpace(text), "\n") {
		r.text.WriteString(text)
		return
	}
	r.f.block("block", text, func(line int) int { return rows[min(max(line, 1), len(rows))-1] })
}

// endText lists what a paragraph says of parameters, in the line in which it ends.
func (r *htmlReader) endText() {
	if text := r.text.String(); sets(text) {
		r.f.apart(Unread, r.row, text, "text: only blocks of <pre> and <code> are read")
	}
	r.text.Reset()
}
