package settingfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "puppet", label: "Puppet manifest", manual: "forge.puppet.com, module sysctl", by: "`.pp`, or `sysctl {`",
	yields: "resources `sysctl` and `sysctl::value` with `value`; what depends on a variable is not read",
	named:  func(base, _ string) bool { return path.Ext(base) == ".pp" },
	has:    func(text string) bool { return puppetResource.MatchString(text) },
	read:   (*File).puppet,
})

var _ = register(&format{
	name: "hiera", label: "Hiera data", manual: "puppet.com/docs, Hiera", by: "keys with `::`",
	yields: "mappings of parameters below keys with `sysctl`",
	shape: func(n *source.Node) bool {
		return slices.ContainsFunc(n.Entries, func(e source.Entry) bool {
			return strings.Contains(e.Key.Text, "::")
		})
	},
	tree: func(r *treeReader, n *source.Node) {
		for _, e := range n.Entries {
			if !strings.Contains(e.Key.Text, "sysctl") {
				continue
			}
			r.use(e.Value)
			for _, one := range e.Value.Entries {
				if value := at(one.Value, "value"); value != nil {
					r.parameter(one.Key, value)
				} else if isParameter(one.Key.Text) {
					r.parameter(one.Key, one.Value)
				}
			}
		}
	},
})

var puppetResource = pattern.MustCompile(`(?m)^\s*sysctl(::\w+)?\s*\{\s*['"\[$]`)

// puppetToken matches a token of a manifest: a comment, a string, a name, an arrow, or a sign.
var puppetToken = pattern.MustCompile(`#[^\n]*|/\*(?s:.*?)\*/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` +
	`\$?(?:::)?\w[\w:-]*|` +
	`=>|\s+|.`)

// lexeme is a token of a text with its line.
type lexeme struct {
	text string
	line int
}

// lexemes splits a text into tokens, without blanks and comments.
func lexemes(by *pattern.Pattern, text string) (list []lexeme) {
	line := 1
	for _, t := range by.Regexp().FindAllString(text, -1) {
		if strings.TrimSpace(t) != "" && t[0] != '#' && !strings.HasPrefix(t, "/*") {
			list = append(list, lexeme{t, line})
		}
		line += strings.Count(t, "\n")
	}
	return list
}

// quotedText returns the text of a string token. It returns false for other tokens, and for strings
// with an expression.
func quotedText(token string) (text string, is bool) {
	if len(token) < 2 || token[0] != '\'' && token[0] != '"' || token[0] == '"' && strings.Contains(token, "$") {
		return "", false
	}
	return strings.NewReplacer(`\'`, `'`, `\"`, `"`, `\\`, `\`).Replace(token[1 : len(token)-1]), true
}

// puppet parses resources of a manifest.
func (f *File) puppet(text string) {
	tokens := lexemes(puppetToken, text)
	var blocks []string // conditions of the blocks around a token
	pending := ""
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.text == "if" || t.text == "elsif" || t.text == "else" || t.text == "unless" || t.text == "case":
			pending = fmt.Sprintf("%s on line %d", t.text, t.line)
		case t.text == "{":
			blocks = append(blocks, pending)
			pending = ""
		case t.text == "}" && len(blocks) > 0:
			blocks = blocks[:len(blocks)-1]
		case puppetType.MatchString(t.text) && i+1 < len(tokens) && tokens[i+1].text == "{":
			i = f.puppetBodies(tokens, i+2, conditions(blocks))
		}
	}
	f.unmentioned(text)
}

var puppetType = pattern.MustCompile(`^(::)?sysctl(::\w+)*$`)

// conditions joins the conditions that are not empty.
func conditions(list []string) string {
	when := lists.Where(list, func(one string) bool { return one != "" })
	return strings.Join(when, ", ")
}

// puppetBodies parses the bodies of a resource, and returns the index of its end.
func (f *File) puppetBodies(tokens []lexeme, i int, when string) int {
	var titles []lexeme
	value := lexeme{}
	removes := false
	flush := func() {
		for _, title := range titles {
			key, is := quotedText(title.text)
			setting, known := quotedText(value.text)
			if !known && value.text != "" && !strings.HasPrefix(value.text, "$") && value.text[0] != '"' {
				setting, known = value.text, true // a number
			}
			switch {
			case removes:
				f.apart(Note, title.line, title.text, "takes the parameter out of a file, and sets nothing")
			case !is || !known && value.text != "":
				f.apart(Unread, title.line, title.text+" "+value.text, "depends on a variable")
			case value.text == "":
				f.apart(Unread, title.line, title.text, "expected value => …")
			default:
				f.set(Line{Line: title.line, Key: dotted(key), Value: setting, When: when}, title.text)
			}
		}
		titles, value, removes = nil, lexeme{}, false
	}
	inTitle, depth := true, 0
	for ; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.text == "{":
			depth++
		case t.text == "}" && depth > 0:
			depth--
		case t.text == "}":
			flush()
			return i
		case t.text == ";" && depth == 0:
			flush()
			inTitle = true
		case t.text == ":" && inTitle:
			inTitle = false
		case inTitle && t.text != "[" && t.text != "]" && t.text != ",":
			titles = append(titles, t)
		case t.text == "value" && i+2 < len(tokens) && tokens[i+1].text == "=>":
			value = tokens[i+2]
			i += 2
		case t.text == "ensure" && i+2 < len(tokens) && strings.Contains(tokens[i+2].text, "absent"):
			removes = true
		}
	}
	flush()
	return i
}

// unmentioned lists lines that name a parameter and of which nothing was read.
func (f *File) unmentioned(text string) {
	known := map[int]bool{}
	for _, l := range f.Lines {
		known[l.Line] = true
	}
	for _, a := range f.Apart {
		known[a.Line] = true
	}
	for n, line := range entries(text) {
		if sets(line) && !known[n] && !strings.HasPrefix(line, "//") {
			f.apart(Unread, n, line, "in a place in which "+FormatName(f.Format)+" has no parameters")
		}
	}
}
