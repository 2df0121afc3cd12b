package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// MeshSuspects returns the table of what differs from the others in a mesh. Nil: nothing does.
func MeshSuspects(m *view.Mesh) *document.Table {
	c := m.Conclusion
	if c == nil || len(c.Suspects) == 0 {
		return nil
	}
	t := &document.Table{Name: "suspects", Columns: []document.Column{{Head: "suspect"},
		{Head: "median", Align: document.Decimal}, {Head: "of what others have", Shorter: []string{"of others"},
			Align: document.Ratio}, {Head: "pairs", Align: document.Right},
		{Head: "by chance", Align: document.Right}, {Head: "again", From: 100},
		{Head: "causes that its hosts show", Shorter: []string{"causes"}, Wrap: true}},
		Left: "%d more suspects"}
	for i, s := range c.Suspects {
		again := "not tested"
		switch {
		case s.Confirmed:
			again = "confirmed"
		case s.Again != nil:
			again = "not confirmed"
		}
		causes := words.FirstFew(lists.Map(s.Findings, func(f record.Finding) string { return f.ID }), "and")
		t.Add(meshSubject(s), m.Spell(view.MeshPair{Measured: true, Value: s.Value}), "", fmt.Sprint(s.Pairs),
			chance(s.P), again, causes)
		ratio := &t.Rows[i].Cells[2]
		if ratio.Text = number.Percent(s.Ratio); s.High > s.Low {
			ratio.Spread = "(" + number.Span(number.Percent(s.Low), number.Percent(s.High)) + ")"
		}
		t.Rows[i].Extra = i >= mostSuspects
	}
	if m.Run.Mesh == nil { // a study adds no rounds and looks at no hosts
		t.Columns = t.Columns[:5]
		for i := range t.Rows {
			t.Rows[i].Cells = t.Rows[i].Cells[:5]
		}
	}
	return t
}

// mostSuspects is how many suspects a terminal shows.
const mostSuspects = 10

// meshSubject names a suspect: "h7 receives", "rack r1 → rack r2".
func meshSubject(s record.MeshSuspect) string {
	switch s.Kind {
	case record.MeshLink:
		if len(s.Links) > 0 {
			return words.FirstFew(s.Links, "or")
		}
		return s.Link
	case record.MeshSends, record.MeshReceives:
		return s.Host + " " + s.Kind
	case record.MeshHost:
		return s.Host
	case record.MeshRacks:
		return "rack " + s.From + " → rack " + s.To
	case record.MeshUplink:
		if s.From == "" {
			return "into rack " + s.To
		}
		return "out of rack " + s.From
	}
	return s.From + " → " + s.To
}

func chance(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return number.Significant(p, 1)
}

// MeshHosts returns a row for each host, the worst first.
func MeshHosts(m *view.Mesh) *document.Table {
	racks := slices.ContainsFunc(m.Hosts, func(h view.MeshHost) bool { return h.Rack != "" })
	t := &document.Table{Name: "hosts", Columns: []document.Column{{Head: "host"},
		{Head: "sends", Align: document.Decimal}, {Head: "receives", Align: document.Decimal},
		{Head: "pairs", Align: document.Right}, {Head: "failed", Align: document.Right}},
		Left: "%d more hosts", Data: [][]string{{"host", "rack", "sends_" + m.Unit(), "receives_" + m.Unit(), "pairs",
			"failed_pairs"}}}
	if racks {
		t.Columns = slices.Insert(t.Columns, 1, document.Column{Head: "rack"})
	}
	order := make([]int, len(m.Hosts))
	worst := make([]float64, len(m.Hosts))
	for i := range m.Hosts {
		order[i] = i
		worst[i] = min(quality(m, m.Sends, i), quality(m, m.Receives, i))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worst[a], worst[b]) })
	for place, i := range order {
		h := m.Hosts[i]
		pairs, failed := 0, 0
		for j := range m.Hosts {
			for _, p := range []view.MeshPair{m.Pairs[i][j], m.Pairs[j][i]} {
				if p.Measured {
					pairs++
					if p.Value == 0 {
						failed++
					}
				}
			}
		}
		cells := []string{h.Name, spellSide(m, m.Sends, i), spellSide(m, m.Receives, i), fmt.Sprint(pairs),
			fmt.Sprint(failed)}
		if racks {
			cells = slices.Insert(cells, 1, h.Rack)
		}
		t.Add(cells...)
		row := &t.Rows[place]
		row.Extra = place >= mostSuspects
		if sends, receives := m.Suspected(h.Name); sends || receives {
			row.Tone = document.Wrong
		}
		t.Data = append(t.Data, []string{h.Name, h.Rack, exactSide(m.Sends, i), exactSide(m.Receives, i),
			fmt.Sprint(pairs), fmt.Sprint(failed)})
	}
	return t
}

type meshSide = func(host int) (float64, bool)

func quality(m *view.Mesh, of meshSide, host int) float64 {
	v, is := of(host)
	if q := m.Quality(view.MeshPair{Measured: is, Value: v}); !math.IsNaN(q) {
		return q
	}
	return math.Inf(1)
}

func spellSide(m *view.Mesh, of meshSide, host int) string {
	v, is := of(host)
	return m.Spell(view.MeshPair{Measured: is, Value: v})
}

func exactSide(of meshSide, host int) string {
	if v, is := of(host); is {
		return number.Exact(v)
	}
	return ""
}

// mostPairRows is up to how many pairs a page has a row for each.
const mostPairRows = 500

// MeshPairs returns a row for each pair, the worst first: at most as many as a page can have. Nil: no
// pair was measured.
func MeshPairs(m *view.Mesh) *document.Table {
	type pair struct{ from, to int }
	var list []pair
	for i, row := range m.Pairs {
		for j, p := range row {
			if p.Measured {
				list = append(list, pair{i, j})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	of := func(p pair) view.MeshPair { return m.Pairs[p.from][p.to] }
	slices.SortStableFunc(list, func(a, b pair) int { return cmp.Compare(m.Quality(of(a)), m.Quality(of(b))) })
	t := &document.Table{Name: "pairs", Columns: []document.Column{{Head: "from"}, {Head: "to"},
		{Head: "median", Align: document.Decimal}, {Head: "of the median of all", Align: document.Right}},
		Left: "%d more pairs"}
	if len(list) > mostPairRows {
		t.Notes = []string{fmt.Sprintf("The worst %d of %d pairs: linerate export %s has all.", mostPairRows, len(list),
			m.Run.ID)}
		list = list[:mostPairRows]
	}
	for i, p := range list {
		t.Add(m.Hosts[p.from].Name, m.Hosts[p.to].Name, m.Spell(of(p)), number.Percent(m.Quality(of(p))))
		t.Rows[i].Extra = i >= mostSuspects
	}
	return t
}

// MeshLost returns the hosts that were not measured until the end, by reason. Nil: all were.
func MeshLost(m *view.Mesh) *document.Table {
	if len(m.Run.Mesh.Lost) == 0 {
		return nil
	}
	t := &document.Table{Name: "lost", Columns: []document.Column{{Head: "reason"},
		{Head: "hosts", Align: document.Right}, {Head: "from round", Align: document.Right},
		{Head: "which", Wrap: true}, {Head: "error of the first", Wrap: true, From: 100}}}
	var by words.ByText
	first := map[string]record.MeshLost{}
	for _, l := range m.Run.Mesh.Lost {
		by.Add(l.Reason, l.Host)
		if _, is := first[l.Reason]; !is {
			first[l.Reason] = l
		}
	}
	for _, reason := range by.Texts {
		names := by.Names[reason]
		t.Add(reason, fmt.Sprint(len(names)), fmt.Sprint(first[reason].Round), words.List(names), first[reason].Error)
	}
	return t
}
