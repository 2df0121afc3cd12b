package topology

import (
	"fmt"
	"strings"
)

// sameMAC reports two hosts with the same MAC address where both hear the same
// frames: on one link, or on switches that are joined. One host may well have
// the same on several interfaces.
func (c *checker) sameMAC() {
	type place struct{ segment, mac string }
	parent := map[string]string{}
	root := func(node string) string {
		for parent[node] != "" {
			node = parent[node]
		}
		return node
	}
	key := func(e End) string {
		if _, isSwitch := c.swtch[e.Node]; isSwitch {
			return e.Node
		}
		if i := c.host[e.Node]; e.Interface == "" && len(c.t.Hosts[i].Interfaces) == 1 {
			e.Interface = c.t.Hosts[i].Interfaces[0].Name
		}
		return e.String()
	}
	for _, l := range c.t.Links {
		if a, b := root(key(l.From)), root(key(l.To)); a != b {
			parent[a] = b
		}
	}
	holder := map[place]End{}
	for i, h := range c.t.Hosts {
		for j, p := range h.Interfaces {
			if p.MAC == "" {
				continue
			}
			end := End{h.Name, p.Name}
			at := place{root(key(end)), strings.ToLower(p.MAC)}
			if other, taken := holder[at]; taken && other.Node != h.Name {
				c.report(fmt.Sprintf("topology.hosts[%d].interfaces[%d].mac", i, j), "%s is the MAC address of %s, too, which hears the same frames: expected a different one", p.MAC, other)
				continue
			}
			holder[at] = end
		}
	}
}
