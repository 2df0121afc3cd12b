package netstate

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"linerate/internal/model/pattern"
)

// Meaning names what counters of several drivers count under different names.
type Meaning struct {
	Name, About string
}

// Meanings lists the meanings that counters of drivers are mapped to.
var Meanings = []Meaning{
	{"rx_no_buffer", "packets for which the receive ring had no buffer: the host took them too slowly"},
	{"rx_fifo_full", "packets dropped because the NIC's own memory was full"},
	{"rx_no_memory", "receive buffers that could not be allocated"},
	{"rx_damaged", "frames with a wrong frame check sequence, and symbol errors"},
	{"rx_bad_length", "frames that are too long or too short"},
	{"rx_malformed", "packets whose IP, TCP or UDP header contradicts itself or their length"},
	{"rx_bad_checksum", "packets whose IP, TCP or UDP checksum the NIC found wrong"},
	{"rx_filtered", "packets that matched no queue or address and were discarded"},
	{"rx_pause", "pause frames received: the other end was full"},
	{"tx_pause", "pause frames sent: this end was full"},
	{"pause_storm", "times that pause frames were sent for too long (the driver's watchdog of flow control)"},
	{"tx_queue_full", "times a transmit queue was stopped because its ring was full"},
	{"tx_dropped", "packets that the driver did not send"},
	{"tx_timeout", "resets because the NIC did not send for seconds"},
	{"link_down", "losses of the link"},
	{"fec_corrected", "errors that forward error correction repaired"},
	{"fec_failed", "blocks that it could not repair"},
	{"pcie_stalled", "seconds in which the NIC waited for the PCIe bus for more than 30 % of the time"},
	{"pcie_dropped", "packets dropped because the PCIe bus took them too slowly"},
	{"pcie_errors", "errors of the PCIe link, from which it had to recover"},
	{"over_allowance", "packets shaped or dropped because the cloud's allowance for the machine was exceeded"},
}

// naming maps the counter names of one driver to meanings.
type naming struct {
	Driver, Source string
	// aliases are other names that ethtool -i prints of drivers with these counters.
	aliases  []string
	patterns []counterNames
	// others are names of counters without a meaning, as a regular expression: by them the driver is
	// known as well, and they are no unknown counters. Empty: none.
	others string
	// overlap reports whether rx_fifo_full has packets that rx_no_buffer has too.
	overlap bool
	known   *pattern.Pattern // names of others and of all patterns
}

// counterNames has the names of counters with one meaning, as a regular expression.
type counterNames struct {
	meaning, names string
	// again says that other patterns of the driver with the same meaning and again count these
	// packets too, as a total does with the counters of queues. The largest of their sums counts.
	again    bool
	compiled *pattern.Pattern
}

// namings has the counter names of drivers, from their sources below drivers/net/ (most in
// ethernet/) or from kernel documents.
var namings = sync.OnceValue(func() []naming {
	return compiled(slices.Concat(intelNamings, serverNamings, virtualNamings, boardNamings))
})

// compiled sets the patterns of each driver. Drivers may share a slice of patterns, so it is
// copied. Some drivers pad names with spaces.
func compiled(list []naming) []naming {
	whole := func(names string) *pattern.Pattern { return pattern.MustCompile(`^\s*(?:` + names + `)\s*$`) }
	for i := range list {
		list[i].patterns = slices.Clone(list[i].patterns)
		known := []string{cmp.Or(list[i].others, `^$`)}
		for k := range list[i].patterns {
			names := list[i].patterns[k].names
			list[i].patterns[k].compiled = whole(names)
			known = append(known, names)
		}
		list[i].known = whole(strings.Join(known, "|"))
	}
	return list
}

// namingOf returns the naming of a driver. Nil: unknown.
func namingOf(driver string) *naming {
	list := namings()
	i := slices.IndexFunc(list, func(n naming) bool {
		return n.Driver == driver || slices.Contains(n.aliases, driver)
	})
	if i < 0 {
		return nil
	}
	return &list[i]
}

// of returns the index of the pattern that has a counter; -1: none has.
func (n *naming) of(counter string) int {
	if n == nil {
		return -1
	}
	return slices.IndexFunc(n.patterns, func(p counterNames) bool { return p.compiled.MatchString(counter) })
}

// MeaningsOf sums the counters of a driver by meaning, each packet once: of a total and the counters
// of queues, the larger sum counts. Nil: none of them has a meaning, or the driver is unknown.
func MeaningsOf(driver string, counters map[string]int64) map[string]int64 {
	n := namingOf(driver)
	by := map[int]int64{} // sums by pattern
	for name, value := range counters {
		if i := n.of(name); i >= 0 {
			by[i] += value
		}
	}
	if len(by) == 0 {
		return nil
	}
	sums, largest := map[string]int64{}, map[string]int64{}
	for i, sum := range by {
		p := n.patterns[i]
		sums[p.meaning] += 0
		if p.again {
			largest[p.meaning] = max(largest[p.meaning], sum)
		} else {
			sums[p.meaning] += sum
		}
	}
	for meaning, sum := range largest {
		sums[meaning] += sum
	}
	return sums
}

// Missed returns the packets that a NIC dropped for lack of room, in its own memory or in the
// receive ring, by the sums of MeaningsOf: what the kernel calls rx_missed_errors.
func Missed(driver string, meanings map[string]int64) int64 {
	full, empty := meanings["rx_fifo_full"], meanings["rx_no_buffer"]
	if n := namingOf(driver); n != nil && n.overlap {
		return max(full, empty)
	}
	return full + empty
}

// DriverOf guesses a driver by the names of its counters, including those that are 0: the first
// driver that knows the most names. Empty: no driver knows at least three, and half of those that are not the
// kernel's.
func DriverOf(counters map[string]int64) (driver string) {
	most, own := 2, 0
	for name := range counters {
		if !ofKernel.MatchString(strings.TrimSpace(name)) {
			own++
		}
	}
	for i := range namings() {
		n, known := &namings()[i], 0
		for name := range counters {
			if n.known.MatchString(name) {
				known++
			}
		}
		if known > most && 2*known >= own {
			driver, most = n.Driver, known
		}
	}
	return driver
}

// MeaningOf returns the meaning of a counter of a driver. Empty: unknown.
func MeaningOf(driver, counter string) string {
	n := namingOf(driver)
	if i := n.of(counter); i >= 0 {
		return n.patterns[i].meaning
	}
	return ""
}

// Counts reports whether a driver has counters with a meaning.
func Counts(driver, meaning string) bool {
	n := namingOf(driver)
	return n != nil && slices.ContainsFunc(n.patterns, func(p counterNames) bool { return p.meaning == meaning })
}

// KnowsCounters reports whether the counters of a driver have meanings.
func KnowsCounters(driver string) bool { return namingOf(driver) != nil }

// DriverCounter is a counter of a driver by the driver's name.
type DriverCounter struct {
	Name  string `json:"name" is:"words"`
	Value int64  `json:"value"`
}

// MostUnknownCounters limits the unknown counters of a NIC.
const MostUnknownCounters = 20

var (
	// faults matches names of counters that say that something was lost or failed; not "interrupt",
	// "deferred" and "transferred".
	faults = pattern.MustCompile(`(?i)drop|discard|missed|ov(?:er)?flo?w|overrun|timeout|timed.?out|error|(?:^|[^tf])err`)
	// harmless matches names of counters that say so and have nothing to do with the traffic of the
	// host: verdicts of XDP programs, time stamps, and protocols of storage.
	harmless = pattern.MustCompile(`(?i)xdp_?drops?$|tstamp|timestamp|ptp|phc|macsec|roce|fcoe|iscsi|smbus`)
	// ofKernel matches the kernel's own counters (linux/if_link.h), which many drivers print as well.
	// Those of an interface have them, or the sums that they are parts of.
	ofKernel = pattern.MustCompile(`^(?:[rt]x_(?:errors|dropped|fifo_errors)|rx_(?:length|over|crc|frame|` +
		`missed)_errors|` +
		`tx_(?:aborted|carrier|heartbeat|window)_errors|rx_otherhost_dropped|rx_nohandler)$`)
)

// UnknownCounters returns those counters of a driver that are not 0, whose names say that something
// was lost or failed, and that have no meaning: at most MostUnknownCounters, the largest first. The
// driver may be unknown.
func UnknownCounters(driver string, counters map[string]int64) (list []DriverCounter) {
	n := namingOf(driver)
	for name, value := range counters {
		known := n != nil && n.known.MatchString(name)
		if value > 0 && !known && faults.MatchString(name) && !harmless.MatchString(name) &&
			!ofKernel.MatchString(strings.TrimSpace(name)) {
			list = append(list, DriverCounter{strings.TrimSpace(name), value})
		}
	}
	slices.SortFunc(list, func(a, b DriverCounter) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), MostUnknownCounters)]
}
