package top

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/text"
)

// queues lists the queues of interfaces; in short only those with a backlog or drops.
func (v view) queues(short bool) section {
	list := slices.Clone(v.sample().Queues)
	if short {
		list = slices.DeleteFunc(list, func(q record.QueueRates) bool {
			return q.BacklogBytes == 0 && q.DropsPerS == 0
		})
	}
	slices.SortStableFunc(list, func(a, b record.QueueRates) int {
		values := func(q record.QueueRates) [3]float64 {
			return [3]float64{ByRate: q.Bps, ByPackets: q.Pps, ByLoss: q.DropsPerS}
		}
		return v.compare(values(a), values(b), a.Interface+" "+a.Queue, b.Interface+" "+b.Queue)
	})
	columns := []column{{head: "queue of", width: 10, most: 15}, {head: "queue", width: 16, most: 24},
		{head: "bit/s", right: true, width: 8}, {head: "pkt/s", right: true, width: 7},
		{head: "drop/s", right: true, width: 6}, {head: "waiting", right: true, width: 14},
		{head: "over", right: true, width: 6, from: 76}}
	var rows [][]cell
	for _, q := range list {
		waiting := "0"
		if q.BacklogBytes > 0 {
			waiting = count(q.BacklogPackets) + " / " + count(q.BacklogBytes) + "B"
		}
		rows = append(rows, []cell{c(q.Interface), c(q.Queue), c(si(q.Bps)), c(si(q.Pps)), lossy(q.DropsPerS),
			{waiting, warm(float64(q.BacklogBytes))},
			{unit.FormatSeconds(cmp.Or(q.WindowS, v.sample().WindowS)), text.Dim}})
	}
	head, lines := v.grid(columns, rows)
	return section{head: head, lines: lines, least: 2}
}

func (v view) flows() section {
	list := slices.Clone(v.sample().Flows)
	slices.SortStableFunc(list, func(a, b record.FlowRates) int {
		values := func(f record.FlowRates) [3]float64 {
			return [3]float64{ByRate: f.RxBps + f.TxBps, ByPackets: f.SegmentsPerS, ByLoss: f.RetransmitPerS}
		}
		return v.compare(values(a), values(b), a.Remote+" "+a.Local, b.Remote+" "+b.Local)
	})
	full := v.width >= 110
	local := column{head: "local", width: 6}
	if full {
		local.width, local.most = 21, 30
	}
	peer := column{head: "peer", width: 15, most: 30}
	if !full { // the limit of a flow needs the space more
		peer.width, peer.most = min(max(15, v.width-59), 27), 0
	}
	columns := []column{local, peer, {head: "out bit/s", right: true, width: 9},
		{head: "in bit/s", right: true, width: 8}, {head: "RTT", right: true, width: 7},
		{head: "resent", right: true, width: 6, from: 76}, {head: "limited by", width: 10, most: 17},
		{head: "program", width: 10, most: 15, from: 120}, {head: "least RTT", right: true, width: 9, from: 140},
		{head: "cwnd", right: true, width: 7, from: 140}, {head: "recv-Q", right: true, width: 7, from: 150},
		{head: "send-Q", right: true, width: 7, from: 150}, {head: "why", width: 20, most: 120, from: 180}}
	var rows [][]cell
	for _, f := range list {
		ends := c(f.Local)
		if !full {
			ends = c(f.Local[strings.LastIndexByte(f.Local, ':')+1:])
			ends.text = ":" + ends.text
		}
		by := f.LimitedBy
		if f.State != "" && f.State != "ESTAB" {
			by = f.State
		}
		attribute := ""
		if f.TxBps+f.RxBps == 0 {
			attribute = text.Dim
		}
		ends.attribute = attribute
		rows = append(rows, []cell{ends, {f.Remote, attribute}, c(si(f.TxBps)), c(si(f.RxBps)), c(micro(f.RTTUs)),
			lossy(f.RetransmitPerS), {cmp.Or(by, "–"), text.Yellow}, c(f.Program),
			c(micro(f.MinRTTUs)), c(count(f.CwndBytes)), {count(uint64(max(0, f.ReceiveQueue))),
				warm(float64(f.ReceiveQueue))}, {count(uint64(max(0, f.SendQueue))), warm(float64(f.SendQueue))},
			{f.LimitedWhy, text.Dim}})
	}
	head, lines := v.grid(columns, rows)
	return section{head: head, lines: lines, least: 4}
}
