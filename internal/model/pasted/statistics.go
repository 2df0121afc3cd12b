package pasted

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"linerate/internal/model/record"
)

// statistics is a row of ethtool -S.
var statistics = regexp.MustCompile(`^\s*(\S.{0,60}?): (\d{1,19})$`)

// mostCounters bounds the counters of one driver.
const mostCounters = 4096

// statistic reads a line of ethtool -S.
func (m *machine) statistic(nic *record.NIC, line string) bool {
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

// finishNICs completes what needs all parts of a NIC's text: what its driver's counters mean,
// and its entry among the interfaces.
func (m *machine) finishNICs() {
	for n := range m.State.NICs {
		nic := &m.State.NICs[n]
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
		nic.Meanings = record.MeaningsOf(cmp.Or(nic.Driver, record.DriverOf(all)), nic.Counters)
		if list := &m.Reading.End.Interfaces; len(all) > 0 &&
			!slices.ContainsFunc(*list, func(c record.InterfaceCounters) bool { return c.Interface == nic.Interface }) {
			*list = append(*list, interfaceCounters(*nic, all))
		}
	}
}

// interfaceCounters are the kernel's counters of an interface as its driver fills them: those
// that it has by the kernel's names, and otherwise those that mean the same.
func interfaceCounters(nic record.NIC, all map[string]int64) record.InterfaceCounters {
	c := record.InterfaceCounters{Interface: nic.Interface}
	for name, field := range kernelCounters(&c) {
		value, has := all[name]
		if !has {
			value = cmp.Or(sameAs(name, nic.Meanings)...)
		}
		*field = uint64(value)
	}
	return c
}

// sameAs are what drivers' counters have for one of the kernel's, by what they mean; the first
// that is not 0 holds.
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
