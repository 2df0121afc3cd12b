package settingfile

import (
	"path"
	"strings"

	"linerate/internal/model/pattern"
)

var _ = register(&format{
	name: "terraform", label: "Terraform", manual: "developer.hashicorp.com/terraform/language",
	by: "`.tf`, `.hcl`, or a block `resource \"…\" \"…\" {`",
	yields: "`\"net.…\" = \"…\"` and, of AKS, `net_… = …`; here-documents, each as a file of the kind that its " +
		"content shows. Expressions are not read",
	named: func(base, _ string) bool { return path.Ext(base) == ".tf" || path.Ext(base) == ".hcl" },
	has:   func(text string) bool { return terraformBlock.MatchString(text) },
	read:  (*File).terraform,
})

var (
	terraformBlock     = pattern.MustCompile(`(?m)^(resource|data|module|variable|locals)\s*("[^"]*"\s*)*\{`)
	terraformAttribute = pattern.MustCompile(`^"?([\w./-]+)"?\s*[=:]\s*(.*?),?$`)
	terraformHeredoc   = pattern.MustCompile(`<<[-~]?([A-Za-z_]\w*)\s*$`)
	portOfRange        = pattern.MustCompile(`^net_ipv4_ip_local_port_range_(min|max)\s*=\s*"?(\d+)"?$`)
	// underlined matches the name of a parameter of AKS.
	underlined = pattern.MustCompile(`^(net|fs|kernel|vm)_[a-z0-9_]+$`)
)

// hclLiteral matches the beginning of a string, a number or a truth value.
var hclLiteral = pattern.MustCompile(`^(?:"|\d+$|true$|false$|$)`)

// terraform parses attributes whose names are parameters, and here-documents.
func (f *File) terraform(text string) {
	var document strings.Builder
	within, marker, begin, n := "", "", 0, 0
	var ports portRange
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		switch m := terraformHeredoc.FindStringSubmatch(bare); {
		case marker != "" && bare == marker:
			first := begin
			f.block("user-data", undented(document.String()), func(line int) int { return first + line })
			document.Reset()
			marker = ""
			continue
		case marker != "":
			document.WriteString(line)
			continue
		case m != nil:
			marker, begin = m[1], n
			continue
		case bare == "" || bare[0] == '#' || strings.HasPrefix(bare, "//"):
			continue
		case terraformBlock.MatchString(line):
			f.lonePort(&ports)
			within = strings.TrimSpace(strings.ReplaceAll(strings.TrimRight(bare, "{ "), `"`, ""))
			continue
		}
		if !f.port(&ports, n, bare, within) {
			f.terraformLine(n, bare, within)
		}
	}
	f.lonePort(&ports)
	if marker != "" {
		f.apart(Wrong, begin, marker, "the here-document has no end")
	}
}

// portRange is a range of ports in AKS, which has a key for the first one and one for the last.
type portRange struct {
	key, value string // of the first of the two lines. Empty: none was there
	line       int
	text       string
}

// port parses a line with an end of the range. It returns false if the line is another one.
func (f *File) port(p *portRange, n int, line, within string) bool {
	m := portOfRange.FindStringSubmatch(line)
	switch {
	case m == nil:
		return false
	case p.key == "" || p.key == m[1]:
		f.lonePort(p)
		*p = portRange{m[1], m[2], n, line}
		return true
	}
	first, last := p.value, m[2]
	if m[1] == "min" {
		first, last = last, first
	}
	f.set(Line{Line: n, Key: "net.ipv4.ip_local_port_range", Value: first + " " + last, Within: within}, line)
	*p = portRange{}
	return true
}

// lonePort lists an end of a range that has no other one.
func (f *File) lonePort(p *portRange) {
	if p.key != "" {
		f.apart(Unread, p.line, p.text, "a port range with one of its two limits")
	}
	*p = portRange{}
}

// terraformLine parses an attribute.
func (f *File) terraformLine(n int, line, within string) {
	m := terraformAttribute.FindStringSubmatch(line)
	key := ""
	if m != nil && isParameter(m[1]) {
		key = dotted(m[1])
	} else if m != nil && underlined.MatchString(m[1]) {
		if key = aksKeys()[strings.ToLower(strings.ReplaceAll(m[1], "_", ""))]; key == "" {
			f.apart(Unread, n, line, "a parameter that is not known here under this name")
			return
		}
	}
	switch {
	case key == "" && sets(line):
		f.apart(Unread, n, line, "an expression, or a place in which Terraform has no parameters")
	case key == "":
	case strings.Contains(m[2], "${") || !hclLiteral.MatchString(m[2]):
		f.apart(Unread, n, line, "depends on an expression")
	default:
		f.set(Line{Line: n, Key: key, Value: number(unquoted(m[2])), Within: within}, line)
	}
}

// undented takes the blanks away with which every line of a text begins.
func undented(text string) string {
	least := -1
	for line := range strings.Lines(text) {
		if blanks := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" &&
			(least < 0 || blanks < least) {
			least = blanks
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(line[min(max(0, least), len(line)-len(strings.TrimLeft(line, " \t"))):])
	}
	return b.String()
}
