package metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Scale is a unit in which values are shown. The shown number is the value times Per.
type Scale struct {
	Unit string
	Per  float64
}

// With appends the unit to a formatted number.
func (s Scale) With(figure string) string {
	if s.Unit == "" || strings.HasPrefix(s.Unit, "/") {
		return figure + s.Unit
	}
	return figure + " " + s.Unit
}

// megaBytes is the unit of goodput for users who think in files.
const megaBytes = "MB/s"

// Scale returns the largest unit in which the number largest is at least one, or else the smallest
// unit. unit is the unit in which the run shows goodput.
func (m Metric) Scale(unit string, largest float64) Scale {
	if m.Unit == Goodput.Unit && unit == megaBytes {
		return Scale{megaBytes, 1 / 8e6}
	}
	list := units[m.Unit].scales
	for _, s := range list {
		if largest*s.Per >= 1 {
			return s
		}
	}
	return list[len(list)-1]
}

// Column returns the name of the metric's column, with its unit, in tables for other programs.
func (m Metric) Column() string { return m.Name + units[m.Unit].column }

// Format formats a value with its unit and four significant digits.
func (m Metric) Format(v float64) string { return m.FormatIn("", v) }

// FormatIn formats a value like Format. unit is the unit in which the study shows goodput; empty:
// it sets none. Other metrics ignore it.
func (m Metric) FormatIn(unit string, v float64) string {
	if m.Unit == "grade" {
		return record.LatencyGrades[int(v)]
	}
	s := m.Scale(unit, math.Abs(v)*1.00005) // 999.96 Mbit/s is 1 Gbit/s
	v *= s.Per
	digits := 4
	if whole := len(strconv.FormatFloat(math.Abs(v), 'f', 0, 64)); whole > digits {
		digits = whole
	}
	return s.With(strconv.FormatFloat(v, 'g', digits, 64))
}

// Example returns a condition in the syntax of --expect: "goodput >= 900mbit".
func (m Metric) Example() string {
	comparison := ">="
	if m.Lower {
		comparison = "<="
	}
	return m.Name + " " + comparison + " " + units[m.Unit].example
}

// Parse parses a value of the metric as users write it.
func (m Metric) Parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if parse := units[m.Unit].parse; parse != nil {
		return parse(text)
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ/")
	i := slices.IndexFunc(units[m.Unit].scales, func(s Scale) bool {
		return s.Unit == strings.TrimSpace(text[len(digits):]) || len(units[m.Unit].scales) == 1 && digits == text
	})
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || i < 0 || strings.Trim(digits, "0123456789. ") != "" {
		return 0, fmt.Errorf("%q: expected a value such as %s", text, units[m.Unit].example)
	}
	return value / units[m.Unit].scales[i].Per, nil
}

func parseBitRate(text string) (float64, error) {
	value, err := unit.ParseBitRate(text)
	return float64(value), err
}

// parseShare parses a percentage such as "0.1%".
func parseShare(text string) (float64, error) {
	value, err := unit.ParseRatio(text)
	return float64(value), err
}

func parseBytes(text string) (float64, error) {
	var bytes unit.Bytes
	err := bytes.UnmarshalText([]byte(text))
	return float64(bytes), err
}

func parseMicroseconds(text string) (float64, error) {
	value, err := unit.ParseLatency(text)
	return float64(value) / 1e3, err
}

// parseGrade returns a grade's place among record.LatencyGrades.
func parseGrade(text string) (float64, error) {
	if i := slices.Index(record.LatencyGrades, text); i >= 0 {
		return float64(i), nil
	}
	return 0, fmt.Errorf("%q: expected one of %s", text, strings.Join(record.LatencyGrades, ", "))
}
