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
	freeBSD:   backlogBy("kern.ipc.soacceptqueue", sysctlConf+fullQueues),
	dragonFly: backlogBy("kern.ipc.somaxconn", sysctlConf+fullQueues),
	openBSD:   backlogBy("kern.somaxconn", sysctlConf),
	netBSD:    backlogBy("kern.somaxconn", sysctlConf),
	macOS:     backlogBy("kern.ipc.somaxconn", "a LaunchDaemon that runs it at boot"+fullQueues),
}

const (
	sysctlConf = "/etc/sysctl.conf"
	fullQueues = "; netstat -Lan shows whose queue is full"
)

// backlogBy returns the advice for the parameter that limits the backlog. Kept is what keeps its value.
func backlogBy(key, kept string) string {
	return "raise the limit: sysctl -w " + key + "=4096 (sysctl " + key + " shows it); then a backlog up to it in " +
		"the program's listen(2), and restart the program; to keep the limit: " + kept
}

// largerReceive is the advice about full receive buffers of UDP sockets.
var largerReceive = map[string]string{
	freeBSD: receiveUpTo("kern.ipc.maxsockbuf"), openBSD: receiveUpTo("the kernel's limit of socket buffers"),
	netBSD: receiveUpTo("kern.sbmax"), macOS: receiveUpTo("kern.ipc.maxsockbuf"),
}

func receiveUpTo(limit string) string {
	return "against bursts a larger SO_RCVBUF; for programs that set none: sysctl -w net.inet.udp.recvspace=BYTES; " +
		"both below " + limit + ": with a larger recvspace socket(2) fails (ENOBUFS)"
}

// bufferLimits are the parameters of FreeBSD that limit the memory, by the counters of requests that were denied or
// delayed.
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
		return []string{fmt.Sprintf("netstat -m and vmstat -z again later: use that grows without more traffic is a "+
			"leak, usually in a driver; otherwise double %s: sysctl KEY shows it, sysctl KEY=VALUE raises it, and "+
			"/boot/loader.conf keeps it", strings.Join(keys, ", "))}
	case f.System == openBSD:
		return []string{"netstat -m and systat mbufs again later: use that grows without more traffic is a leak; " +
			"otherwise double kern.maxclusters: sysctl kern.maxclusters=VALUE, and /etc/sysctl.conf keeps it"}
	case f.System == netBSD:
		return []string{"netstat -m again later: use that grows without more traffic is a leak; otherwise double it: " +
			"sysctl -w kern.mbuf.nmbclusters=VALUE"}
	}
	return []string{"netstat -m again later: use that grows without more traffic is a leak"}
}

var _ = later(func() {
	sayForeign(cause.ListenOverflow, foreignAdvice{fix: []string{acceptFaster}, by: largerBacklog,
		read: map[string]string{"": "listen(2)"}})
	sayForeign(cause.AcceptQueueFull, foreignAdvice{fix: []string{acceptFaster}, by: largerBacklog,
		read: map[string]string{"": "listen(2)"}})
	sayForeign(cause.BacklogSmall, foreignAdvice{by: largerBacklog, read: map[string]string{"": "listen(2)"}})
	sayForeign(cause.HalfDuplex, foreignAdvice{fixed: func(f record.Finding) []string {
		if negotiating(f) {
			return []string{"autonegotiation on at the other end, such as the switch's port: if only one end " +
				"negotiates, it falls back to half duplex; replace a hub, which is half duplex only"}
		}
		return []string{autoselect + ", and autonegotiation at the switch's port: an end without it makes the " +
			"other half duplex"}
	}, read: map[string]string{"": "ifconfig(8); " + clause28}})
	sayForeign(cause.SpeedBelowBest, foreignAdvice{fix: []string{"cable, transceiver or the other " +
		"end; " + autoselect},
		by: map[string]string{freeBSD: "ifconfig -m DEV lists what this end can", macOS: "ifconfig -m DEV lists " +
			"what this end can", netBSD: "ifconfig -m DEV lists what this end can", openBSD: "ifconfig DEV media " +
			"lists what this end can"}, read: map[string]string{"": "ifconfig(8)"}})
	sayForeign(cause.AutonegOff, foreignAdvice{fix: []string{autoselect + ", and autonegotiation at the other end"},
		read: map[string]string{"": clause28 + "; ifconfig(8)"}})
	sayForeign(cause.LinkDown, foreignAdvice{fix: []string{"check the cable, the transceiver and the port at " +
		"the other end; or ifconfig DEV down, so that routes go " +
		"elsewhere"}, read: map[string]string{"": "ifconfig(8)"}})
	sayForeign(cause.Collisions, foreignAdvice{fix: []string{"autonegotiation at both ends: " + autoselect},
		read: map[string]string{"": "ifconfig(8); " + clause28}})
	sayForeign(cause.InterfaceErrors, foreignAdvice{fixed: func(f record.Finding) []string {
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
	sayForeign(cause.RxDropped, foreignAdvice{fix: []string{"one MTU at both ends of the link, if it is that"},
		by: map[string]string{freeBSD: "netstat -m shows whether memory, and netstat -Q whether a queue was short",
			openBSD: "netstat -m shows whether memory, and sysctl net.inet.ip.ifq whether a queue was short"},
		read: map[string]string{"": "netstat(1)"}})
	sayForeign(cause.TxDropped, foreignAdvice{
		fix:  []string{"none if the link is fully loaded: drops are then expected"},
		by:   map[string]string{freeBSD: "sysctl -a | grep ring_state shows rings that the NIC does not empty"},
		read: map[string]string{"": "netstat(1)"}})
	sayForeign(cause.RingOverrun, foreignAdvice{fixed: func(f record.Finding) []string {
		if f.System != freeBSD {
			return nil
		}
		return []string{deviceNode(f.About.Interface) + ".iflib.override_nrxds=4096 in /boot/loader.conf, then " +
			"reboot (sysctl shows whether the driver took it); netstat -m shows whether mbufs were short instead"}
	}, read: map[string]string{"": "netstat(1)", freeBSD: "iflib(4)"}})
	sayForeign(cause.ChecksumErrors, foreignAdvice{fixed: func(f record.Finding) []string {
		without := ""
		if slices.Contains([]string{freeBSD, dragonFly, macOS}, f.System) {
			without = "rule out its checksum offload: ifconfig IF -rxcsum (back: ifconfig IF rxcsum); "
		}
		return []string{"find the receiving interface (netstat -i); " + without + "then check the routers on the path"}
	}, read: map[string]string{"": "ifconfig(8); netstat(1)"}})
	sayForeign(cause.TCPRetransmissions, foreignAdvice{fix: []string{"find where packets are lost: on this " +
		"host netstat -i and netstat -m show it; then on the path"}, read: map[string]string{"": "netstat(1)"}})
	sayForeign(cause.ConnectionsTimedOut, foreignAdvice{fix: []string{"the path failed, or the peer was down; " +
		"netstat " +
		"-an shows connections whose Send-Q stays"}, read: map[string]string{"": "tcp(4); netstat(1)"}})
	sayForeign(cause.UDPBufferOverflow, foreignAdvice{fix: []string{readFaster}, by: largerReceive,
		read: map[string]string{"": "setsockopt(2); udp(4)"}})
	sayForeign(cause.UDPQueueFull, foreignAdvice{fix: []string{readFaster}, by: largerReceive,
		read: map[string]string{"": "setsockopt(2); udp(4)"}})
	sayForeign(cause.IPDiscards, foreignAdvice{fix: []string{"netstat -m shows whether memory for packets is " +
		"short, and netstat -id whether an interface drops"}, read: map[string]string{"": "netstat(1)"}})
	sayForeign(cause.BlackholeRoute, foreignAdvice{fix: []string{
		"if the destination should be reachable: " +
			"route delete DESTINATION; none if it discards on purpose, such as for an aggregate"},
		read: map[string]string{"": "route(8)"}})
	sayForeign(cause.NoRoute, foreignAdvice{fix: []string{"route -n get ADDRESS shows the route to an address, " +
		"netstat -rn all of them: add what is missing"}, read: map[string]string{"": "route(8)"}})
})

// The causes that only these systems have.
var _ = later(func() {
	say(cause.BuffersDenied, words[cause.None]{
		text:  "the kernel had no memory for packets: it refused requests for mbufs or clusters",
		read:  "netstat(1)",
		found: "Requests for mbufs or clusters were denied. BSD and macOS only (netstat -m).",
	})
	say(cause.BuffersDelayed, words[cause.None]{
		text:  "the kernel had to wait for memory for packets (mbufs or clusters)",
		read:  "netstat(1)",
		found: "Requests for mbufs or clusters were delayed. BSD and macOS only (netstat -m).",
	})
	say(cause.BuffersShort, words[cause.Pool]{
		summary: func(_ record.Finding, p cause.Pool) string {
			return "memory for packets is nearly used up: " + p.Name
		},
		read:  "netstat(1)",
		found: "Nine tenths of a pool of mbufs or clusters are in use. FreeBSD and OpenBSD only (netstat -m).",
	})
	say(cause.InputQueueDrop, words[cause.None]{
		text: "packets were dropped because the queue of their protocol was full",
		read: "netstat(1)",
		found: "QDrops of netstat -Q, net.inet.ip.intr_queue_drops (FreeBSD) or net.inet.ip.ifq.drops (OpenBSD), " +
			"or those of IPv6, grew.",
	})
	say(cause.RingStalled, words[cause.None]{
		summary: about("a transmit ring of DEV is stalled: it is full, and the NIC completes nothing"),
		read:    "iflib(4)",
		found:   "The state of a transmit ring is STALLED. FreeBSD only (sysctl dev.DRIVER.N.iflib.txqN.ring_state).",
	})
	say(cause.InterruptsOfOneQueue, words[cause.None]{
		summary: about("one queue of DEV has nearly all of its interrupts: one CPU does the work of all"),
		read:    "vmstat(8)",
		found: "Of at least 100,000 interrupts of a NIC with several queues, nine tenths are of one. FreeBSD and " +
			"OpenBSD only (vmstat -i).",
	})

	sayForeign(cause.BuffersDenied, foreignAdvice{fixed: moreBuffers, read: map[string]string{"": "netstat(1)",
		freeBSD: "tuning(7); mbuf(9)", openBSD: "netstat(1); sysctl(2)"}})
	sayForeign(cause.BuffersDelayed, foreignAdvice{fixed: moreBuffers, read: map[string]string{"": "netstat(1)",
		freeBSD: "tuning(7); mbuf(9)", openBSD: "netstat(1); sysctl(2)"}})
	sayForeign(cause.BuffersShort, foreignAdvice{fixed: moreBuffers, read: map[string]string{"": "netstat(1)",
		freeBSD: "tuning(7); mbuf(9)", openBSD: "netstat(1); sysctl(2)"}})
	sayForeign(cause.InputQueueDrop, foreignAdvice{by: map[string]string{
		freeBSD: "longer queues: sysctl net.inet.ip.intr_queue_maxlen=2048, of IPv6 " +
			"net.inet6.ip6.intr_queue_maxlen=2048, of other protocols net.isr.defaultqlimit=2048 in " +
			"/boot/loader.conf, at most net.isr.maxqlimit; more CPUs: net.isr.maxthreads=-1 and " +
			"net.isr.bindthreads=1 in /boot/loader.conf, then reboot",
		openBSD: "a longer queue: sysctl net.inet.ip.ifq.maxlen shows it, sysctl net.inet.ip.ifq.maxlen=8192 raises " +
			"it, of IPv6 net.inet6.ip6.ifq.maxlen; /etc/sysctl.conf keeps it"},
		read: map[string]string{"": "netstat(1)", freeBSD: "netisr(9)", openBSD: "sysctl(2)"}})
	sayForeign(cause.RingStalled, foreignAdvice{fixed: func(f record.Finding) []string {
		node := deviceNode(f.About.Interface)
		return []string{"read it again: sysctl " + node + ".iflib; if it is still STALLED, restart the interface " +
			"from the console (a session through it ends): ifconfig DEV down && ifconfig DEV up; if it returns, " +
			"sysctl " + node + ".fc=0 ignores pause frames of the other end; otherwise a newer driver"}
	}, read: map[string]string{"": "iflib(4)"}})
	sayForeign(cause.InterruptsOfOneQueue, foreignAdvice{fix: []string{"none if it is one connection or one " +
		"tunnel, whose packets stay in one queue; otherwise see why the NIC's hash does not spread them: addresses " +
		"and ports that are all alike, fragments, PPPoE"}, read: map[string]string{"": "vmstat(8)"}})

	spell(func(_ string, p fact.BufferPool) string {
		return fmt.Sprintf("%s: %d of %d in use", p.Name, p.Used, p.Most)
	})
	spell(func(_ string, s fact.StalledRing) string {
		return fmt.Sprintf("%s: the state of %s is STALLED", s.Interface, s.Ring)
	})
	spell(func(_ string, q fact.QueueInterrupts) string {
		return fmt.Sprintf("%s: %d of %d interrupts of %d queues since boot", q.Queue, q.Count, q.Of, q.Queues)
	})
	spell(func(_ string, c fact.LateCollisions) string {
		return fmt.Sprintf("%s: %d of them late: the other end is full duplex, or the cable too "+
			"long", c.Interface, c.Frames)
	})
})
