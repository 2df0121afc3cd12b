package openmetrics

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/science/diagnose/counter"
)

var update = flag.Bool("update", false, "write the tables of docs/openmetrics-metrics.md anew")

// TestDocs: the document has each metric with its labels and meaning, and its name says its type.
func TestDocs(t *testing.T) {
	for _, m := range everyFamily() {
		if (m.kind == prometheus.CounterValue) != strings.HasSuffix(m.name, "_total") {
			t.Errorf("%s: expected a name that ends in _total of counters, and of no gauge", m.name)
		}
	}
	const file = "../../../docs/openmetrics-metrics.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, list := range map[string]families{"host": hostFamilies, "server": serveFamilies} {
		begin, end := "<!-- metrics of the "+name+" -->\n", "<!-- end of metrics -->"
		before, rest, found := strings.Cut(want, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for the metrics of the %s", file, name)
		}
		part := table(list)
		if name == "host" {
			part += "\n" + protocolTable()
		}
		want = before + begin + part + end + after
	}
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has not these metrics: go test ./internal/host/openmetrics -run TestDocs -update", file)
	}
}

// protocolTable has the counters of protocols, and for each the rules of doctor that go by it.
func protocolTable() string {
	var b strings.Builder
	b.WriteString("| counter of /proc/net | as | rules of doctor that go by it |\n|---|---|---|\n")
	rules := map[string][]string{}
	for _, c := range counter.Counters() {
		rules[c.Name] = c.Rules
	}
	for _, c := range protocolCounters() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", c.name, c.family.name, strings.Join(rules[c.name], ", "))
	}
	return b.String()
}

// everyFamily has the metrics of both collectors.
func everyFamily() families {
	all := slices.Concat(hostFamilies, serveFamilies)
	for _, c := range protocolCounters() {
		all = append(all, c.family)
	}
	return all
}

func table(list families) string {
	var b strings.Builder
	b.WriteString("| metric | labels | is |\n|---|---|---|\n")
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *family) int { return strings.Compare(a.name, b.name) })
	for _, m := range list {
		labels := ""
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.name, labels, m.help)
	}
	return b.String()
}

// known are the labels of each metric.
func known() map[string][]string {
	all := map[string][]string{}
	for _, m := range everyFamily() {
		all[m.name] = m.labels
	}
	return all
}

// dashboard is what linerate's dashboard has of Grafana's schema (version 38).
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []panel
}

type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Datasource  struct{ Type, UID string }
	Targets     []struct{ RefID, Expr string }
}

var (
	metricName = regexp.MustCompile(`\b[a-z][a-z0-9]*_[a-z0-9_]+\b`)
	labelName  = regexp.MustCompile(`(linerate_[a-z0-9_]+)\{([^}]*)\}`)
)

// TestDashboard: docs/grafana.json is a dashboard whose panels do not overlap, and each metric
// and label in it is one of linerate's.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 || len(d.Panels) < 10 {
		t.Fatalf("dashboard %q %q of schema %d with %d panels", d.UID, d.Title, d.SchemaVersion, len(d.Panels))
	}
	all, variables := known(), []string{"__rate_interval"}
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if v.Type == "query" {
			_, wrong := metricsOf(all, v.Definition)
			for _, what := range wrong {
				t.Errorf("%s: %s", v.Name, what)
			}
		}
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	used := map[string]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %d %q", p.ID, p.Title)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s: at %+v", p.Title, g)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[at] != "" {
					t.Fatalf("%s and %s overlap", cells[at], p.Title)
				}
				cells[at] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if !slices.Contains([]string{"timeseries", "table"}, p.Type) || p.Datasource.Type != "prometheus" ||
			p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("%s: %+v", p.Title, p)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.RefID == "" {
				t.Errorf("%s: query %q twice", p.Title, target.RefID)
			}
			refs[target.RefID] = true
			names, wrong := metricsOf(all, target.Expr)
			for _, name := range names {
				used[name] = true
			}
			for _, what := range wrong {
				t.Errorf("%s: %s", p.Title, what)
			}
			for _, v := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(variables, v[1]) {
					t.Errorf("%s: no variable %s", p.Title, v[0])
				}
			}
		}
	}
	if len(used) < 20 {
		t.Errorf("the dashboard shows %d metrics: %v", len(used), slices.Sorted(maps.Keys(used)))
	}
}

// metricsOf returns the metrics of an expression, and what in it is not linerate's.
func metricsOf(all map[string][]string, expression string) (used, wrong []string) {
	bare := regexp.MustCompile(`\{[^}]*\}|\$\w+|by \([^)]*\)|label_values`).ReplaceAllString(expression, " ")
	for _, name := range metricName.FindAllString(bare, -1) {
		if _, there := all[name]; !there {
			wrong = append(wrong, "no metric "+name)
		}
		used = append(used, name)
	}
	if len(used) == 0 {
		wrong = append(wrong, "no metric in "+expression)
	}
	for _, m := range labelName.FindAllStringSubmatch(expression, -1) {
		for matcher := range strings.SplitSeq(m[2], ",") {
			name, _, _ := strings.Cut(matcher, "=")
			if name = strings.TrimRight(name, "!"); name != "instance" && !slices.Contains(all[m[1]], name) {
				wrong = append(wrong, fmt.Sprintf("%s has no label %s", m[1], name))
			}
		}
	}
	return used, wrong
}

// TestExpressions: names that are not linerate's are found.
func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		`rate(linerate_nothing_total{instance="a"}[1m])`: "no metric linerate_nothing_total",
		`sum(linerate_tcp_connections{stat!="ESTAB"})`:   "linerate_tcp_connections has no label stat",
		`label_values(node_uname_info, instance)`:        "no metric node_uname_info",
		`1 + 1`: "no metric in 1 + 1",
		`sum by (a_b) (linerate_tcp_connections{state="TIME-WAIT"})`: "",
	} {
		if _, wrong := metricsOf(known(), expression); !strings.HasPrefix(strings.Join(wrong, "; "), want) ||
			want == "" && len(wrong) > 0 {
			t.Errorf("%s: %q, want %q", expression, wrong, want)
		}
	}
}

// TestNames: kernel counters have names as Prometheus writes them, and no two the same.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"TcpExt.TCPBacklogDrop": "tcpext_tcp_backlog_drop", "TcpExt.TCPMD5Failure": "tcpext_tcp_md5_failure",
		"Udp.RcvbufErrors":           "udp_rcvbuf_errors",
		"TcpExt.IPReversePathFilter": "tcpext_ip_reverse_path_filter", "TcpExt.PAWSEstab": "tcpext_paws_estab",
		"TcpExt.TCPDSACKRecv": "tcpext_tcp_dsack_recv",
	} {
		if got := snake(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	names := map[string]bool{}
	for _, m := range everyFamily() {
		if names[m.name] || !strings.HasSuffix(m.help, ".") {
			t.Errorf("%s: %q", m.name, cmp.Or(m.help, "no help"))
		}
		names[m.name] = true
	}
}
