package evidence

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

// TestPublished: a published table's figures stand beside those of the run's
// treatments at the same levels, a series of the condition that it is called after,
// and intervals as mean and range; levels that were not tried are left out.
func TestPublished(t *testing.T) {
	run := showtest.ArpFlux()
	point := func(level string, bps float64) record.PublishedPoint {
		return record.PublishedPoint{Level: level, Bps: bps}
	}
	table := func(factor, series string, points ...record.PublishedPoint) record.Published {
		return record.Published{Name: "table", About: "a title", Origin: "a post", Factor: factor,
			Series: []record.PublishedSeries{{Name: series, Points: points}}}
	}
	run.Published = []record.Published{
		table("fix", "reads", point("static ARP entries", 8e6), point("never tried", 1e6)),
		table("fix", "tcp", point("kernel defaults", 80e6), point("kernel defaults", 160e6)),
		table("connections", "tcp", point("1", 1e6)),
	}
	v := view.New(run)
	of := func(name string) string {
		i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return t.Name == name })
		return v.Scale.Spell(run.Treatments[i].Goodput.MeanBps)
	}
	want := []string{
		"table, reads: static ARP entries 1.000 MB/s, here " + of("reads, static ARP entries") + ". a title: a post.",
		"table, tcp: kernel defaults 15.00 MB/s (10.00 to 20.00), here " + of("writes, kernel defaults") +
			". a title: a post.",
	}
	if got := Published(v); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
