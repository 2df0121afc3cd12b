package wording

import (
	"testing"

	"linerate/internal/model/record"
)

func TestMeshLink(t *testing.T) {
	for want, s := range map[string]record.MeshSuspect{
		"what slow pairs have in common is leaf3.swp12": {Link: "leaf3.swp12"},
		"what slow pairs have in common is one of leaf3.up1 and leaf3.up2: no pair tells them apart": {Link: "leaf3.up1",
			Links: []string{"leaf3.up1", "leaf3.up2"}},
		"what slow pairs have in common is 2 of a.1, a.2 and a.3": {Link: "a.1", Links: []string{"a.1", "a.2", "a.3"},
			LinkCount: 2},
	} {
		if got := MeshLink(s); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
