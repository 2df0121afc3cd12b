package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"linerate/internal/model/unit"
	"linerate/internal/science/ecmp"
	"linerate/internal/show/present"
)

// ECMPForecast writes what flows carry that one sender hashes over equal-cost links:
// a sentence, and under it how that scatters and what is exact.
func ECMPForecast(out io.Writer, f ecmp.Forecast) error { return ecmpForecast{f}.print(out) }

// FabricForecast writes the same of a simulated network.
func FabricForecast(out io.Writer, f ecmp.FabricForecast) error { return fabricForecast{f}.print(out) }

type (
	ecmpForecast   struct{ ecmp.Forecast }
	fabricForecast struct{ ecmp.FabricForecast }
)

func (l ecmpForecast) print(out io.Writer) error {
	leadSentence(out, "%s on %s %s %s on average, %s of the %s that even spreading would carry.",
		present.Count(l.Flows, "flow"), l.onLinks(), carry(l.Flows), unit.FormatRate(l.ExpectedBps), perCent(l.Share), unit.FormatRate(l.LimitBps))
	if l.Tiers == 2 {
		return l.printTiers(out)
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-14s%s\n", name, fmt.Sprintf(format, args...))
	}
	l.printCarried(row)
	row("idle links", "some with a chance of %s; %s of %d used on average", perCent(l.SomeIdle), fourDigits(l.Used), l.Links)
	row("busiest link", "%s of the flows on average", perCent(l.Busiest))
	if l.TogetherBps > 0 {
		row("transfers", "%s until the last of %s is done", unit.FormatRate(l.TogetherBps), l.sizesText())
	}
	l.printNeeded(row)
	if why := l.policyText(); why != "" {
		row("hash policy", "%s", why)
	}
	l.printDrawn(row, l.Figures)
	if l.Alike() {
		return nil
	}
	return l.printLinks(out)
}

// onLinks names the links.
func (l ecmpForecast) onLinks() string {
	on := present.Count(l.Links, "link")
	if l.Alike() {
		on += " of " + unit.FormatRate(l.PerLink[0].RateBps)
	}
	if l.Tiers == 2 {
		on += fmt.Sprintf(", then %d behind each,", l.Second)
	}
	return on
}

func (l ecmpForecast) printCarried(row func(name, format string, args ...any)) {
	const worthwhile = 0.0005
	values := slices.DeleteFunc(slices.Clone(l.Values), func(v ecmp.CarriedChance) bool { return v.Chance < worthwhile })
	if len(values) > 0 && len(values) <= 6 {
		name := "carried"
		for _, v := range values {
			row(name, "%-11s in %s of the cases", unit.FormatRate(v.Bps), perCent(v.Chance))
			name = ""
		}
		return
	}
	low, middle, high := l.Quantiles[0], l.Quantiles[2], l.Quantiles[4]
	row("carried", "at least %-11s in %s of the cases", unit.FormatRate(low.Bps), perCent(1-low.Chance))
	if high.Bps > low.Bps {
		row("", "at least %-11s in %s", unit.FormatRate(middle.Bps), perCent(1-middle.Chance))
		row("", "at most  %-11s in %s", unit.FormatRate(high.Bps), perCent(high.Chance))
	}
}

func (l ecmpForecast) printNeeded(row func(name, format string, args ...any)) {
	what := "flows"
	if l.Distinct < l.Flows {
		what = "pairs of addresses"
	}
	name := "enough"
	if l.NeededCarry > 0 {
		row(name, "%d such %s carry %s of all links on average", l.NeededCarry, what, perCent(l.Target))
		name = ""
	}
	if l.NeededAll > 0 {
		row(name, "with %d no link is idle in %s of the cases", l.NeededAll, perCent(l.Target))
	}
}

// policyText says what the policy makes of the flows, if anything.
func (l ecmpForecast) policyText() string {
	if l.Distinct >= l.Flows {
		return ""
	}
	hashed := []string{"addresses", "addresses and ports", "inner addresses", fmt.Sprintf("fields %#x", l.Fields)}[l.Policy]
	text := fmt.Sprintf("%d hashes %s: %s", l.Policy, hashed, present.Count(l.Distinct, "bundle"))
	if l.WithPorts > 0 {
		text += fmt.Sprintf("; 1 would carry %s", unit.FormatRate(l.WithPorts))
	}
	return text
}

func (l ecmpForecast) sizesText() string {
	switch {
	case l.Sizes == "":
		return "equal ones begun together"
	case l.Shape == 0:
		return "those of " + l.Sizes + " sizes"
	}
	return fmt.Sprintf("those of %s sizes (%g)", l.Sizes, l.Shape)
}

// printDrawn says what is not exact.
func (l ecmpForecast) printDrawn(row func(name, format string, args ...any), f ecmp.Figures) {
	if f.Replicates == 0 {
		row("exact", "all figures")
		return
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
	row("drawn", "%s, %s from the seed %d", strings.Join(drawn, ", "), present.Count(f.Replicates, "time"), l.Seed)
}

func (l ecmpForecast) printLinks(out io.Writer) error {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 2, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "link\trate\tweight\tof the flows\tidle\tcarries on average\t")
	for i, k := range l.PerLink {
		carries := "" // too many kinds for a formula
		if k.ExpectedBps > 0 {
			carries = unit.FormatRate(k.ExpectedBps)
		}
		fmt.Fprintf(table, "%d\t%s\t%g\t%s\t%s\t%s\t\n", i+1, unit.FormatRate(k.RateBps), k.Weight, perCent(k.Chance), perCent(k.Idle), carries)
	}
	return table.Flush()
}

// printTiers puts routers with seeds of their own beside routers with one.
func (l ecmpForecast) printTiers(out io.Writer) error {
	own, one := l.Figures, *l.OneSeed
	table := tabwriter.NewWriter(out, 2, 8, 2, ' ', 0)
	row := func(name string, of func(ecmp.Figures) string) {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, of(own), of(one))
	}
	fmt.Fprintln(table, "  \tseeds of their own\tone seed for all routers")
	row("carried on average", func(f ecmp.Figures) string { return unit.FormatRate(f.ExpectedBps) })
	row("of the limit", func(f ecmp.Figures) string { return perCent(f.Share) })
	for _, at := range []int{0, 2, 4} {
		chance := own.Quantiles[at].Chance
		row(perCent(chance)+" of the cases at most", func(f ecmp.Figures) string { return unit.FormatRate(f.Quantiles[at].Bps) })
	}
	row("links used, first tier", func(f ecmp.Figures) string { return fmt.Sprintf("%s of %d", fourDigits(f.Used), l.Links) })
	row("second tier", func(f ecmp.Figures) string { return fmt.Sprintf("%s of %d", fourDigits(f.UsedSecond), f.AllSecond) })
	row("that can be used", func(f ecmp.Figures) string { return fmt.Sprintf("%d of %d", f.Reachable, f.AllSecond) })
	if l.TogetherBps > 0 {
		row("transfers begun together", func(f ecmp.Figures) string { return unit.FormatRate(f.TogetherBps) })
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if one.Reachable < one.AllSecond {
		leadSentence(out, "One seed makes the second choice repeat the first (polarisation): %d links of the second tier never carry anything. net.ipv4.fib_multipath_hash_seed, another on each router, cures it; so do other fields (fib_multipath_hash_fields) in one tier.", one.AllSecond-one.Reachable)
	}
	plain := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-14s%s\n", name, fmt.Sprintf(format, args...))
	}
	if why := l.policyText(); why != "" {
		plain("hash policy", "%s", why)
	}
	l.printDrawn(plain, own)
	return nil
}

func (l fabricForecast) print(out io.Writer) error {
	leadSentence(out, "%s among %s %s %s, %s of the %s that even spreading would carry.",
		present.Count(l.Flows, "flow"), present.Count(l.Hosts, "host"), carry(l.Flows), unit.FormatRate(l.ExpectedBps), perCent(l.Share), unit.FormatRate(l.LimitBps))
	leaves := "leaves"
	if l.Leaves == 1 {
		leaves = "leaf"
	}
	fmt.Fprintf(out, "  %d %s", l.Leaves, leaves)
	if l.Cores > 0 {
		fmt.Fprintf(out, " in %s", present.Count(l.Pods, "pod"))
	}
	fmt.Fprintf(out, ", %s", present.Count(l.Spines, "spine"))
	if l.Cores > 0 {
		fmt.Fprintf(out, ", %s", present.Count(l.Cores, "core"))
	}
	fmt.Fprintf(out, "; hosts' links of %s\n  mean of %s from the seed %d\n\n", unit.FormatRate(l.HostBps), present.Count(l.Replicates, "replicate"), l.Seed)

	table := tabwriter.NewWriter(out, 2, 8, 2, ' ', 0)
	row := func(name string, hashed func(ecmp.FabricFigures) string, even string) {
		one := ""
		if l.OneSeed != nil {
			one = "\t" + hashed(*l.OneSeed)
		}
		fmt.Fprintf(table, "  %s\t%s%s\t%s\n", name, hashed(l.FabricFigures), one, even)
	}
	seeds := "hashed"
	if l.OneSeed != nil {
		seeds = "own seeds\tone seed"
	}
	fmt.Fprintf(table, "  \t%s\tspread evenly\n", seeds)
	row("all flows", func(c ecmp.FabricFigures) string { return unit.FormatRate(c.ExpectedBps) }, unit.FormatRate(l.LimitBps))
	for _, r := range []struct {
		name string
		of   func(ecmp.Rates) float64
	}{
		{"least flow", func(r ecmp.Rates) float64 { return r.LeastBps }},
		{"1 % of flows at most", func(r ecmp.Rates) float64 { return r.P1Bps }},
		{"half of them at most", func(r ecmp.Rates) float64 { return r.P50Bps }},
		{"99 % at most", func(r ecmp.Rates) float64 { return r.P99Bps }},
	} {
		row(r.name, func(c ecmp.FabricFigures) string { return unit.FormatRate(r.of(c.Flow)) }, unit.FormatRate(r.of(l.EvenFlow)))
	}
	row("fairness (Jain)", func(c ecmp.FabricFigures) string { return fourDigits(c.Flow.Fairness) }, fourDigits(l.EvenFlow.Fairness))
	if err := table.Flush(); err != nil {
		return err
	}
	if err := l.printPerTier(out, "", l.PerTier); err != nil || l.OneSeed == nil {
		return err
	}
	return l.printPerTier(out, ", one seed", l.OneSeed.PerTier)
}

func (l fabricForecast) printPerTier(out io.Writer, seeds string, tiers []ecmp.Tier) error {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 2, 8, 2, ' ', 0)
	fmt.Fprintf(table, "  links%s\tnumber\tidle\tfull\tuse, average\tbusiest\n", seeds)
	for _, t := range tiers {
		fmt.Fprintf(table, "  %s\t%d\t%s\t%s\t%s\t%s\n", t.Name, t.Links, fourDigits(t.Idle), fourDigits(t.Full), perCent(t.Average), perCent(t.Busiest))
	}
	return table.Flush()
}

// leadSentence writes a sentence in lines of 80 columns, and an empty one.
func leadSentence(out io.Writer, format string, args ...any) {
	const width = 80
	text := fmt.Sprintf(format, args...)
	for _, unit := range []string{"%", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"} {
		text = strings.ReplaceAll(text, " "+unit, "\u00a0"+unit)
	}
	column := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		word = strings.ReplaceAll(word, "\u00a0", " ")
		switch {
		case i == 0:
		case column+1+n > width:
			fmt.Fprintln(out)
			column = 0
		default:
			fmt.Fprint(out, " ")
			column++
		}
		fmt.Fprint(out, word)
		column += n
	}
	fmt.Fprint(out, "\n\n")
}

func carry(flows int) string {
	if flows == 1 {
		return "carries"
	}
	return "carry"
}

// fourDigits has four digits at most, or all before the point.
func fourDigits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// perCent is a share or a chance in per cent; one that is nearly all isn't all.
func perCent(x float64) string {
	switch text := fmt.Sprintf("%.3g %%", 100*x); {
	case x < 1 && x > 0.9995:
		return "over 99.9 %"
	case x < 1 && x > 0.995:
		return fmt.Sprintf("%.1f %%", 100*x)
	case x > 0 && x < 1e-6:
		return "under 0.0001 %"
	default:
		return text
	}
}
