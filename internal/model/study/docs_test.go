package study

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

const manual = "../../../docs/study-files.md"

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestManualExamples: whoever copies an example has a study that works.
func TestManualExamples(t *testing.T) {
	text, err := os.ReadFile(manual)
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

// TestManualReference: the tables of keys are those of the types. With -update
// they are written.
func TestManualReference(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- reference -->\n", "<!-- /reference -->"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the manual has no place for the reference")
	}
	golden(t, manual, before+begin+reference()+end+after)
}

// reference is a table for each kind of mapping in a study file.
func reference() string {
	var b strings.Builder
	for _, section := range []struct {
		where string
		of    reflect.Type
	}{
		{"The file", reflect.TypeFor[Study]()},
		{"topology", reflect.TypeFor[topology.Topology]()},
		{"topology: a host", reflect.TypeFor[topology.Host]()},
		{"topology: bgp of a host", reflect.TypeFor[topology.BGP]()},
		{"topology: an interface of a host", reflect.TypeFor[topology.Interface]()},
		{"topology: a switch", reflect.TypeFor[topology.Switch]()},
		{"topology: a link", reflect.TypeFor[topology.Link]()},
		{"workload", reflect.TypeFor[Workload]()},
		{"workload: loss_free", reflect.TypeFor[LossFree]()},
		{"workload: a flow", reflect.TypeFor[Flow]()},
		{"workload: an event", reflect.TypeFor[Event]()},
		{"factors: a factor", reflect.TypeFor[Factor]()},
		{"factors: a level", reflect.TypeFor[Level]()},
		{"factors: workload of a level", reflect.TypeFor[Override]()},
		{"design", reflect.TypeFor[Design]()},
		{"A setting", reflect.TypeFor[setting.Setting]()},
		{"setting: neighbour", reflect.TypeFor[setting.Neighbour]()},
		{"setting: address", reflect.TypeFor[setting.Address]()},
		{"setting: route; routes of a host", reflect.TypeFor[setting.Route]()},
		{"route: a next hop", reflect.TypeFor[setting.Nexthop]()},
		{"setting: nexthop; nexthops of a host", reflect.TypeFor[setting.NexthopObject]()},
		{"nexthop: a member of a group", reflect.TypeFor[setting.Member]()},
		{"nexthop: a resilient group", reflect.TypeFor[setting.Resilient]()},
		{"setting: rule; rules of a host", reflect.TypeFor[setting.Rule]()},
		{"setting: link", reflect.TypeFor[setting.Link]()},
		{"setting: qdisc", reflect.TypeFor[setting.Qdisc]()},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| key | meaning |\n|---|---|\n", section.where)
		for _, f := range source.Fields(section.of) {
			key, meaning := "`"+f.Name+"`", f.Doc
			if f.Required {
				key += " *"
			}
			if len(f.Enum) > 0 {
				meaning += " (`" + strings.Join(f.Enum, "`, `") + "`)"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", key, meaning)
		}
	}
	return b.String() + "\nA key with * must be there.\n"
}
