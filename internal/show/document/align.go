package document

import (
	"strings"

	"linerate/internal/show/words"
)

// Texts returns the texts of a column's cells, padded so that they are aligned when set flush right
// or left. The pads are one digit and one decimal point wide.
func (t *Table) Texts(column int, digit, point string) []string {
	texts, spreads := make([]string, len(t.Rows)), 0
	for i := range t.Rows {
		cell := t.Cell(i, column)
		texts[i], spreads = cell.Text, max(spreads, words.Width(cell.Spread))
	}
	if align := t.Columns[column].Align; align != Decimal && align != Ratio {
		return texts
	}
	texts = alignDecimals(texts, digit, point)
	for i := range texts {
		if spread := t.Cell(i, column).Spread; texts[i] != "" && spreads > 0 {
			texts[i] += " " + padSpread(spread, spreads, digit, point)
		}
	}
	return texts
}

// padSpread aligns a spread on the left with others of at most n columns.
func padSpread(spread string, n int, digit, point string) string {
	pads := n - words.Width(spread)
	if pads > 0 && !strings.Contains(spread, ".") {
		spread += point
		pads--
	}
	return spread + strings.Repeat(digit, pads)
}

// alignDecimals pads figures so that their decimal points are aligned when set flush right or left.
// The pads are one digit and one point wide.
func alignDecimals(figures []string, digit, point string) []string {
	before, after := 0, 0
	split := func(f string) (string, string) {
		end := strings.IndexFunc(f, func(r rune) bool {
			return !(r >= '0' && r <= '9') && r != '−' && r != '+' &&
				r != '<'
		})
		if end < 0 {
			end = len(f)
		}
		return f[:end], f[end:]
	}
	for _, f := range figures {
		whole, rest := split(f)
		if !worded(f) {
			before, after = max(before, words.Width(whole)), max(after, places(rest))
		}
	}
	out := make([]string, len(figures))
	for i, f := range figures {
		if f == "" || worded(f) {
			out[i] = f
			continue
		}
		whole, rest := split(f)
		out[i] = strings.Repeat(digit, before-words.Width(whole)) + whole + rest
		if missing := after - places(rest); missing > 0 {
			tail := strings.Repeat(digit, missing)
			if places(rest) == 0 {
				tail = point + tail
			}
			out[i] += tail
		}
	}
	return out
}

// worded reports whether a cell has a word where others have figures.
func worded(text string) bool { return text[:min(len(text), 1)] >= "A" && text[:1] <= "z" }

// places returns the number of digits in ".25".
func places(rest string) int {
	if !strings.HasPrefix(rest, ".") {
		return 0
	}
	n := 0
	for _, r := range rest[1:] {
		if r < '0' || r > '9' {
			break
		}
		n++
	}
	return n
}
