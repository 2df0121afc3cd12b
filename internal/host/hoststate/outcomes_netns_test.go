//go:build linux && !portable

package hoststate

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// outcomesFile is the variable with the name of the file by which the process in namespaces
// hands its outcomes over.
const outcomesFile = "LINERATE_FAULTS_OUTCOMES"

// outcome is what was found of a planted fault.
type outcome struct {
	Fault string
	Found bool // as a cause, at least likely, on its host
	// Other findings that are at least likely: said to follow from another one; causes by
	// themselves that follow from the fault, or that it follows from; and others.
	Folded, Beside, Wrong []string
}

// healthyOutcome is what was found in a lab that works.
type healthyOutcome struct {
	Twin  string
	Of    []string            // the faults whose rules have most to go by there
	Found map[string][]string // by confidence
}

func (o *outcomes) write(t *testing.T, file string) {
	t.Helper()
	text, err := json.Marshal(o)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readOutcomes(t *testing.T, file string) *outcomes {
	t.Helper()
	o := &outcomes{}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(o.Faults, func(a, b outcome) int { return strings.Compare(a.Fault, b.Fault) })
	slices.SortFunc(o.Healthy, func(a, b healthyOutcome) int { return strings.Compare(a.Twin, b.Twin) })
	return o
}

// rates are those of the doctor over the planted faults. A true positive is a fault that is
// found as a cause, a false negative one that is not, and a false positive a cause that is at
// least likely and neither a planted fault nor what follows from one.
func (o *outcomes) rates() (truePositives, falsePositives, falseNegatives int, precision, recall float64) {
	for _, f := range o.Faults {
		if falsePositives += len(f.Wrong); f.Found {
			truePositives++
		} else {
			falseNegatives++
		}
	}
	share := func(wrong int) float64 { return float64(truePositives) / float64(max(1, truePositives+wrong)) }
	return truePositives, falsePositives, falseNegatives, share(falsePositives), share(falseNegatives)
}

func (o *outcomes) check(t *testing.T) {
	t.Helper()
	const least = 0.95
	if _, _, _, precision, recall := o.rates(); precision < least || recall < least {
		t.Errorf("precision %.3f, recall %.3f: want at least %g", precision, recall, least)
	}
	for _, h := range o.Healthy {
		if n := len(h.Found[record.Certain]) + len(h.Found[record.Likely]); n > 0 {
			t.Errorf("%s: %d findings that are at least likely", h.Twin, n)
		}
	}
}

var update = flag.Bool("update", false, "write the tables of docs/results/faults.md anew")

var faultsPage = filepath.Join("..", "..", "..", "docs", "results", "faults.md")

const (
	beginOfFaults = "<!-- faults -->\n"
	endOfFaults   = "<!-- end of faults -->"
	foundAlone    = "Found, and nothing else: " // begins the line of faults without other findings
)

// page is docs/results/faults.md, its part with the outcomes apart.
func page(t *testing.T) (before, part, after string) {
	t.Helper()
	text, err := os.ReadFile(faultsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), beginOfFaults)
	part, after, found := strings.Cut(rest, endOfFaults)
	if !found {
		t.Fatalf("%s has no %s", faultsPage, endOfFaults)
	}
	return before, part, after
}

// document writes the outcomes to docs/results/faults.md.
func (o *outcomes) document(t *testing.T) {
	t.Helper()
	before, _, after := page(t)
	var b strings.Builder
	hits, wrong, missed, precision, recall := o.rates()
	fmt.Fprintf(&b,
		"| planted | true positives | false positives | false negatives | precision | recall "+
			"|\n|---|---|---|---|---|---|\n| %d | %d | %d | %d | %.3f | %.3f |\n",
		len(o.Faults), hits, wrong, missed, precision, recall)
	var alone, rows []string
	for _, f := range o.Faults {
		if f.Found && len(f.Folded)+len(f.Beside)+len(f.Wrong) == 0 {
			alone = append(alone, code(f.Fault))
			continue
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", code(f.Fault),
			map[bool]string{true: "yes", false: "**no**"}[f.Found], codes(f.Folded), codes(f.Beside), codes(f.Wrong)))
	}
	fmt.Fprintf(&b, "\n%s%s.\n", foundAlone, strings.Join(alone, "; "))
	b.WriteString("\n| fault | found as cause | folded under a cause | beside it | wrong |\n|---|---|---|---|---|\n")
	b.WriteString(strings.Join(rows, ""))
	b.WriteString("\n| healthy twin | of | certain | likely | possible |\n|---|---|---|---|---|\n")
	for _, h := range o.Healthy {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", h.Twin, codes(h.Of), codes(h.Found[record.Certain]),
			codes(h.Found[record.Likely]), codes(h.Found[record.Possible]))
	}
	if err := os.WriteFile(faultsPage, []byte(before+beginOfFaults+b.String()+endOfFaults+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// code is the name of a fault with its rule as code.
func code(name string) string {
	id, rest, _ := strings.Cut(name, " ")
	return strings.TrimSpace("`" + id + "` " + rest)
}

// codes are IDs of rules, each once.
func codes(list []string) string {
	seen := map[string]bool{}
	for _, id := range list {
		seen["`"+id+"`"] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}

// TestFaultList: docs/results/faults.md lists the faults that are planted, and their twins.
func TestFaultList(t *testing.T) {
	_, part, _ := page(t)
	want := []string{"fault", "healthy twin", "planted"}
	for _, f := range faults {
		want = append(want, code(f.name()))
		for _, g := range f.and {
			want = append(want, code(g.name()))
		}
	}
	for _, twin := range twins {
		want = append(want, twin.id)
	}
	var listed []string
	for line := range strings.Lines(part) {
		if alone, is := strings.CutPrefix(line, foundAlone); is {
			listed = append(listed, strings.Split(strings.TrimRight(alone, ".\n"), "; ")...)
		} else if cells := strings.Split(line, " | "); len(cells) > 1 {
			listed = append(listed, strings.TrimPrefix(cells[0], "| "))
		}
	}
	listed = slices.DeleteFunc(listed, func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' })
	}) // the row of totals
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("%s lists %v, want %v: make faults", faultsPage, listed, want)
	}
}
