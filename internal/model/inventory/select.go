package inventory

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/source"
)

// Grammar says what selections are, for the help of flags.
const Grammar = `names of hosts, groups and labels, patterns (web[01-20], web*) and label=value; ` +
	`&TERM keeps only hosts that are in it, too, and !TERM leaves its hosts out`

// Select returns the hosts that a selection names, in the order of the inventory. Each text has terms
// that are separated by commas or, as Ansible writes them, by colons:
//
//	web3, web[01-20], web*   hosts and groups by name
//	rack=[1-4], rack=r*      hosts with a label; rack alone: with any value but false and no
//	&TERM                    only hosts that are in the term, too
//	!TERM                    without the hosts of the term
//	all                      every host
//
// The order of the terms does not matter. Without terms that name hosts, the others apply to all. It
// returns an error for a term that names nothing, and for a selection without hosts.
func (inv *Inventory) Select(texts ...string) ([]Host, error) {
	s := newSelection(inv)
	added, plain := map[int]bool{}, false
	var only, without []map[int]bool
	terms := split(texts)
	for _, term := range terms {
		bare := strings.TrimLeft(term, "&!")
		found, err := s.term(bare, strings.HasPrefix(term, "!"))
		switch {
		case err != nil:
			return nil, err
		case len(term) > len(bare)+1:
			return nil, fmt.Errorf("%q: expected & or ! once", term)
		case term[0] == '&':
			only = append(only, found)
		case term[0] == '!':
			without = append(without, found)
		default:
			plain = true
			maps.Copy(added, found)
		}
	}
	var list []Host
	for i, h := range inv.Hosts {
		is := func(found map[int]bool) bool { return found[i] }
		if (!plain || added[i]) && !slices.ContainsFunc(without, is) &&
			!slices.ContainsFunc(only, func(found map[int]bool) bool { return !found[i] }) {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%q selects none of %d hosts: %s", strings.Join(terms, ","), len(inv.Hosts), inv.has())
	}
	return list, nil
}

// split returns the terms of texts.
func split(texts []string) (terms []string) {
	for _, text := range texts {
		for _, part := range apart(text, ',') {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if _, err := netip.ParseAddr(strings.TrimLeft(part, "&!")); err == nil || strings.Contains(part, "=") &&
				!strings.Contains(part, ":&") && !strings.Contains(part, ":!") {
				terms = append(terms, part)
				continue
			}
			for _, term := range apart(part, ':') {
				if term != "" {
					terms = append(terms, term)
				}
			}
		}
	}
	return terms
}

// Label returns the value of a label, of which rack and machine are two. Empty: the host has none.
func (h *Host) Label(key string) string {
	switch key {
	case "rack":
		return h.Rack
	case "machine":
		return h.Machine
	}
	return h.Labels[key]
}

// A selection finds hosts by their place in the inventory.
type selection struct {
	*Inventory
	places map[string]int
	groups map[string][]int
	labels map[string]map[string]int // values of each label, with their number of hosts
}

func newSelection(inv *Inventory) *selection {
	s := &selection{inv, map[string]int{}, map[string][]int{}, map[string]map[string]int{}}
	for _, name := range inv.Groups {
		s.groups[name] = nil
	}
	for i, h := range inv.Hosts {
		s.places[h.Name] = i
		for _, name := range h.Groups {
			s.groups[name] = append(s.groups[name], i)
		}
		for _, key := range append(slices.Collect(maps.Keys(h.Labels)), "rack", "machine") {
			if value := h.Label(key); value != "" {
				if s.labels[key] == nil {
					s.labels[key] = map[string]int{}
				}
				s.labels[key][value]++
			}
		}
	}
	return s
}

// term returns the hosts of a term. In a negation, some names of a pattern may be missing.
func (s *selection) term(term string, negated bool) (found map[int]bool, err error) {
	found = map[int]bool{}
	switch {
	case term == all || term == "*":
		for i := range s.Hosts {
			found[i] = true
		}
		return found, nil
	case term == "":
		return nil, fmt.Errorf("a term without a name: %s", s.has())
	case strings.HasPrefix(term, "~"):
		return nil, fmt.Errorf("%q: regular expressions are not read: %s", term, Grammar)
	}
	if key, value, is := strings.Cut(term, "="); is {
		return found, s.labelled(found, key, value, negated)
	}
	names, err := Expand(term)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", term, err)
	}
	missing := ""
	for _, name := range names {
		if !s.named(found, name) {
			missing = name
		}
	}
	switch {
	case missing == "" || negated && len(found) > 0:
		return found, nil
	case slices.Contains(s.lost, missing):
		return nil, fmt.Errorf("host %q is left out of the inventory: linerate hosts says why", missing)
	}
	return nil, fmt.Errorf("nothing is called %q%s; %s", missing, s.like(missing), s.has())
}

// named adds the hosts that a name is of: a host, a group, a label, or several of a pattern. It
// returns false if there is nothing of that name.
func (s *selection) named(found map[int]bool, name string) (is bool) {
	add := func(places ...int) {
		is = true
		for _, i := range places {
			found[i] = true
		}
	}
	if strings.ContainsAny(name, "*?") {
		for i, h := range s.Hosts {
			if fits(name, h.Name) {
				add(i)
			}
		}
		for _, group := range s.Groups {
			if fits(name, group) {
				add(s.groups[group]...)
			}
		}
		return is
	}
	if i, known := s.places[name]; known {
		add(i)
	}
	if places, known := s.groups[name]; known {
		add(places...)
	}
	if s.labels[name] != nil {
		for i := range s.Hosts {
			if value := s.Hosts[i].Label(name); value != "" && value != "false" && value != "no" {
				add(i)
			}
		}
		is = true
	}
	return is
}

// labelled adds the hosts with a label.
func (s *selection) labelled(found map[int]bool, key, value string, negated bool) error {
	if s.labels[key] == nil {
		return fmt.Errorf("no host has a label %q%s; %s", key,
			source.DidYouMean(key, slices.Sorted(maps.Keys(s.labels))), s.has())
	}
	values, err := Expand(value)
	if err != nil {
		return fmt.Errorf("%s=%s: %w", key, value, err)
	}
	for i := range s.Hosts {
		is := s.Hosts[i].Label(key)
		if is != "" && slices.ContainsFunc(values, func(value string) bool { return fits(value, is) }) {
			found[i] = true
		}
	}
	if len(found) == 0 && !negated {
		return fmt.Errorf("no host has %s=%s: expected %s", key, value,
			source.Or(source.Some(slices.Sorted(maps.Keys(s.labels[key])), 12)))
	}
	return nil
}

// like returns the end of a message about an unknown name.
func (s *selection) like(name string) string {
	names := slices.Concat(s.Groups, slices.Sorted(maps.Keys(s.labels)))
	for _, h := range s.Hosts {
		names = append(names, h.Name)
	}
	if near := source.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Labels returns the names of all labels that hosts have.
func (inv *Inventory) Labels() []string { return slices.Sorted(maps.Keys(newSelection(inv).labels)) }

// has says what there is to select.
func (inv *Inventory) has() string {
	const most = 8
	s := newSelection(inv)
	var parts []string
	if len(inv.Groups) > 0 {
		parts = append(parts, "the groups "+strings.Join(source.Some(inv.Groups, most), ", "))
	}
	for _, key := range source.Some(slices.Sorted(maps.Keys(s.labels)), most) {
		if values := slices.Sorted(maps.Keys(s.labels[key])); len(values) > 0 {
			key += "=" + strings.Join(source.Some(values, 4), "|")
		}
		parts = append(parts, key)
	}
	hosts := make([]string, 0, len(inv.Hosts))
	for _, h := range inv.Hosts {
		hosts = append(hosts, h.Name)
	}
	return "there are " + strings.Join(append(parts, "the hosts "+strings.Join(source.Some(hosts, most), ", ")), "; ")
}

// fits reports whether a text is of a pattern, in which * stands for any characters and ? for one. It
// takes time in proportion to the product of their lengths.
func fits(pattern, text string) bool {
	p, t, star, from := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from, p = p, t, p+1
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
