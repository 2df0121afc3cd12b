package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/unit"
)

// References that several causes have.
const (
	ipSysctl  = "Linux Documentation/networking/ip-sysctl.rst"
	netSysctl = "Linux Documentation/admin-guide/sysctl/net.rst"

	snmpCounters = "Linux Documentation/networking/snmp_counter.rst"
	statistics   = "Linux Documentation/networking/statistics.rst"
)

var (
	_ = spell(func(_ string, c fact.Counter) string {
		text := fmt.Sprintf("%s grew by %d%s", c.Name, c.Grew, within(c.OverS, c.Boot))
		if c.Interface != "" {
			text = c.Interface + ": " + text
		}
		if c.Packets > 0 {
			text += ", beside " + unit.Plural(int(min(c.Packets, 1<<62)), "packet")
		}
		return text
	})
	_ = spell(func(_ string, p fact.Parameter) string { return p.Key + " = " + p.Value })
	_ = spell(func(_ string, t fact.Text) string { return t.Text })
)

// within says over which time counters grew.
func within(overS float64, boot bool) string {
	switch {
	case boot:
		return " since boot"
	case overS == 0: // of a trial
		return " in the window"
	}
	return " in " + unit.FormatSeconds(overS)
}

// some makes "a, b and c", and counts where there are many.
func some(list []string) string {
	switch n := len(list); {
	case n == 0:
		return ""
	case n == 1:
		return list[0]
	case n > 6:
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", n-5)
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}
