package present

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/inventory"
	"linerate/internal/model/lists"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Hosts shows what an inventory and a selection give.
func Hosts(list inventory.List) document.Document {
	has := func(of func(inventory.Host) string) bool {
		return slices.ContainsFunc(list.Hosts, func(h inventory.Host) bool { return of(h) != "" })
	}
	t := &document.Table{Columns: []document.Column{{Head: "host"}, {Head: "reached by", Wrap: true}}}
	columns := []func(inventory.Host) string{reachedBy}
	for _, c := range []struct {
		head string
		of   func(inventory.Host) string
	}{
		{"rack", func(h inventory.Host) string { return h.Rack }},
		{"machine", func(h inventory.Host) string { return h.Machine }},
		{"rate", hostRate},
		{"addresses", hostAddresses},
		{"groups, labels", groupsAndLabels},
	} {
		if has(c.of) {
			t.Columns = append(t.Columns, document.Column{Head: c.head, Wrap: c.head == "groups, labels"})
			columns = append(columns, c.of)
		}
	}
	for _, h := range list.Hosts {
		cells := []string{h.Name}
		for _, of := range columns {
			cells = append(cells, of(h))
		}
		t.Add(cells...)
	}
	about := words.Count(len(list.Hosts), "host")
	if list.Of > len(list.Hosts) {
		about = fmt.Sprintf("%d of %s", len(list.Hosts), words.Count(list.Of, "host"))
	}
	blocks := []document.Block{t}
	if len(list.LeftOut) > 0 {
		blocks = append(blocks, document.Statements("Left out", list.LeftOut...)...)
	}
	return document.Document{About: []string{fmt.Sprintf("%s of %s (%s)", about, list.File, list.Kind)},
		Summary: [][]document.Block{blocks}}
}

// reachedBy returns the command that reaches a host, without the options that ssh has for every host.
func reachedBy(h inventory.Host) string {
	via := h.Via
	if usual := append([]string{"ssh"}, topology.Batch()...); len(via) > len(usual) &&
		slices.Equal(via[:len(usual)], usual) {
		via = append([]string{"ssh"}, via[len(usual):]...)
	}
	return hostconfig.Command(via...)
}

func hostAddresses(h inventory.Host) string {
	return strings.Join(lists.Map(h.Addresses, netip.Addr.String), " ")
}

func hostRate(h inventory.Host) string {
	if h.RateBps == 0 {
		return ""
	}
	return unit.BitRate(h.RateBps).String()
}

func groupsAndLabels(h inventory.Host) string {
	list := slices.Clone(h.Groups)
	for _, key := range slices.Sorted(maps.Keys(h.Labels)) {
		list = append(list, key+"="+h.Labels[key])
	}
	return strings.Join(list, " ")
}
