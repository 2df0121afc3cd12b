package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// Shares returns a table of each interface's share of the traffic of the host in question, by
// treatment. Nil: no treatment used more than one interface.
func Shares(v *view.View) *document.Table {
	widest := 0
	for r, c := range v.Each() {
		widest = max(widest, len(view.InterfacesOf(r.Treatments[c], v.Focus)))
	}
	if widest < 2 {
		return nil
	}
	t := &document.Table{Caption: "Share of " + v.Traffic() + " on each of its interfaces, %",
		Columns: []document.Column{{Head: "treatment"}}}
	for _, r := range v.Rows {
		t.Add(r.Name)
	}
	for c, col := range v.Columns {
		for _, name := range v.InterfaceNames(c, c+1) {
			var cells []document.Cell
			for i := range v.Rows {
				cell := document.Cell{Text: "–"} // no data, thus no shares
				for _, p := range view.InterfacesOf(v.Rows[i].Treatments[c], v.Focus) {
					if p.Interface == name {
						cell.Text = strings.TrimSuffix(number.Percent(p.Share), " %")
					}
				}
				cells = append(cells, cell)
			}
			t.AddColumn(document.Column{Head: name, Group: col.Name, Align: document.Decimal}, cells)
		}
	}
	t.Instead = []string{"Interfaces of " + v.Focus + " that carried the data"}
	for i := range v.Rows {
		r := &v.Rows[i]
		t.Instead = append(t.Instead, r.Name+": "+v.PerColumn(func(c int) string {
			return summary(view.InterfacesOf(r.Treatments[c], v.Focus))
		}))
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
	n := view.Carrying(ports)
	text := fmt.Sprintf("%d of %d", n, len(ports))
	switch {
	case n == 0:
	case n <= 4:
		var parts []string
		for _, p := range sorted[:n] {
			parts = append(parts, p.Interface+" "+number.Percent(p.Share))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	default:
		text += fmt.Sprintf(" (%s %s to %s %s)", sorted[0].Interface, number.Percent(sorted[0].Share),
			sorted[n-1].Interface, number.Percent(sorted[n-1].Share))
	}
	return text
}
