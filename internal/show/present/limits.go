package present

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/unit"
	"linerate/internal/science/ecmp"
	"linerate/internal/science/limits"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// ECMPNeeded shows how many flows are needed to use all links.
func ECMPNeeded(n ecmp.Needed) document.Document {
	var d document.Document
	target, what, hashed := n.Target, "flow", byDefault
	if n.Pairs {
		what = "pair of addresses"
		hashed = "Addresses alone are hashed (net.ipv4.fib_multipath_hash_policy=0, Linux's default): all flows " +
			"between two addresses take one link."
	}
	switch n.Bond {
	case "":
	case layer2:
		hashed = "A bond with xmit_hash_policy layer2, Linux's default, hashes MAC addresses: all flows between " +
			"two hosts, or through one router, take one link. A pair of addresses stands for such a pair of hosts."
	case "layer2+3":
		hashed = "A bond with xmit_hash_policy layer2+3 hashes MAC and IP addresses: all flows between two IP " +
			"addresses take one link."
	default:
		hashed = "A bond with xmit_hash_policy " +
			n.Bond + " hashes ports as well. With layer2, Linux's default, all flows between two hosts, or through " +
			"one router, take one link (--policy layer2)."
	}
	table := &document.Table{Columns: []document.Column{{Head: "probability that no link is idle"},
		{Head: pairs(2, what), Align: document.Right}}}
	for _, f := range n.Flows {
		if f.Probability == target {
			all, odds := fmt.Sprintf("all %d links", n.Links), " with a probability of "+chance(target)
			if n.Links == 1 {
				all, odds = "the one link", ""
			}
			d.Title = fmt.Sprintf("%d %s %s %s%s.", f.Flows, pairs(f.Flows, what),
				words.Verb(f.Flows, "uses", "use"), all, odds)
		}
		table.Add(chance(f.Probability), fmt.Sprint(f.Flows))
	}
	if n.Carry > 0 && n.Links > 1 {
		d.Title = strings.TrimSuffix(d.Title, ".") + fmt.Sprintf("; %d %s %s of the links' capacity on average.",
			n.Carry, words.Verb(n.Carry, "fills", "fill"), chance(target))
	}
	d.Summary = [][]document.Block{{table},
		{
			document.Prose{
				Text: "Each flow stays on the link that its hash selects. With --flows N the answer is how much N " +
					"flows carry. " +
					hashed}}}
	return d
}

// pairs returns the noun for n flows or pairs of addresses.
func pairs(n int, what string) string {
	if n == 1 {
		return what
	}
	if what == "flow" {
		return "flows"
	}
	return "pairs of addresses"
}

// layer2 is the default xmit_hash_policy of bonds.
const layer2 = "layer2"

// byDefault says for which kernels the figures hold: the default of `limits ecmp` is not the
// kernel's default.
const byDefault = "Ports are hashed (net.ipv4.fib_multipath_hash_policy=1). With 0, Linux's default, all flows " +
	"between two addresses take one link: count pairs of addresses instead (--policy l3)."

// ECMPForecast shows the goodput of flows that one sender hashes over equal-cost links.
func ECMPForecast(f ecmp.Forecast) document.Document {
	on := words.Count(f.Links, "link")
	if f.Alike() {
		on += " of " + unit.FormatRate(f.PerLink[0].RateBps)
	}
	if f.Tiers == 2 {
		on += fmt.Sprintf(", then %d behind each,", f.Second)
	}
	d := document.Document{Title: forecastTitle(words.Count(f.Flows, "flow")+" on "+on, f.Flows, f.Figures.ExpectedBps,
		f.Share, f.LimitBps) + "."}
	if f.Tiers == 2 {
		d.Summary = tiers(f)
		return d
	}
	rows := carried(f)
	add := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	add("idle links", "some with a chance of %s; %s of %d used on average", chance(f.SomeIdle),
		fourDigits(f.Used), f.Links)
	add("busiest link", "%s of the flows on average", chance(f.Busiest))
	if f.TogetherBps > 0 {
		add("transfers", "%s %s on average, from the start to the end of the last, which the fullest link has",
			transferSizes(f), unit.FormatRate(f.TogetherBps))
	}
	what, label := "flows", "enough"
	if f.Distinct < f.Flows {
		what = "pairs of addresses"
	}
	if f.NeededCarry > 0 {
		add(label, "%d such %s fill %s of the links' capacity on average", f.NeededCarry, what, chance(f.Target))
		label = ""
	}
	if f.NeededAll > 0 {
		add(label, "with %d such %s no link is idle in %s of the cases", f.NeededAll, what, chance(f.Target))
	}
	d.Summary = [][]document.Block{{document.FigureList(append(rows, origins(f)...))}}
	if f.Alike() {
		return d
	}
	links := &document.Table{Columns: []document.Column{{Head: "link"}, {Head: "rate", Align: document.Right},
		{Head: "weight", Align: document.Right}, {Head: "of the flows", Align: document.Right},
		{Head: "idle", Align: document.Right}, {Head: "carries on average", Align: document.Right}}}
	for i, k := range f.PerLink {
		carries := "" // too many kinds for a formula
		if k.ExpectedBps > 0 {
			carries = unit.FormatRate(k.ExpectedBps)
		}
		links.Add(strconv.Itoa(i+1), unit.FormatRate(k.RateBps), fmt.Sprintf("%g", k.Weight), chance(k.Chance),
			chance(k.Idle), carries)
	}
	d.Summary = append(d.Summary, []document.Block{links})
	return d
}

func forecastTitle(who string, flows int, bps, share, limit float64) string {
	return fmt.Sprintf("%s %s %s on average, %s of the %s that even spreading would carry",
		who, words.Verb(flows, "carries", "carry"), unit.FormatRate(bps), chance(share), unit.FormatRate(limit))
}

// carried describes the distribution of the flows' sum: its values, or quantiles if there are many.
func carried(f ecmp.Forecast) (rows [][]string) {
	const worthwhile, most = 0.0005, 6
	values := slices.DeleteFunc(slices.Clone(f.Values), func(v ecmp.CarriedChance) bool {
		return v.Chance < worthwhile
	})
	if n := len(values); n > 0 && n <= most {
		for _, v := range values {
			rows = append(rows, []string{"", fmt.Sprintf("%s in %s of the cases", unit.FormatRate(v.Bps),
				chance(v.Chance))})
		}
	} else {
		low, middle, high := f.Quantiles[0], f.Quantiles[2], f.Quantiles[4]
		rows = append(rows, []string{"", fmt.Sprintf("at least %s in %s of the cases", unit.FormatRate(low.Bps),
			chance(1-low.Chance))})
		if high.Bps > low.Bps {
			rows = append(rows, []string{"", fmt.Sprintf("at least %s in %s", unit.FormatRate(middle.Bps),
				chance(1-middle.Chance))},
				[]string{"", fmt.Sprintf("at most %s in %s", unit.FormatRate(high.Bps), chance(high.Chance))})
		}
	}
	rows[0][0] = "carried"
	return rows
}

func transferSizes(f ecmp.Forecast) string {
	switch {
	case f.Sizes == "":
		return "all of one size, begun together, move"
	case f.Shape == 0:
		return f.Sizes + " sizes, begun together, move"
	}
	return fmt.Sprintf("%s sizes (%g), begun together, move", f.Sizes, f.Shape)
}

// origins says how the hash policy groups flows, and which figures are simulated instead of exact.
func origins(f ecmp.Forecast) (rows [][]string) {
	name, coarse := "hash policy",
		"1, ports too; with 0, Linux's default, all flows between two addresses take one link (--policy l3)"
	if f.Bond != "" {
		name, coarse = "xmit_hash_policy",
			f.Bond+
				", ports too; with layer2, Linux's default, all flows between two hosts take one link (--policy layer2)"
	}
	if f.Distinct < f.Flows {
		hashed := []string{"addresses", "addresses and ports", "inner addresses",
			fmt.Sprintf("fields %#x", f.Fields)}[f.Policy]
		policy := cmp.Or(f.Bond, strconv.Itoa(f.Policy))
		if f.Bond == layer2 {
			hashed = "MAC addresses, as many pairs as --pairs"
		}
		text := fmt.Sprintf("%s hashes %s: %s of flows, each on one link", policy, hashed,
			words.Count(f.Distinct, "group"))
		if f.WithPorts > 0 {
			ports := "policy 1 (--policy l4)"
			if f.Bond != "" {
				ports = "layer3+4"
			}
			text += fmt.Sprintf("; with %s the flows would carry %s", ports, unit.FormatRate(f.WithPorts))
		}
		rows = append(rows, []string{name, text})
	}
	if f.Policy == 1 {
		rows = append(rows, []string{name, coarse})
	}
	if f.Replicates == 0 {
		return append(rows, []string{"exact", "all figures"})
	}
	names := map[string]string{
		"expected_bps": "the mean", "carried_quantiles": "how it scatters", "some_idle_chance": "idle links",
		"busiest_link_share": "the busiest link", "together_bps": "transfers",
	}
	var drawn []string
	for _, field := range f.Drawn {
		if name := names[field]; name != "" {
			drawn = append(drawn, name)
		}
	}
	return append(rows, []string{"drawn", fmt.Sprintf("%s, %s from the seed %d", strings.Join(drawn, ", "),
		words.Count(f.Replicates, "time"), f.Seed)})
}

// tiers compares routers with different hash seeds with routers that have the same seed.
func tiers(f ecmp.Forecast) [][]document.Block {
	own, one := f.Figures, *f.OneSeed
	t := &document.Table{Columns: []document.Column{{}, {Head: "seeds of their own"},
		{Head: "one seed for all routers"}}}
	row := func(name string, of func(ecmp.Figures) string) { t.Add(name, of(own), of(one)) }
	row("carried on average", func(f ecmp.Figures) string { return unit.FormatRate(f.ExpectedBps) })
	row("of the limit", func(f ecmp.Figures) string { return chance(f.Share) })
	for _, at := range []int{0, 2, 4} {
		row(chance(own.Quantiles[at].Chance)+" of the cases at most", func(f ecmp.Figures) string {
			return unit.FormatRate(f.Quantiles[at].Bps)
		})
	}
	row("links used, first tier", func(x ecmp.Figures) string {
		return fmt.Sprintf("%s of %d", fourDigits(x.Used), f.Links)
	})
	row("second tier", func(f ecmp.Figures) string {
		return fmt.Sprintf("%s of %d", fourDigits(f.UsedSecond), f.AllSecond)
	})
	row("that can be used", func(f ecmp.Figures) string { return fmt.Sprintf("%d of %d", f.Reachable, f.AllSecond) })
	if f.TogetherBps > 0 {
		row("transfers begun together", func(f ecmp.Figures) string { return unit.FormatRate(f.TogetherBps) })
	}
	out := [][]document.Block{{t}}
	if unused := one.AllSecond - one.Reachable; unused > 0 {
		out = append(out, []document.Block{
			document.Prose{Text: fmt.Sprintf(
				"One seed makes the second choice repeat the first (polarisation): %d links of the second tier "+
					"never carry anything. "+
					"net.ipv4.fib_multipath_hash_seed, another on each router, cures it; so do other fields "+
					"(fib_multipath_hash_fields) in one tier.", unused)}})
	}
	return append(out, []document.Block{document.FigureList(origins(f))})
}

// FabricForecast shows the goodput of flows in a simulated network.
func FabricForecast(f ecmp.FabricForecast) document.Document {
	parts := []string{fmt.Sprintf("%d %s", f.Leaves, words.Verb(f.Leaves, "leaf", "leaves")),
		words.Count(f.Spines, "spine")}
	if f.Cores > 0 {
		parts[0] += " in " + words.Count(f.Pods, "pod")
		parts = append(parts, words.Count(f.Cores, "core"))
	}
	about := fmt.Sprintf("%s; hosts' links of %s; mean of %s from the seed %d", strings.Join(parts, ", "),
		unit.FormatRate(f.HostBps), words.Count(f.Replicates, "replicate"), f.Seed)

	t := &document.Table{Columns: []document.Column{{}, {Head: "hashed"}, {Head: "spread evenly"}}}
	if f.OneSeed != nil {
		t.Columns = []document.Column{{}, {Head: "own seeds"}, {Head: "one seed"}, {Head: "spread evenly"}}
	}
	row := func(name string, hashed func(ecmp.FabricFigures) string, even string) {
		texts := []string{name, hashed(f.FabricFigures)}
		if f.OneSeed != nil {
			texts = append(texts, hashed(*f.OneSeed))
		}
		t.Add(append(texts, even)...)
	}
	row("all flows", func(c ecmp.FabricFigures) string {
		return unit.FormatRate(c.ExpectedBps)
	}, unit.FormatRate(f.LimitBps))
	for _, r := range []struct {
		name string
		of   func(ecmp.Rates) float64
	}{
		{"slowest flow", func(r ecmp.Rates) float64 { return r.LeastBps }},
		{"1 % of flows at most", func(r ecmp.Rates) float64 { return r.P1Bps }},
		{"half of them at most", func(r ecmp.Rates) float64 { return r.P50Bps }},
		{"99 % at most", func(r ecmp.Rates) float64 { return r.P99Bps }},
	} {
		row(r.name, func(c ecmp.FabricFigures) string {
			return unit.FormatRate(r.of(c.Flow))
		}, unit.FormatRate(r.of(f.EvenFlow)))
	}
	row("fairness (Jain)", func(c ecmp.FabricFigures) string {
		return fourDigits(c.Flow.Fairness)
	}, fourDigits(f.EvenFlow.Fairness))
	d := document.Document{
		Title: forecastTitle(words.Count(f.Flows, "flow")+" among "+words.Count(f.Hosts, "host"), f.Flows,
			f.ExpectedBps, f.Share, f.LimitBps) + ".",
		Summary: [][]document.Block{{document.Prose{Text: about}}, {t}, {perTier("links", f.PerTier)}},
	}
	if f.OneSeed != nil {
		d.Summary = append(d.Summary, []document.Block{perTier("links, one seed", f.OneSeed.PerTier)})
	}
	return d
}

func perTier(head string, tiers []ecmp.Tier) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: head}, {Head: "number", Align: document.Right},
		{Head: "idle", Align: document.Right}, {Head: "full", Align: document.Right},
		{Head: "use, average", Align: document.Right}, {Head: "busiest", Align: document.Right}}}
	for _, tier := range tiers {
		t.Add(tier.Name, strconv.Itoa(tier.Links), fourDigits(tier.Idle), fourDigits(tier.Full), chance(tier.Average),
			chance(tier.Busiest))
	}
	return t
}

// fourDigits formats a number with at most four digits, or all digits of the integer part.
func fourDigits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// chance formats a share or a probability in percent. A value just below certainty is not rounded
// to it.
func chance(x float64) string {
	switch {
	case x < 1 && x > 0.9995:
		return "over 99.9 %"
	case x < 1 && x > 0.995:
		return fmt.Sprintf("%.1f %%", 100*x)
	case x > 0 && x < 1e-6:
		return "under 0.0001 %"
	}
	return fmt.Sprintf("%.3g %%", 100*x)
}

// Goodput shows the maximum goodput of a link, and the parts of a frame.
func Goodput(l limits.GoodputAnswer, frame limits.Frame) document.Document {
	what := "of a frame"
	if n := frame.Packets(); n > 1 {
		what = fmt.Sprintf("of the %d frames of a datagram", n)
	}
	t := &document.Table{Columns: []document.Column{{Head: what}, {Head: "bytes", Align: document.Right}}}
	for _, part := range frame.Parts() {
		t.Add(part.Name, fmt.Sprint(part.Bytes))
	}
	t.Add("together", fmt.Sprint(l.WireBytes))
	t.Notes = []string{unit.FormatCount(int64(math.Round(l.FramesPerS))) + " frames/s"}
	return document.Document{
		Title: fmt.Sprintf("%s carries at most %s of payload (%.1f MB/s), %.3f %%.",
			unit.FormatRate(l.RateBps), unit.FormatRate(l.GoodputBps), l.GoodputBps/8e6, 100*l.Fraction),
		Summary: [][]document.Block{{t}},
	}
}

// BDP shows the bytes in flight, the window and the buffers that fill a path.
func BDP(l limits.BDPAnswer) document.Document {
	var rows [][]string
	line := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	line("in flight", "%s bytes when the path is full: %s of %d bytes", unit.FormatCount(int64(l.BDPBytes)),
		unit.Plural(l.Segments, "segment"), l.MSSBytes)
	switch {
	case l.Flows > 1:
		line("", "more than TCP's largest window of 1 GiB (RFC 7323): %d connections at least", l.Flows)
	case l.Scaling:
		line("", "more than 65,535 bytes: needs window scaling (RFC 7323), without it at most %s",
			unit.FormatRate(l.Unscaled))
	}
	if l.Window > 0 {
		line("window", "%s bytes let at most %s through, %s of the rate", unit.FormatCount(l.Window),
			unit.FormatRate(l.WindowBps), unit.FormatPercent(l.WindowBps/l.RateBps))
		line("",
			"bytes in flight, not a socket buffer: measure --window and iperf3 -w set SO_RCVBUF, which Linux doubles")
	}
	line("slow start", "%s, %s, from %s until that much is in flight", unit.Plural(l.Rounds, "round trip"),
		unit.FormatSeconds(l.SlowS), unit.Plural(l.First, "segment"))
	if l.Answer > 0 {
		line("answer", "%s bytes on a new connection, which begins with that window:", unit.FormatCount(l.Answer))
		line("", "%s and the transmission, %s; less is not possible, more where a window is smaller",
			unit.Plural(l.AnswerTrips, "round trip"), unit.FormatSeconds(l.AnswerS))
	}
	line("receiver", "buffers of up to %s bytes%s", unit.FormatCount(l.TCPRmem), enoughBy(l, l.TCPRmem, l.RmemHere,
		limits.LinuxRmem, "receives"))
	line("sender", "buffers of up to %s bytes%s", unit.FormatCount(l.TCPWmem), enoughBy(l, l.TCPWmem, l.WmemHere,
		limits.LinuxWmem, "sends"))
	return document.Document{
		Title: fmt.Sprintf("BDP: %s (%s × %s)", unit.FormatBytes(l.BDPBytes), unit.FormatRate(l.RateBps),
			unit.FormatSeconds(l.RTTS)),
		Summary: [][]document.Block{{document.FigureList(rows)}, {
			allowing("receiver", "net.ipv4.tcp_rmem='4096 131072", l.TCPRmem, limits.LinuxRmem),
			allowing("sender", "net.ipv4.tcp_wmem='4096 16384", l.TCPWmem, limits.LinuxWmem),
		},
			{
				document.Prose{
					Text: "tcp_rmem is 4 × BDP: half of a receive buffer or more is advertised, and it also holds " +
						"what waits behind a lost segment. " +
						"tcp_wmem is 3 × BDP: what is in flight, what is to be sent next, and the kernel's " +
						"bookkeeping. The third value is how far Linux enlarges a connection's buffer by itself. " +
						"Setting SO_RCVBUF or SO_SNDBUF turns that off for a socket, and net.core.rmem_max and " +
						"wmem_max bound it then."}}},
	}
}

// allowing returns the command that allows the buffers of an end: never less than Linux's default.
func allowing(end, parameter string, needed, normally int64) document.Block {
	caption := "on the " + end + ", unless it allows more:"
	if needed <= normally {
		caption = "on the " + end + " Linux's default suffices; where it allows less:"
	}
	return document.Listing{Caption: caption,
		Lines: []string{fmt.Sprintf("sysctl -w %s %d'", parameter, max(needed, normally))}}
}

// enoughBy says whether the limit of this host is sufficient, if it is that end; if unknown,
// whether Linux's default is. Twice the BDP fills the path without losses: at least half of a
// receive buffer is advertised, and a blocked writer is woken when a third of the send buffer is
// free. A buffer of at least the BDP may fill it.
func enoughBy(l limits.BDPAnswer, needed, allowed, normally int64, end string) string {
	switch {
	case allowed >= needed:
		return fmt.Sprintf("; this host allows %s, enough if it %s", unit.FormatCount(allowed), end)
	case float64(allowed) >= 2*l.BDPBytes:
		return fmt.Sprintf("; this host allows %s, enough without loss if it %s", unit.FormatCount(allowed), end)
	case float64(allowed+limits.BeyondSendBuffer) >= l.BDPBytes && allowed > 0:
		return fmt.Sprintf("; this host allows %s, enough for %s without loss if it %s", unit.FormatCount(allowed),
			unit.FormatRate(float64(allowed)/2*8/l.RTTS), end)
	case allowed > 0:
		return fmt.Sprintf("; this host allows %s, too little if it %s", unit.FormatCount(allowed), end)
	case needed <= normally:
		return fmt.Sprintf("; Linux's default is %s", unit.FormatCount(normally))
	}
	return ""
}
