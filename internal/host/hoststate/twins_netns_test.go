//go:build linux && !portable

package hoststate

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestHealthyTwins: what a fault has planted, without what is wrong with it, is no finding.
func TestHealthyTwins(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, twin := range []fault{
			{id: "firewall-drop", plant: firewall("7011"), act: toFirewall},
			{id: "nexthop-dead", plant: nexthopGroup("10.0.0.3")},
		} {
			t.Run(twin.id, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				twin.plant(b)
				e := b.diagnosed(twin.act, benchHosts...)
				if ids := sure(e); len(ids) > 0 {
					t.Errorf("found %v\n%s", ids, summary(e))
				}
			})
		}
	})
}

// TestFirewallPlace: what a rule of nftables drops has the rule as its place in the table of
// drops, by the kernel's reasons or by counters.
func TestFirewallPlace(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		firewall("7010")(b)
		e := b.diagnosed(toFirewall, "server")
		var rows []string
		for _, d := range e.Drops {
			if row := strings.Join(strings.Fields(d.Where+" "+d.Counter+" "+d.Place), " "); !d.Again && !d.Boot && strings.Contains(row, "inet lab in handle ") && d.Packets == 20 {
				rows = append(rows, row)
			}
		}
		if len(rows) != 1 {
			t.Errorf("rows %q of %+v", rows, e.Drops)
		}
	})
}
