package cli

import (
	"fmt"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// places writes out the ranges of an argument that names addresses: with braces as
// in study files, which make every combination, and with a dash as for aliases.
func places(text string) (all []string, err error) {
	if strings.Contains(text, "%d") {
		return nil, fmt.Errorf("a template is written as a range here: %s or, of addresses, 192.168.2.1-254",
			strings.Replace(text, "%d", "{1..254}", 1))
	}
	texts, err := source.Texts(text)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		some, err := topology.Places(text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
