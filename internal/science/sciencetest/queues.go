package sciencetest

import "linerate/internal/model/netstate"

// MultiQueue gives an interface the qdisc mq with the two children that the kernel itself creates,
// which have dropped different numbers of packets since boot. In the window the second child drops
// this many more, and so does mq, which adds up its children.
func MultiQueue(begin, end *netstate.Reading, port string, drops uint64) {
	for i, q := range []netstate.QdiscCounters{
		{Kind: "mq", Parent: "root", Drops: 503},
		{Kind: "fq_codel", Parent: "0:1", Drops: 3},
		{Kind: "fq_codel", Parent: "0:2", Drops: 500},
	} {
		q.Interface, q.Handle = port, "0:"
		begin.Qdiscs = append(begin.Qdiscs, q)
		if i != 1 {
			q.Drops += drops
		}
		end.Qdiscs = append(end.Qdiscs, q)
	}
}
