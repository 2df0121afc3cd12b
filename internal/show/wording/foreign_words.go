package wording

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

const (
	acceptFaster = "have the program accept faster"
	autoselect   = "ifconfig DEV media autoselect"
)

// largerBacklog is the advice about full accept queues: the parameter that bounds the backlog.
var largerBacklog = map[string]string{
	freeBSD:   backlogBy("kern.ipc.soacceptqueue", "; netstat -Lan shows whose queue is full"),
	dragonFly: backlogBy("kern.ipc.soacceptqueue", "; netstat -Lan shows whose queue is full"),
	openBSD:   backlogBy("kern.somaxconn", ""),
	netBSD:    backlogBy("kern.somaxconn", ""),
	macOS:     backlogBy("kern.ipc.somaxconn", "; netstat -Lan shows whose queue is full"),
}

func backlogBy(key, more string) string {
	return "a larger backlog in the program's listen(2), up to " + key + ", and after that start it again: sysctl " +
		key + " shows the limit, sysctl " + key + "=4096 raises it, and /etc/sysctl.conf for after a boot" + more
}

// largerReceive is the advice about full receive buffers of UDP sockets.
var largerReceive = map[string]string{
	freeBSD: "against bursts a larger SO_RCVBUF, up to kern.ipc.maxsockbuf; for programs that set none: " +
		"net.inet.udp.recvspace",
	openBSD: "against bursts a larger SO_RCVBUF; for programs that set none: net.inet.udp.recvspace",
	netBSD:  "against bursts a larger SO_RCVBUF, up to kern.sbmax; for programs that set none: net.inet.udp.recvspace",
	macOS: "against bursts a larger SO_RCVBUF, up to kern.ipc.maxsockbuf; for programs that set none: " +
		"net.inet.udp.recvspace",
}

// bufferLimits are the parameters of FreeBSD that limit the memory of which a counter counts what was refused.
var bufferLimits = map[string]string{
	netstate.MbufsDenied: "kern.ipc.nmbufs", netstate.ClustersDenied: "kern.ipc.nmbclusters",
	netstate.PacketsDenied: "kern.ipc.nmbclusters", netstate.PageClustersDenied: "kern.ipc.nmbjumbop",
	netstate.Clusters9kDenied: "kern.ipc.nmbjumbo9", netstate.Clusters16kDenied: "kern.ipc.nmbjumbo16",
	netstate.MbufsDelayed: "kern.ipc.nmbufs", netstate.ClustersDelayed: "kern.ipc.nmbclusters",
	netstate.PacketsDelayed: "kern.ipc.nmbclusters", netstate.PageClustersDelayed: "kern.ipc.nmbjumbop",
	netstate.Clusters9kDelayed: "kern.ipc.nmbjumbo9", netstate.Clusters16kDelayed: "kern.ipc.nmbjumbo16",
}

// moreBuffers is the advice about memory for packets that is short.
func moreBuffers(f record.Finding) (lines []string) {
	var keys []string
	add := func(key string) {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, one := range f.Facts {
		switch is := one.Is.(type) {
		case fact.Counter:
			add(bufferLimits[is.Name])
		case fact.BufferPool:
			switch {
			case strings.HasPrefix(is.Name, "mbuf cl"):
				add("kern.ipc.nmbclusters")
			case strings.HasPrefix(is.Name, "9k"):
				add("kern.ipc.nmbjumbo9")
			case strings.HasPrefix(is.Name, "16k"):
				add("kern.ipc.nmbjumbo16")
			case strings.HasSuffix(is.Name, "jumbo clusters"):
				add("kern.ipc.nmbjumbop")
			}
		}
	}
	switch {
	case f.System == freeBSD && len(keys) > 0:
		return []string{fmt.Sprintf("see what holds them: netstat -m and vmstat -z again later; what only grows is "+
			"a leak, of a driver as a rule; otherwise raise %s (sysctl, and /boot/loader.conf for after a boot)",
			strings.Join(keys, ", "))}
	case f.System == openBSD:
		return []string{"see what holds them: netstat -m and systat mbufs again later; what only grows is a leak; " +
			"otherwise raise kern.maxclusters (sysctl, and /etc/sysctl.conf for after a boot)"}
	case f.System == netBSD:
		return []string{"see what holds them: netstat -m again later; what only grows is a leak; otherwise raise " +
			"kern.mbuf.nmbclusters"}
	}
	return []string{"see what holds them: netstat -m again later; what only grows is a leak"}
}

var (
	_ = sayForeign(cause.ListenOverflow, foreignAdvice{fix: []string{acceptFaster}, by: largerBacklog,
		read: map[string]string{"": "listen(2)"}})
	_ = sayForeign(cause.AcceptQueueFull, foreignAdvice{fix: []string{acceptFaster}, by: largerBacklog,
		read: map[string]string{"": "listen(2)"}})
	_ = sayForeign(cause.BacklogSmall, foreignAdvice{by: largerBacklog, read: map[string]string{"": "listen(2)"}})
	_ = sayForeign(cause.HalfDuplex, foreignAdvice{fixed: func(f record.Finding) []string {
		if negotiating(f) {
			return []string{"autonegotiation on at the other end, such as the switch's port: an end without it " +
				"makes this one half duplex, which negotiates already; a hub offers no more and is to be replaced"}
		}
		return []string{autoselect + ", and autonegotiation at the switch's port: an end without it makes the " +
			"other half duplex"}
	}, read: map[string]string{"": "ifconfig(8); " + clause28}})
	_ = sayForeign(cause.SpeedBelowBest, foreignAdvice{fix: []string{"cable, transceiver or the other " +
		"end; " + autoselect},
		by: map[string]string{freeBSD: "ifconfig -m DEV lists what this end can", macOS: "ifconfig -m DEV lists " +
			"what this end can", netBSD: "ifconfig -m DEV lists what this end can", openBSD: "ifconfig DEV media " +
			"lists what this end can"}, read: map[string]string{"": "ifconfig(8)"}})
	_ = sayForeign(cause.AutonegOff, foreignAdvice{fix: []string{autoselect + ", and autonegotiation at the other end"},
		read: map[string]string{"": clause28 + "; ifconfig(8)"}})
	_ = sayForeign(cause.LinkDown, foreignAdvice{fix: []string{"check the cable, the transceiver and the port at " +
		"the other end; or ifconfig DEV down, so that routes go " +
		"elsewhere"}, read: map[string]string{"": "ifconfig(8)"}})
	_ = sayForeign(cause.Collisions, foreignAdvice{fix: []string{"autonegotiation at both ends: " + autoselect},
		read: map[string]string{"": "ifconfig(8); " + clause28}})
	_ = sayForeign(cause.InterfaceErrors, foreignAdvice{fixed: func(f record.Finding) []string {
		kinds := ""
		switch f.System {
		case freeBSD, dragonFly:
			kinds = "; sysctl " + deviceNode(f.About.Interface) + " has the kinds of errors, if the driver counts them"
		case openBSD:
			kinds = "; netstat -ie has errors and netstat -id drops, which Ifail counts together"
		}
		return []string{"replace the cable or the transceiver, clean the optics; then the port at the other " +
			"end" + kinds}
	}, read: map[string]string{"": "netstat(1)"}})
	_ = sayForeign(cause.RxDropped, foreignAdvice{fix: []string{"one MTU at both ends of the link, if it is that"},
		by: map[string]string{freeBSD: "netstat -m shows whether memory, and netstat -Q whether a queue was short",
			openBSD: "netstat -m shows whether memory, and sysctl net.inet.ip.ifq whether a queue was short"},
		read: map[string]string{"": "netstat(1)"}})
	_ = sayForeign(cause.TxDropped, foreignAdvice{fix: []string{"a full link drops by design: then none"},
		by:   map[string]string{freeBSD: "sysctl -a | grep ring_state shows rings that the NIC does not empty"},
		read: map[string]string{"": "netstat(1)"}})
	_ = sayForeign(cause.RingOverrun, foreignAdvice{fixed: func(f record.Finding) []string {
		if f.System != freeBSD {
			return nil
		}
		return []string{deviceNode(f.About.Interface) + ".iflib.override_nrxds=4096 in /boot/loader.conf, if the " +
			"driver permits as many, and boot; netstat -m shows whether memory was short instead"}
	}, read: map[string]string{"": "netstat(1)", freeBSD: "iflib(4)"}})
	_ = sayForeign(cause.ChecksumErrors, foreignAdvice{fixed: func(f record.Finding) []string {
		without := ""
		if slices.Contains([]string{freeBSD, dragonFly, macOS}, f.System) {
			without = "try without receive checksum offload there: ifconfig IF -rxcsum; "
		}
		return []string{"see by which interface they come; " + without + "then memory and cables of routers"}
	}, read: map[string]string{"": "ifconfig(8); netstat(1)"}})
	_ = sayForeign(cause.TCPRetransmissions, foreignAdvice{fix: []string{"find where packets are lost: on this " +
		"host netstat -i and netstat -m show it; then on the path"}, read: map[string]string{"": "netstat(1)"}})
	_ = sayForeign(cause.ConnectionsTimedOut, foreignAdvice{fix: []string{"the path or the peer was away; netstat " +
		"-an shows connections whose Send-Q stays"}, read: map[string]string{"": "tcp(4); netstat(1)"}})
	_ = sayForeign(cause.UDPBufferOverflow, foreignAdvice{fix: []string{readFaster}, by: largerReceive,
		read: map[string]string{"": "setsockopt(2); udp(4)"}})
	_ = sayForeign(cause.UDPQueueFull, foreignAdvice{fix: []string{readFaster}, by: largerReceive,
		read: map[string]string{"": "setsockopt(2); udp(4)"}})
	_ = sayForeign(cause.IPDiscards, foreignAdvice{fix: []string{"netstat -m shows whether memory for packets is " +
		"short, and netstat -id whether an interface drops"}, read: map[string]string{"": "netstat(1)"}})
	_ = sayForeign(cause.BlackholeRoute, foreignAdvice{fix: []string{"route delete with the destination of the " +
		"line, if it is to be reached"}, read: map[string]string{"": "route(8)"}})
	_ = sayForeign(cause.NoRoute, foreignAdvice{fix: []string{"route -n get ADDRESS shows the route to an address, " +
		"netstat -rn all of them: add what is missing"}, read: map[string]string{"": "route(8)"}})
)

// The causes that only these systems have.
var (
	_ = say(cause.BuffersDenied, words[cause.None]{
		text:  "the kernel had no memory for packets: it refused requests for mbufs or clusters",
		read:  "netstat(1)",
		found: "Requests for mbufs or clusters were denied. BSD and macOS only (netstat -m).",
	})
	_ = say(cause.BuffersDelayed, words[cause.None]{
		text:  "the kernel had to wait for memory for packets (mbufs or clusters)",
		read:  "netstat(1)",
		found: "Requests for mbufs or clusters were delayed. BSD and macOS only (netstat -m).",
	})
	_ = say(cause.BuffersShort, words[cause.Pool]{
		summary: func(_ record.Finding, p cause.Pool) string {
			return "memory for packets is nearly used up: " + p.Name
		},
		read:  "netstat(1)",
		found: "Nine tenths of a pool of mbufs or clusters are in use. FreeBSD and OpenBSD only (netstat -m).",
	})
	_ = say(cause.InputQueueDrop, words[cause.None]{
		text: "packets were dropped because the queue of their protocol was full",
		read: "netstat(1)",
		found: "QDrops of netstat -Q, net.inet.ip.intr_queue_drops (FreeBSD) or net.inet.ip.ifq.drops (OpenBSD), " +
			"or those of IPv6, grew.",
	})
	_ = say(cause.RingStalled, words[cause.None]{
		summary: about("a transmit ring of DEV is stalled: it is full, and the NIC completes nothing"),
		read:    "iflib(4)",
		found:   "The state of a transmit ring is STALLED. FreeBSD only (sysctl dev.DRIVER.N.iflib.txqN.ring_state).",
	})
	_ = say(cause.InterruptsOfOneQueue, words[cause.None]{
		summary: about("one queue of DEV has nearly all of its interrupts: one CPU does the work of all"),
		read:    "vmstat(8)",
		found: "Of at least 100,000 interrupts of a NIC with several queues, nine tenths are of one. FreeBSD and " +
			"OpenBSD only (vmstat -i).",
	})

	_ = sayForeign(cause.BuffersDenied, foreignAdvice{fixed: moreBuffers, read: map[string]string{"": "netstat(1)",
		freeBSD: "tuning(7); mbuf(9)", openBSD: "netstat(1); sysctl(2)"}})
	_ = sayForeign(cause.BuffersDelayed, foreignAdvice{fixed: moreBuffers, read: map[string]string{"": "netstat(1)",
		freeBSD: "tuning(7); mbuf(9)", openBSD: "netstat(1); sysctl(2)"}})
	_ = sayForeign(cause.BuffersShort, foreignAdvice{fixed: moreBuffers, read: map[string]string{"": "netstat(1)",
		freeBSD: "tuning(7); mbuf(9)", openBSD: "netstat(1); sysctl(2)"}})
	_ = sayForeign(cause.InputQueueDrop, foreignAdvice{by: map[string]string{
		freeBSD: "longer queues: net.isr.maxqlimit and net.isr.defaultqlimit in /boot/loader.conf, and for IPv4 " +
			"net.inet.ip.intr_queue_maxlen; more CPUs: net.isr.maxthreads=-1 and net.isr.bindthreads=1 in " +
			"/boot/loader.conf",
		openBSD: "a longer queue: sysctl net.inet.ip.ifq.maxlen=2048 (net.inet6.ip6.ifq.maxlen), and in " +
			"/etc/sysctl.conf"},
		read: map[string]string{"": "netstat(1)", freeBSD: "netisr(9)", openBSD: "sysctl(2)"}})
	_ = sayForeign(cause.RingStalled, foreignAdvice{fixed: func(f record.Finding) []string {
		node := deviceNode(f.About.Interface)
		return []string{"read it again: sysctl " + node + ".iflib; if it stays so, ifconfig DEV down and ifconfig " +
			"DEV up free it; then whether the other end stops it by pause frames (" + node + ".fc=0 goes without), " +
			"and a newer driver"}
	}, read: map[string]string{"": "iflib(4)"}})
	_ = sayForeign(cause.InterruptsOfOneQueue, foreignAdvice{fix: []string{"none if it is one connection or one " +
		"tunnel, whose packets stay in one queue; otherwise see why the NIC's hash does not spread them: addresses " +
		"and ports that are all alike, fragments, PPPoE"}, read: map[string]string{"": "vmstat(8)"}})

	_ = spell(func(_ string, p fact.BufferPool) string {
		return fmt.Sprintf("%s: %d of %d in use", p.Name, p.Used, p.Most)
	})
	_ = spell(func(_ string, s fact.StalledRing) string {
		return fmt.Sprintf("%s: the state of %s is STALLED", s.Interface, s.Ring)
	})
	_ = spell(func(_ string, q fact.QueueInterrupts) string {
		return fmt.Sprintf("%s: %d of %d interrupts of %d queues since boot", q.Queue, q.Count, q.Of, q.Queues)
	})
	_ = spell(func(_ string, c fact.LateCollisions) string {
		return fmt.Sprintf("%s: %d of them late: the other end is full duplex, or the cable too "+
			"long", c.Interface, c.Frames)
	})
)
