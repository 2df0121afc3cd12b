package cli

import (
	"fmt"
	"net/netip"
	"strconv"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/study"
)

// A lab's namespaces share one table of neighbours with the whole machine. Once
// it has gc_thresh3 entries, hosts cannot find each other any more, and what
// fails then looks like anything but that (arp(7)).
const tableSize = "net.ipv4.neigh.default.gc_thresh3"

// crowded is a warning before a run whose hosts may need more entries than the
// table has room for; empty when there is room, or nobody knows.
func crowded(plan *study.Plan, sysctls proc.Sysctls) string {
	text, err := sysctls.Read(tableSize)
	if err != nil {
		return "" // not the machine's first namespace
	}
	room, err := strconv.Atoi(text)
	need := neighboursNeeded(plan)
	// Other namespaces and the machine itself have some, too.
	if err != nil || need < room*9/10 {
		return ""
	}
	return fmt.Sprintf("this run may need %d neighbour entries at once, and the whole machine has room for %d (sysctl %s): if connections fail, raise that", need, room, tableSize)
}

// neighboursNeeded is how many entries the hosts that linerate makes need in the
// treatment that needs most: each end of a flow finds the other, or a router.
func neighboursNeeded(plan *study.Plan) int {
	type entry struct {
		host, peer string
		address    netip.Addr
	}
	most := 0
	for _, t := range plan.Treatments {
		needed := map[entry]bool{}
		for _, f := range t.Flows {
			if h, known := plan.Study.Topology.Host(f.Opener); !known || len(h.Via) > 0 || !f.Destination.Is4() {
				continue
			}
			needed[entry{f.Opener, f.Acceptor, f.Destination}] = true
			needed[entry{f.Acceptor, f.Opener, f.Source}] = true
		}
		most = max(most, len(needed))
	}
	return most
}
