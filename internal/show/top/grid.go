package top

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"linerate/internal/model/lists"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// view is a model to be drawn with a given width.
type view struct {
	Model
	width, height int // height 0: unlimited
	host          Host
	at            int // index of the displayed sample of host
}

// section is a part of the screen. It gets its least lines, if it has that many, and more if there
// is space.
type section struct {
	head  string
	lines []string
	least int
	// whole reports whether its lines are shown completely or not at all.
	whole bool
}

func (v view) sample() record.HostSample { return v.host.Samples[v.at] }

func (v view) clock(t time.Time) string {
	zone := cmp.Or(v.Zone, time.UTC)
	return t.In(zone).Format("15:04:05")
}

// column is a column of a grid. Its width does not depend on its content, so that figures keep
// their position from one sample to the next.
type column struct {
	head  string
	right bool // for figures
	width int
	// most is the maximum width if the screen has space. 0: no wider than width.
	most int
	from int // narrower screens leave the column out
}

// cell is a text in a column with an attribute of package text.
type cell struct{ text, attribute string }

func c(text string) cell { return cell{text: text} }

// grid lays out rows on lines of at most v.width columns. It returns the line of the head and those
// of the rows.
func (v view) grid(columns []column, rows [][]cell) (head string, lines []string) {
	widths := v.widths(columns)
	heads := lists.Map(columns, func(col column) cell { return cell{col.head, text.Dim} })
	line := func(cells []cell) string {
		var b strings.Builder
		gap := ""
		for i, cell := range cells {
			if widths[i] == 0 {
				continue
			}
			shown := fit(cell.text, widths[i])
			space := strings.Repeat(" ", widths[i]-words.Width(shown))
			b.WriteString(gap)
			gap = " "
			if columns[i].right {
				b.WriteString(space + v.paint(cell.attribute, shown))
			} else {
				b.WriteString(v.paint(cell.attribute, shown) + space)
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	for i, row := range rows {
		if v.height > 0 && i >= v.height { // there is no space for it
			lines = append(lines, "")
			continue
		}
		lines = append(lines, line(row))
	}
	return line(heads), lines
}

// widths returns the widths of columns; 0: left out. The last columns are left out first. The
// remaining space goes to the columns that can use it, beginning with the first.
func (v view) widths(columns []column) []int {
	widths, used := make([]int, len(columns)), -1
	for i, col := range columns {
		if v.width >= col.from && used+1+col.width <= v.width {
			widths[i] = col.width
			used += 1 + col.width
		}
	}
	for i, col := range columns {
		if widths[i] > 0 && col.most > col.width {
			more := min(col.most-col.width, v.width-used)
			widths[i], used = widths[i]+more, used+more
		}
	}
	return widths
}

// fit truncates a text, which may come from another host, to n columns.
func fit(text string, n int) string {
	text = plain.Line(text)
	if words.Width(text) <= n {
		return text
	}
	short, used := "", 0
	for _, r := range text {
		w := words.Width(string(r))
		if used+w > n-1 {
			break
		}
		short, used = short+string(r), used+w
	}
	return short + "…"
}

func (v view) paint(attribute, shown string) string {
	if !v.Color || attribute == "" || strings.TrimSpace(shown) == "" {
		return shown
	}
	return attribute + shown + text.Reset
}

// si formats a rate with four digits and a decimal prefix: "941.5M", "50.00k", "12".
func si(value float64) string {
	if !(value >= 0) {
		return "?"
	}
	if value == 0 {
		return "0"
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f", value)
	}
	if value < 999.5 {
		return fmt.Sprintf("%.0f", value)
	}
	for _, prefix := range []string{"k", "M", "G", "T", "P"} {
		value /= 1000
		if value < 999.95 {
			digits := 3
			switch { // rounding must not add a digit
			case value >= 99.995:
				digits = 1
			case value >= 9.9995:
				digits = 2
			}
			return fmt.Sprintf("%.*f%s", digits, value, prefix)
		}
	}
	return ">1E"
}

// count formats a number of things: "6", "1.250M".
func count(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return si(float64(n))
}

// limit formats the speed of a link: "10G", "2.5G", "100M". Empty: unknown.
func limit(bps float64) string {
	if bps <= 0 {
		return ""
	}
	shown := si(bps)
	digits, prefix := strings.TrimRight(shown, "kMGTP"), strings.TrimLeft(shown, "0123456789.")
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	return digits + prefix
}

// percent formats a share: "0", "0.4", "95.1", "100".
func percent(share float64) string {
	switch v := 100 * share; {
	case v <= 0:
		return "0"
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", min(v, 999))
	}
}

// micro formats microseconds with three digits: "85 µs", "5.70 ms", "2.31 s". Empty: unknown.
func micro(us uint32) string {
	v, unit := float64(us), " µs"
	switch {
	case us == 0:
		return ""
	case us < 1000:
		return fmt.Sprint(us) + unit
	case us < 999_500:
		v, unit = v/1e3, " ms"
	default:
		v, unit = v/1e6, " s"
	}
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v) + unit
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v) + unit
	}
	return fmt.Sprintf("%.2f", v) + unit
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar draws a share in n columns, to an eighth of a column.
func bar(share float64, n int) string {
	filled := int(math.Round(8 * float64(n) * max(0, min(share, 1))))
	if filled == 0 && share > 0 {
		filled = 1
	}
	var b strings.Builder
	for i := range n {
		b.WriteRune(eighths[max(0, min(8, filled-8*i))])
	}
	return b.String()
}

// stacked draws consecutive shares in n columns, each with its own glyph.
func stacked(n int, shares []float64, glyphs string) string {
	var b strings.Builder
	sum, drawn := 0.0, 0
	for i, glyph := range []rune(glyphs) {
		sum += max(0, shares[i])
		for end := int(math.Round(float64(n) * min(sum, 1))); drawn < end; drawn++ {
			b.WriteRune(glyph)
		}
	}
	return b.String() + strings.Repeat(" ", n-drawn)
}

var levels = []rune(" ▁▂▃▄▅▆▇█")

// spark draws values over time in n columns, the newest on the right. A full column stands for
// most, or for the highest value if that is larger.
func spark(values []float64, n int, most float64) string {
	values = values[max(0, len(values)-n):]
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", n-len(values)))
	for _, v := range values {
		level := 0
		if most > 0 && v > 0 {
			level = max(1, int(math.Round(8*v/most)))
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
