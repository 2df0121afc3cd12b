package present

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
)

// listedAddresses is the maximum number of addresses that are listed individually, of both ends
// together.
const listedAddresses = 16

// measuredAddresses returns the totals of addresses if an end has several. Of very many it shows
// those of each end with the least traffic.
func measuredAddresses(m *export.Measurement) (blocks []document.Block) {
	size, spelled := func(a export.EndAddress) float64 { return a.WriteBps + a.ReadBps }, unit.FormatRate
	if m.Transactions != nil {
		size, spelled = func(a export.EndAddress) float64 { return a.RatePerS }, number.PerSecond
	}
	t := &document.Table{Columns: []document.Column{{Head: "end"}, {Head: "address"}, {Head: "of interface"},
		{Head: "flows"}}}
	for _, d := range m.Directions {
		t.Columns = append(t.Columns,
			document.Column{Head: map[bool]string{true: "rate", false: d.Direction}[d.Transactions != nil]})
	}
	for _, end := range addressesByEnd(m) {
		if most := listedAddresses / len(addressesByEnd(m)); len(m.Addresses) > listedAddresses && len(end) > most {
			slices.SortStableFunc(end, func(a, b export.EndAddress) int { return cmp.Compare(size(a), size(b)) })
			fastest := end[len(end)-1]
			blocks = append(blocks, document.Prose{
				Text: fmt.Sprintf("The %d slowest of the %s's %d addresses; the fastest, %s, had %s",
					most, fastest.Host, len(end), fastest.Address, spelled(size(fastest)))})
			end = end[:most]
		}
		for _, a := range end {
			row := []string{a.Host, a.Address, cmp.Or(a.Interface, "?"), fmt.Sprint(a.Flows)}
			for _, d := range m.Directions {
				switch {
				case d.Transactions != nil:
					row = append(row, number.PerSecond(a.RatePerS))
				case d.Direction == flow.Write:
					row = append(row, unit.FormatRate(a.WriteBps))
				default:
					row = append(row, unit.FormatRate(a.ReadBps))
				}
			}
			t.Add(row...)
		}
	}
	if more := len(m.Addresses) - len(t.Rows); more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more addresses: --json has them all", more))
	}
	return append(blocks, t)
}

// countedByInterfaces returns the traffic of the interfaces of an end with several. These need not
// be the ones that have the addresses.
func countedByInterfaces(m *export.Measurement) []document.Block {
	t := &document.Table{Columns: []document.Column{{Head: "end"}, {Head: "interface"}, {Head: "counted in"},
		{Head: "counted out"}}}
	for _, e := range m.Ends {
		for _, i := range e.Interfaces {
			t.Add(e.Host, i.Interface, unit.FormatRate(i.RxBps), unit.FormatRate(i.TxBps))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []document.Block{t}
}

// addressesByEnd returns copies of the addresses of each end.
func addressesByEnd(m *export.Measurement) (ends [][]export.EndAddress) {
	for _, a := range m.Addresses {
		if n := len(ends); n > 0 && ends[n-1][0].Host == a.Host {
			ends[n-1] = append(ends[n-1], a)
			continue
		}
		ends = append(ends, []export.EndAddress{a})
	}
	return ends
}
