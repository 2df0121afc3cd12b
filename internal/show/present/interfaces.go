package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/figure"
)

// traffic names what the shares of the focus are of: of one direction where data
// flows both ways and this one is shared less evenly.
func (v *view) traffic() string {
	directions := map[string]bool{}
	both := false
	for _, t := range v.run.Treatments {
		for _, p := range portsOf(&t, v.focus) {
			directions[p.Direction] = true
			both = both || p.ShareRx != nil && p.ShareTx != nil
		}
	}
	switch {
	case both && len(directions) == 1 && directions[record.Tx]:
		return "what " + v.focus + " sent"
	case both && len(directions) == 1:
		return "what " + v.focus + " received"
	}
	return "the traffic of " + v.focus
}

// interfacesCSV lists every interface of every host, not only those drawn.
func (v *view) interfacesCSV() [][]string {
	out := [][]string{{"treatment", "condition", "host", "interface", "rx_bps", "tx_bps", "limit_bps", "share"}}
	for r, c := range v.each() {
		for _, p := range r.cells[c].Interfaces {
			out = append(out, []string{r.name, v.columns[c].name, p.Host, p.Interface, exact(p.RxBps), exact(p.TxBps), exact(p.LimitBps), exact(p.Share)})
		}
	}
	return out
}

// dataRx reports whether data flows into a host in a treatment.
func dataRx(ports []record.TreatmentInterface) bool {
	rx, tx := 0.0, 0.0
	for _, p := range ports {
		rx, tx = rx+p.RxBps, tx+p.TxBps
	}
	return rx >= tx
}

func ends(list []topology.End) string {
	var names []string
	for _, e := range list {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ")
}

// fitTail shortens an interface's name at the front: interfaces differ in their last letters.
func fitTail(name string, width float64) string {
	letters := []rune(name)
	for n := 0; n < len(letters); n++ {
		short := string(letters[n:])
		if n > 0 {
			short = "…" + short
		}
		if figure.TextWidth(short, sizeSmall, false) <= width {
			return short
		}
	}
	return ""
}

// load is an interface's traffic in its busier direction.
func load(p record.TreatmentInterface) float64 { return max(p.RxBps, p.TxBps) }

// carrying counts the interfaces that carry a part worth naming: a twentieth of
// their host's traffic, or half an equal share where there are many.
func carrying(ports []record.TreatmentInterface) int {
	n := 0
	for _, p := range ports {
		if p.Share >= min(0.05, 0.5/float64(len(ports))) {
			n++
		}
	}
	return n
}

// portsOf lists those of a host's loads in a treatment that have a share, eth2
// before eth10: none where the host carried no data.
func portsOf(t *record.Treatment, host string) []record.TreatmentInterface {
	var out []record.TreatmentInterface
	if t == nil {
		return nil
	}
	directed, shared := false, false // runs of older versions have shares without a direction
	for _, p := range t.Interfaces {
		directed = directed || p.Host == host && p.Direction != ""
		shared = shared || p.Host == host && p.Share > 0
	}
	for _, p := range t.Interfaces {
		if p.Host == host && (p.Direction != "" || shared && !directed) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b record.TreatmentInterface) int { return natural(a.Interface, b.Interface) })
	return out
}

// interfaceNames are the interfaces of the focus that have a share in some of these
// columns, eth2 before eth10.
func (v *view) interfaceNames(from, to int) (names []string) {
	for _, r := range v.rows {
		for _, t := range r.cells[from:to] {
			for _, p := range portsOf(t, v.focus) {
				names = distinct(names, p.Interface)
			}
		}
	}
	slices.SortStableFunc(names, natural)
	return names
}

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
