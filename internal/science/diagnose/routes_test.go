package diagnose

import (
	"testing"

	"linerate/internal/model/record"
)

// TestDiscardingRoutes: what a person discards is likely a mistake; a default route that yields to
// any other keeps lookups in its table.
func TestDiscardingRoutes(t *testing.T) {
	for _, test := range []struct {
		table    int
		to, text string
		want     string
	}{
		{mainTable, "198.51.100.0/24", "blackhole 198.51.100.0/24", "blackhole-route nas likely"},
		{mainTable, "198.51.100.0/24", "blackhole 198.51.100.0/24 proto bird metric 32", "blackhole-route nas possible"},
		{mainTable, "0.0.0.0/0", "unreachable default metric 100", "blackhole-route nas likely"},
		{10, "198.51.100.0/24", "unreachable 198.51.100.0/24 metric 4278198272", "blackhole-route nas likely"},
		{10, "0.0.0.0/0", "unreachable default metric 4278198272", ""},
		{10, "::/0", "unreachable default dev lo metric 4278198272 pref medium", ""},
		{mainTable, "::/0", "unreachable default metric 4294967295 error -101", ""},
	} {
		s := hostNamed("nas", 15)
		s.Reading.Snapshot.Routes = []record.RouteEntry{{Table: test.table, To: test.to, Text: test.text}}
		if got := names(Hosts([]record.HostSnapshot{s}).Findings); got != test.want {
			t.Errorf("table %d: %s: found %q, want %q", test.table, test.text, got, test.want)
		}
	}
}

// TestEmptyTables: a rule for all packets may lead to a table that is filled later.
func TestEmptyTables(t *testing.T) {
	for _, test := range []struct {
		rule record.RuleEntry
		want string
	}{
		{record.RuleEntry{Priority: 220, Table: 220}, ""},
		{record.RuleEntry{Priority: 100, From: "192.0.2.16/32", Table: 101}, "rule-without-routes nas likely"},
		{record.RuleEntry{Priority: 100, To: "198.51.100.0/24", Table: 101}, "rule-without-routes nas likely"},
		{record.RuleEntry{Priority: 100, From: "192.0.2.16/32", Table: mainTable}, ""},
	} {
		s := hostNamed("nas", 15)
		s.Reading.Snapshot.Rules = []record.RuleEntry{{Table: localTable}, test.rule, {Priority: 32766, Table: mainTable}}
		if got := names(Hosts([]record.HostSnapshot{s}).Findings); got != test.want {
			t.Errorf("%+v: found %q, want %q", test.rule, got, test.want)
		}
	}
}
