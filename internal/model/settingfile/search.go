package settingfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/unit"
)

// threeNames are the names of the three values of a buffer size.
var threeNames = []string{"min", "default", "max"}

// maxRungs is the maximum number of values in a search.
const maxRungs = 16

// ParseSearch parses KEY=FROM..TO, such as net.ipv4.tcp_rmem.max=4MiB..64MiB. Each value to try is
// twice the previous one; the last is TO. For a parameter of three values, KEY ends with the name
// of one of them (min, default or max). The other two are taken from lines or, if they do not set
// the parameter, from its current value, which now returns.
func ParseSearch(text string, lines []Line, now func(key string) string) (*Search, error) {
	key, span, found := strings.Cut(text, "=")
	low, high, ranged := strings.Cut(span, "..")
	if key = strings.TrimSpace(key); !found || !ranged || key == "" {
		return nil, fmt.Errorf("%s: expected KEY=FROM..TO, such as net.ipv4.tcp_rmem.max=4MiB..64MiB", text)
	}
	from, errFrom := unit.ParseBytes(strings.TrimSpace(low))
	to, errTo := unit.ParseBytes(strings.TrimSpace(high))
	if err := cmp.Or(errFrom, errTo); err != nil || from <= 0 || to <= from {
		return nil, fmt.Errorf("%s: expected two numbers, the second larger, such as 4MiB..64MiB", text)
	}
	place := -1
	if i := slices.IndexFunc(threeNames, func(p string) bool { return strings.HasSuffix(key, "."+p) }); i >= 0 {
		place, key = i, strings.TrimSuffix(key, "."+threeNames[i])
	}
	value := now(key)
	for _, l := range lines {
		if l.Key == key {
			value = l.Value
		}
	}
	words := strings.Fields(value)
	switch {
	case place < 0 && len(words) > 1:
		return nil, fmt.Errorf("%s: %s has %d values; expected %s.%s", text, key, len(words), key,
			strings.Join(threeNames, ", ."))
	case place >= 0 && len(words) != len(threeNames):
		return nil, fmt.Errorf("%s: expected a parameter of three values that this machine or the list has; %s is %q",
			text, key, value)
	}
	s := &Search{Key: key}
	for v := from; ; v = min(2*v, to) {
		s.Names = append(s.Names, v.String())
		text := strconv.FormatInt(int64(v), 10)
		if place >= 0 {
			three := slices.Clone(words)
			three[place] = text
			text = strings.Join(three, " ")
		}
		s.Values = append(s.Values, text)
		if v == to {
			break
		}
		if len(s.Names) == maxRungs {
			return nil, fmt.Errorf("%s: expected at most %d doublings from the first to the last", text, maxRungs)
		}
	}
	return s, nil
}
