package top

import (
	"cmp"

	"linerate/internal/model/record"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// known formats a share in percent. It returns a dash if the whole is unknown.
func known(share, whole float64) cell {
	if whole <= 0 {
		return cell{"–", text.Dim}
	}
	return cell{percent(share), heat(share)}
}

// heat returns the attribute of a share, depending on how high it is.
func heat(share float64) string {
	switch {
	case share >= 0.9:
		return text.Red
	case share >= 0.7:
		return text.Yellow
	}
	return ""
}

// lossy formats a rate of lost packets.
func lossy(perS float64) cell {
	if perS > 0 {
		return cell{si(perS), text.Red}
	}
	return cell{"0", text.Dim}
}

func tone(confidence string) string {
	switch confidence {
	case record.Certain:
		return text.Red
	case record.Likely:
		return text.Yellow
	}
	return text.Dim
}

// warm returns the attribute of a number that needs attention if it is not zero.
func warm(value float64) string {
	if value > 0 {
		return text.Yellow
	}
	return text.Dim
}

// compare compares two rows in the order of the model: high values first, then names.
func (v view) compare(a, b [3]float64, nameA, nameB string) int {
	if v.Order < ByName {
		if by := cmp.Compare(b[v.Order], a[v.Order]); by != 0 {
			return by
		}
	}
	return words.Natural(nameA, nameB)
}
