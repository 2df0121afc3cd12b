package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// shareTable has each interface's share of the traffic of the host in question,
// by treatment; nil: no treatment used more than one interface.
func shareTable(v *view) *Table {
	widest := 0
	for r, c := range v.each() {
		widest = max(widest, len(portsOf(r.cells[c], v.focus)))
	}
	if widest < 2 {
		return nil
	}
	t := &Table{Caption: "Share of " + v.traffic() + " on each of its interfaces, %", Columns: []Column{{Head: "treatment"}}}
	for _, r := range v.rows {
		t.add(r.name)
	}
	for c, col := range v.columns {
		for _, name := range v.interfaceNames(c, c+1) {
			var cells []Cell
			for i := range v.rows {
				cell := Cell{Text: "–"} // no data, no shares
				for _, p := range portsOf(v.rows[i].cells[c], v.focus) {
					if p.Interface == name {
						cell.Text = strings.TrimSuffix(percent(p.Share), " %")
					}
				}
				cells = append(cells, cell)
			}
			t.addColumn(Column{Head: name, Group: col.name, Align: Decimal}, cells)
		}
	}
	t.Instead = []string{"Interfaces of " + v.focus + " that carried the data"}
	for i := range v.rows {
		r := &v.rows[i]
		t.Instead = append(t.Instead, r.name+": "+v.perColumn(func(c int) string { return summary(portsOf(r.cells[c], v.focus)) }))
	}
	return t
}

// summary says in a few words how a host's interfaces shared its traffic.
func summary(ports []record.TreatmentInterface) string {
	if len(ports) == 0 {
		return ""
	}
	sorted := slices.Clone(ports)
	slices.SortStableFunc(sorted, func(a, b record.TreatmentInterface) int { return cmp.Compare(b.Share, a.Share) })
	n := carrying(ports)
	text := fmt.Sprintf("%d of %d", n, len(ports))
	switch {
	case n == 0:
	case n <= 4:
		var parts []string
		for _, p := range sorted[:n] {
			parts = append(parts, p.Interface+" "+percent(p.Share))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	default:
		text += fmt.Sprintf(" (%s %s to %s %s)", sorted[0].Interface, percent(sorted[0].Share), sorted[n-1].Interface, percent(sorted[n-1].Share))
	}
	return text
}
