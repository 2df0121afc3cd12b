package view

import (
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// Traffic names the traffic that the shares of the focus refer to: of one direction if data flows
// in both and this one is distributed less evenly.
func (v *View) Traffic() string {
	directions := map[string]bool{}
	both := false
	for _, t := range v.Run.Treatments {
		for _, p := range InterfacesOf(&t, v.Focus) {
			directions[p.Direction] = true
			both = both || p.ShareRx != nil && p.ShareTx != nil
		}
	}
	switch {
	case both && len(directions) == 1 && directions[record.Tx]:
		return "what " + v.Focus + " sent"
	case both && len(directions) == 1:
		return "what " + v.Focus + " received"
	}
	return "the traffic of " + v.Focus
}

// Receives reports whether data flows to a host in a treatment. If it flows in both directions, the
// one of the interfaces' shares and rates counts.
func Receives(ports []record.TreatmentInterface) bool {
	rx, tx := 0.0, 0.0
	for _, p := range ports {
		if p.Direction != "" {
			return p.Direction == record.Rx
		}
		rx, tx = rx+p.RxBps, tx+p.TxBps
	}
	return rx >= tx
}

// DataDirection returns the only direction, Rx or Tx, in which an interface has data. Empty: both,
// or none. Its traffic in the other direction may belong to another treatment, if the two
// directions of a window are separate treatments.
func DataDirection(p record.TreatmentInterface) string {
	if p.ShareRx != nil && p.ShareTx != nil {
		return ""
	}
	return p.Direction
}

// Load returns an interface's traffic in the direction of its data, or in the busier one.
func Load(p record.TreatmentInterface) float64 {
	switch DataDirection(p) {
	case record.Rx:
		return p.RxBps
	case record.Tx:
		return p.TxBps
	}
	return max(p.RxBps, p.TxBps)
}

// Carrying counts the interfaces that carry a significant share: a twentieth of their host's
// traffic, or half of an equal share if there are many.
func Carrying(ports []record.TreatmentInterface) int {
	return lists.Count(ports, func(p record.TreatmentInterface) bool {
		return p.Share >= min(0.05, 0.5/float64(len(ports)))
	})
}

// InterfacesOf lists the interfaces of a host that have a share in a treatment, eth2 before eth10.
// It returns none if the host carried no data.
func InterfacesOf(t *record.Treatment, host string) []record.TreatmentInterface {
	var out []record.TreatmentInterface
	if t == nil {
		return nil
	}
	directed, shared := false, false // runs of older versions have shares without a direction
	for _, p := range t.Interfaces {
		directed = directed || p.Host == host && p.Direction != ""
		shared = shared || p.Host == host && p.Share > 0
	}
	out = append(out, lists.Where(t.Interfaces, func(p record.TreatmentInterface) bool {
		return p.Host == host && (p.Direction != "" || shared && !directed)
	})...)
	slices.SortStableFunc(out, func(a, b record.TreatmentInterface) int {
		return words.Natural(a.Interface, b.Interface)
	})
	return out
}

// InterfaceNames returns the interfaces of the focus that have a share in some of these columns,
// eth2 before eth10.
func (v *View) InterfaceNames(from, to int) (names []string) {
	for _, r := range v.Rows {
		for _, t := range r.Treatments[from:to] {
			for _, p := range InterfacesOf(t, v.Focus) {
				names = words.Distinct(names, p.Interface)
			}
		}
	}
	slices.SortStableFunc(names, words.Natural)
	return names
}

// TrialShares returns an interface's shares of its host's traffic in each trial of a treatment, in
// its direction. Loads are those of all interfaces of the host.
func (v *View) TrialShares(t *record.Treatment, of record.TreatmentInterface, loads []record.TreatmentInterface) (
	shares []float64) {
	for _, trial := range v.Run.TrialsOf(t.Name) {
		h, _ := trial.Reading(of.Host)
		own, all := 0.0, 0.0
		for _, d := range h.Deltas() {
			rate := d.TxBps()
			if of.Direction == record.Rx {
				rate = d.RxBps()
			}
			if slices.ContainsFunc(loads, func(l record.TreatmentInterface) bool {
				return l.Interface == d.Interface
			}) {
				all += rate
			}
			if d.Interface == of.Interface {
				own = rate
			}
		}
		if all > 0 {
			shares = append(shares, own/all)
		}
	}
	return shares
}
