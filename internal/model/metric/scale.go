package metric

import "strings"

// Scale is a unit in which values are shown: the value times Per.
type Scale struct {
	Unit string
	Per  float64
}

// With puts the unit behind a figure.
func (s Scale) With(figure string) string {
	if strings.HasPrefix(s.Unit, "/") {
		return figure + s.Unit
	}
	return figure + " " + s.Unit
}

// MegaBytes is the Scale of goodput for those who think in files.
const MegaBytes = "MB/s"

var (
	rates     = []Scale{{"Tbit/s", 1e-12}, {"Gbit/s", 1e-9}, {"Mbit/s", 1e-6}, {"kbit/s", 1e-3}, {"bit/s", 1}}
	counts    = []Scale{{"M/s", 1e-6}, {"k/s", 1e-3}, {"/s", 1}}
	times     = []Scale{{"s", 1e-6}, {"ms", 1e-3}, {"µs", 1}}
	shares    = []Scale{{"%", 100}}
	perByte   = []Scale{{"s/GB", 1}, {"ms/GB", 1e3}}
	numbers   = []Scale{{"open", 1}}
	scalesFor = map[string][]Scale{"bps": rates, "per_s": counts, "us": times, "share": shares, "s_per_gb": perByte, "count": numbers}
)

// Scale is the unit in which the largest of some values is at least one. unit is
// how the run wants goodput shown.
func (r Metric) Scale(unit string, largest float64) Scale {
	if r.Unit == Goodput.Unit && unit == MegaBytes {
		return Scale{MegaBytes, 1 / 8e6}
	}
	list := scalesFor[r.Unit]
	for _, s := range list {
		if largest*s.Per >= 1 {
			return s
		}
	}
	return list[len(list)-1]
}
