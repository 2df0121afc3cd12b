package wording

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"

	"linerate/internal/model/record"
)

// TestStatements: every code of a statement has words, except those that are spelled with the effects
// of a setting.
func TestStatements(t *testing.T) {
	elsewhere := map[string]bool{record.WhyOpen: true, record.WhyResponse: true, record.WhyDepends: true,
		record.WhyBeside: true, record.WhyNotShown: true}
	code := regexp.MustCompile(`^(Why|Untried|Advice|Lint)[A-Z]`)
	notCodes := regexp.MustCompile(`^Lint(Schema|Error|Warning|Note)$`)
	n := 0
	for _, name := range []string{"statement.go", "lint.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../model/record/"+name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, is := node.(*ast.ValueSpec)
			if !is || len(spec.Values) == 0 || !code.MatchString(spec.Names[0].Name) ||
				notCodes.MatchString(spec.Names[0].Name) {
				return true
			}
			value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			_, has := statements.of(value)
			if n++; !has && !elsewhere[value] {
				t.Errorf("%s has no words", spec.Names[0].Name)
			}
			return true
		})
	}
	if n < 80 {
		t.Errorf("%d codes", n)
	}
}

// TestReasons: why a setting is not tried, or tried beside the list, names what the statement does.
func TestReasons(t *testing.T) {
	for want, why := range map[string]record.Statement{
		"a has no interface eth7": {Code: record.UntriedNoInterface, Args: []string{"a", "eth7"}},
		"it is for FreeBSD, and hosts are changed on Linux only": {Code: record.UntriedSystem,
			Args: []string{"freebsd"}},
		"tuned sets it only where that makes it larger":  {Code: record.UntriedBound, Args: []string{">"}},
		"tuned sets it only where that makes it smaller": {Code: record.UntriedBound, Args: []string{"<"}},
		"a: no such parameter":                           {Code: record.UntriedRefused, Args: []string{"a", "no such parameter"}},
		"no such control":                                {Code: record.UntriedRefused, Args: []string{"", "no such control"}},
		"this kernel has no congestion control westwood (net.ipv4.tcp_available_congestion_control = reno cubic): " +
			"modprobe tcp_westwood": {
			Code: record.UntriedNoControl, Args: []string{"westwood", "reno cubic"}},
		"later 1": {Code: "later", Args: []string{"1"}}, // of a later version
	} {
		if got := Setting(record.TuneSetting{Reasons: []record.Statement{why}}); got.Why != want {
			t.Errorf("%q, want %q", got.Why, want)
		}
	}
	stored := record.TuneSetting{Why: "words of the study", Added: "words"}
	if got := Setting(stored); got.Why != stored.Why || got.Added != stored.Added {
		t.Errorf("%+v, want %+v", got, stored)
	}
	unit := []record.Statement{{Code: record.UntriedUnit}, {Code: record.AdvicePages, Args: []string{"1 2 3"}}}
	const want = "the value is in another unit than the kernel's; 1 2 3, or leave it out: the kernel chooses it by " +
		"the machine's memory"
	if got := Setting(record.TuneSetting{Reasons: unit}).Why; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
