package connection

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// TransferRules are about what tools that measure rates printed, in texts that have it.
var TransferRules = []rule.Rule{
	{ID: cause.DatagramsLost.Code, Host: true, If: transfers, Parts: []string{facts.Transfers},
		Find: rule.Each(rule.EveryHost, datagramsLost)},
	{ID: cause.TransferStalled.Code, Host: true, If: transfers, Parts: []string{facts.Transfers},
		Find: rule.Each(rule.EveryHost, transferStalled)},
	{ID: cause.SenderAhead.Code, Host: true, If: transfers, Parts: []string{facts.Transfers},
		Find: rule.Each(rule.EveryHost, senderAhead)},
}

func transfers(h *facts.Host) bool { return len(h.State.Transfers) > 0 }

// mostTransfers is how many transfers a finding names.
const mostTransfers = 6

// transferred finds transfers that meet a condition, each with what evidence says of it.
func transferred(h *facts.Host, of cause.Of[cause.None], confidence string, where func(netstate.Transfer) bool,
	evidence func(netstate.Transfer) fact.Transferred) *record.Finding {
	finding := facts.Found(of, h, confidence, cause.None{})
	for _, t := range h.State.Transfers {
		if where(t) && len(finding.Facts) < mostTransfers {
			is := evidence(t)
			is.From, is.To = t.From, t.To
			finding.With(h.Name, is)
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return finding
}

// datagramsLost finds flows of datagrams that lost some: a few of a short flow may be those of its beginning.
func datagramsLost(_ facts.Trial, h *facts.Host) *record.Finding {
	const least, share, much = 10, 1e-3, 1e-2
	confidence := record.Possible
	finding := transferred(h, cause.DatagramsLost, confidence, func(t netstate.Transfer) bool {
		if t.Lost == nil || t.Datagrams == nil || *t.Lost < least || float64(*t.Lost) < share*float64(*t.Datagrams) {
			return false
		}
		if float64(*t.Lost) >= much*float64(*t.Datagrams) {
			confidence = record.Likely
		}
		return true
	}, func(t netstate.Transfer) fact.Transferred {
		return fact.Transferred{Seconds: t.Seconds, Lost: t.Lost, Datagrams: t.Datagrams}
	})
	if finding != nil {
		finding.Confidence = confidence
	}
	return finding
}

// transferStalled finds transfers of which most intervals are without a byte, or some beside others with many. One
// of the former may be at a low rate that the text does not have.
func transferStalled(_ facts.Trial, h *facts.Host) *record.Finding {
	const least, beside, many = 3, 2, 4 << 20 // many bytes are more than what a low rate writes at once
	return transferred(h, cause.TransferStalled, record.Possible, func(t netstate.Transfer) bool {
		bytes := int64(0)
		for _, counted := range []*int64{t.SentBytes, t.ReceivedBytes} {
			if counted != nil {
				bytes = max(bytes, *counted)
			}
		}
		return t.Idle >= least && 2*t.Idle > t.Intervals ||
			t.Idle >= beside && bytes >= many*int64(t.Intervals-t.Idle)
	}, func(t netstate.Transfer) fact.Transferred {
		return fact.Transferred{Idle: t.Idle, Intervals: t.Intervals}
	})
}

// senderAhead finds TCP connections whose sender counts bytes that the receiver has not read. That makes the figure
// doubtful, and no path slow.
func senderAhead(_ facts.Trial, h *facts.Host) *record.Finding {
	const share, least = 0.02, 1 << 20
	return transferred(h, cause.SenderAhead, record.Possible, func(t netstate.Transfer) bool {
		if t.Protocol == "udp" || t.SentBytes == nil || t.ReceivedBytes == nil {
			return false
		}
		ahead := *t.SentBytes - *t.ReceivedBytes
		return ahead >= least && float64(ahead) >= share*float64(*t.ReceivedBytes)
	}, func(t netstate.Transfer) fact.Transferred {
		return fact.Transferred{Seconds: t.Seconds, Sent: t.SentBytes, Received: t.ReceivedBytes}
	})
}
