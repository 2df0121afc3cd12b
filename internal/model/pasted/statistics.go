package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// statistics matches a row of ethtool -S. Some drivers pad the name, and some have the queue before
// it: "[0]: rx_ucast_packets: 7", "rxq0: rx_pkts: 3".
var statistics = pattern.MustCompile(`^\s*(\S.{0,60}?)\s*: (\d{1,20})$`)

// mostCounters limits the counters of a driver.
const mostCounters = 4096

// statistic parses a line of ethtool -S. Of some drivers the names repeat for each queue.
func (m *machine) statistic(nic *netstate.NIC, line string) bool {
	row := statistics.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	if m.counters == nil {
		m.counters = map[string]map[string]int64{}
	}
	all := m.counters[nic.Interface]
	if all == nil || !m.eth.counting {
		all = map[string]int64{}
		m.counters[nic.Interface], m.eth.counting = all, true
	}
	n, err := strconv.ParseInt(row[2], 10, 64)
	if err == nil && len(all) < mostCounters && m.counterRows < mostRows {
		all[row[1]] += n
		m.counterRows++
	}
	return true
}

// finishNICs adds what requires all parts of a NIC's text: the meanings of its driver's counters,
// and its entry among the interfaces.
func (m *machine) finishNICs() {
	for n := range m.State.NICs {
		nic := &m.State.NICs[n]
		if !isName(nic.Driver) {
			nic.Driver = ""
		}
		at := m.netif(nic.Interface)
		if at < 0 {
			continue
		}
		i := &m.Reading.Snapshot.Interfaces[at]
		i.Driver = nic.Driver
		if i.Kind == "" {
			i.SpeedBps = float64(nic.SpeedMbps) * 1e6
		}
		m.finishRSS(nic)
		all := m.counters[nic.Interface]
		if len(all) == 0 {
			continue
		}
		for name, value := range all {
			if value > 0 {
				lists.Put(&nic.Counters, name, value)
			}
		}
		if nic.Driver == "" {
			nic.CountersLike = netstate.DriverOf(all)
		}
		nic.Meanings = netstate.MeaningsOf(nic.CounterDriver(), all) // 0: the text has such a counter
		nic.Unknown = netstate.UnknownCounters(nic.CounterDriver(), nic.Counters)
		c, has := m.interfaceCounters(*nic, all)
		switch list := &m.Reading.End.Interfaces; {
		case !has:
		case !slices.ContainsFunc(*list,
			func(c netstate.InterfaceCounters) bool { return c.Interface == nic.Interface }):
			*list = append(*list, c)
		case m.summed[nic.Interface]:
			m.splitSums(nic.Interface, c)
		}
	}
}

// traffic matches names of drivers' counters of packets and bytes, of queues or of kinds of packets,
// by the names of the kernel's counters. The first name of a driver that is there counts.
var traffic = map[string][]*pattern.Pattern{
	"rx_packets": matchers(`(\[\d+\]: )?rx_[umb]cast_(packets|pkts)|[umb]cast pkts rx`,
		`rx(_queue_|q|-)?\d+(_|: |\.)(rx_)?(packets|pkts)|RxQ\d+: rx_pkts|queue_\d+_rx_cnt`,
		`rx_frames_ok|rx_frames|InPackets|mmc_rx_framecount_gb|dev_rx_pkts`),
	"tx_packets": matchers(`(\[\d+\]: )?tx_[umb]cast_(packets|pkts)|[umb]cast pkts tx`,
		`tx(_queue_|q|-)?\d+(_|: |\.)(tx_)?(packets|pkts)|TxQ\d+: tx_pkts|queue_\d+_tx_cnt`,
		`tx_frames_ok|tx_frames|OutPackets|mmc_tx_framecount_gb|dev_tx_pkts`),
	"rx_bytes": matchers(`(\[\d+\]: )?rx_[umb]cast_bytes|[umb]cast bytes rx`,
		`rx(_queue_|q|-)?\d+(_|: |\.)(rx_)?bytes|RxQ\d+: rx_bytes|queue_\d+_rx_bytes`,
		`rx_octets_ok|rx_octets|InOctets|mmc_rx_octetcount_gb|dev_rx_bytes`),
	"tx_bytes": matchers(`(\[\d+\]: )?tx_[umb]cast_bytes|[umb]cast bytes tx`,
		`tx(_queue_|q|-)?\d+(_|: |\.)(tx_)?bytes|TxQ\d+: tx_bytes|queue_\d+_tx_bytes`,
		`tx_octets_ok|tx_octets|OutOctets|mmc_tx_octetcount_gb|dev_tx_bytes`),
}

func matchers(names ...string) (list []*pattern.Pattern) {
	return lists.Map(names, func(name string) *pattern.Pattern { return pattern.MustCompile(`^(?:` + name + `)$`) })
}

// splitSums adds counters of a driver to those that a text has as sums: of the dropped packets, those
// for which the NIC had no buffer; of the errors, damaged frames and those of wrong length.
func (m *machine) splitSums(name string, of netstate.InterfaceCounters) {
	c := &m.Reading.End.Interfaces[m.counted[name]]
	c.RxMissed = of.RxMissed
	c.RxDropped -= min(c.RxDropped, of.RxMissed)
	c.RxCRC, c.RxLength = min(of.RxCRC, c.RxErrors), min(of.RxLength, c.RxErrors)
}

// interfaceCounters returns the kernel's counters of an interface as far as its driver reports
// them: those with the kernel's names, and otherwise those with the same meaning. Has is false if
// the driver reports none.
func (m *machine) interfaceCounters(nic netstate.NIC, all map[string]int64) (c netstate.InterfaceCounters, has bool) {
	c = netstate.InterfaceCounters{Interface: nic.Interface}
	for name, field := range kernelCounters(&c) {
		value, is := all[name]
		counts := is
		if !is {
			value, counts = sameAs(name, nic, all)
			is = counts && (value != 0 || traffic[name] != nil)
		}
		if counts {
			m.hasCounter(name)
		}
		if is {
			*field, has = uint64(max(value, 0)), true
		}
	}
	return c, has
}

// sameAs returns the sum of a driver's counters with the same meaning as a counter of the kernel.
// Is is false if there are none.
func sameAs(name string, nic netstate.NIC, all map[string]int64) (sum int64, is bool) {
	means := map[string][]string{"rx_missed_errors": {"rx_fifo_full", "rx_no_buffer"}, "rx_crc_errors": {"rx_damaged"},
		"rx_length_errors": {"rx_bad_length"}, "rx_errors": {"rx_damaged", "rx_bad_length", "rx_malformed"},
		"tx_dropped": {"tx_dropped"}}[name]
	for _, meaning := range means {
		n, has := nic.Meanings[meaning]
		sum, is = sum+n, is || has
	}
	if name == "rx_missed_errors" {
		sum = netstate.Missed(nic.CounterDriver(), nic.Meanings)
	}
	if means == nil {
		for _, names := range traffic[name] {
			for counter, value := range all {
				if names.MatchString(strings.TrimSpace(counter)) {
					sum, is = sum+value, true
				}
			}
			if is {
				return sum, true
			}
		}
	}
	return sum, is
}
