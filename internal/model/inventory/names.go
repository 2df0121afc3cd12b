package inventory

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"linerate/internal/model/lists"
)

// Limits of an inventory. They are above what a cluster has, and bound the time and memory that a
// hostile file takes.
const (
	mostBytes  = 4 << 20
	mostHosts  = 10_000
	mostGroups = 5_000
	// mostSteps bounds the steps from hosts to the groups that they are in through other groups, and
	// the comparisons of names with patterns.
	mostSteps  = 1 << 21
	mostLabels = 64 // of a host, and of a group
	// longestName is that of a domain name (RFC 1035).
	longestName = 253
)

const nameRule = "expected letters, digits, dots, dashes and underscores, with a letter or digit first, " +
	"or an IP address"

// isName reports whether a text is the name of a host, group or label. No character of a name has a
// meaning in a selection or a shell, and a name is no option of a program.
func isName(text string) bool {
	if text == "" || len(text) > longestName || !utf8.ValidString(text) {
		return false
	}
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && (i == 0 || r != '-' && r != '.') {
			addr, err := netip.ParseAddr(text)
			return err == nil && addr.Zone() == ""
		}
	}
	return true
}

// isLabel reports whether a text is the value of a label: printable, without characters of a shell or
// a selection.
func isLabel(text string) bool {
	return text != "" && len(text) <= longestName && nameKind.Fits(text) && !strings.ContainsAny(text, ",!=[]~#")
}

// Expand returns the names that a pattern stands for, at most as many as an inventory may have hosts.
// Brackets have numbers, letters and ranges of them, separated by commas. A range is written as SLURM
// or Ansible does, with a step behind a colon: node[01-04,07], n[0:8:2], rack[a-d]. Numbers have as
// many digits as the first of their range. The last brackets vary fastest.
func Expand(pattern string) ([]string, error) {
	made := []string{""}
	for rest := pattern; ; {
		literal, behind, has := strings.Cut(rest, "[")
		if strings.Contains(literal, "]") {
			return nil, errors.New("a bracket is closed that is not open")
		}
		made = lists.Map(made, func(text string) string { return text + literal })
		if !has {
			return made, nil
		}
		inside, after, closed := strings.Cut(behind, "]")
		if !closed {
			return nil, errors.New("a bracket is not closed")
		}
		values, err := bracket(inside)
		if err != nil {
			return nil, fmt.Errorf("[%s]: %w", inside, err)
		}
		if len(made)*len(values) > mostHosts || len(pattern) > 4*longestName {
			return nil, fmt.Errorf("more than %d names", mostHosts)
		}
		made = lists.Flat(made, func(text string) []string {
			return lists.Map(values, func(value string) string { return text + value })
		})
		rest = after
	}
}

var errRange = errors.New("expected numbers, letters and ranges such as 01-20, a-d, 0:8:2 or 1-4,7")

// bracket returns the values between two brackets.
func bracket(inside string) (values []string, err error) {
	for item := range strings.SplitSeq(inside, ",") {
		first, last, step := strings.TrimSpace(item), "", "1"
		ranges := false
		switch parts := strings.Split(first, ":"); {
		case len(parts) > 3:
			return nil, errRange
		case strings.Contains(parts[0], "-") && len(parts) < 3:
			first, last, ranges = strings.Cut(parts[0], "-")
			if len(parts) == 2 {
				step = parts[1]
			}
		case len(parts) > 1:
			first, last, ranges = parts[0], parts[1], true
			if first == "" {
				first = "0"
			}
			if len(parts) == 3 {
				step = parts[2]
			}
		}
		if !ranges {
			last = first
		}
		some, err := between(first, last, step)
		if err != nil {
			return nil, err
		}
		if values = append(values, some...); len(values) > mostHosts {
			return nil, fmt.Errorf("more than %d names", mostHosts)
		}
	}
	return values, nil
}

// between returns the numbers or letters from first to last.
func between(first, last, step string) (values []string, err error) {
	by, err := strconv.Atoi(step)
	if err != nil || by < 1 || len(step) > 6 {
		return nil, errRange
	}
	if isLetter(first) && isLetter(last) && (first[0] <= 'Z') == (last[0] <= 'Z') && first <= last {
		for c := int(first[0]); c <= int(last[0]); c += by {
			values = append(values, string(rune(c)))
		}
		return values, nil
	}
	from, errFrom := number(first)
	to, errTo := number(last)
	switch {
	case errFrom != nil || errTo != nil || len(last) < len(first):
		return nil, errRange
	case from > to:
		return nil, fmt.Errorf("%s is above %s", first, last)
	case (to-from)/by >= mostHosts:
		return nil, fmt.Errorf("more than %d names", mostHosts)
	}
	width := 0
	if first[0] == '0' {
		width = len(first)
	}
	for n := from; n <= to; n += by {
		values = append(values, fmt.Sprintf("%0*d", width, n))
	}
	return values, nil
}

func isLetter(text string) bool {
	return len(text) == 1 && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z')
}

func number(text string) (int, error) {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return 0, errRange
	}
	return strconv.Atoi(text)
}
