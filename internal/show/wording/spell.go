package wording

import (
	"fmt"
	"math"

	"linerate/internal/model/unit"
)

// distinct formats a figure and its bound by spell. If both give the same text although they
// differ, it adds decimals until they do, in the unit name, of which 1 has per. The figure keeps
// its sign.
func distinct(figure, bound float64, spell func(float64) string, per float64, name string) (string, string) {
	a, b := spell(math.Abs(figure)), spell(bound)
	for decimals := 0; a == b && math.Abs(figure) != bound && decimals < 12; decimals++ {
		a, b = fmt.Sprintf("%.*f %s", decimals, per*math.Abs(figure), name),
			fmt.Sprintf("%.*f %s", decimals, per*bound, name)
	}
	if figure < 0 {
		a = "-" + a
	}
	return a, b
}

func percents(share, bound float64) (string, string) {
	return distinct(share, bound, unit.FormatPercent, 100, "%")
}

func seconds(figure, bound float64) (string, string) {
	return distinct(figure, bound, unit.FormatSeconds, 1e6, "µs")
}

func sizes(figure, bound float64) (string, string) {
	return distinct(figure, bound, unit.FormatBytes, 1, "bytes")
}

// signed returns text with a plus sign if the change is not negative.
func signed(change float64, text string) string {
	if change >= 0 {
		return "+" + text
	}
	return text
}

// between formats a change and its bounds, of which least is negative.
func between(change, least, most float64) string {
	low, high := unit.FormatPercent(-least), unit.FormatPercent(most)
	by := ""
	if change < 0 {
		by, low = percents(change, -least)
	} else {
		by, high = percents(change, most)
	}
	return fmt.Sprintf("%s (allowed -%s to +%s)", signed(change, by), low, high)
}
