package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	before, after := flattened(from), flattened(to)
	paths := make([][]string, len(sections)) // with different values
	add := func(path string) {
		if n := sectionOf(path); n >= 0 && before[path] != after[path] {
			paths[n] = append(paths[n], path)
		}
	}
	for path := range before {
		add(path)
	}
	for path := range after {
		if !taken(before, path) {
			add(path)
		}
	}
	for n, section := range sections {
		if !slices.Contains(kinds, section.of) {
			continue
		}
		var changes []record.Change
		for _, path := range paths[n] {
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

func sectionOf(path string) int {
	best := -1
	for i, s := range sections {
		if strings.HasPrefix(path, s.path) && (best < 0 || len(s.path) > len(sections[best].path)) {
			best = i
		}
	}
	return best
}

func isVolatile(path string) bool {
	// These routes come and go with their addresses.
	return strings.Contains(path, "routes.local ") && strings.Contains(path, " proto kernel") ||
		slices.ContainsFunc(volatile, func(end string) bool { return strings.HasSuffix(path, end) }) ||
		slices.ContainsFunc(volatileKeys, func(key string) bool { return strings.HasSuffix(path, key) }) ||
		slices.ContainsFunc(volatileParts, func(part string) bool { return strings.Contains(path, part) }) ||
		strings.Contains(path, ".irqs.") && strings.HasSuffix(path, ".count")
}

// flattened returns a document as values by path. List elements are identified by identity, others
// by their text.
func flattened(s netstate.HostSnapshot) map[string]string {
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	var tree any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return nil
	}
	values := map[string]string{}
	flatten(values, "", tree)
	return values
}

func flatten(values map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			flatten(values, strings.TrimPrefix(path+"."+key, "."), inner)
		}
	case []any:
		last := map[string]int{} // number of elements of one name, where there are several
		for _, element := range v {
			name := identity(element)
			at := path + "." + name
			for n := max(2, last[name]+1); taken(values, at); n++ {
				at, last[name] = fmt.Sprintf("%s.%s#%d", path, name, n), n
			}
			if inner, is := element.(map[string]any); is {
				values[at] = record.Present
				flatten(values, at, withoutKey(inner, name))
				continue
			}
			values[at] = record.Present
		}
	case nil:
	default:
		values[path] = fmt.Sprint(v)
	}
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
		if text := fmt.Sprint(value); is && text != "" && !(whole && key != "interface") && len(names) < 2 {
			names = append(names, text)
		}
	}
	return strings.Join(names, " ")
}

func withoutKey(object map[string]any, name string) map[string]any {
	rest := map[string]any{}
	_, numbered := object["id"]
	_, netfilter := object["family"]
	for key, value := range object {
		switch {
		case numbered && key == "id", netfilter &&
			slices.Contains([]string{"family", "table", "chain", "handle", "name"}, key):
		case numbered, netfilter:
			rest[key] = value
		case !slices.Contains(strings.Fields(name), fmt.Sprint(value)) && key != "text" && key != "to":
			rest[key] = value
		}
	}
	return rest
}
