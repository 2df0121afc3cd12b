package inventory

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/plain"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// File is hosts.yaml as it is written.
type File struct {
	Hosts  []FileHost  `yaml:"hosts,required" doc:"hosts by name, or by a pattern such as web[01-20]; a value alone is ssh"`
	Groups []FileGroup `yaml:"groups" doc:"groups by name; all has every host"`
}

// FileHost is a host, or the hosts of a pattern. In the values of a pattern's hosts, brackets with as
// many values as there are hosts give each host its own: 10.0.0.[1-20].
type FileHost struct {
	Pattern   string   `yaml:",key"`
	SSH       string   `yaml:"ssh" short:"true" doc:"what ssh takes, such as root@web1:2222, or an alias; * is the host's name; absent: *"`
	Addresses []string `yaml:"addresses,several" doc:"IP addresses to measure on"`
	Traits    `yaml:",inline"`
}

// FileGroup is a group. Its values are of the hosts that have none of their own; of several groups the
// last in the file counts, and all the least.
type FileGroup struct {
	Name   string   `yaml:",key"`
	Hosts  []string `yaml:"hosts,several" doc:"names of hosts, and patterns: web[01-20], web*"`
	Groups []string `yaml:"groups,several" doc:"groups whose hosts are in this one, too"`
	SSH    string   `yaml:"ssh" doc:"as of hosts, such as root@*:2222"`
	Traits `yaml:",inline"`
}

// Traits are values of a host or of all hosts of a group.
type Traits struct {
	Via     []string     `yaml:"via" doc:"command prefix that reaches the host instead of ssh, such as [ip, netns, exec, \"*\"]; [env] is this machine"`
	Rate    unit.BitRate `yaml:"rate" doc:"rate of the interface in each direction"`
	Rack    string       `yaml:"rack" doc:"what the host is connected to, such as a leaf switch"`
	Machine string       `yaml:"machine" doc:"the machine that the host is a virtual machine of"`
	Labels  []FileLabel  `yaml:"labels" doc:"further labels, to select by"`
}

// FileLabel is a label.
type FileLabel struct {
	Key   string `yaml:",key"`
	Value string `yaml:",value"`
}

// FileSchema returns the JSON Schema of hosts.yaml.
func FileSchema() map[string]any {
	schema := source.Schema(reflect.TypeFor[File]())
	schema["title"] = "linerate hosts.yaml"
	schema["description"] = "Hosts, how they are reached, and groups and labels to select them by. {1..3} repeats an " +
		"item or a key, {n=1..3} also binds n."
	return schema
}

// own reads hosts.yaml.
func own(file string, data []byte) (*Inventory, source.Problems) {
	doc, problems := source.Parse(file, data)
	if doc == nil {
		return nil, problems
	}
	var f File
	expanded := len(problems) == 0
	problems = append(problems, doc.Decode(&f)...)
	if !expanded {
		return nil, problems
	}
	o := ownReader{graph: newGraph(file), report: doc.Reporter(&problems), at: doc.Position,
		traits: map[*member]*traits{}, of: map[*group]*traits{}, order: map[*group]int{}}
	o.hosts(f.Hosts)
	if len(o.graph.hosts) == 0 && len(problems) == 0 {
		o.report("hosts", "no hosts")
	}
	o.groups(f.Groups)
	if problems = append(problems, o.problems...); len(problems) > 0 {
		return nil, problems
	}
	o.resolve()
	inv := o.inventory(Own, o.made)
	if problems = append(problems, o.problems...); len(problems) > 0 {
		return nil, problems
	}
	return inv, nil
}

// ownReader makes hosts of a File.
type ownReader struct {
	*graph
	report source.Report
	at     func(path string) source.Position
	traits map[*member]*traits
	of     map[*group]*traits
	order  map[*group]int // places in the file
}

// traits are what a host or group says.
type traits struct {
	Traits
	ssh, path string
	addresses []netip.Addr
}

func (o *ownReader) hosts(list []FileHost) {
	for i, entry := range list {
		path := fmt.Sprintf("hosts[%d]", i)
		names, err := Expand(entry.Pattern)
		if err != nil {
			o.report(path, "host %q: %v", entry.Pattern, err)
			continue
		}
		each := o.perHost(path, names, entry)
		for n, name := range names {
			if !isName(name) {
				o.report(path, "host %q: %s", name, nameRule)
				break
			}
			if o.hostOf[name] != nil {
				o.report(path, "host %q is given twice", name)
				break
			}
			m := o.host(o.at(path), name)
			if m == nil {
				return
			}
			if n < len(each) {
				o.traits[m] = each[n]
			}
		}
	}
}

// perHost returns what an entry says of each of its hosts.
func (o *ownReader) perHost(path string, names []string, entry FileHost) (each []*traits) {
	o.check(path, entry.SSH, entry.Traits)
	// The values of a key: one for all hosts, or one for each.
	values := func(key, text string) func(n int) string {
		if len(names) == 1 || !strings.Contains(text, "[") {
			return func(int) string { return text }
		}
		list, err := Expand(text)
		if err == nil && len(list) != len(names) {
			err = fmt.Errorf("%d values for %d hosts", len(list), len(names))
		}
		if err != nil {
			o.report(path+"."+key, "%s: %q: %v", strings.TrimRight(key, "[]0123456789"), text, err)
			return func(int) string { return "" }
		}
		return func(n int) string { return list[n] }
	}
	ssh, rack, machine := values("ssh", entry.SSH), values("rack", entry.Rack), values("machine", entry.Machine)
	var addresses []func(n int) string
	for i, text := range entry.Addresses {
		addresses = append(addresses, values(fmt.Sprintf("addresses[%d]", i), text))
	}
	for n := range names {
		t := &traits{Traits: entry.Traits, ssh: ssh(n), path: path}
		t.Rack, t.Machine = rack(n), machine(n)
		o.reached(path, t.ssh, names[n])
		for i, text := range addresses {
			if text(n) == "" {
				continue // it has been reported
			}
			addr, err := netip.ParseAddr(text(n))
			if err != nil || addr.Zone() != "" {
				o.report(fmt.Sprintf("%s.addresses[%d]", path, i), "addresses: %q is not an IP address: %sexpected "+
					"one such as 192.168.1.15 or fd00::15", text(n), source.AboveByte(text(n)))
				return each
			}
			t.addresses = append(t.addresses, addr)
		}
		o.label(path+".rack", "rack", t.Rack)
		o.label(path+".machine", "machine", t.Machine)
		each = append(each, t)
	}
	return each
}

func (o *ownReader) label(path, key, value string) {
	if value != "" && !isLabel(value) {
		o.report(path, "%s: %q: expected printable characters without spaces, commas and characters of a shell", key,
			value)
	}
}

// reached returns the words of ssh that reach a host.
func (o *ownReader) reached(path, ssh, name string) []string {
	words, err := bySSH(strings.ReplaceAll(cmp.Or(ssh, "*"), "*", name))
	if err != nil && isName(name) {
		o.report(path+".ssh", "ssh: %q: %v", ssh, err)
	}
	return words
}

// check checks what a host and a group have in common.
func (o *ownReader) check(path, ssh string, t Traits) {
	if ssh != "" && len(t.Via) > 0 {
		o.report(path+".via", "ssh and via: expected one of them")
	}
	for i, word := range t.Via {
		if word == "" || plain.Line(word) != word || i == 0 && strings.HasPrefix(word, "-") {
			o.report(fmt.Sprintf("%s.via[%d]", path, i), "via: %q: expected a word of a command", word)
		}
	}
	if len(t.Labels) > mostLabels {
		o.report(path+".labels", "more than %d labels", mostLabels)
	}
	for i, label := range t.Labels {
		at := fmt.Sprintf("%s.labels[%d]", path, i)
		switch {
		case !isName(label.Key):
			o.report(at, "label %q: %s", label.Key, nameRule)
		case label.Key == "rack" || label.Key == "machine":
			o.report(at, "%s is a key beside labels", label.Key)
		case label.Value == "":
			o.report(at, "label %q has no value", label.Key)
		}
		o.label(at, label.Key, label.Value)
	}
}

func (o *ownReader) groups(list []FileGroup) {
	names := lists.Map(list, func(f FileGroup) string { return f.Name })
	var hosts []string
	for i, entry := range list {
		path := fmt.Sprintf("groups[%d]", i)
		if !isName(entry.Name) {
			o.report(path, "group %q: %s", entry.Name, nameRule)
			continue
		}
		of := o.group(o.at(path), entry.Name)
		if of == nil {
			return
		}
		o.check(path, entry.SSH, entry.Traits)
		o.reached(path, entry.SSH, "host")
		o.label(path+".rack", "rack", entry.Rack)
		o.label(path+".machine", "machine", entry.Machine)
		o.of[of] = &traits{Traits: entry.Traits, ssh: entry.SSH, path: path}
		if o.order[of] = i + 1; entry.Name == all {
			o.order[of] = 0 // it counts least
		}
		for j, text := range entry.Hosts {
			found, missing, err := matching(o.graph, text)
			switch at := fmt.Sprintf("%s.hosts[%d]", path, j); {
			case err != nil:
				o.report(at, "hosts: %q: %v", text, err)
			case missing != "":
				if hosts == nil {
					hosts = lists.Map(o.graph.hosts, func(m *member) string { return m.name })
				}
				o.report(at, "hosts: there is no host %q%s", missing, source.DidYouMean(missing, hosts))
			}
			for _, m := range found {
				o.put(m, of)
			}
		}
		for j, name := range entry.Groups {
			if !slices.Contains(names, name) {
				o.report(fmt.Sprintf("%s.groups[%d]", path, j), "groups: there is no group %q%s", name,
					source.DidYouMean(name, names))
			}
		}
		of.children = entry.Groups
	}
}

// matching returns the hosts of a name or pattern, and a name that no host has.
func matching(g *graph, text string) (found []*member, missing string, err error) {
	names, err := Expand(text)
	for _, name := range names {
		if !strings.ContainsAny(name, "*?") {
			if m := g.hostOf[name]; m != nil {
				found = append(found, m)
			} else {
				return found, name, nil
			}
			continue
		}
		if !g.step(len(g.hosts)) {
			return found, "", nil
		}
		before := len(found)
		for _, m := range g.hosts {
			if fits(name, m.name) {
				found = append(found, m)
			}
		}
		if len(found) == before {
			return found, name, nil
		}
	}
	return found, "", err
}

// made returns the host of a member: what it says itself, and else what the last of its groups says.
func (o *ownReader) made(m *member) (h Host, is bool) {
	own := o.traits[m]
	if own == nil {
		return h, false
	}
	in := slices.Clone(m.in)
	if of := o.groupOf[all]; of != nil {
		in = append(in, of)
	}
	slices.SortFunc(in, func(a, b *group) int { return cmp.Compare(o.order[a], o.order[b]) })
	ssh, via, path := "*", []string(nil), own.path
	for _, t := range append(lists.Map(in, func(of *group) *traits { return o.of[of] }), own) {
		if t.ssh != "" || len(t.Via) > 0 {
			ssh, via, path = t.ssh, t.Via, t.path
		}
		if t.Rate > 0 {
			h.RateBps = float64(t.Rate)
		}
		if t.Rack != "" {
			h.Rack = t.Rack
		}
		if t.Machine != "" {
			h.Machine = t.Machine
		}
		for _, label := range t.Labels {
			lists.Put(&h.Labels, label.Key, label.Value)
		}
	}
	h.Addresses = own.addresses
	h.Written = len(via) > 0
	for _, word := range via {
		h.Via = append(h.Via, strings.ReplaceAll(word, "*", m.name))
	}
	if len(via) == 0 {
		h.Via = o.reached(path, ssh, m.name)
	}
	return h, true
}

// bySSH returns the words of ssh(1) that reach a host.
func bySSH(host string) ([]string, error) { return topology.SSH(host, topology.Batch()...) }
