package wording

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
)

// MeshLink says which link slow pairs of a mesh have in common. s is of kind record.MeshLink.
func MeshLink(s record.MeshSuspect) string {
	if len(s.Links) == 0 {
		return "what slow pairs have in common is " + s.Link
	}
	const most = 6
	links := source.And(source.Some(s.Links, most))
	if s.LinkCount > 1 {
		return fmt.Sprintf("what slow pairs have in common is %d of %s", s.LinkCount, links)
	}
	return fmt.Sprintf("what slow pairs have in common is one of %s: no pair tells them apart", links)
}
