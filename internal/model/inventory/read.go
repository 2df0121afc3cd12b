package inventory

import "linerate/internal/model/source"

// read recognises the kind of a file and decodes it.
func read(string, []byte) (*Inventory, source.Problems) { return &Inventory{}, nil }
