package conclude

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestLists: a run that takes a list apart is concluded by what its parts did; one
// without the list itself is a run like others.
func TestLists(t *testing.T) {
	mbps := func(_, level string) float64 {
		return map[string]float64{"as it is": 400, "the list": 800, "only net.a": 800, "only net.b": 400}[level]
	}
	part := sciencetest.Listed([]string{"long"}, []string{"only net.a"}, mbps)
	all := sciencetest.Listed([]string{"long"}, []string{"the list", "only net.a", "only net.b"}, mbps)
	Conclude(part)
	Conclude(all)
	if part.Conclusion.Lists != nil {
		t.Errorf("a part alone: %+v", part.Conclusion.Lists)
	}
	list := all.Conclusion.Lists
	if len(list) != 1 || list[0].At["path"] != "long" || list[0].List.Verdict != record.Improves ||
		list[0].Settings[0].Verdict != record.Helps || list[0].Settings[1].Verdict != record.NoDifference {
		t.Errorf("%+v", list)
	}
}
