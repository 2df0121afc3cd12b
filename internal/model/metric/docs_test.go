package metric

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md")

// TestDocs: the table of docs/metrics.md is the registry's. With -update it is
// written.
func TestDocs(t *testing.T) {
	const page, begin, end = "../../../docs/metrics.md", "<!-- metrics -->\n", "<!-- /metrics -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table: want %q and %q", page, begin, end)
	}
	want := before + begin + table() + end + after
	switch {
	case want == string(text):
	case *update:
		err = os.WriteFile(page, []byte(want), 0o644)
	default:
		t.Errorf("%s is not of this registry; write it with -update", page)
	}
	if err != nil {
		t.Error(err)
	}
}

func table() string {
	var b strings.Builder
	fmt.Fprint(&b, "\n| metric | is | unit | better | flows | `response` | `--expect` | export |\n|---|---|---|---|---|---|---|---|\n")
	for _, m := range All {
		scales := ""
		if all := units[m.Unit].scales; len(all) > 0 {
			scales = all[len(all)-1].Unit
			if largest := all[0].Unit; largest != scales {
				scales += " to " + largest
			}
		}
		flows := slices.Clone(m.Protocols)
		if m.Probed {
			flows = append(flows, "probe")
		}
		better := "more"
		if m.Lower {
			better = "less"
		}
		response, column, example := "", "", ""
		if m.trial != nil {
			response, column = "yes", "`"+m.Column()+"`"
		}
		if m.measure != nil {
			example = "`" + m.Example() + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", m.Name, m.About, scales, better, strings.Join(flows, ", "), response, example, column)
	}
	return b.String() + "\n"
}

// TestRegistry: each metric has what its users need, once.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All {
		u, known := units[m.Unit]
		if seen[m.Name] || !known || m.Label == "" || m.About == "" || m.trial == nil && m.measure == nil || m.trial != nil && (m.Absent == "") != (m.Name == Goodput.Name) ||
			len(m.Protocols) == 0 && !m.Probed || u.example == "" {
			t.Errorf("%s is given twice or lacks something: %+v", m.Name, m)
		}
		seen[m.Name] = true
		if v, err := m.Parse(u.example); err != nil || m.Format(v) == "" {
			t.Errorf("%s: the example %s is read as %g, %v", m.Name, m.Example(), v, err)
		}
	}
}

func TestFormat(t *testing.T) {
	for want, got := range map[string]string{
		"950 Mbit/s": Goodput.Format(950e6), "1 Gbit/s": Goodput.Format(999.96e6), "12 k/s": Transactions.Format(12000), "5 ms": LatencyP99.Format(5000),
		"0 %": Lost.Format(0), "0.2 %": Lost.Format(0.002), "28232 open": Connections.Format(28232), "B": grade.Format(3), "-1.5 %": Surplus.Format(-0.015),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
