package ecmp

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// ParseKinds parses numbers of flows with a demand, such as "900x20mbit", and without, such as "4".
// It also returns the total number of flows.
func ParseKinds(parts []string) ([]Kind, int, error) {
	const expected = "expected a number of flows, such as 3, or of flows with what they ask for, such as 900x20mbit,4"
	if len(parts) == 0 {
		return nil, 0, fmt.Errorf("%s", expected)
	}
	var kinds []Kind
	total := 0
	for _, part := range parts {
		number, rate, limited := strings.Cut(strings.TrimSpace(part), "x")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > mostFlows {
			return nil, 0, fmt.Errorf("%q: %s; at most %d", part, expected, mostFlows)
		}
		kind := Kind{Count: n}
		if limited {
			bps, err := unit.ParseBitRate(rate)
			if err == nil && bps <= 0 {
				err = fmt.Errorf("%s: expected more than 0", rate)
			}
			if err != nil {
				return nil, 0, fmt.Errorf("%q: %w", part, err)
			}
			kind.Bps = float64(bps)
		}
		kinds = append(kinds, kind)
		total += n
	}
	if total > mostFlows {
		return nil, 0, fmt.Errorf("%d together: expected at most %d", total, mostFlows)
	}
	return kinds, total, nil
}

// policies has the names of the values of fib_multipath_hash_policy.
var policies = []string{"l3", "l4", "inner", "custom"}

// bonding has, for each xmit_hash_policy of a bond, the fib_multipath_hash_policy that hashes the
// same. A MAC address stands for a host, like an IP address.
var bonding = map[string]int{"layer2": 0, "layer2+3": 0, "layer3+4": 1}

// ParsePolicy parses a fib_multipath_hash_policy, given as number or name.
func ParsePolicy(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(policies) {
		return n, nil
	}
	name := strings.ToLower(text)
	if _, of := bonding[name]; of {
		return 0, fmt.Errorf("%q is the hash policy of a bond (limits bond): expected 0 to 3, %s", text,
			source.Or(policies))
	}
	if n := slices.Index(policies, name); n >= 0 {
		return n, nil
	}
	return 0, fmt.Errorf("%q is no hash policy: expected 0 to 3, %s", text, source.Or(policies))
}

// ParseBondPolicy parses the xmit_hash_policy of a bond and returns the value of
// fib_multipath_hash_policy that hashes the same.
func ParseBondPolicy(text string) (int, error) {
	if n, is := bonding[strings.ToLower(text)]; is {
		return n, nil
	}
	what := "no hash policy"
	if _, err := ParsePolicy(text); err == nil {
		what = "the hash policy of routes (limits ecmp)"
	}
	return 0, fmt.Errorf("%q is %s: expected that of a bond, %s", text, what,
		source.Or(slices.Sorted(maps.Keys(bonding))))
}

// ParseSizes parses a law of sizes, such as "pareto:1.2". nil: all sizes are equal.
func ParseSizes(text string) (*Sizes, error) {
	if text == "" || text == "equal" {
		return nil, nil
	}
	law, shape, given := strings.Cut(text, ":")
	sizes := &Sizes{Law: law}
	if given {
		var err error
		if sizes.Shape, err = strconv.ParseFloat(shape, 64); err != nil || math.IsNaN(sizes.Shape) {
			return nil, fmt.Errorf("%q: %q is not a number", text, shape)
		}
	}
	if err := sizes.Check(); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return sizes, nil
}
