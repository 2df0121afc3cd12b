package nic

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// meaningRule is a rule about drivers' own counters. It selects them by their meaning
// (netstate.MeaningOf), because each driver has its own names.
type meaningRule struct {
	cause      cause.Of[cause.None]
	load       bool     // as in rule.Rule
	meanings   []string // of the counters that must grow
	least      int64    // by this much together; 0: 1
	share      float64  // and by this share of the received packets
	confidence string   // of the finding
	explains   []string
}

var meaningRules = []meaningRule{
	{cause: cause.LinkLost, meanings: []string{"link_down"}, confidence: record.Certain,
		explains: []string{"carrier-flaps", "tx-carrier", "tcp-retransmissions", "tx-dropped"}},
	{cause: cause.TransmitTimeout, meanings: []string{"tx_timeout"}, confidence: record.Certain,
		explains: []string{"link-lost",
			"carrier-flaps", "tx-carrier", "tcp-retransmissions", "tx-dropped", "unacknowledged"}},
	{cause: cause.FramesDamaged, meanings: []string{"rx_damaged", "fec_failed"}, confidence: record.Certain,
		explains: []string{"interface-errors", "tcp-retransmissions", "reassembly-failed"}},
	{cause: cause.FramesWrongLength, meanings: []string{"rx_bad_length"}, confidence: record.Certain,
		explains: []string{"frames-too-long", "interface-errors", "rx-dropped", "tcp-retransmissions"}},
	{cause: cause.ReceiveBuffersMissing, meanings: []string{"rx_no_memory"}, confidence: record.Certain,
		explains: []string{"ring-empty", "ring-overrun", "rx-dropped", "tcp-retransmissions"}},
	{cause: cause.RingEmpty, meanings: []string{"rx_no_buffer"}, least: 10, share: 1e-4, confidence: record.Likely,
		explains: []string{"nic-buffer-full", "pausing", "rx-dropped", "tcp-retransmissions"}},
	{cause: cause.NICBufferFull, meanings: []string{"rx_fifo_full"}, least: 10, share: 1e-4, confidence: record.Likely,
		explains: []string{"rx-dropped", "interface-errors", "tcp-retransmissions"}},
	{cause: cause.ChecksumsByNIC, meanings: []string{"rx_bad_checksum"}, least: 100, share: 1e-4,
		confidence: record.Possible},
	{cause: cause.Paused, load: true, meanings: []string{"rx_pause"}, least: 10, confidence: record.Likely,
		explains: []string{"qdisc-drop", "tx-dropped"}},
	{cause: cause.Pausing, load: true, meanings: []string{"tx_pause"}, least: 10, confidence: record.Likely},
	{cause: cause.PauseStorm, meanings: []string{"pause_storm"}, confidence: record.Certain,
		explains: []string{"pausing"}},
	{cause: cause.PCIeStalled, load: true, meanings: []string{"pcie_stalled", "pcie_dropped"},
		confidence: record.Likely, explains: []string{"nic-buffer-full", "ring-overrun", "pausing", "rx-dropped"}},
	{cause: cause.PCIeErrors, meanings: []string{"pcie_errors"}, confidence: record.Certain,
		explains: []string{"pcie-stalled", "nic-buffer-full"}},
	{cause: cause.CloudAllowance, load: true, meanings: []string{"over_allowance"}, least: 10,
		confidence: record.Likely, explains: []string{"tcp-retransmissions",
			"syn-unanswered", "connect-fails", "unacknowledged"}},
}

// rule returns m as a rule for hosts.
func (m meaningRule) rule() rule.Rule {
	return rule.Rule{ID: m.cause.Code, Host: true, Load: m.load, Growth: true,
		Parts: []string{facts.DriverCounters + "/" + strings.Join(m.meanings, "|")},
		Find:  rule.EachInterface(m.find), Explains: m.explains}
}

func (m meaningRule) find(p facts.Port) *record.Finding {
	var list []fact.DriverCounter
	driver, grown := p.NIC.CounterDriver(), map[string]int64{}
	for name := range p.NIC.Counters {
		meaning := netstate.MeaningOf(driver, name)
		if by := p.Grown(name); by > 0 && slices.Contains(m.meanings, meaning) {
			list = append(list, fact.DriverCounter{Interface: p.Interface.Interface, Name: name, Driver: driver,
				Meaning: meaning, Grew: by, Inferred: p.NIC.Driver == "", Time: p.Host.TimeOver(p.NIC.CountedS)})
			grown[name] = by
		}
	}
	var sum int64
	for _, n := range netstate.MeaningsOf(driver, grown) {
		sum += n
	}
	if sum < max(m.least, 1) || float64(sum) < m.share*float64(p.Counted().RxPackets) {
		return nil
	}
	slices.SortFunc(list, func(a, b fact.DriverCounter) int {
		return cmp.Or(cmp.Compare(b.Grew, a.Grew), cmp.Compare(a.Name, b.Name))
	})
	f := facts.FoundOn(m.cause, p, m.confidence, cause.None{})
	for _, one := range list[:min(len(list), 4)] {
		f.With(p.Host.Name, one)
	}
	return f
}

// DriverRules are about drivers' own counters.
var DriverRules = func() (list []rule.Rule) {
	for _, m := range meaningRules {
		list = append(list, m.rule())
	}
	return append(list, rule.Rule{ID: cause.CountersUnknown.Code, Host: true, Parts: []string{"statistics"},
		Find: rule.EachInterface(unknownCounters)})
}()

// unknownCounters finds counters of a driver whose names say that something was lost or failed, that are
// large and whose meaning is not known.
func unknownCounters(p facts.Port) *record.Finding {
	const much, share = 1000, 1e-4
	all, _ := p.Host.Totals(p.Interface.Interface)
	packets := all.RxPackets + all.TxPackets
	var list []any
	for _, c := range p.NIC.Unknown {
		if c.Value >= much && float64(c.Value) >= share*float64(packets) && len(list) < 4 {
			list = append(list, fact.UnknownCounter{Interface: p.Interface.Interface, Driver: p.NIC.CounterDriver(),
				Name: c.Name, Value: c.Value})
		}
	}
	if list == nil {
		return nil
	}
	return facts.FoundOn(cause.CountersUnknown, p, record.Possible, cause.None{}).With(p.Host.Name, list...)
}
