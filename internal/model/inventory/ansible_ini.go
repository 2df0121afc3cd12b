package inventory

import (
	"errors"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

var (
	section = pattern.MustCompile(`^\[([^:\]\s]+)(?::(\w+))?\]\s*([#;].*)?$`)
	// a value that Python has, with what it does not count
	literal      = pattern.MustCompile(`^(-?[0-9][0-9.]*|True|False|'[^'\\]*'|"[^"\\]*")\s*(#.*)?$`)
	bracketed    = pattern.MustCompile(`^\[([^\[\]]+)\]:([0-9]+)$`)
	withPort     = pattern.MustCompile(`^((?:[^:\[\]]|\[[^\]]*\])*):([0-9]+)$`)
	errQuote     = errors.New("a quote is not closed")
	errBackslash = errors.New("a backslash at the end")
)

// ansibleINI reads an inventory of Ansible in INI.
func ansibleINI(file, text string) (*Inventory, source.Problems) {
	g := newGraph(file)
	in, kind := "ungrouped", "hosts"
	made, named := map[string]bool{all: true, in: true}, map[string]source.Position{}
	at := source.Position{Column: 1}
	for line := range strings.Lines(text) {
		at.Line++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' || g.exhausted {
			continue
		}
		if m := section.FindStringSubmatch(line); m != nil {
			if in, kind = m[1], m[2]; kind == "" {
				kind = "hosts"
			}
			switch {
			case kind != "hosts" && kind != "children" && kind != "vars":
				g.fail(at, "section %q: expected [GROUP], [GROUP:children] or [GROUP:vars]", line)
			case !isName(in):
				g.leave("group %.80q: %s", in, nameRule)
			case kind == "vars":
				if named[in] == (source.Position{}) {
					named[in] = at
				}
			default:
				made[in] = true
				g.group(at, in)
			}
			continue
		}
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			g.fail(at, "section %.80q: expected [GROUP], [GROUP:children] or [GROUP:vars]", line)
			continue
		}
		switch kind {
		case "hosts":
			g.iniHost(at, line, in)
		case "children":
			if name, _, _ := strings.Cut(line, "#"); isName(in) {
				of := g.group(at, in)
				if name = strings.TrimSpace(name); of != nil && isName(name) {
					of.children = append(of.children, name)
				}
			}
		case "vars":
			name, value, has := strings.Cut(line, "=")
			if !has {
				g.fail(at, "%.80q: expected NAME=VALUE", line)
				continue
			}
			if of := g.group(named[in], in); isName(in) && of != nil {
				g.set(at, of.vars, strings.TrimSpace(name), python(value))
			}
		}
	}
	for name, at := range named {
		if !made[name] {
			g.fail(at, "variables of a group %q, which there is not", name)
		}
	}
	return g.ansible(AnsibleINI)
}

// iniHost reads a host, or several, with variables.
func (g *graph) iniHost(at source.Position, line, in string) {
	words, err := shellWords(line)
	if err != nil || len(words) == 0 {
		g.fail(at, "%.80q: %v", line, err)
		return
	}
	vars := map[string]string{}
	for _, word := range words[1:] {
		name, value, has := strings.Cut(word, "=")
		if !has {
			g.fail(at, "%.80q: expected NAME=VALUE", word)
			continue
		}
		g.set(at, vars, name, python(value))
	}
	g.ansibleHosts(at, words[0], in, vars)
}

// ansibleHosts adds the hosts of a pattern of Ansible with their variables to a group.
func (g *graph) ansibleHosts(at source.Position, text, in string, vars map[string]string) {
	port := ""
	m := bracketed.FindStringSubmatch(text)
	if m == nil {
		m = withPort.FindStringSubmatch(text)
	}
	if m != nil {
		text, port = m[1], m[2]
	}
	names, err := Expand(text)
	if err != nil {
		g.fail(at, "%.80q: %v", text, err)
		return
	}
	var of *group
	if isName(in) {
		of = g.group(at, in)
	}
	for _, name := range names {
		if !isName(name) {
			g.leave("host %.80q: %s", name, nameRule)
			continue
		}
		m := g.host(at, name)
		if m == nil || !g.step(1+len(vars)) {
			return
		}
		g.put(m, of)
		if port != "" && m.vars["ansible_port"] == "" {
			m.vars["ansible_port"] = port
		}
		for name, value := range vars {
			g.set(at, m.vars, name, value)
		}
	}
}

// python returns the text of a value as Ansible reads it in INI: as a value of Python if it is one.
func python(text string) string {
	text = strings.TrimSpace(text)
	m := literal.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	switch value := m[1]; value[0] {
	case '\'', '"':
		return value[1 : len(value)-1]
	case 'T', 'F':
		return strings.ToLower(value)
	default:
		return value
	}
}

// shellWords splits a line as a shell does, without expansions. An unquoted # begins a comment.
func shellWords(line string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, byte(0)
	flush := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'':
			if i++; i == len(line) {
				return nil, errBackslash
			}
			if quote == '"' && line[i] != '"' && line[i] != '\\' {
				word.WriteByte(c)
			}
			word.WriteByte(line[i])
			inWord = true
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			flush()
		case c == '#':
			flush()
			return words, nil
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	flush()
	return words, nil
}
