package apply

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// typed completes an entry of a journal of textSchema with what its texts say, as far as a revert
// needs it. What cannot be read is left out.
func (e *entry) typed() {
	e.New.Group = groupFromText(e.New.Text)
	for kind, objects := range e.Around.Objects {
		for i := range objects {
			o := &objects[i]
			switch words := strings.Fields(o.Text); kind {
			case "address":
				if prefix, iface, ok := strings.Cut(o.Text, " on "); ok {
					o.Address, _ = netip.ParsePrefix(prefix)
					o.Interface = iface
				}
			case "nexthop":
				if len(words) > 1 {
					id, _ := strconv.Atoi(words[1])
					o.Nexthops = []int{id}
				}
				if g := groupFromText(o.Text); g != nil {
					for _, m := range g.Members {
						o.Nexthops = append(o.Nexthops, m.ID)
					}
				}
			case "route":
				if _, after, ok := strings.Cut(o.Text+" ", " nhid "); ok {
					number, _, _ := strings.Cut(after, " ")
					id, _ := strconv.Atoi(number)
					o.Nexthops = []int{id}
				}
			case "nic":
				if parts := strings.SplitN(o.Text, " ", 4); len(parts) == 4 {
					o.Interface, o.Option = parts[0], &nicOption{parts[1], parts[2], parts[3]}
				}
			}
		}
	}
}

// groupFromText reads a group of nexthop objects: "id 9 group 1/2,3 type resilient buckets 32
// idle_timer 60 unbalanced_timer 0"; nil: it is none.
func groupFromText(text string) *nexthopGroup {
	words := strings.Fields(text)
	if len(words) < 4 || words[0] != "id" || words[2] != "group" {
		return nil
	}
	g := &nexthopGroup{}
	for _, member := range strings.Split(words[3], "/") {
		id, weight, _ := strings.Cut(member, ",")
		m := setting.Member{Weight: 1}
		m.ID, _ = strconv.Atoi(id)
		if weight != "" {
			m.Weight, _ = strconv.Atoi(weight)
		}
		g.Members = append(g.Members, m)
	}
	seconds := func(text string) unit.Duration {
		s, _ := strconv.ParseFloat(text, 64)
		return unit.Duration(s * float64(time.Second))
	}
	if len(words) == 12 {
		g.Kind.Buckets, _ = strconv.Atoi(words[7])
		g.Kind.IdleTimer, g.Kind.UnbalancedTimer = seconds(words[9]), seconds(words[11])
	}
	return g
}
