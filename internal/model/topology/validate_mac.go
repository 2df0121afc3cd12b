package topology

import (
	"fmt"
	"strings"
)

// groups are disjoint sets of names (union-find). It maps each name to its parent.
type groups map[string]string

func (g groups) root(name string) string {
	for g[name] != "" {
		name = g[name]
	}
	return name
}

// join unites the sets of two names. It returns false if they are already in the same set.
func (g groups) join(a, b string) bool {
	a, b = g.root(a), g.root(b)
	if a != b {
		g[a] = b
	}
	return a != b
}

// sameMAC reports two hosts with the same MAC address that receive the same frames: on one link, or
// on connected switches. One host may use the same address on several interfaces.
func (c *checker) sameMAC() {
	segments := groups{}
	key := func(e End) string {
		if c.switches[e.Node] != nil {
			return e.Node
		}
		return c.t.complete(e).String()
	}
	for _, l := range c.t.Links {
		segments.join(key(l.From), key(l.To))
	}
	type place struct{ segment, mac string }
	holder := map[place]End{}
	for i, h := range c.t.Hosts {
		for j, p := range h.Interfaces {
			if p.MAC == "" {
				continue
			}
			end := End{h.Name, p.Name}
			at := place{segments.root(key(end)), strings.ToLower(p.MAC)}
			if other, taken := holder[at]; taken && other.Node != h.Name {
				c.report(fmt.Sprintf("topology.hosts[%d].interfaces[%d].mac", i, j),
					"%s is also the MAC address of %s, which receives the same frames: expected a different one",
					p.MAC, other)
				continue
			}
			holder[at] = end
		}
	}
}
