package inventory

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// labelPrefix is what variables of Ansible begin with that are only for linerate: linerate_rate.
const labelPrefix = "linerate_"

// known are the variables of Ansible that are read, by what they are. Of several names the first one
// that is there counts. All others are not kept: they may be secrets.
var known = map[string][]string{
	"connection": {"ansible_connection"},
	"host":       {"ansible_host", "ansible_ssh_host"},
	"port":       {"ansible_port", "ansible_ssh_port"},
	"user":       {"ansible_user", "ansible_ssh_user"},
	"key":        {"ansible_private_key_file", "ansible_ssh_private_key_file"},
	"common":     {"ansible_ssh_common_args"},
	"extra":      {"ansible_ssh_extra_args"},
	"become":     {"ansible_become"},
	"as":         {"ansible_become_user"},
	"method":     {"ansible_become_method"},
	"priority":   {"ansible_group_priority"},
	"rack":       {"linerate_rack", "rack"},
	"machine":    {"linerate_machine", "machine"},
	"rate":       {"linerate_rate"},
	"addresses":  {"linerate_addresses"},
}

// names has the names in known.
var names = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, list := range known {
		for _, name := range list {
			names[name] = true
		}
	}
	return names
})

// isKnown reports whether a variable is read.
func isKnown(name string) bool { return strings.HasPrefix(name, labelPrefix) || names()[name] }

// set keeps a variable of a host or group if it is read.
func (g *graph) set(at source.Position, vars map[string]string, name, value string) {
	switch {
	case !isKnown(name):
	case len(vars) >= mostLabels:
		g.fail(at, "more than %d variables that linerate reads", mostLabels)
	default:
		vars[name] = value
	}
}

// ansible returns the hosts of an inventory of Ansible.
func (g *graph) ansible(kind Kind) (*Inventory, source.Problems) {
	for _, of := range g.groups {
		of.priority = 1
		if n, err := strconv.Atoi(of.vars[known["priority"][0]]); err == nil {
			of.priority = n
		}
	}
	if g.resolve(); len(g.problems) > 0 {
		return nil, g.problems
	}
	everywhere := map[string]string{}
	if of := g.groupOf[all]; of != nil {
		everywhere = of.vars
	}
	inv := g.inventory(kind, func(m *member) (Host, bool) {
		v := variables{graph: g, host: m.name, values: map[string]string{}}
		v.add(everywhere)
		for _, of := range m.in {
			if !g.step(len(of.vars)) {
				return Host{}, false
			}
			v.add(of.vars)
		}
		v.add(m.vars)
		return v.translate()
	})
	if len(g.problems) > 0 {
		return nil, g.problems
	}
	inv.Groups = slices.DeleteFunc(inv.Groups, isUngrouped)
	for i := range inv.Hosts {
		h := &inv.Hosts[i]
		if h.Groups = slices.DeleteFunc(h.Groups, isUngrouped); len(h.Groups) == 0 {
			h.Groups = nil
		}
	}
	return inv, nil
}

func isUngrouped(name string) bool { return name == "ungrouped" }

// variables are those of a host of Ansible.
type variables struct {
	*graph
	host   string
	values map[string]string
}

func (v *variables) add(more map[string]string) {
	for name, value := range more {
		v.values[name] = value
	}
}

// get returns the value of what known has; empty: it is not there.
func (v *variables) get(what string) string {
	for _, name := range known[what] {
		if value := v.values[name]; value != "" {
			return value
		}
	}
	return ""
}

// translate returns the host. It returns false if it is not known how to reach it.
func (v *variables) translate() (h Host, is bool) {
	for _, what := range []string{"connection", "host", "port", "user", "key", "become", "as", "method"} {
		if strings.Contains(v.get(what), "{{") || strings.Contains(v.get(what), "{%") {
			v.leave("host %s: %s is a template, which linerate does not evaluate", v.host, known[what][0])
			return h, false
		}
	}
	via, err := v.connection()
	if err != nil {
		v.leave("host %s: %v", v.host, err)
		return h, false
	}
	become, err := v.become()
	if err != nil {
		v.leave("host %s: %v", v.host, err)
		return h, false
	}
	if h.Via = append(via, become...); len(h.Via) == 0 {
		h.Via = []string{"env"}
	}
	label := func(what string) string {
		value := v.get(what)
		if value != "" && !isLabel(value) {
			v.leave("%s: not a value for a label: %.80q", what, value)
			return ""
		}
		return value
	}
	h.Rack, h.Machine = label("rack"), label("machine")
	if text := v.get("rate"); text != "" {
		rate, err := unit.ParseBitRate(text)
		if err != nil {
			v.leave("linerate_rate: %v", err)
		}
		h.RateBps = float64(rate)
	}
	between := func(r rune) bool { return strings.ContainsRune("[]', \"", r) }
	for text := range strings.FieldsFuncSeq(v.get("addresses"), between) {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			v.leave("linerate_addresses: not an IP address: %.80q", text)
			continue
		}
		h.Addresses = append(h.Addresses, addr)
	}
	for _, name := range slices.Sorted(maps.Keys(v.values)) {
		key, is := strings.CutPrefix(name, labelPrefix)
		if !is || names()[name] {
			continue
		}
		value := v.values[name]
		if !isName(key) || !isLabel(value) {
			v.leave("%.80s: not a name and value for a label", name)
			continue
		}
		lists.Put(&h.Labels, key, value)
	}
	return h, true
}

// connection returns the words that reach the host; none: it is this machine.
func (v *variables) connection() ([]string, error) {
	where, user := v.get("host"), v.get("user")
	if where == "" {
		where = v.host
	}
	kind := v.get("connection")
	kind = kind[strings.LastIndex(kind, ".")+1:] // community.docker.docker
	if kind != "" && kind != "ssh" && kind != "smart" && kind != "paramiko" && kind != "paramiko_ssh" &&
		kind != "local" && (!isName(where) || user != "" && !isName(user)) {
		return nil, fmt.Errorf("%.80q: %s", where, nameRule)
	}
	as := func(option string) []string {
		if user == "" {
			return nil
		}
		return []string{option, user}
	}
	switch kind {
	case "", "ssh", "smart", "paramiko", "paramiko_ssh":
		return v.ssh(where, user)
	case "local":
		return nil, nil
	case "docker", "docker_api", "podman":
		return slices.Concat([]string{strings.TrimSuffix(kind, "_api"), "exec", "-i"}, as("-u"), []string{where}), nil
	case "lxc":
		return []string{"lxc-attach", "-n", where, "--"}, nil
	case "lxd", "incus":
		return []string{map[string]string{"lxd": "lxc", "incus": "incus"}[kind], "exec", where, "--"}, nil
	}
	return nil, fmt.Errorf("ansible_connection %.80q: expected ssh, local, docker, podman, lxc, lxd or incus", kind)
}

// ssh returns the words of ssh(1).
func (v *variables) ssh(where, user string) ([]string, error) {
	options := topology.Batch()
	if key := v.get("key"); key != "" {
		if strings.HasPrefix(key, "-") || !nameKind.Fits(strings.ReplaceAll(key, " ", "")) {
			return nil, fmt.Errorf("%s: not the path of a key: %.80q", known["key"][0], key)
		}
		options = append(options, "-i", key)
	}
	for _, what := range []string{"common", "extra"} {
		options = append(options, v.options(known[what][0], v.get(what))...)
	}
	if port := v.get("port"); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("ansible_port %.80q: expected 1 to 65535", port)
		}
		options = append(options, "-p", port)
	}
	if user != "" {
		if strings.ContainsAny(user, ":/") {
			return nil, fmt.Errorf("ansible_user %.80q: expected the name of a user", user)
		}
		user += "@"
	}
	if strings.ContainsAny(where, "@/") || strings.Contains(where, ":") && !isName(where) {
		return nil, fmt.Errorf("ansible_host %.80q: expected the name of a host or an IP address", where)
	}
	return topology.SSH(user+where, options...)
}

// A safe option of ssh executes nothing and does not weaken the check of keys.
var (
	safeValue = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.,@:-]*$`)
	// ProxyCommand as it was written before OpenSSH 7.3 had -J.
	jumps = pattern.MustCompile(`^ssh(?: -q)? -W '?%h:%p'?(?: -q)? ([A-Za-z0-9][A-Za-z0-9_.@-]*)$|` +
		`^ssh(?: -q)? ([A-Za-z0-9][A-Za-z0-9_.@-]*) -W '?%h:%p'?$`)
	safeOptions = []string{"proxyjump", "connecttimeout", "serveraliveinterval", "serveralivecountmax",
		"addressfamily", "port", "compression"}
)

// options returns those of ssh's options in a variable that are safe. It notes the others.
func (v *variables) options(name, text string) (list []string) {
	words, err := shellWords(text)
	if err != nil {
		v.leave("%s: %v", name, err)
		return nil
	}
	for len(words) > 0 {
		option, value := words[0], ""
		words = words[1:]
		takes := len(option) > 1 && option[0] == '-' && strings.ContainsRune("JoplibcDeEFIkLmOQRSwW", rune(option[1]))
		switch {
		case takes && len(option) > 2:
			option, value = option[:2], option[2:]
		case takes && len(words) > 0:
			value, words = words[0], words[1:]
		}
		key, set, _ := strings.Cut(value, "=")
		if m := jumps.FindStringSubmatch(set); option == "-o" && strings.EqualFold(key, "ProxyCommand") && m != nil {
			option, value = "-J", m[1]+m[2]
		}
		switch {
		case option == "-4" || option == "-6" || option == "-C" || option == "-q":
			list = append(list, option)
		case (option == "-J" || option == "-p" || option == "-l") && safeValue.MatchString(value):
			list = append(list, option, value)
		case option == "-o" && slices.Contains(safeOptions, strings.ToLower(key)) && safeValue.MatchString(set):
			list = append(list, option, value)
		default:
			v.leave("%s: %.80s is not passed to ssh", name, strings.TrimSpace(option+" "+value))
		}
	}
	return list
}

// become returns the words that change the user.
func (v *variables) become() ([]string, error) {
	if !slices.Contains([]string{"true", "yes", "on", "1", "y", "t"}, strings.ToLower(v.get("become"))) {
		return nil, nil
	}
	words := []string{"sudo", "-n"}
	switch method := v.get("method"); method {
	case "", "sudo", "ansible.builtin.sudo":
	case "doas", "community.general.doas":
		words = []string{"doas", "-n"}
	default:
		return nil, fmt.Errorf("ansible_become_method %.80q: expected sudo or doas", method)
	}
	if user := v.get("as"); user != "" && user != "root" {
		if !isName(user) {
			return nil, fmt.Errorf("ansible_become_user %.80q: expected the name of a user", user)
		}
		words = append(words, "-u", user)
	}
	return words, nil
}
