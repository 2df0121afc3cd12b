package pasted

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"linerate/internal/model/netstate"
)

// statistics matches a row of ethtool -S.
var statistics = regexp.MustCompile(`^\s*(\S.{0,60}?): (\d{1,19})$`)

// mostCounters limits the counters of a driver.
const mostCounters = 4096

// statistic parses a line of ethtool -S.
func (m *machine) statistic(nic *netstate.NIC, line string) bool {
	row := statistics.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	if m.counters == nil {
		m.counters = map[string]map[string]int64{}
	}
	all := m.counters[nic.Interface]
	if all == nil {
		all = map[string]int64{}
		m.counters[nic.Interface] = all
	}
	if n, err := strconv.ParseInt(row[2], 10, 64); err == nil && len(all) < mostCounters && m.counterRows < mostRows {
		all[row[1]] = n
		m.counterRows++
	}
	return true
}

// finishNICs adds what requires all parts of a NIC's text: the meanings of its driver's counters,
// and its entry among the interfaces.
func (m *machine) finishNICs() {
	for n := range m.State.NICs {
		nic := &m.State.NICs[n]
		if !literal.MatchString(nic.Driver) {
			nic.Driver = ""
		}
		i := &m.Reading.Snapshot.Interfaces[m.netif(nic.Interface)]
		i.Driver = nic.Driver
		if i.Kind == "" {
			i.SpeedBps = float64(nic.SpeedMbps) * 1e6
		}
		all := m.counters[nic.Interface]
		for name, value := range all {
			if value != 0 {
				if nic.Counters == nil {
					nic.Counters = map[string]int64{}
				}
				nic.Counters[name] = value
			}
		}
		nic.Meanings = netstate.MeaningsOf(cmp.Or(nic.Driver, netstate.DriverOf(all)), nic.Counters)
		if list := &m.Reading.End.Interfaces; len(all) > 0 &&
			!slices.ContainsFunc(*list,
				func(c netstate.InterfaceCounters) bool { return c.Interface == nic.Interface }) {
			*list = append(*list, interfaceCounters(*nic, all))
		} else if len(all) > 0 && m.summed[nic.Interface] {
			m.splitSums(nic, all)
		}
	}
}

// splitSums adds counters of a driver to those that a text has as sums: of the dropped packets, those
// for which the NIC had no buffer; of the errors, damaged frames and those of wrong length.
func (m *machine) splitSums(nic *netstate.NIC, all map[string]int64) {
	c, of := &m.Reading.End.Interfaces[m.counted[nic.Interface]], interfaceCounters(*nic, all)
	c.RxMissed = of.RxMissed
	c.RxDropped -= min(c.RxDropped, of.RxMissed)
	c.RxCRC, c.RxLength = min(of.RxCRC, c.RxErrors), min(of.RxLength, c.RxErrors)
}

// interfaceCounters returns the kernel's counters of an interface as far as its driver reports
// them: those with the kernel's names, and otherwise those with the same meaning.
func interfaceCounters(nic netstate.NIC, all map[string]int64) netstate.InterfaceCounters {
	c := netstate.InterfaceCounters{Interface: nic.Interface}
	for name, field := range kernelCounters(&c) {
		value, has := all[name]
		if !has {
			value = cmp.Or(sameAs(name, nic.Meanings)...)
		}
		*field = uint64(value)
	}
	return c
}

// sameAs returns the values of drivers' counters with the same meaning as a counter of the kernel.
// The first one that is not 0 is used.
func sameAs(name string, meanings map[string]int64) []int64 {
	switch name {
	case "rx_missed_errors":
		return []int64{meanings["rx_fifo_full"], meanings["rx_no_buffer"]}
	case "rx_crc_errors":
		return []int64{meanings["rx_damaged"]}
	case "rx_length_errors":
		return []int64{meanings["rx_bad_length"]}
	case "rx_errors":
		return []int64{meanings["rx_damaged"] + meanings["rx_bad_length"]}
	case "tx_dropped":
		return []int64{meanings["tx_dropped"]}
	}
	return nil
}
