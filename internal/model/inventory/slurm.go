package inventory

import (
	"slices"
	"strings"

	"linerate/internal/model/source"
)

// nodeLists reads names and node lists, such as scontrol show hostnames prints, separated by commas,
// spaces or lines. They are also what an inventory of Ansible in INI has in no group.
func nodeLists(file, text string) (*Inventory, source.Problems) {
	g := newGraph(file)
	row := 0
	for line := range strings.Lines(text) {
		row++
		bare, _, _ := strings.Cut(strings.TrimSpace(line), "#")
		if strings.HasPrefix(bare, ";") {
			continue
		}
		at := source.Position{Line: row, Column: 1}
		for word := range strings.FieldsSeq(bare) {
			for _, list := range apart(word, ',') {
				g.nodes(at, list, nil)
			}
		}
	}
	return g.plain(Names)
}

// nodes adds the hosts of a pattern to a group.
func (g *graph) nodes(at source.Position, text string, in *group) {
	names, err := Expand(text)
	if err != nil {
		g.fail(at, "%.80q: %v", text, err)
		return
	}
	for _, name := range names {
		switch {
		case name == "":
			continue
		case !isName(name):
			g.fail(at, "host %.80q: %s", name, nameRule)
			return
		case g.exhausted:
			return
		}
		g.put(g.host(at, name), in)
	}
}

// slurmRacks reads topology.conf(5) of SLURM: a switch with nodes is a rack, and each switch and block
// is a group.
func slurmRacks(file, text string) (*Inventory, source.Problems) {
	g := newGraph(file)
	row, rack := 0, map[string]string{}
	lines := strings.Split(strings.ReplaceAll(text, "\\\n", "\\"), "\n")
	for _, line := range lines {
		row++
		at := source.Position{Line: row, Column: 1}
		row += strings.Count(line, "\\")
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "\\", " "), "#")
		var name, nodes, below string
		for word := range strings.FieldsSeq(line) {
			key, value, _ := strings.Cut(word, "=")
			switch strings.ToLower(key) {
			case "switchname", "blockname":
				name = value
			case "nodes":
				nodes = value
			case "switches":
				below = value
			}
		}
		if name == "" {
			continue
		}
		if !isName(name) {
			g.fail(at, "switch %.80q: %s", name, nameRule)
			continue
		}
		of := g.group(at, name)
		if of == nil {
			break
		}
		before := len(g.hosts)
		for _, list := range apart(nodes, ',') {
			g.nodes(at, list, of)
		}
		for _, m := range g.hosts[before:] {
			rack[m.name] = name
		}
		for _, list := range apart(below, ',') {
			names, err := Expand(list)
			if err != nil {
				g.fail(at, "%.80q: %v", list, err)
			}
			of.children = append(of.children, slices.DeleteFunc(names, func(s string) bool { return s == "" })...)
		}
	}
	inv, problems := g.plain(SlurmRacks)
	if inv != nil {
		for i := range inv.Hosts {
			inv.Hosts[i].Rack = rack[inv.Hosts[i].Name]
		}
	}
	return inv, problems
}

// plain returns hosts that ssh reaches by their names.
func (g *graph) plain(kind Kind) (*Inventory, source.Problems) {
	if g.resolve(); len(g.problems) > 0 {
		return nil, g.problems
	}
	inv := g.inventory(kind, func(m *member) (Host, bool) {
		words, err := bySSH(m.name)
		if err != nil {
			g.fail(source.Position{}, "host %q: %v", m.name, err)
		}
		return Host{Via: words}, true
	})
	return inv, g.problems
}

// apart splits a text at a separator outside of brackets.
func apart(text string, separator byte) (parts []string) {
	from, open := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[':
			open = true
		case c == ']':
			open = false
		case c == separator && !open:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}
