package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/text"
)

// hosts compares several hosts.
func (v view) hosts() section {
	if len(v.Hosts) < 2 || v.height <= 0 && v.Shown > 0 {
		return section{}
	}
	host, busiest := column{head: "host", width: 14}, column{head: "busiest", width: 8}
	if v.width >= 120 {
		host.width, busiest.width = 30, 15
	}
	columns := []column{host, busiest, {head: "in bit/s", right: true, width: 8},
		{head: "out bit/s", right: true, width: 9},
		{head: "%", right: true, width: 4}, {head: "CPU %", right: true, width: 5},
		{head: "drop/s", right: true, width: 6}, {head: "finding", width: 10, most: 80, from: 70}}
	var rows [][]cell
	for i, h := range v.Hosts {
		name := cell{"  " + h.Name, ""}
		if i == v.Shown {
			name = cell{"▸ " + h.Name, text.Bold}
		}
		at := v.now(h)
		if at < 0 || h.Lost != "" {
			state := cell{"waiting", text.Dim}
			if h.Lost != "" {
				state = cell{"lost", text.Red}
			}
			rows = append(rows, []cell{name, c("–"), c(""), c(""), c(""), c(""), c(""), state})
			continue
		}
		s := h.Samples[at]
		var most record.InterfaceRates
		drops := 0.0
		for _, r := range s.Interfaces {
			if most.Interface == "" || r.RxBps+r.TxBps > most.RxBps+most.TxBps {
				most = r
			}
			drops += r.DropsPerS
		}
		cpu, cause := 0.0, cell{}
		if len(s.CPUs) > 0 {
			cpu = s.CPUs[0].Busy()
		}
		for _, f := range s.Findings {
			if f.Confidence != record.Possible && f.ExplainedBy == "" {
				cause = cell{f.ID, tone(f.Confidence)}
				break
			}
		}
		share := max(most.RxShare, most.TxShare)
		rows = append(rows, []cell{name, c(most.Interface), c(si(most.RxBps)), c(si(most.TxBps)),
			known(share, max(most.RxLimitBps, most.TxLimitBps)),
			{percent(cpu), heat(cpu)}, lossy(drops), cause})
	}
	head, lines := v.grid(columns, rows)
	return section{head: head, lines: lines, least: 4}
}

// protocols shows the counters of TCP and UDP on one line.
func (v view) protocols() section {
	p := v.sample().Protocols
	resent := 0.0
	if p.SegmentsOutPerS > 0 {
		resent = p.RetransmitPerS / p.SegmentsOutPerS
	}
	tcp := fmt.Sprintf("TCP %s conn, %s opened/s, %s %% resent", unit.FormatCount(int64(p.Connections)),
		si(p.OpenedPerS), percent(resent))
	udp := fmt.Sprintf("UDP in %s/s, out %s/s, lost %s/s", si(p.DatagramsInPerS), si(p.DatagramsOutPerS),
		si(p.DatagramErrPerS))
	return section{lines: []string{fit(tcp+"  ·  "+udp, v.width)}, whole: true}
}

// series returns the values of the latest samples.
func (v view) series(of func(record.HostSample) float64) (list []float64) {
	const most = 30
	for _, s := range v.host.Samples[max(0, v.at+1-most) : v.at+1] {
		list = append(list, of(s))
	}
	return list
}

func (v view) interfaces() section {
	s := v.sample()
	list := slices.Clone(s.Interfaces)
	slices.SortStableFunc(list, func(a, b record.InterfaceRates) int {
		values := func(r record.InterfaceRates) [3]float64 {
			return [3]float64{ByRate: r.RxBps + r.TxBps, ByPackets: r.RxPps + r.TxPps, ByLoss: r.DropsPerS +
				r.ErrorsPerS}
		}
		return v.compare(values(a), values(b), a.Interface, b.Interface)
	})
	const barFrom, sparkFrom = 100, 170
	columns := []column{{head: "interface", width: 9, most: 15}, {head: "limit", right: true, width: 5},
		{head: "in bit/s", right: true, width: 8}, {head: "pkt/s", right: true, width: 6},
		{head: "%", right: true, width: 4}, {head: "", width: 10, from: barFrom},
		{head: "last 30 samples", width: 30, from: sparkFrom},
		{head: "out bit/s", right: true, width: 9}, {head: "pkt/s", right: true, width: 6},
		{head: "%", right: true, width: 4}, {head: "", width: 10, from: barFrom},
		{head: "last 30 samples", width: 30, from: sparkFrom},
		{head: "drop/s", right: true, width: 6, from: 72}, {head: "err/s", right: true, width: 5, from: 78},
		{head: "cause", width: 20, most: 60, from: 120}}
	var rows [][]cell
	for _, r := range list {
		name := cell{r.Interface, ""}
		if !r.Up {
			name = cell{r.Interface + " down", text.Dim}
		}
		rate := func(limit float64, of func(record.InterfaceRates) float64) cell {
			return cell{spark(v.series(func(s record.HostSample) float64 {
				if i := slices.IndexFunc(s.Interfaces, func(x record.InterfaceRates) bool {
					return x.Interface == r.Interface
				}); i >= 0 {
					return of(s.Interfaces[i])
				}
				return 0
			}), 30, limit), text.Dim}
		}
		rx, tx := cell{}, cell{}
		if v.width >= sparkFrom {
			rx, tx = rate(r.RxLimitBps, func(r record.InterfaceRates) float64 {
				return r.RxBps
			}), rate(r.TxLimitBps, func(r record.InterfaceRates) float64 { return r.TxBps })
		}
		rows = append(rows, []cell{name, {limit(cmp.Or(r.TxLimitBps, r.RxLimitBps)), text.Dim},
			c(si(r.RxBps)), c(si(r.RxPps)), known(r.RxShare, r.RxLimitBps), {bar(r.RxShare, 10), heat(r.RxShare)}, rx,
			c(si(r.TxBps)), c(si(r.TxPps)), known(r.TxShare, r.TxLimitBps), {bar(r.TxShare, 10), heat(r.TxShare)}, tx,
			lossy(r.DropsPerS), lossy(r.ErrorsPerS), {causes(s, r.Interface), text.Red}})
	}
	head, lines := v.grid(columns, rows)
	return section{head: head, lines: lines, least: 3}
}

// causes lists the counters of an interface's losses, highest first.
func causes(s record.HostSample, name string) string {
	var list []string
	for _, d := range s.Drops {
		if d.Where == name && s.WindowS > 0 {
			list = append(list, si(float64(d.Packets)/s.WindowS)+" "+d.Counter)
		}
	}
	return strings.Join(list, ", ")
}

// drops lists packets that were not delivered, by counter.
func (v view) drops() section {
	s := v.sample()
	columns := []column{{head: "lost at", width: 12, most: 20}, {head: "pkt/s", right: true, width: 6},
		{head: "harmful", width: 8}, {head: "counter", width: 24, most: 32}, {head: "why", width: 10, most: 80}}
	var rows [][]cell
	for _, d := range s.Drops {
		attribute := text.Red
		if d.Verdict != record.Harmful {
			attribute = ""
		}
		rows = append(rows, []cell{c(d.Where), {si(float64(d.Packets) / s.WindowS), attribute}, c(d.Verdict),
			c(d.Counter), c(d.Why)})
	}
	head, lines := v.grid(columns, rows)
	return section{head: head, lines: lines, least: 3}
}

// Glyphs of the kinds of time in the bar of a CPU.
const glyphs = "█▓▒░"

func (v view) cpus() section {
	list := slices.Clone(v.sample().CPUs)
	slices.SortStableFunc(list, func(a, b record.CPURates) int {
		if a.CPU < 0 || b.CPU < 0 {
			return cmp.Compare(a.CPU, b.CPU)
		}
		values := func(c record.CPURates) [3]float64 {
			return [3]float64{ByRate: c.Busy(), ByPackets: c.PacketsPerS, ByLoss: c.DroppedPerS}
		}
		if v.Order == ByName {
			return cmp.Compare(a.CPU, b.CPU)
		}
		return cmp.Or(v.compare(values(a), values(b), "", ""), cmp.Compare(a.CPU, b.CPU))
	})
	size := 10
	if v.width >= 120 {
		size = 30
	}
	legend := "busy"
	if size == 30 {
		legend = "█ user ▓ system ▒ irq ░ steal"
	}
	columns := []column{{head: "CPU", width: 4}, {head: legend, width: size}, {head: "%", right: true, width: 4},
		{head: "user", right: true, width: 4}, {head: "sys", right: true, width: 4},
		{head: "irq", right: true, width: 4},
		{head: "soft", right: true, width: 4}, {head: "steal", right: true, width: 5},
		{head: "packets/s", right: true, width: 9}, {head: "drop/s", right: true, width: 6, from: 72},
		{head: "squeezed", right: true, width: 8, from: 80}, {head: "irqs/s", right: true, width: 7, from: 120},
		{head: "NET_RX/s", right: true, width: 8, from: 120}, {head: "NET_TX/s", right: true, width: 8, from: 120},
		{head: "backlog", right: true, width: 7, from: 130}, {head: "last 30 samples", width: 30, from: 170}}
	var rows [][]cell
	for _, one := range list {
		name := fmt.Sprint(one.CPU)
		if one.CPU < 0 {
			name = "all"
		}
		history := cell{}
		if v.width >= 170 {
			history = cell{spark(v.series(func(s record.HostSample) float64 {
				if i := slices.IndexFunc(s.CPUs, func(x record.CPURates) bool { return x.CPU == one.CPU }); i >= 0 {
					return s.CPUs[i].Busy()
				}
				return 0
			}), 30, 1), text.Dim}
		}
		shares := []float64{one.User, one.System, one.IRQ + one.SoftIRQ, one.Steal}
		rows = append(rows, []cell{c(name), {stacked(size, shares, glyphs), cmp.Or(heat(one.Busy()), text.Green)},
			{percent(one.Busy()), heat(one.Busy())},
			c(percent(one.User)), c(percent(one.System)), c(percent(one.IRQ)),
			{percent(one.SoftIRQ), heat(one.SoftIRQ)}, {percent(one.Steal), heat(5 * one.Steal)},
			c(si(one.PacketsPerS)), lossy(one.DroppedPerS), {si(one.SqueezedPerS), warm(one.SqueezedPerS)},
			c(si(one.InterruptsPerS)), c(si(one.NetRxPerS)), c(si(one.NetTxPerS)), c(count(one.Backlog)), history})
	}
	head, lines := v.grid(columns, rows)
	return section{head: head, lines: lines, least: 3}
}
