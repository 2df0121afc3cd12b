package study

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"linerate/internal/model/source"
)

// FuzzParse: whatever a file says, it is refused with the places of its mistakes,
// or it is a study of which everything that follows is sound.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/wrong/*.yaml")
	more, _ := filepath.Glob("../../../studies/*.yaml")
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(pair))
	f.Add([]byte(combined))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		s, err := Parse("f", data)
		if err != nil {
			problems, ok := err.(source.Problems)
			if !ok || len(problems) == 0 {
				t.Fatalf("the error is %T: %v", err, err)
			}
			if _, again := Parse("f", data); again == nil || again.Error() != err.Error() {
				t.Fatalf("the second time the message is another:\n%v\n%v", err, again)
			}
			return
		}
		p, err := NewPlan(s)
		if err != nil {
			t.Fatalf("a study without a plan: %v", err)
		}
		if order := p.Order(1, 1); len(order) != len(p.Treatments) {
			t.Fatalf("block 1 has %d of %d treatments", len(order), len(p.Treatments))
		}
		for _, tr := range p.Treatments {
			if len(tr.Flows) == 0 || p.TrialTime(&tr) <= 0 || tr.Name == "" {
				t.Fatalf("treatment %+v", tr)
			}
			for _, flow := range tr.Flows {
				if !flow.Destination.IsValid() || flow.Opener == flow.Acceptor {
					t.Fatalf("flow %+v", flow)
				}
			}
		}
		var ends []string
		for _, l := range s.Topology.Links {
			ends = append(ends, l.From.String(), l.To.String())
			if l.From.Interface == "" || l.To.Interface == "" || len(l.From.Interface) > 15 ||
				len(l.To.Interface) > 15 {
				t.Fatalf("link %+v", l)
			}
		}
		slices.Sort(ends)
		if len(slices.Compact(slices.Clone(ends))) != len(ends) {
			t.Fatalf("an interface is linked twice: %v", ends)
		}
	})
}
