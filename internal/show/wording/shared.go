package wording

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	lists "linerate/internal/show/words"
)

// References that several causes use.
const (
	ipSysctl  = "Linux Documentation/networking/ip-sysctl.rst"
	netSysctl = "Linux Documentation/admin-guide/sysctl/net.rst"

	snmpCounters = "Linux Documentation/networking/snmp_counter.rst"
	statistics   = "Linux Documentation/networking/statistics.rst"
)

var _ = later(func() {
	spell(func(_ string, c fact.Counter) string {
		text := fmt.Sprintf("%s grew by %d%s", cmp.Or(c.Printed, c.Name), c.Grew, within(c.OverS, c.Boot))
		if c.Interface != "" {
			text = c.Interface + ": " + text
		}
		if c.Packets > 0 {
			text += ", beside " + unit.Plural(int(min(c.Packets, 1<<62)), "packet")
		}
		return text
	})
	spell(func(_ string, i fact.Interval) string {
		text := fmt.Sprintf("from %s to %s", i.From, i.To)
		if i.Day != "" {
			text += " on " + i.Day
		}
		if i.Among > 1 {
			text += fmt.Sprintf(", the worst of %d intervals", i.Among)
		}
		return text
	})
	spell(func(_ string, p fact.Parameter) string { return p.Key + " = " + p.Value })
	spell(func(_ string, t fact.Text) string { return t.Text })
})

// within returns the time over which counters grew, to be appended.
func within(overS float64, boot bool) string {
	switch {
	case boot:
		return " since boot"
	case overS == 0: // of a trial
		return " in the window"
	}
	return " in " + unit.FormatSeconds(overS)
}

// some returns "a, b and c". Of more than six, it returns the first five and the number of the
// others.
func some(list []string) string {
	if n := len(list); n > 6 {
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", n-5)
	}
	return lists.Join(list, "and")
}

// first returns the first fact of a kind, or its zero value: a stored or a remote finding may have none.
func first[F any](f record.Finding) (none F) {
	for _, one := range f.Facts {
		if is, ok := one.Is.(F); ok {
			return is
		}
	}
	return none
}

// texts returns the String of each value.
func texts[T fmt.Stringer](list []T) (all []string) {
	for _, x := range list {
		all = append(all, x.String())
	}
	return all
}

// ends returns the names of interfaces with their host: "nas.eth0".
func ends(host string, interfaces []string) (list []string) {
	for _, name := range interfaces {
		list = append(list, host+"."+name)
	}
	return list
}

// percent formats a share from 0 to 1: "25 %".
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
