package wording

import (
	"strings"

	"linerate/internal/model/record"
	lists "linerate/internal/show/words"
)

// LeftOut names the treatments that a run leaves out, once for each reason. Empty: there are none.
func LeftOut(list []record.LeftOut) string {
	var whys []string
	names := map[string][]string{}
	for _, l := range list {
		whys = lists.Distinct(whys, l.Why)
		names[l.Why] = append(names[l.Why], "“"+l.Treatment+"”")
	}
	var parts []string
	for _, why := range whys {
		parts = append(parts, lists.FirstFew(names[why], "and")+" ("+why+")")
	}
	if parts == nil {
		return ""
	}
	return "Left out: " + strings.Join(parts, "; ")
}
