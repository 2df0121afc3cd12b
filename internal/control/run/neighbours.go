package run

import (
	"fmt"
	"net/netip"
	"strconv"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/study"
)

// neighbourTable is the size of the machine's neighbour table, which all its network
// namespaces share. Once it is full, hosts cannot resolve addresses any more, and
// connections fail with errors that do not say so (arp(7)).
const neighbourTable = "net.ipv4.neigh.default.gc_thresh3"

// NeighbourWarning warns of a plan whose hosts may need more neighbour entries than
// the machine has room for; empty: there is room, or the size is not known.
func NeighbourWarning(plan *study.Plan, sysctls proc.Sysctls) string {
	text, err := sysctls.Read(neighbourTable)
	if err != nil {
		return "" // not the machine's first namespace
	}
	room, err := strconv.Atoi(text)
	need := neighboursNeeded(plan)
	// Other namespaces and the machine itself have some, too.
	if err != nil || need < room*9/10 {
		return ""
	}
	return fmt.Sprintf(
		"this run may need %d neighbour entries at once, and the whole machine has room for %d (sysctl %s): if "+
			"connections fail, raise that",
		need, room, neighbourTable)
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
