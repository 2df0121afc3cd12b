package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"linerate/internal/model/unit"
)

// leastBeyond is the number of values that must lie beyond a percentile for it to be reliable. With
// fewer, chance decides: the number of n values beyond the quantile q has a standard deviation of
// √(n(1−q)).
const leastBeyond = 10

// PercentileNeeds returns the number of values that a quantile requires, n(1−q) ≥ 10: 20 for the
// median, 1,000 for 0.99, 10,000 for 0.999.
func PercentileNeeds(quantile float64) int64 { return int64(math.Round(leastBeyond / (1 - quantile))) }

// Rank describes a quantile of fewer values than PercentileNeeds by its place: "3rd slowest of
// 200". Empty: there are enough values, or none.
func Rank(quantile float64, values int64) string {
	if values == 0 || values >= PercentileNeeds(quantile) {
		return ""
	}
	return Slowest(quantile, values) + " of " + unit.FormatCount(values)
}

// NearestRank returns the place of a quantile in ascending order of the values, from 1, as HDR
// histograms compute it.
func NearestRank(quantile float64, values int64) int64 {
	return min(max(int64(quantile*float64(values)+0.5), 1), values)
}

// Slowest returns the place of a quantile in descending order of the values: "3rd slowest".
func Slowest(quantile float64, values int64) string {
	switch place := values - NearestRank(quantile, values) + 1; {
	case place == 1:
		return "slowest"
	case place%10 > 3 || place%10 == 0 || place/10%10 == 1:
		return fmt.Sprintf("%dth slowest", place)
	default:
		return fmt.Sprintf("%d%s slowest", place, []string{"st", "nd", "rd"}[place%10-1])
	}
}

// Percentile is a percentile of a Distribution.
type Percentile struct {
	Name     string // "p99.9"
	Quantile float64
	Us       float64
	Rank     string // its place if there are too few values (see Rank); otherwise empty
}

// Percentiles returns the percentiles in ascending order.
func (d *Distribution) Percentiles() []Percentile {
	list := []Percentile{{"p50", 0.5, d.P50Us, ""}, {"p90", 0.9, d.P90Us, ""}, {"p99", 0.99, d.P99Us, ""},
		{"p99.9", 0.999, d.P999Us, ""}, {"p99.99", 0.9999, d.P9999Us, ""}}
	for i := range list {
		list[i].Rank = Rank(list[i].Quantile, d.Count)
	}
	return list
}

// MarshalJSON adds the places of percentiles for which there are too few values: "ranks": {"p99":
// "3rd slowest of 200"}.
func (d Distribution) MarshalJSON() ([]byte, error) {
	type plain Distribution
	ranks := map[string]string{}
	for _, p := range d.Percentiles() {
		if p.Rank != "" {
			ranks[strings.ReplaceAll(p.Name, ".", "")] = p.Rank
		}
	}
	return json.Marshal(struct {
		plain
		Ranks map[string]string `json:"ranks,omitempty"`
	}{plain(d), ranks})
}
