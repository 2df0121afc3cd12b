package pasted

import (
	"cmp"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var (
	// "dev.igc.0.iflib.txq0.ring_state: pidx_head: 1590 pidx_tail: 1590 cidx: 1592 state: STALLED" (sys/net/mp_ring.c)
	ringRow = pattern.MustCompile(`^dev\.([a-z]+)\.(\d{1,3})\.iflib\.(txq\d{1,4})\.ring_state: .*\bstate: ([A-Z]+)$`)
	// "dev.igb.0.mac_stats.missed_packets: 2312"
	macRow = pattern.MustCompile(`^dev\.([a-z]+)\.(\d{1,3})\.(?:mac_stats|mac|pf\.mac)\.(missed_packets` +
		`|rx_missed_packets|crc_errs|crc_errors|late_coll): (\d{1,20})$`)
	queueRow = pattern.MustCompile(`^net\.(inet6?)\.ip6?\.(?:ifq\.drops|intr_queue_drops)(?:: |=)(\d{1,18})$`)
	cpusRow  = pattern.MustCompile(`^hw\.ncpu(?:online)?(?:: |=)(\d{1,4})$`)
)

// macCounters maps counters of the drivers of Intel's NICs to those of linux/if_link.h with the same meaning.
var macCounters = map[string]string{"missed_packets": "rx_missed_errors", "rx_missed_packets": "rx_missed_errors",
	"crc_errs": "rx_crc_errors", "crc_errors": "rx_crc_errors"}

// foreignParameter parses a line of sysctl(8) of a BSD or macOS. Only counters and the state of rings are used: the
// parameters are not those of Linux even if they have the same name.
func (m *machine) foreignParameter(line string) bool {
	if row := ringRow.FindStringSubmatch(line); row != nil && wordlike.MatchString(row[1]+row[2]) {
		nic := m.nicOf(row[1] + row[2])
		if nic.RingStates = true; row[4] == "STALLED" && len(nic.Stalled) < mostQueues {
			nic.Stalled = append(nic.Stalled, row[3])
		}
		return true
	}
	if row := macRow.FindStringSubmatch(line); row != nil && wordlike.MatchString(row[1]+row[2]) {
		return m.macCounter(row[1]+row[2], row[3], row[4])
	}
	if row := queueRow.FindStringSubmatch(line); row != nil {
		name := map[string]string{"inet": netstate.InputQueueDrops, "inet6": netstate.InputQueueDrops6}[row[1]]
		m.addPart("snmp", true)
		m.counterName(name, "sysctl: "+line[:strings.IndexAny(line, ":=")])
		return m.add(name, row[2])
	}
	if row := cpusRow.FindStringSubmatch(line); row != nil {
		m.cpus = cmp.Or(m.cpus, number(row[1]))
		return true
	}
	continued := m.command.is("sysctl") && m.last != nil && m.last.name == "sysctl of BSD" // a value of several lines
	return (bsdParameter(line) || continued && !claimed(line, "sysctl of BSD")) && m.ignore()
}

const mostQueues = 256

// macCounter stores a counter of the MAC of a NIC.
func (m *machine) macCounter(iface, name, value string) bool {
	_, has := m.counted[iface]
	c := m.countersOf(iface, !has || m.summed[iface])
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return m.ignore()
	}
	switch to := macCounters[name]; to {
	case "rx_missed_errors":
		c.RxMissed = n
		m.hasCounter(to)
		m.counterName(to, name)
	case "rx_crc_errors":
		c.RxCRC = n
		m.hasCounter(to)
		m.counterName(to, name)
	default:
		c.LateCollisions = n
	}
	return true
}
