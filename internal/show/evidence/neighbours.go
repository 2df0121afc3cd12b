package evidence

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/document"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// neighbourTable is one host's ARP or neighbour discovery table, compared with the owners of the
// addresses.
type neighbourTable struct {
	Host string
	Rows []neighbourRow
	// Wrong counts the rows whose MAC address belongs to an interface without the IP address.
	Wrong int
}

type neighbourRow struct {
	Address, Interface, MAC, State string
	HeldBy                         string // the interface with the IP address
	BelongsTo                      string // the interface with the MAC address
	Delivers                       string // where switches forward frames for the MAC address
	Wrong                          bool
	Judged                         bool // whether the owner of the MAC address is known
}

// tables returns the neighbour tables of the hosts at the ends of data flows and the forwarding
// tables of the switches, in one trial. It only lists addresses of the run's hosts, not other
// entries of a real host's table.
func (r reader) tables(t *record.Trial) (hosts []neighbourTable, switches []*document.Table) {
	delivers := map[string][]string{}
	for _, h := range t.ForwardingTables() {
		entries := slices.DeleteFunc(slices.Clone(h.Entries), func(e netstate.FDBEntry) bool { return e.Local })
		slices.SortStableFunc(entries, func(a, b netstate.FDBEntry) int {
			return cmp.Or(words.Natural(a.Peer, b.Peer), words.Natural(a.Interface, b.Interface))
		})
		table := &document.Table{Caption: h.Switch + ": forwarding table",
			Columns: []document.Column{{Head: "MAC address"}, {Head: "interface"}, {Head: "leads to"}}}
		for _, e := range entries {
			mac, far := strings.ToLower(e.MAC), cmp.Or(e.Peer, e.Interface)
			delivers[mac] = words.Distinct(delivers[mac], far)
			table.Add(e.MAC, e.Interface, cmp.Or(e.Peer, ends(r.owner(e.MAC))))
		}
		switches = append(switches, table)
	}
	for _, h := range t.Hosts {
		table := neighbourTable{Host: h.Host}
		for _, n := range h.Snapshot.Neighbours {
			holders := r.holder(n.Address)
			if len(holders) == 0 {
				continue
			}
			row := neighbourRow{Address: n.Address, Interface: n.Interface, MAC: n.MAC, State: n.State,
				HeldBy:    ends(holders),
				BelongsTo: ends(r.owner(n.MAC)), Delivers: strings.Join(delivers[strings.ToLower(n.MAC)], ", "),
				Wrong: r.wrong(n), Judged: n.MAC == "" || len(r.owner(n.MAC)) > 0}
			if row.Wrong {
				table.Wrong++
			}
			table.Rows = append(table.Rows, row)
		}
		if len(table.Rows) == 0 {
			continue
		}
		slices.SortStableFunc(table.Rows, func(a, b neighbourRow) int {
			x, _ := netip.ParseAddr(a.Address)
			y, _ := netip.ParseAddr(b.Address)
			return cmp.Or(x.Compare(y), words.Natural(a.Interface, b.Interface))
		})
		hosts = append(hosts, table)
	}
	// The clients first, because their entries determine where the data arrives.
	slices.SortStableFunc(hosts, func(a, b neighbourTable) int {
		return cmp.Or(words.FalseFirst(a.Host == r.Focus, b.Host == r.Focus), words.Natural(a.Host, b.Host))
	})
	return hosts, switches
}

// wrongEntries counts, over the hosts of the trial shown for a treatment, the wrong entries, those
// whose owner is known, and all.
func (r reader) wrongEntries(t *record.Treatment) (wrong, judged, all int) {
	trial := r.Typical(t)
	if trial == nil {
		return 0, 0, 0
	}
	hosts, _ := r.tables(trial)
	for _, h := range hosts {
		wrong += h.Wrong
		all += len(h.Rows)
		judged += lists.Count(h.Rows, func(row neighbourRow) bool { return row.Judged })
	}
	return wrong, judged, all
}

// affected counts a treatment's trials in which some entry was wrong.
func (r reader) affected(t *record.Treatment) (n, of int) {
	for _, trial := range r.Run.TrialsOf(t.Name) {
		of++
		hosts, _ := r.tables(trial)
		if slices.ContainsFunc(hosts, func(h neighbourTable) bool { return h.Wrong > 0 }) {
			n++
		}
	}
	return n, of
}

// title says what the entries show. Empty: the owner of no entry is known.
func (r reader) title() string {
	sumWrong, sumJudged, sum := 0, 0, 0
	text := r.BeforeAfter(func(of *view.Row, c int) string {
		wrong, judged, all := r.wrongEntries(of.Treatments[c])
		sumWrong, sumJudged, sum = sumWrong+wrong, sumJudged+judged, sum+all
		after := of == r.Best && r.Baseline != nil
		switch {
		case all == 0:
			return ""
		case wrong == 0 && after:
			return "none"
		case after:
			return fmt.Sprintf("%d of %d", wrong, all)
		case wrong == 1:
			return fmt.Sprintf("1 of %d neighbour entries leads to the wrong interface", all)
		default:
			return fmt.Sprintf("%d of %d neighbour entries lead to the wrong interface", wrong, all)
		}
	})
	switch {
	case sumJudged == 0:
		return ""
	case sumWrong == 0 && sumJudged < sum:
		return fmt.Sprintf(
			"%d of %d neighbour entries lead to the interface that holds the address; of the others it is not known",
			sumJudged, sum)
	case sumWrong == 0:
		return "Every neighbour entry leads to the interface that holds the address"
	}
	return words.Sentence(text)
}

// mostTables is the maximum number of hosts' tables that are shown beside those of switches.
const mostTables = 6

// side shows the tables of clients, those with wrong rows first, and folds the others, including
// that of the host in question unless it has wrong rows.
func (r reader) side(hosts []neighbourTable) (side document.Beside) {
	more := document.Fold{}
	var names []string
	for _, wrong := range []bool{true, false} {
		for _, h := range hosts {
			switch {
			case (h.Wrong > 0) != wrong:
			case len(side.Left) < mostTables && (wrong || h.Host != r.Focus || len(hosts) == 1):
				side.Left = append(side.Left, neighbourEntries(h))
			default:
				names, more.Blocks = append(names, h.Host), append(more.Blocks, neighbourEntries(h))
			}
		}
	}
	if len(names) > 0 {
		more.Summary = fmt.Sprintf("%d more: %s", len(names), words.List(names))
		side.Left = append(side.Left, more)
	}
	return side
}

// Neighbours returns a section with the neighbour tables of hosts and the forwarding tables of
// switches, for the baseline and the best treatment.
func Neighbours(v *view.View) document.Section {
	data := [][]string{{"treatment", "trial", "host", "interface", "address", "held_by", "mac", "of_interface",
		"switch_sends_to", "state", "wrong"}}
	reads := newReader(v)
	intro := document.Prose{Name: "neighbours",
		Text: "Each host's ARP or neighbour-discovery table, next to the switch's forwarding table. A row is " +
			"marked when the MAC address belongs to an interface that does not hold the address."}
	s := document.Section{ID: "neighbours", Title: reads.title(), Blocks: []document.Block{nil}}
	for c := range v.Columns {
		for _, r := range v.Pair() {
			t := r.Treatments[c]
			trial := v.Typical(t)
			if trial == nil {
				continue
			}
			hosts, switches := reads.tables(trial)
			if len(hosts) == 0 {
				continue
			}
			title := fmt.Sprintf("%s (trial %d)", v.Label(r, c), trial.Order)
			if n, of := reads.affected(t); n > 0 {
				title += fmt.Sprintf(": wrong entries in %d of %s", n, words.Count(of, "trial"))
			}
			side := reads.side(hosts)
			for _, sw := range switches {
				side.Right = append(side.Right, sw)
			}
			if c > 0 {
				s.Blocks = append(s.Blocks, document.Fold{Summary: title, Blocks: []document.Block{side}})
			} else {
				s.Blocks = append(s.Blocks, document.Heading{Text: title}, side)
			}
			for _, h := range hosts {
				for _, e := range h.Rows {
					data = append(data, []string{t.Name, fmt.Sprint(trial.Order), h.Host, e.Interface, e.Address,
						e.HeldBy, e.MAC, e.BelongsTo, e.Delivers, e.State, fmt.Sprint(e.Wrong)})
				}
			}
		}
	}
	if len(data) == 1 || s.Title == "" {
		return document.Section{}
	}
	intro.Data = data
	s.Blocks[0] = intro
	return s
}

func neighbourEntries(h neighbourTable) *document.Table {
	t := &document.Table{Caption: h.Host, Columns: []document.Column{{Head: "address"}, {Head: "held by"},
		{Head: "MAC address it uses"}, {Head: "of interface"}, {Head: "on"}, {Head: "state"}}}
	if h.Wrong > 0 {
		t.Caption += fmt.Sprintf(": %d of %d wrong", h.Wrong, len(h.Rows))
	}
	for _, e := range h.Rows {
		row := document.Row{Cells: document.Cells(e.Address, e.HeldBy, cmp.Or(e.MAC, "none"), e.BelongsTo,
			e.Interface, e.State)}
		if e.BelongsTo == "" && e.MAC != "" {
			row.Cells[3].Text = "unknown"
		}
		if e.Wrong {
			row.Tone, row.Cells[3].Text = document.Wrong, "✗ "+row.Cells[3].Text
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// reader finds the interface of a MAC or IP address, from the interfaces that the agents reported
// and, if there are none, from the topology.
type reader struct {
	*view.View
	owners  map[string][]topology.End     // by MAC address in lower case
	holders map[netip.Addr][]topology.End // by IP address
}

func newReader(v *view.View) reader {
	run := v.Run
	r := reader{v, map[string][]topology.End{}, map[netip.Addr][]topology.End{}}
	isSwitch := map[string]bool{}
	for _, s := range run.Topology.Switches {
		isSwitch[s.Name] = true
	}
	seen := map[topology.End]bool{}
	for _, t := range run.Trials {
		for _, h := range t.Hosts {
			if isSwitch[h.Host] {
				continue
			}
			for _, p := range h.Snapshot.Interfaces {
				end := topology.End{Node: h.Host, Interface: p.Interface}
				if p.MAC != "" && p.Kind != "loopback" {
					seen[end] = true
					mac := strings.ToLower(p.MAC)
					r.owners[mac] = words.Distinct(r.owners[mac], end)
				}
				for _, text := range p.Addresses {
					if prefix, err := netip.ParsePrefix(text); err == nil && !prefix.Addr().IsLoopback() &&
						!prefix.Addr().IsLinkLocalUnicast() {
						addr := prefix.Addr().Unmap()
						r.holders[addr] = words.Distinct(r.holders[addr], end)
					}
				}
			}
		}
	}
	for _, h := range run.Topology.Hosts {
		for _, p := range h.Interfaces {
			end := topology.End{Node: h.Name, Interface: p.Name}
			// A lab's generated MAC addresses only apply if linerate created the host.
			if mac := strings.ToLower(run.Topology.MAC(end)); mac != "" && !seen[end] &&
				(len(h.Via) == 0 || p.MAC != "") {
				r.owners[mac] = words.Distinct(r.owners[mac], end)
			}
		}
	}
	return r
}

// holder lists the interfaces that have an IP address.
func (r reader) holder(address string) []topology.End {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return nil
	}
	if ends := r.holders[addr.Unmap()]; len(ends) > 0 {
		return ends
	}
	if end, ok := r.Run.Topology.Holder(addr.Unmap()); ok {
		return []topology.End{end}
	}
	return nil
}

// owner lists the interfaces that have a MAC address.
func (r reader) owner(mac string) []topology.End { return r.owners[strings.ToLower(mac)] }

// wrong reports whether a neighbour entry is wrong: its MAC address belongs to known interfaces,
// none of which has the IP address. An entry with an unknown MAC or IP address is not considered
// wrong.
func (r reader) wrong(n netstate.Neighbour) bool {
	owners, holders := r.owner(n.MAC), r.holder(n.Address)
	if n.MAC == "" || len(owners) == 0 || len(holders) == 0 {
		return false
	}
	return !slices.ContainsFunc(owners, func(e topology.End) bool { return slices.Contains(holders, e) })
}

func ends(list []topology.End) string {
	names := lists.Map(list, topology.End.String)
	return strings.Join(names, ", ")
}
