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

// texts are what prints itself, such as addresses.
func texts[T fmt.Stringer](list []T) (all []string) {
	for _, x := range list {
		all = append(all, x.String())
	}
	return all
}

// ends are interfaces with their host.
func ends(host string, interfaces []string) (list []string) {
	for _, name := range interfaces {
		list = append(list, host+"."+name)
	}
	return list
}

// percent spells a share from 0 to 1: "25 %".
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// number is a small number as a word.
func number(n int) string {
	words := []string{2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
	if n >= 2 && n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}
