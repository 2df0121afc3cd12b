package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/syntax"
)

// groupKeys are those of a group in an inventory of Ansible.
var groupKeys = []string{"hosts", "children", "vars"}

// isAnsible reports whether the values of a mapping are groups of Ansible.
func isAnsible(root *source.Node) bool {
	groups := 0
	for _, e := range root.Entries {
		switch e.Value.Kind {
		case source.Null:
		case source.Mapping:
			for _, inner := range e.Value.Entries {
				if inner.Key.Text != "hosts" && inner.Key.Text != "children" && inner.Key.Text != "vars" {
					return false
				}
			}
			groups += len(e.Value.Entries)
		default:
			return false
		}
	}
	_, own := root.Get("hosts")
	return groups > 0 && !own
}

// yamlFile reads hosts.yaml, or an inventory of Ansible in YAML.
func yamlFile(file string, data []byte) (*Inventory, source.Problems) {
	docs, errs := source.Documents(data)
	if len(docs) == 0 || len(errs) > 0 || docs[0].Kind != source.Mapping || !isAnsible(docs[0]) {
		return own(file, data)
	}
	g := newGraph(file)
	for _, e := range docs[0].Entries {
		g.yamlGroup(e, "")
	}
	return g.ansible(AnsibleYAML)
}

// yamlGroup reads a group; in is the group that it is in, or empty.
func (g *graph) yamlGroup(e source.Entry, in string) {
	name := e.Key.Text
	if !isName(name) {
		g.leave("group %.80q: %s", name, nameRule)
		return
	}
	of := g.group(e.Key.At, name)
	if of == nil || !g.step(1) {
		return
	}
	if parent := g.groupOf[in]; parent != nil && in != all {
		parent.children = append(parent.children, name)
	}
	if e.Value.Kind != source.Mapping && e.Value.Kind != source.Null {
		g.fail(e.Value.At, "group %q: expected a mapping with %s", name, source.Or(groupKeys))
		return
	}
	for _, key := range e.Value.Entries {
		switch what := key.Key.Text; {
		case key.Value.Kind == source.Null:
		case what == "hosts" && key.Value.Kind == source.Scalar:
			g.ansibleHosts(key.Value.At, key.Value.Text, name, nil)
		case what != "hosts" && what != "children" && what != "vars":
			g.leave("group %s: key %.80q: expected %s", name, what, source.Or(groupKeys))
		case key.Value.Kind != source.Mapping:
			g.fail(key.Value.At, "%s of group %q: expected a mapping", what, name)
		case what == "hosts":
			for _, host := range key.Value.Entries {
				g.ansibleHosts(host.Key.At, host.Key.Text, name, g.yamlVars(host.Value))
			}
		case what == "children":
			for _, child := range key.Value.Entries {
				g.yamlGroup(child, name)
			}
		default:
			for _, v := range key.Value.Entries {
				if text, is := scalar(v.Value); is && g.step(1) {
					g.set(v.Key.At, of.vars, v.Key.Text, text)
				}
			}
		}
	}
}

func (g *graph) yamlVars(n *source.Node) map[string]string {
	vars := map[string]string{}
	for _, v := range n.Entries {
		if text, is := scalar(v.Value); is && g.step(1) {
			g.set(v.Key.At, vars, v.Key.Text, text)
		}
	}
	return vars
}

// scalar returns the text of a value, or those of a list of values.
func scalar(n *source.Node) (text string, is bool) {
	switch n.Kind {
	case source.Scalar:
		return n.Text, true
	case source.List:
		for _, item := range n.Items {
			if item.Kind != source.Scalar {
				return "", false
			}
			text += " " + item.Text
			if len(text) > mostLabels*64 {
				return "", false
			}
		}
		return strings.TrimSpace(text), true
	}
	return "", false
}

// jsonGroup is a group of ansible-inventory --list.
type jsonGroup struct {
	Hosts    []string                   `json:"hosts"`
	Children []string                   `json:"children"`
	Vars     map[string]json.RawMessage `json:"vars"`
}

var errObject = errors.New("expected an object")

// ansibleJSON reads what ansible-inventory --list, or a program that is an inventory of Ansible, prints.
func ansibleJSON(file string, data []byte) (*Inventory, source.Problems) {
	g := newGraph(file)
	decoder := json.NewDecoder(bytes.NewReader(data))
	mistake := func(err error) (*Inventory, source.Problems) {
		line := 1 + bytes.Count(data[:min(int(decoder.InputOffset()), len(data))], []byte("\n"))
		return nil, source.Problems{{File: file, Position: source.Position{Line: line, Column: 1},
			Text: "not JSON of ansible-inventory --list: " + err.Error()}}
	}
	if err := syntax.Sparse(data); err != nil {
		return mistake(err)
	}
	if _, err := decoder.Token(); err != nil { // {
		return mistake(err)
	}
	var meta struct {
		Hostvars map[string]map[string]json.RawMessage `json:"hostvars"`
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return mistake(err)
		}
		name, _ := key.(string)
		if name == "_meta" {
			err = decoder.Decode(&meta)
		} else {
			err = g.jsonGroup(decoder, name)
		}
		if err != nil {
			return mistake(err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return mistake(err)
	}
	for name, vars := range meta.Hostvars {
		if m := g.hostOf[name]; m != nil {
			g.jsonVars(m.vars, vars)
		}
	}
	for _, of := range g.groups { // those without hosts and groups are not printed
		for _, child := range of.children {
			g.group(of.at, child)
		}
	}
	return g.ansible(AnsibleJSON)
}

// jsonGroup reads a group: an object or, as programs may print it, the list of its hosts.
func (g *graph) jsonGroup(decoder *json.Decoder, name string) error {
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return err
	}
	var read jsonGroup
	var err error
	switch raw[0] {
	case '[':
		err = json.Unmarshal(raw, &read.Hosts)
	case '{':
		err = json.Unmarshal(raw, &read)
	default:
		err = errObject
	}
	if err != nil {
		return err
	}
	if !isName(name) {
		g.leave("group %.80q: %s", name, nameRule)
		name = all // its hosts are there
	}
	of := g.group(source.Position{}, name)
	if of == nil {
		return nil
	}
	for _, child := range read.Children {
		if isName(child) {
			of.children = append(of.children, child)
		}
	}
	g.jsonVars(of.vars, read.Vars)
	for _, host := range read.Hosts {
		if !isName(host) {
			g.leave("host %.80q: %s", host, nameRule)
			continue
		}
		g.put(g.host(source.Position{}, host), of)
	}
	return nil
}

func (g *graph) jsonVars(into map[string]string, vars map[string]json.RawMessage) {
	for name, raw := range vars {
		if !isKnown(name) {
			continue
		}
		var value any
		if json.Unmarshal(raw, &value) != nil {
			continue
		}
		switch value := value.(type) {
		case string:
			g.set(source.Position{}, into, name, value)
		case float64, bool, []any:
			g.set(source.Position{}, into, name, string(raw))
		}
	}
}
