package source

import (
	"errors"
	"fmt"
	"strings"
)

// set executes an assignment such as workload.duration=5s on the tree of a file. A value in brackets is
// a list. Missing keys are created; the decoder reports unknown ones, as it does for the file itself.
func (n *Node) set(assignment string) error {
	path, value, ok := strings.Cut(assignment, "=")
	keys := steps(path)
	if !ok || len(keys) == 0 {
		return errors.New("expected path=value, such as workload.duration=5s or topology.links[0].rate=1gbit")
	}
	at := Position{Option: "--set " + assignment}
	for _, s := range keys {
		next, err := n.child(s, at)
		if err != nil {
			return err
		}
		n = next
	}
	if strings.HasPrefix(value, "[") {
		var none Problems
		if list := read("", []byte(value), &none); len(none) == 0 && list.Kind == List {
			list.visit(func(item *Node) { item.At = at })
			*n = *list
			return nil
		}
	}
	if n.Kind == List || n.Kind == Mapping && len(n.Entries) > 0 {
		return fmt.Errorf("%s is %s; expected the path of a single value", path, describe(n))
	}
	*n = Node{Kind: Scalar, At: at, Text: value}
	return nil
}

// child follows one step of a path.
func (n *Node) child(s step, at Position) (*Node, error) {
	if s.key == "" {
		if s.index < 0 || s.index >= len(n.Items) {
			return nil, fmt.Errorf("[%d]: the list has %d items, counted from 0, as the file writes them", s.index,
				len(n.Items))
		}
		return n.Items[s.index], nil
	}
	if n.Kind == Null {
		n.Kind = Mapping
	}
	if n.Kind != Mapping {
		return nil, fmt.Errorf("there is no %s inside %s", s.key, describe(n))
	}
	if entry, ok := n.get(s.key); ok {
		return entry.Value, nil
	}
	made := &Node{Kind: Null, At: at}
	n.Entries = append(n.Entries, Entry{&Node{Kind: Scalar, At: at, Text: s.key}, made})
	return made, nil
}
