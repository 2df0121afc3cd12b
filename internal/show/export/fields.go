package export

import (
	"strconv"
	"strings"

	"linerate/internal/model/record"
)

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func integer[T int | int64 | uint32](v T) string { return strconv.FormatInt(int64(v), 10) }

// text keeps what people named from being taken for a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// place says which trial a row belongs to.
func place(run *record.Run, t record.Trial) []string {
	return []string{run.ID, integer(t.Order), integer(t.Block), text(t.Treatment)}
}
