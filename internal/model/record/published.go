package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/unit"
)

// Published is a table published by others that is shown beside the figures of a run. Its values
// are not verified.
type Published struct {
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Origin string `json:"origin"`
	// Factor is the factor of the study along whose levels the table runs. Seconds is the length of
	// each of its trials. 0: unknown.
	Factor  string  `json:"factor"`
	Seconds float64 `json:"seconds,omitempty"`
	// LinkBps is the rate of the link that the table was measured on. 0: unknown.
	LinkBps float64           `json:"link_bps,omitempty"`
	Series  []PublishedSeries `json:"series"`
}

// PublishedSeries is a column of a Published table.
type PublishedSeries struct {
	Name   string           `json:"name"`
	Points []PublishedPoint `json:"points"`
}

// PublishedPoint is the published rate at one level of a factor, in bits per second.
type PublishedPoint struct {
	Level string  `json:"level"`
	Bps   float64 `json:"bps"`
}

type publishedUnit struct {
	suffix string
	size   float64 // in bit/s
}

// publishedUnits lists the suffixes that column names of a table must end with.
var publishedUnits = []publishedUnit{{"_gbyte_per_s", 8e9}, {"_mbyte_per_s", 8e6}, {"_gbit_per_s", 1e9},
	{"_mbit_per_s", 1e6}, {"_kbit_per_s", 1e3}, {"_bit_per_s", 1}}

// ParsePublished parses a table: lines "# origin: …", "# factor: …" and optionally "# link: …" and
// "# seconds: …", then CSV with a header. The first column is the factor; each other column is a
// series whose name ends with its unit ("tcp_kbit_per_s").
func ParsePublished(name, text string) (Published, error) {
	p := Published{Name: name}
	fail := func(line int, format string, args ...any) (Published, error) {
		return Published{}, fmt.Errorf("published table %s, line %d: %s", name, line, fmt.Sprintf(format, args...))
	}
	var sizes []float64
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if comment, is := strings.CutPrefix(line, "#"); is {
			key, value, _ := strings.Cut(strings.TrimSpace(comment), ":")
			value = strings.TrimSpace(value)
			switch key {
			case "origin":
				p.Origin = value
			case "factor":
				p.Factor = value
			case "link":
				var rate unit.BitRate
				if err := rate.UnmarshalText([]byte(value)); err != nil {
					return fail(number, "link: %v", err)
				}
				p.LinkBps = float64(rate)
			case "seconds":
				var err error
				if p.Seconds, err = strconv.ParseFloat(value, 64); err != nil || p.Seconds <= 0 {
					return fail(number, "seconds %q: expected a number above 0", value)
				}
			default:
				if p.About == "" {
					p.About = strings.TrimSpace(comment)
				}
			}
			continue
		}
		if line == "" {
			continue
		}
		fields := strings.Split(line, ",")
		if sizes == nil {
			for _, head := range fields[1:] {
				i := slices.IndexFunc(publishedUnits, func(u publishedUnit) bool {
					return strings.HasSuffix(head, u.suffix)
				})
				if i < 0 {
					return fail(number, "column %q: expected a name with its unit, such as tcp_kbit_per_s", head)
				}
				u := publishedUnits[i]
				sizes = append(sizes, u.size)
				p.Series = append(p.Series, PublishedSeries{Name: strings.ReplaceAll(strings.TrimSuffix(head, u.suffix),
					"_", " ")})
			}
			if len(sizes) == 0 {
				return fail(number, "expected a column of figures beside %q", fields[0])
			}
			continue
		}
		if len(fields) != len(sizes)+1 {
			return fail(number, "%d columns, expected %d", len(fields), len(sizes)+1)
		}
		for i, field := range fields[1:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || v < 0 {
				return fail(number, "%q is not a figure", field)
			}
			p.Series[i].Points = append(p.Series[i].Points, PublishedPoint{Level: fields[0], Bps: v * sizes[i]})
		}
	}
	switch {
	case p.Origin == "" || p.Factor == "":
		return fail(1, "expected lines \"# origin: …\" and \"# factor: …\"")
	case len(p.Series) == 0 || len(p.Series[0].Points) == 0:
		return fail(number, "no figures")
	}
	return p, nil
}
