package study

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/attacks"
	"linerate/internal/model/device"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/tool"
	"linerate/internal/model/topology"
)

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestManualExamples: each example of the manual is a study that works.
func TestManualExamples(t *testing.T) {
	text, err := os.ReadFile(page("study-files"))
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllSubmatch(text, -1)
	if len(examples) < 3 {
		t.Fatalf("the manual has %d examples", len(examples))
	}
	schema := loadSchema(t)
	for _, e := range examples {
		s, err := Parse("example.yaml", e[1])
		if err != nil {
			t.Errorf("%s\n%v", e[1], err)
			continue
		}
		plan(t, s)
		for _, wrong := range validate(t, schema, e[1]) {
			t.Errorf("%s\nagainst the schema: %s", e[1], wrong)
		}
	}
}

// page is the path of a document.
func page(name string) string { return "../../../docs/" + name + ".md" }

// TestGeneratedTables: the tables in the documents are those of the types and
// registries. With -update they are written.
func TestGeneratedTables(t *testing.T) {
	for _, table := range []struct{ page, name, want string }{
		{"study-reference", "reference", reference()},
		{"devices", "devices", "\n" + devices()},
		{"foreign-tools", "arguments", "\n" + arguments() + "\n"},
		{"foreign-tools", "variables", "\n" + variables() + "\n"},
		{"applications", "settings", "\n" + serviceSettings() + "\n"},
		{"attacks", "kinds", "\n" + attackKinds() + "\n"},
		{"metrics", "metrics", "\n" + metrics() + "\n"},
	} {
		path := page(table.page)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		begin, end := "<!-- "+table.name+" -->\n", "<!-- /"+table.name+" -->"
		before, rest, found := strings.Cut(string(text), begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for the table: want %q and %q", path, begin, end)
		}
		golden(t, path, before+begin+table.want+end+after)
	}
}

// arguments is a table of what tool_args may have.
func arguments() string {
	var b strings.Builder
	b.WriteString("| tool | `tool_args` may have |\n|---|---|\n")
	for _, t := range tool.All() {
		var list []string
		for _, a := range t.Args {
			text := "`" + strings.Join(strings.Fields(a.Names), "`, `") + "`"
			switch value := a.Value.String(); {
			case a.Attached:
				text = "`" + a.Names + "`*" + value + "*"
			case value != "":
				text += " *" + value + "*"
			}
			list = append(list, text)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", t.Name, strings.Join(list, "; "))
	}
	return b.String()
}

// serviceSettings is a table of what settings of a service may have.
func serviceSettings() string {
	var b strings.Builder
	b.WriteString("| program | settings that a study can make |\n|---|---|\n")
	for _, p := range topology.ServicePrograms {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", p.Name, strings.Join(p.Settings, "`, `"))
	}
	return b.String()
}

// variables is a table of the variables of commands that no option has.
func variables() string {
	var b strings.Builder
	b.WriteString("| variable | is |\n|---|---|\n")
	for _, v := range tool.Variables() {
		fmt.Fprintf(&b, "| `$%s` | %s |\n", v.Name, v.Doc)
	}
	return b.String()
}

// devices is a table of the kinds of device.
func devices() string {
	var b strings.Builder
	b.WriteString("| key | is | kernel module | build option |\n|---|---|---|---|\n")
	fields := source.Fields(reflect.TypeFor[device.Device]())
	for i, k := range device.Kinds {
		s := k.Shape(device.Device{}, "eth0.1")
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` |\n", s.Key, fields[i].Doc, s.Module, s.Config)
	}
	return b.String()
}

// attackKinds is a table of the registry of attacks.
func attackKinds() string {
	var b strings.Builder
	b.WriteString(
		"| kind | sends, and what of the victim it uses up | per second | connections | size | source addresses " +
			"|\n|---|---|---|---|---|---|\n")
	for _, k := range attacks.Kinds {
		connections, size, sources := "", "", "the attacker's"
		if k.Connects {
			connections = fmt.Sprint(k.Connections)
		}
		if k.Payload > 0 {
			size = fmt.Sprint(k.Payload)
		}
		if k.Random {
			sources = "random"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %s | %s |\n", k.Name, k.About, k.Rate, connections, size, sources)
	}
	return b.String()
}

// metrics is a table of the registry of metrics.
func metrics() string {
	var b strings.Builder
	b.WriteString(
		"| metric | is | unit | better | flows | `response` | `--expect` | export " +
			"|\n|---|---|---|---|---|---|---|---|\n")
	for _, m := range metric.All {
		scales := ""
		if m.Unit != "grade" {
			scales = m.Scale("", 0).Unit
			if largest := m.Scale("", math.Inf(1)).Unit; largest != scales {
				scales += " to " + largest
			}
		}
		flows := shortened(m.Protocols)
		if m.Probed {
			flows = strings.TrimPrefix(flows+", probe", ", ")
		}
		better := "more"
		if m.Lower {
			better = "less"
		}
		response, column, example := "", "", ""
		if slices.Contains(metric.ResponseNames(), m.Name) {
			response, column = "yes", "`"+m.Column()+"`"
		}
		if slices.Contains(metric.ExpectableNames(), m.Name) {
			example = "`" + m.Example() + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", m.Name, m.About, scales, better,
			flows, response, example, column)
	}
	return b.String()
}

// reference is a table for each kind of mapping in a study file. The options of flows,
// which several of them have, are a table of their own.
func reference() string {
	var b strings.Builder
	row := func(key, meaning string, enum []string) {
		fmt.Fprintf(&b, "| %s | %s |\n", key, meaning+values(meaning, enum))
	}
	for _, section := range []struct {
		where   string
		of      reflect.Type
		options string // whose options of flows these are
	}{
		{"The file", reflect.TypeFor[Study](), ""},
		{"topology", reflect.TypeFor[topology.Topology](), ""},
		{"topology: a host", reflect.TypeFor[topology.Host](), ""},
		{"topology: bgp of a host", reflect.TypeFor[topology.BGP](), ""},
		{"topology: a service of a host", reflect.TypeFor[topology.Service](), ""},
		{"topology: an interface of a host", reflect.TypeFor[topology.Interface](), ""},
		{"interface: bond; bond of a port", reflect.TypeFor[device.Bond](), ""},
		{"interface: vxlan", reflect.TypeFor[device.VXLAN](), ""},
		{"interface: vrf", reflect.TypeFor[device.VRF](), ""},
		{"topology: a switch", reflect.TypeFor[topology.Switch](), ""},
		{"topology: snmp of a switch", reflect.TypeFor[topology.SNMP](), ""},
		{"switch: a port", reflect.TypeFor[topology.Port](), ""},
		{"topology: a link", reflect.TypeFor[topology.Link](), ""},
		{"workload", reflect.TypeFor[Workload](), "of all flows"},
		{"workload: tool of a flow", reflect.TypeFor[flow.Tool](), ""},
		{"workload: loss_free", reflect.TypeFor[LossFree](), ""},
		{"workload: a flow", reflect.TypeFor[Flow](), "of this flow"},
		{"workload: an event", reflect.TypeFor[Event](), ""},
		{"workload: an attack", reflect.TypeFor[attacks.Spec](), ""},
		{"factors: a factor", reflect.TypeFor[Factor](), ""},
		{"factors: a setting that is not tried", reflect.TypeFor[Untried](), ""},
		{"factors: a level", reflect.TypeFor[Level](), ""},
		{"factors: workload of a level", reflect.TypeFor[Override](), "of all flows at this level"},
		{"design", reflect.TypeFor[Design](), ""},
		{"A setting", reflect.TypeFor[setting.Setting](), ""},
		{"setting: neighbour", reflect.TypeFor[setting.Neighbour](), ""},
		{"setting: address", reflect.TypeFor[setting.Address](), ""},
		{"setting: route; routes of a host", reflect.TypeFor[setting.Route](), ""},
		{"route: a next hop", reflect.TypeFor[setting.Nexthop](), ""},
		{"setting: nexthop; nexthops of a host", reflect.TypeFor[setting.NexthopObject](), ""},
		{"nexthop: a member of a group", reflect.TypeFor[setting.Member](), ""},
		{"nexthop: a resilient group", reflect.TypeFor[setting.Resilient](), ""},
		{"setting: rule; rules of a host", reflect.TypeFor[setting.Rule](), ""},
		{"setting: link", reflect.TypeFor[setting.Link](), ""},
		{"setting: qdisc", reflect.TypeFor[setting.Qdisc](), ""},
		{"setting: nic", reflect.TypeFor[setting.NIC](), ""},
		{"setting: cpu", reflect.TypeFor[setting.CPU](), ""},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| key | meaning |\n|---|---|\n", section.where)
		_, hasOptions := section.of.FieldByName("Spec")
		for _, f := range source.Fields(section.of) {
			if hasOptions && flow.Find(f.Name) != nil {
				continue
			}
			key := "`" + f.Name + "`"
			if f.Required {
				key += " *"
			}
			row(key, f.Doc, f.Enum)
		}
		if hasOptions {
			row("[options of flows](#options-of-flows)", section.options, nil)
		}
	}
	b.WriteString("\n### Options of flows\n\n" +
		"Keys of `workload`, of a flow, and of a level's `workload`. A level's value replaces a flow's own, a " +
		"flow's own " +
		"replaces the workload's. The flags of `measure` have the same names with dashes. Applications are " +
		strings.Join(flow.Names(application), ", ") + ".\n\n" +
		"| option | for | means | when absent |\n|---|---|---|---|\n")
	for _, o := range flow.Options {
		meaning := o.Doc + values(o.Doc, append(slices.Clone(o.Enum), o.Names...))
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Key, protocols(o), meaning, o.Absent)
	}
	return b.String() + "\n"
}

// values lists the values of a key in parentheses, unless its meaning names each of them.
func values(meaning string, enum []string) string {
	words := strings.FieldsFunc(meaning, func(r rune) bool { return strings.ContainsRune(" ,;:()", r) })
	missing := func(value string) bool { return !slices.Contains(words, value) }
	switch {
	case !slices.ContainsFunc(enum, missing):
		return ""
	case slices.Equal(enum, metric.ResponseNames()):
		return " ([metrics](metrics.md))"
	}
	return " (`" + strings.Join(enum, "`, `") + "`)"
}

func application(p flow.Protocol) bool { return p.Application }

// protocols lists the protocols that have the option, or is "all".
func protocols(o *flow.Option) string {
	if o.Protocols == nil {
		return "all"
	}
	return shortened(o.Protocols)
}

// shortened is the list with "applications" for all of these.
func shortened(list []string) string {
	list = slices.Clone(list)
	all := flow.Names(application)
	in := func(p string) bool { return slices.Contains(all, p) }
	if len(list)-len(slices.DeleteFunc(slices.Clone(list), in)) == len(all) {
		list = append(slices.DeleteFunc(list, in), "applications")
	}
	return strings.Join(list, ", ")
}
