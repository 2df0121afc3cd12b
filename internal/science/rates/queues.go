package rates

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/record"
)

func qdiscs(before, now netstate.Reading, windowS float64) (list []record.QueueRates) {
	begin := map[netstate.QdiscCounters]netstate.QdiscCounters{} // by their keys
	for _, q := range before.Qdiscs {
		begin[q.Key()] = q
	}
	for _, q := range now.Qdiscs {
		b, known := begin[q.Key()]
		if !known {
			continue
		}
		list = append(list, record.QueueRates{
			Interface: q.Interface, Queue: strings.TrimSpace(q.Kind + " " + q.Handle),
			Bps: per(8*netstate.Grown(b.Bytes, q.Bytes), windowS), Pps: per(netstate.Grown(b.Packets, q.Packets),
				windowS),
			DropsPerS: per(netstate.Grown(b.Drops, q.Drops), windowS), BacklogBytes: q.Backlog, BacklogPackets: q.Qlen,
		})
	}
	return list
}

// Drivers spell the counters of a queue differently: rx_queue_0_packets (ixgbe, ice, veth,
// virtio_net), rx0_packets (mlx5), rx-0.packets (i40e), queue_0_rx_cnt (ena).
var (
	queueThenWhat = pattern.MustCompile(
		`^(rx|tx)[-_]?(?:queue[-_]?|ring[-_]?)?([0-9]{1,4})[-_.](packets|bytes|drops?|dropped)$`)
	queueFirst = pattern.MustCompile(`^queue_([0-9]{1,4})_(rx|tx)_(cnt|bytes|drops)$`)
)

// queueCounter returns the queue of a driver's counter, and what the counter counts: "packets",
// "bytes" or "drops". Empty: the counter is not that of a queue.
func queueCounter(name string) (queue, what string) {
	if m := queueThenWhat.FindStringSubmatch(name); m != nil {
		queue, what = m[1]+"-"+m[2], m[3]
	} else if m := queueFirst.FindStringSubmatch(name); m != nil {
		queue, what = m[2]+"-"+m[1], m[3]
	}
	switch what {
	case "cnt":
		what = "packets"
	case "drop", "dropped":
		what = "drops"
	}
	return queue, what
}

// nicQueues returns what the drivers' queues counted between the two readings of the counters.
// Counters that are 0 are absent in a record.
func nicQueues(nics []netstate.NIC) (list []record.QueueRates) {
	for _, nic := range nics {
		if nic.CountedS <= 0 {
			continue
		}
		of := map[string]*record.QueueRates{}
		for name, count := range nic.Counters {
			queue, what := queueCounter(name)
			if queue == "" {
				continue
			}
			if of[queue] == nil {
				of[queue] = &record.QueueRates{Interface: nic.Interface, Queue: queue, WindowS: nic.CountedS}
			}
			rate := per(float64(max(0, count-nic.Before[name])), nic.CountedS)
			switch what {
			case "packets":
				of[queue].Pps = rate
			case "bytes":
				of[queue].Bps = 8 * rate
			case "drops":
				of[queue].DropsPerS = rate
			}
		}
		for _, queue := range slices.Sorted(maps.Keys(of)) {
			list = append(list, *of[queue])
		}
	}
	return list
}
