package top

import (
	"cmp"

	"linerate/internal/model/record"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// known is a share in percent; empty where its whole is not known.
func known(share, whole float64) cell {
	if whole <= 0 {
		return cell{"–", text.Dim}
	}
	return cell{percent(share), heat(share)}
}

// heat is the attribute of a share that is high.
func heat(share float64) string {
	switch {
	case share >= 0.9:
		return text.Red
	case share >= 0.7:
		return text.Yellow
	}
	return ""
}

// lossy is a rate of packets that were lost.
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

// warm is the attribute of a number that is worth a look.
func warm(value float64) string {
	if value > 0 {
		return text.Yellow
	}
	return text.Dim
}

// compare orders two rows by the order of the model: high values first, then names.
func (v view) compare(a, b [3]float64, nameA, nameB string) int {
	if v.Order < ByName {
		if by := cmp.Compare(b[v.Order], a[v.Order]); by != 0 {
			return by
		}
	}
	return words.Natural(nameA, nameB)
}
