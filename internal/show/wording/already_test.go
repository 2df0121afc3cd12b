package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// proposals are forms of fixes, each with the evidence that says that it is so already. $1 and others are what
// the fix has in its groups.
var proposals = []struct{ fix, evidence string }{
	{`ethtool -s (\S+) autoneg on`, `^$1: .*autonegotiation on`},
	{`ethtool -[ACGKL] (\S+) ([a-z-]+) (on|off|\d+)`, `^$1\b.*\b$2 (is )?$3\b`},
	{`ip link set dev (\S+) mtu (\d+)`, `\b$1 (has )?MTU $2\b`},
	{`sysctl -w ([a-z0-9_./-]+)=([0-9-]+)`, `\b$1 ?(=|is) ?$2$$`},
}

// alreadySo returns what a finding's fix proposes although its evidence, or the state of the hosts in which it
// was found, says that it is so; empty: nothing.
func alreadySo(f record.Finding, hosts []netstate.HostSnapshot) string {
	for _, fix := range f.Fix {
		for _, p := range proposals {
			form := regexp.MustCompile(p.fix)
			for _, at := range form.FindAllStringSubmatchIndex(fix, -1) {
				said := regexp.MustCompile(string(form.ExpandString(nil, p.evidence, fix, at)))
				if i := slices.IndexFunc(f.Evidence, said.MatchString); i >= 0 {
					return fix + ": " + f.Evidence[i]
				}
			}
		}
	}
	for _, s := range f.Settings {
		for _, h := range hosts {
			for _, one := range s.Sysctl {
				if now, known := h.State.Parameters[one.Key]; known && s.Host == h.Reading.Host &&
					strings.Join(strings.Fields(now), " ") == strings.Join(strings.Fields(fmt.Sprint(one.Value)), " ") {
					return one.Key + " is " + now
				}
			}
		}
	}
	return ""
}

// TestAlreadySo: each form is found.
func TestAlreadySo(t *testing.T) {
	for _, c := range [][2]string{
		{"ethtool -s eth0 autoneg on, and the same at the port", "eth0: 100 Mbit/s, half duplex, autonegotiation on"},
		{"ethtool -K eth0 gro on", "eth0: gro is on"},
		{"ip link set dev eth0 mtu 1500", "the bridge br0 and eth0 MTU 1500"},
		{"sysctl -w net.core.somaxconn=8192", "nas: net.core.somaxconn = 8192"},
	} {
		if alreadySo(record.Finding{Fix: c[:1], Evidence: c[1:]}, nil) == "" {
			t.Errorf("%q beside %q", c[0], c[1])
		}
	}
}
