package record

import (
	"reflect"
	"slices"

	"linerate/internal/model/fact"
)

// Within reports whether in contains all elements of facts.
func Within(facts, in []fact.Fact) bool {
	return !slices.ContainsFunc(facts, func(f fact.Fact) bool {
		return !slices.ContainsFunc(in, func(o fact.Fact) bool { return reflect.DeepEqual(f, o) })
	})
}

// Distinct returns facts without duplicates.
func Distinct(facts []fact.Fact) (list []fact.Fact) {
	for i, f := range facts {
		if !Within(facts[i:i+1], list) {
			list = append(list, f)
		}
	}
	return list
}
