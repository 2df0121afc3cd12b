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

// Formats of documents that no other format knows. What is read of them are mappings whose keys are
// kernel parameters.
const (
	yamlFile = "yaml"
	jsonFile = "json"
	tomlFile = "toml"
)

var _, _, _ = register(&format{name: yamlFile, label: "YAML", by: "`.yaml`, `.yml`, or its content",
	yields: "mappings whose keys are kernel parameters"}),
	register(&format{name: jsonFile, label: "JSON", by: "`.json`, or its content",
		yields: "mappings whose keys are kernel parameters"}),
	register(&format{name: tomlFile, label: "TOML", by: "`.toml`", yields: "tables whose keys are kernel parameters"})

// documentFile reports whether a file of this name has documents of YAML, JSON or TOML.
func documentFile(base string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".sls", ".json", ".ign", ".bu", ".toml"}, path.Ext(base))
}

// yamlLine matches the first line of YAML.
var yamlLine = pattern.MustCompile(`^(---(\s|$)|- |["']?[A-Za-z_][\w./:-]*["']?:(\s|$))`)

// resemblesDocuments reports whether a text is YAML or JSON, of a file whose name says nothing: a
// document has the shape of a format, or keys that are kernel parameters.
func resemblesDocuments(text string) bool {
	line := firstEntry(text)
	if strings.HasPrefix(text, "#cloud-config") || strings.HasPrefix(line, "{") && !bare.MatchString(line) {
		return true
	}
	if bare.MatchString(text) {
		text = mask(text).text
		line = firstEntry(text)
	}
	if !yamlLine.MatchString(line) {
		return false
	}
	list, problems := source.Documents([]byte(text))
	return len(problems) == 0 && slices.ContainsFunc(list, func(n *source.Node) bool {
		return shapeOf(n) != nil || hasParameters(n) || len(n.Entries) > 1
	})
}

// parseDocuments parses the documents of a text, and returns the name of the format that documents
// without one of their own have. Problems are those of documents that cannot be parsed.
func parseDocuments(name, text string) (list []*source.Node, generic string, problems []error) {
	ext := path.Ext(name)
	switch first := firstEntry(text); {
	case ext == ".toml" || tomlHead.MatchString(text):
		list, err := parseTOML(text)
		return list, tomlFile, listOf(err)
	case ext == ".json" || ext == ".ign" || strings.HasPrefix(first, "{") && ext != ".yaml" && ext != ".yml":
		list, err := source.JSON([]byte(text))
		return list, jsonFile, listOf(err)
	}
	list, problems = source.Documents([]byte(text))
	return list, yamlFile, problems
}

// listOf returns an error as a list; of nil, nil.
func listOf(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// shapeOf returns the format of a document. Nil: it has none that is known.
func shapeOf(n *source.Node) *format {
	for _, f := range formats {
		if f.shape != nil && f.shape(n) {
			return f
		}
	}
	return nil
}

// documents reads the documents of a file, each by itself.
func (f *File) documents(text string) {
	lines := strings.Split(text, "\n")
	var m *masking
	if path.Ext(f.Name) != ".toml" && bare.MatchString(text) {
		m = mask(text)
		text = m.text
		defer f.unmask(m)
	}
	list, generic, problems := parseDocuments(f.Name, text)
	f.Format = generic
	for i, n := range list {
		r := &treeReader{f: f, lines: lines, used: map[*source.Node]bool{}, format: find(generic)}
		before := len(f.Lines)
		if of := shapeOf(n); of != nil {
			r.format = of
			of.tree(r, n)
		}
		r.parameters(n)
		r.leftovers(n)
		d := Document{Line: max(n.At.Line, 1), Format: r.format.name, Settings: len(f.Lines) - before}
		f.Documents = append(f.Documents, d)
		if i == 0 || d.Settings > 0 && before == 0 {
			f.Format = d.Format
		}
	}
	for _, err := range problems {
		f.notParsed(err, lines)
	}
	if len(f.Documents) < 2 {
		f.Documents = nil
	}
}

// errorLine matches the line in an error of package source.
var errorLine = pattern.MustCompile(`^line ([0-9]+): `)

// notParsed notes where a document is not what it should be.
func (f *File) notParsed(err error, lines []string) {
	n, why := 1, err.Error()
	if m := errorLine.FindStringSubmatch(why); m != nil {
		fmt.Sscan(m[1], &n)
		why = strings.TrimPrefix(why, m[0])
	}
	text := ""
	if n = max(1, n); n <= len(lines) {
		text = lines[n-1]
	}
	if bare.MatchString(text) {
		why += " (a template has to be rendered first)"
	}
	f.apart(Wrong, n, text, why)
}

// treeReader reads a document.
type treeReader struct {
	f      *File
	lines  []string // of the file
	format *format
	used   map[*source.Node]bool // nodes that were read, or say nothing about parameters

	within    string
	container bool
	when      string
	written   map[string]bool // names of files whose content was read
}

// parameterKey matches a kernel parameter that is the key of a mapping, and not a name of other
// programs that has dots, such as fs.s3a.endpoint or net.peer.name.
var parameterKey = pattern.MustCompile(
	`^(net[./](core|ipv4|ipv6|netfilter|bridge|mptcp|unix|sctp|vrf|mpls|xfrm|smc|rds|inet|inet6|link|isr|` +
		`nf_conntrack_max)([./][\w./*@:-]+)?|` +
		`kernel[./][a-z0-9_]+([./][a-z0-9_-]+)*|vm[./][a-z0-9_]+|sunrpc[./]\w+|user[./]max_\w+|kern[./][a-z0-9_.]+|` +
		`fs[./](file-max|nr_open|aio-max-nr|inotify|pipe-|protected_|suid_|mount-max|epoll|lease|leases|quota|mqueue|` +
		`nfs|binfmt)[\w./-]*)$`)

// mention matches a kernel parameter of the network within a text.
var mention = pattern.MustCompile(
	`(?:^|[^\w.]|\bsysctl\.)((?:net[./](?:core|ipv4|ipv6|netfilter|bridge|mptcp|unix|sctp|inet6?)[./][\w./*-]+)|` +
		`sunrpc[./]\w+|fs[./]file-max|/proc/sys/[\w./*-]+)`)

// isParameter reports whether a text is the name of a kernel parameter.
func isParameter(text string) bool { return parameterKey.MatchString(text) }

// hasParameters reports whether a key of a mapping in a document is a kernel parameter.
func hasParameters(n *source.Node) (has bool) {
	walk(n, func(n *source.Node) bool {
		for _, e := range n.Entries {
			has = has || isParameter(e.Key.Text) && e.Value.Kind == source.Scalar
		}
		return !has
	})
	return has
}

// walk calls f for each node of a document, once, before those below it if f returns true.
func walk(n *source.Node, f func(*source.Node) bool) {
	seen := map[*source.Node]bool{}
	var visit func(*source.Node)
	visit = func(n *source.Node) {
		if n == nil || seen[n] {
			return
		}
		if seen[n] = true; !f(n) {
			return
		}
		for _, item := range n.Items {
			visit(item)
		}
		for _, e := range n.Entries {
			visit(e.Value)
		}
	}
	visit(n)
}

// at returns a value of nested mappings. Nil: there is none.
func at(n *source.Node, keys ...string) *source.Node {
	for _, key := range keys {
		if n == nil {
			return nil
		}
		e, is := n.Get(key)
		if !is {
			return nil
		}
		n = e.Value
	}
	return n
}

// text returns the text of a scalar in a mapping. Empty: there is none.
func text(n *source.Node, keys ...string) string {
	if n = at(n, keys...); n != nil && n.Kind == source.Scalar {
		return n.Text
	}
	return ""
}

// line returns the line of the file with a number.
func (r *treeReader) line(n int) string {
	if n < 1 || n > len(r.lines) {
		return ""
	}
	return r.lines[n-1]
}

// unread notes that a node was not understood.
func (r *treeReader) unread(n *source.Node, why string) {
	r.use(n)
	r.f.apart(Unread, max(1, n.At.Line), r.line(n.At.Line), why)
}

// use marks nodes, and all that is below them, as read.
func (r *treeReader) use(nodes ...*source.Node) {
	for _, n := range nodes {
		walk(n, func(n *source.Node) bool {
			if r.used[n] {
				return false
			}
			r.used[n] = true
			for _, e := range n.Entries {
				r.used[e.Key] = true
			}
			return true
		})
	}
}

// parameter reads an entry of a mapping of kernel parameters.
func (r *treeReader) parameter(key, value *source.Node) {
	r.used[key] = true
	r.use(value)
	switch {
	case value.Kind == source.Scalar:
		r.set(key.At.Line, key.Text, value.Text)
	case value.Kind == source.Null:
		r.f.apart(Wrong, key.At.Line, r.line(key.At.Line), "expected a value of "+key.Text)
	default:
		r.f.apart(Unread, key.At.Line, r.line(key.At.Line), "expected a text or a number as the value of "+key.Text)
	}
}

// mapping reads a mapping of kernel parameters. Nil is none.
func (r *treeReader) mapping(n *source.Node) {
	if n == nil {
		return
	}
	r.use(n)
	for _, e := range n.Entries {
		r.parameter(e.Key, e.Value)
	}
}

// set adds a parameter.
func (r *treeReader) set(line int, key, value string) {
	line = max(1, line)
	switch depends := templated(key + " = " + value); {
	case depends != "":
		r.f.apart(Unread, line, r.line(line), dependsOn(depends))
	default:
		r.f.set(Line{Line: line, Key: dotted(key), Value: value, Within: r.within, Container: r.container,
			When: r.when},
			r.line(line))
	}
}

// assignment reads a scalar "key=value".
func (r *treeReader) assignment(n *source.Node) {
	r.use(n)
	if key, value, is := strings.Cut(n.Text, "="); is && n.Kind == source.Scalar {
		r.set(n.At.Line, strings.TrimSpace(key), value)
		return
	}
	r.f.apart(Wrong, max(1, n.At.Line), r.line(n.At.Line), "expected KEY=VALUE")
}

// assignments reads a list of texts "key=value". Those that are the defaults of a runtime are set in
// containers.
func (r *treeReader) assignments(name string, list *source.Node) {
	for _, item := range list.Items {
		key, _, is := strings.Cut(item.Text, "=")
		if !is || item.Kind != source.Scalar || !isParameter(strings.TrimSpace(key)) || r.used[item] {
			continue
		}
		if name == "default_sysctls" { // of CRI-O and Podman
			r.within, r.container = "containers", true
		}
		r.assignment(item)
		r.within, r.container = "", false
	}
}

// rows returns the line of the file for each line of a scalar.
func rows(n *source.Node) func(int) int {
	first := max(1, n.At.Line)
	return func(line int) int {
		if n.Block {
			return first + line
		}
		return first
	}
}

// content reads the content of a file that a document has: as the file would be read by itself.
func (r *treeReader) content(name string, n *source.Node) {
	r.use(n)
	r.embed(name, n.Text, rows(n))
}

// embed reads the text of a file within this one. At converts its lines to those of this file.
func (r *treeReader) embed(name, text string, at func(int) int) {
	if recognise(name, text) == sysctlConf && !isSysctlFile(name) {
		if mention.MatchString(text) {
			r.f.apart(Unread, at(1), name, "a file with kernel parameters that no program is known here to read")
		}
		return
	}
	lists.Put(&r.written, name, true)
	inner := r.f.nested(name, text, at)
	for _, l := range inner.Lines {
		if l.Within == "" {
			l.Within, l.Container = r.within, r.container
		}
		l.When = strings.Trim(r.when+", "+l.When, ", ")
		r.f.Lines = append(r.f.Lines, l)
	}
	r.f.Apart = append(r.f.Apart, inner.Apart...)
}

// command reads a command or script of a document.
func (r *treeReader) command(n *source.Node) {
	r.use(n)
	s := r.script(n.Text)
	s.run(n.Text, rows(n))
	s.finish()
}

// script returns a reader of a script of the document.
func (r *treeReader) script(text string) *script {
	s := newScript(r.f, text)
	s.within, s.container, s.when, s.known = r.within, r.container, r.when, r.written
	return s
}

// parameters reads the mappings that no format has read and whose keys are kernel parameters.
func (r *treeReader) parameters(n *source.Node) {
	walk(n, func(n *source.Node) bool {
		if r.used[n] {
			return false
		}
		for _, e := range n.Entries {
			switch value := at(e.Value, "value"); {
			case r.used[e.Key] || r.used[e.Value]:
			case isParameter(e.Key.Text) && e.Value.Kind != source.Mapping:
				r.parameter(e.Key, e.Value)
			case isParameter(e.Key.Text) && value != nil:
				r.parameter(e.Key, value)
				r.use(e.Value)
			case strings.Contains(strings.ToLower(e.Key.Text), "sysctl"):
				r.assignments(e.Key.Text, e.Value)
			}
		}
		if n.Kind == source.Mapping && (at(n, "command") != nil || at(n, "args") != nil) {
			r.containerScript(n, false, strings.TrimSpace("container "+text(n, "name")))
		}
		if key := named(n); key != "" && at(n, "value") != nil { // a list of names and values
			r.pair(n, key)
			r.use(n)
		}
		return true
	})
}

// leftovers lists what a document says about kernel parameters in places where nothing was read.
func (r *treeReader) leftovers(n *source.Node) {
	note := func(n *source.Node) {
		if n.Kind != source.Scalar || r.used[n] {
			return
		}
		if n.Block && shebang.MatchString(n.Text) { // a script, whatever executes it
			r.command(n)
			return
		}
		r.used[n] = true
		row := 0
		for part := range strings.SplitSeq(n.Text, "\n") {
			row++
			if m := mention.FindStringSubmatch(part); m != nil {
				at := rows(n)(row)
				r.f.apart(Unread, at, r.line(at), m[1]+" is in a place in which "+r.format.label+" has no parameters")
				if !n.Block {
					return
				}
			}
		}
	}
	walk(n, func(n *source.Node) bool {
		if r.used[n] {
			return false
		}
		note(n)
		for _, e := range n.Entries {
			note(e.Key)
		}
		return true
	})
}
