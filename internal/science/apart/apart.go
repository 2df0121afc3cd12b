// Package apart bounds by how many bytes two counts of the same traffic may differ although nothing
// was lost between the places that counted: they were read at different instants, some bytes were on
// their way at the edges of the window, and each place counts traffic and headers that the other
// does not. Whoever says where bytes were lost, or that two counts disagree, holds them against it.
package apart

import (
	"math"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

const (
	// EdgeBytes are a few frames that one place has counted at the edges of the window and the other
	// has not yet. For traffic that runs this is little; for almost none it is much.
	EdgeBytes = 16 << 10
	// HeaderSpread is the difference between the longest headers, TCP over IPv6 with timestamps (86
	// bytes), and the shortest, UDP over IPv4 (42).
	HeaderSpread = 44
	// Every link carries some frames of its own: ARP (RFC 826), neighbour discovery (RFC 4861), MLD
	// (RFC 3810), LLDP every 30 s and spanning tree every 2 s (IEEE 802.1AB, 802.1Q). They come several
	// at once, linkBytes, and over a longer time at most linkBytesPerS.
	linkBytes, linkBytesPerS = 4 << 10, 1000
)

// Link returns how many bytes a link may carry of itself in some seconds.
func Link(seconds float64) float64 { return linkBytes + linkBytesPerS*seconds }

// EdgeS returns how many seconds off its scheduled time an edge of the window may have been read.
func EdgeS(r netstate.Reading) float64 {
	if r.ScheduledNs == 0 {
		return float64(r.EndedNs-r.BeganNs) / 1e9
	}
	return max(math.Abs(float64(r.BeganNs-r.ScheduledNs)), math.Abs(float64(r.EndedNs-r.ScheduledNs))) / 1e9
}

// Skew returns, by host, how many seconds its readings of the two edges may be off together, with
// the uncertainty of its clock.
func Skew(t record.Trial) map[string]float64 {
	skew := map[string]float64{}
	for _, h := range t.Hosts {
		skew[h.Host] = EdgeS(h.Begin) + EdgeS(h.End)
	}
	for _, c := range t.Clocks {
		skew[c.Host] += ClockS(t, c.Host)
	}
	return skew
}

// ClockS returns by how many seconds the uncertainty of a host's clock moves the two edges of a
// window together. 0: the clock is the conductor's own, or not known.
func ClockS(t record.Trial, host string) float64 {
	i := slices.IndexFunc(t.Clocks, func(c record.Clock) bool { return c.Host == host })
	if i < 0 {
		return 0
	}
	return 2 * math.Abs(float64(t.Clocks[i].UncertaintyNs)) / 1e9
}

// Difference is by how many bytes one place counted more than another one behind it, and by how many
// bytes that may be off.
type Difference struct{ Bytes, Doubt float64 }

// AtLeast reports whether at least so many bytes are missing at the second place, whatever the doubt.
func (d Difference) AtLeast(bytes float64) bool { return d.Bytes-d.Doubt >= bytes }

// Below reports whether the two places differ by fewer bytes, whatever the doubt.
func (d Difference) Below(bytes float64) bool { return math.Abs(d.Bytes)+d.Doubt < bytes }
