package netlink

import (
	"fmt"
	"net/netip"
)

// Rule is a routing policy rule (ip-rule(8)).
type Rule struct {
	Family   int // 4 or 6
	Priority int
	From, To netip.Prefix // the zero Prefix: any
	Table    int
	// Plain reports whether the rule only selects by source and destination, and looks up a table.
	Plain  bool
	Object Object
}

// TableMain is the number of the main routing table (RT_TABLE_MAIN).
const TableMain = 254

// String formats a rule like ip-rule(8).
func (r Rule) String() string {
	from, to := "all", ""
	if r.From.IsValid() {
		from = prefixText(r.From)
	}
	if r.To.IsValid() {
		to = " to " + prefixText(r.To)
	}
	return fmt.Sprintf("%d: from %s%s lookup %d", r.Priority, from, to, r.Table)
}
