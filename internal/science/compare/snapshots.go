package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/record"
)

// sections are the parts of a snapshot in the order in which their changes are listed. path is the
// beginning of a value's path in the JSON document.
var sections = []struct {
	path, name string
	of         kind
}{
	{"reading.snapshot.interfaces", "interfaces", network},
	{"reading.snapshot.routes", "routes", network},
	{"reading.snapshot.rules", "rules", network},
	{"reading.snapshot.neighbours", "neighbours", passing},
	{"reading.snapshot.arp_answers", "ARP answers", passing},
	{"reading.snapshot.fdb", "forwarding table", passing},
	{"state.nics", "NICs", network},
	{"state.bridges", "bridges", network},
	{"state.bonds", "bonds", network},
	{"state.lldp_neighbours", "LLDP neighbours", network},
	{"state.nexthops", "nexthops", network},
	{"state.nftables", "nftables", network},
	{"state.parameters", "parameters", machine},
	{"state.parameter_files", "parameter files", machine},
	{"state.listeners", "listeners", passing},
	{"state.resolver", "resolver", machine},
	{"state.clock.source", "clock", machine},
	{"state.clock.synchronised", "clock", machine},
	{"state.cpu_governors", "CPUs", machine},
	{"state.memory_bytes", "machine", machine},
	{"state.firmware", "machine", machine},
	{"state.conntrack.most", "connection tracking", machine},
	{"environment", "machine", environment},
	{"reading.end.interfaces", "interface counters", counting},
	{"reading.end.qdiscs", "qdisc counters", counting},
	{"reading.end.snmp", "protocol counters", counting},
	{"reading.end.softnet", "softnet counters", counting},
}

// kind says what a section is about, and with that which comparisons include it.
type kind int

const (
	machine     kind = iota // the machine and the kernel's parameters
	network                 // the network; the study defines it for hosts of a lab
	passing                 // what traffic and programs change
	environment             // what a run also has as netstate.HostEnvironment
	counting
)

// volatile lists endings of the paths of values that change all the time or carry no information.
var volatile = []string{".state", ".queued", ".drops", ".count", ".max_error_us", ".at_ns", ".backlog_bytes",
	".qlen_packets", ".index", ".carrier_changes", ".link_failures", ".peer_index", ".effective_affinity",
	".packets", ".bytes", ".packets_before", ".counted_over_s", ".elements", ".more_rules"}

// volatileParts lists parts of the paths of NIC values that change all the time.
var volatileParts = []string{".driver_counters.", ".driver_counters_before.", ".driver_counters_over_s", ".meanings.",
	".unknown_counters", ".wifi.", ".module.temperature_c", ".module.rx_power_dbm", ".module.tx_power_dbm"}

// volatileKeys lists kernel parameters whose values change by themselves.
var volatileKeys = []string{"nf_conntrack_count", "neigh.default.base_reachable_time"}

// keys are the names of the fields that identify an element of a list. If an element has several of
// them, the first in this order identifies it.
var keys = []string{"interface", "queue", "irq", "address", "mac", "part", "key", "local", "priority", "to", "handle",
	"cpu", "parent"}

// Snapshots lists the differences between two snapshots, section by section.
func Snapshots(from, to netstate.HostSnapshot) record.SnapshotDiff {
	d := between(from, to, machine, network, passing, environment, counting)
	d.Schema = "linerate.diff/v1"
	return d
}

// between lists the differences in sections of the given kinds.
func between(from, to netstate.HostSnapshot, kinds ...kind) record.SnapshotDiff {
	d := record.SnapshotDiff{From: from.Reading.Host, To: to.Reading.Host, Changes: []record.Change{}}
	for n, section := range sections {
		if !slices.Contains(kinds, section.of) {
			continue
		}
		before, after := flattened(from, n), flattened(to, n) // one section at a time: all of them take much memory
		var paths []string                                    // with different values
		for path, value := range before {
			if value != after[path] {
				paths = append(paths, path)
			}
		}
		for path, value := range after {
			if value != before[path] && !taken(before, path) {
				paths = append(paths, path)
			}
		}
		var changes []record.Change
		for _, path := range paths {
			if strings.HasSuffix(path, ".at_ns") || partOfNew(path, before, after) {
				continue
			}
			rest := path[len(section.path):]
			c := record.Change{Section: section.name, What: strings.Trim(rest, ". "), From: before[path],
				To: after[path]}
			if c.What == "" {
				c.What = section.path[strings.LastIndexByte(section.path, '.')+1:]
			}
			a, errA := strconv.ParseInt(cmp.Or(c.From, "0"), 10, 64)
			b, errB := strconv.ParseInt(cmp.Or(c.To, "0"), 10, 64)
			switch {
			case section.of == counting && errA == nil && errB == nil:
				c.Grew = b - a
			case section.of == counting:
				continue
			case isVolatile(path):
				continue
			}
			changes = append(changes, c)
		}
		slices.SortFunc(changes, func(a, b record.Change) int {
			return cmp.Or(order(a)-order(b), cmp.Compare(a.What, b.What))
		})
		if section.of == counting {
			d.Counters = append(d.Counters, changes...)
		} else {
			d.Changes = append(d.Changes, changes...)
		}
	}
	d.Changes = withParameters(d.Changes)
	if !slices.Contains(kinds, network) { // nor what comes and goes with interfaces
		d.Changes = slices.DeleteFunc(d.Changes, func(c record.Change) bool {
			return (c.From == "" || c.To == "") && ofInterface.MatchString(c.What)
		})
	}
	return d
}

// order sorts changed values before those that were added or removed, and among each first those of
// all interfaces.
func order(c record.Change) int {
	n := 0
	if !strings.Contains(c.What, ".all.") {
		n = 1
	}
	if c.From == "" || c.To == "" {
		n += 2
	}
	return n
}

// ofInterface matches the kernel parameters that each interface has. In sysctl names, a dot in an
// interface's name is a slash.
var ofInterface = pattern.MustCompile(`^net\.[a-z0-9]+\.(?:conf|neigh)\.([^.]+)\.`)

// withParameters folds the parameters of an added or removed interface into the change of that
// interface, which counts them, instead of listing each.
func withParameters(changes []record.Change) []record.Change {
	at := map[string]int{}
	for i, c := range changes {
		if c.Section == "interfaces" && (c.Added() || c.Removed()) {
			at[strings.ReplaceAll(c.What, ".", "/")] = i
		}
	}
	return slices.DeleteFunc(changes, func(c record.Change) bool {
		name := ofInterface.FindStringSubmatch(c.What)
		if c.Section != "parameters" || name == nil || c.From != "" && c.To != "" {
			return false
		}
		i, is := at[name[1]]
		if is {
			changes[i].Parameters++
		}
		return is
	})
}

// partOfNew reports whether a value belongs to a list element that only one of the two documents
// has. The element itself is listed as one change.
func partOfNew(path string, before, after map[string]string) bool {
	for end := strings.LastIndexByte(path, '.'); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		was, is := before[path[:end]], after[path[:end]]
		if was != is && (was == record.Present || is == record.Present) {
			return true
		}
	}
	return false
}

func isVolatile(path string) bool {
	// These routes come and go with their addresses.
	return strings.Contains(path, "routes.local ") && strings.Contains(path, " proto kernel") ||
		slices.ContainsFunc(volatile, func(end string) bool { return strings.HasSuffix(path, end) }) ||
		slices.ContainsFunc(volatileKeys, func(key string) bool { return strings.HasSuffix(path, key) }) ||
		slices.ContainsFunc(volatileParts, func(part string) bool { return strings.Contains(path, part) }) ||
		strings.Contains(path, ".irqs.") && strings.HasSuffix(path, ".count")
}

// flattened returns a section of a document as values by path. List elements are identified by identity, others by
// their text.
func flattened(s netstate.HostSnapshot, section int) map[string]string {
	path := sections[section].path
	text, err := json.Marshal(part(reflect.ValueOf(s), path))
	if err != nil {
		return nil
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return nil
	}
	values := map[string]string{}
	flatten(values, path, tree, func(string, any) bool { return true })
	return values
}

// part returns the field of a document that a path leads to; nil: it is absent in JSON. It panics if there is none.
func part(v reflect.Value, path string) any {
	name, rest, deeper := strings.Cut(path, ".")
	for _, f := range reflect.VisibleFields(v.Type()) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := v.FieldByIndex(f.Index)
		switch {
		case key != name:
			continue
		case inner.IsZero() && (options != "" || inner.Kind() == reflect.Pointer):
			return nil
		case !deeper:
			return inner.Interface()
		}
		return part(reflect.Indirect(inner), rest)
	}
	panic("a snapshot has no " + path)
}

// flatten adds the values below a path. Of an object it takes the fields for which has returns true.
func flatten(values map[string]string, path string, v any, has func(key string, value any) bool) {
	all := func(string, any) bool { return true }
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if has(key, inner) {
				flatten(values, path+"."+key, inner, all)
			}
		}
	case []any:
		last := map[string]int{} // number of elements of one name, where there are several
		for _, element := range v {
			name := identity(element)
			at := path + "." + name
			for n := max(2, last[name]+1); taken(values, at); n++ {
				at, last[name] = fmt.Sprintf("%s.%s#%d", path, name, n), n
			}
			values[at] = record.Present
			if inner, is := element.(map[string]any); is {
				flatten(values, at, inner, besidesName(inner, name))
			}
		}
	case nil:
	default:
		values[path] = textOf(v)
	}
}

// textOf is fmt.Sprint, which is slow for the values of a document.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

func taken(values map[string]string, path string) bool { _, is := values[path]; return is }

// identity returns the name by which a list element is matched between documents.
func identity(element any) string {
	object, is := element.(map[string]any)
	if !is {
		return fmt.Sprint(element)
	}
	if text, is := object["text"]; is && object["chain"] == nil { // a route, as ip(8) prints it
		return fmt.Sprint(text)
	}
	switch _, chain := object["chain"]; {
	case object["id"] != nil: // a nexthop object
		return fmt.Sprint("id ", object["id"])
	case object["table"] != nil && chain: // a rule of nftables, or a policy
		return fmt.Sprint(object["family"], " ", object["table"], " ", object["chain"], " handle ",
			cmp.Or(object["handle"], any("policy")))
	case object["table"] != nil && object["name"] != nil: // a set or an object of nftables
		return fmt.Sprint(object["family"], " ", object["table"], " ", object["name"])
	}
	_, whole := object["mtu"] // an interface, which keeps its name when its MAC address changes
	var names []string
	for _, key := range keys {
		value, is := object[key]
		if text := textOf(value); is && text != "" && !(whole && key != "interface") && len(names) < 2 {
			names = append(names, text)
		}
	}
	return strings.Join(names, " ")
}

// besidesName reports which fields of an element are not in its name (identity).
func besidesName(object map[string]any, name string) func(key string, value any) bool {
	_, numbered := object["id"]
	_, netfilter := object["family"]
	words := strings.Fields(name)
	return func(key string, value any) bool {
		switch {
		case numbered && key == "id", netfilter &&
			slices.Contains([]string{"family", "table", "chain", "handle", "name"}, key):
			return false
		case numbered, netfilter:
			return true
		}
		return key != "text" && key != "to" && !slices.Contains(words, textOf(value))
	}
}
