package topology

import (
	"fmt"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// links checks where links end and what they do to frames.
func (c *checker) links() {
	taken := map[End]End{} // ports and what they are linked to
	joined := map[string]string{}
	sound := true
	if len(c.t.Links) == 0 {
		c.report("topology.links", "no links: nothing could flow")
	}
	for i, l := range c.t.Links {
		path := fmt.Sprintf("topology.links[%d]", i)
		from, fromKnown := c.end(l.From, path+".from")
		to, toKnown := c.end(l.To, path+".to")
		if !fromKnown || !toKnown {
			sound = false
			continue
		}
		if from.Node == to.Node {
			c.report(path, "link joins %s to itself: expected two different hosts or switches", from.Node)
			sound = false
			continue
		}
		c.occupy(taken, from, to, path+".from")
		c.occupy(taken, to, from, path+".to")
		c.sameWorld(from, to, path)
		c.loop(joined, from, to, path)
		mtu := unit.Bytes(0)
		if c.hasIPv6(from) || c.hasIPv6(to) {
			mtu = minIPv6MTU
		}
		impairmentChecker{c.report, path, mtu}.check(l)
	}
	if !sound {
		return // the interfaces without a link are those of the links that are wrong
	}
	c.sameMAC()
	for i, h := range c.t.Hosts {
		for j, p := range h.Interfaces {
			if _, linked := taken[End{h.Name, p.Name}]; !linked {
				c.report(fmt.Sprintf("topology.hosts[%d].interfaces[%d]", i, j), "interface %s.%s has no link", h.Name, p.Name)
			}
		}
	}
}

// end resolves one end of a link. An interface without a name is a switch's, or the
// only one of a host.
func (c *checker) end(e End, path string) (End, bool) {
	if _, isSwitch := c.swtch[e.Node]; isSwitch {
		if e.Interface != "" {
			if why := badInterfaceName(e.Interface); why != "" {
				c.report(path, "interface name %q: %s", e.Interface, why)
			}
		}
		return e, true
	}
	i, isHost := c.host[e.Node]
	if !isHost {
		c.report(path, "link to %q: no such host or switch%s", e.Node, source.DidYouMean(e.Node, c.nodes))
		return e, false
	}
	h := &c.t.Hosts[i]
	if e.Interface == "" && len(h.Interfaces) == 1 {
		e.Interface = h.Interfaces[0].Name
	}
	if e.Interface == "" {
		c.report(path, "link to %q: the host has several interfaces; expected %s", e.Node, source.Or(h.interfaceNames(h.Name+".")))
		return e, false
	}
	if _, ok := h.Interface(e.Interface); !ok {
		c.report(path, "link to %q: host %q has no interface %q%s", e, e.Node, e.Interface, source.DidYouMean(e.Interface, h.interfaceNames("")))
		return e, false
	}
	return e, true
}

// interfaceNames lists the host's interfaces, each behind a prefix.
func (h *Host) interfaceNames(prefix string) []string {
	names := make([]string, len(h.Interfaces))
	for i, p := range h.Interfaces {
		names[i] = prefix + p.Name
	}
	return names
}

// occupy reports an interface that is linked twice. Nameless switch ports are as many
// as there are links.
func (c *checker) occupy(taken map[End]End, e, far End, path string) {
	if other, twice := taken[e]; twice && e.Interface != "" {
		c.report(path, "interface %s is already linked to %s", e, other)
		return
	}
	taken[e] = far
}

// real reports whether a node exists without linerate.
func (c *checker) real(node string) bool {
	if i, isHost := c.host[node]; isHost {
		return len(c.t.Hosts[i].Via) > 0
	}
	s := c.t.Switches[c.swtch[node]]
	return len(s.Via) > 0 || s.Unmanaged
}

// sameWorld refuses a link between what linerate makes and what is there
// already: nobody could plug it in.
func (c *checker) sameWorld(from, to End, path string) {
	if a, b := c.real(from.Node), c.real(to.Node); a != b {
		made, there := from.Node, to.Node
		if a {
			made, there = there, made
		}
		c.report(path, "link joins %s, which linerate makes, to %s, which is real: give both via (an unmanaged switch counts as real), or neither", made, there)
	}
}

// loop finds the link that closes a circle of switches. The lab's switches do
// not speak a spanning tree protocol; a frame would circle for ever.
func (c *checker) loop(joined map[string]string, from, to End, path string) {
	_, a := c.swtch[from.Node]
	_, b := c.swtch[to.Node]
	if !a || !b || c.real(from.Node) {
		return
	}
	root := func(node string) string {
		for joined[node] != "" {
			node = joined[node]
		}
		return node
	}
	x, y := root(from.Node), root(to.Node)
	if x == y {
		c.report(path, "link between %s and %s closes a loop of switches, in which frames would circle for ever", from.Node, to.Node)
		return
	}
	joined[x] = y
}

func (c *checker) hasIPv6(e End) bool {
	i, isHost := c.host[e.Node]
	if !isHost {
		return false
	}
	p, _ := c.t.Hosts[i].Interface(e.Interface)
	for _, a := range p.Addresses {
		if a.First.Is6() {
			return true
		}
	}
	return false
}

// MTU limits: RFC 791 section 3.2; RFC 8200 section 5; what a virtual link
// still carries with room for its headers in 64 KiB.
const (
	minMTU     = 68
	minIPv6MTU = 1280
	maxMTU     = 65521
)

// maxBurstTime is the longest that a bucket may last at the rate: a window of a
// second would otherwise measure the bucket, not the link.
const maxBurstTime = 0.1

// impairmentChecker checks both directions of one link.
type impairmentChecker struct {
	report source.Report
	path   string
	minMTU unit.Bytes // 0: no IPv6
}

func (s impairmentChecker) check(l Link) {
	s.direction(l.Towards(l.From), l.Forward, ".forward")
	s.direction(l.Towards(l.To), l.Reverse, ".reverse")
}

// direction checks what one direction does, wherever in the file it is said.
func (s impairmentChecker) direction(shape Impairment, over *Impairment, section string) {
	say := func(field string, own bool, format string, args ...any) {
		path := s.path + "." + field
		if own {
			path = s.path + section + "." + field
		}
		s.report(path, format, args...)
	}
	if over == nil {
		over = &Impairment{}
	}
	frame := shape.Frame()
	if shape.Loss >= 1 {
		say("loss", over.Loss != 0, "loss of %s: expected less than 100%%", shape.Loss)
	}
	switch {
	case shape.MTU < minMTU || shape.MTU > maxMTU:
		say("mtu", over.MTU != 0, "MTU %d: expected %d to %d", shape.MTU, minMTU, maxMTU)
	case unit.Bytes(shape.MTU) < s.minMTU:
		say("mtu", over.MTU != 0, "MTU %d: IPv6 needs at least %d (RFC 8200)", shape.MTU, minIPv6MTU)
	}
	none, rated := unit.Depth{}, shape.Rate != 0
	queue := shape.Queue.At(shape.Rate)
	switch {
	case shape.Queue == none:
	case shape.Queue.Time != 0 && !rated:
		say("queue", over.Queue != none, "a queue of %s is that long at a rate: give the link a rate, or the queue a size", shape.Queue)
	case queue < frame:
		say("queue", over.Queue != none, "queue of %s is smaller than one frame: expected at least %d bytes (MTU + %d)", shape.Queue, frame, EthernetHeader)
	}
	switch mark := shape.ECN.At(shape.Rate); {
	case shape.ECN == none:
	case !rated:
		say("ecn", over.ECN != none, "ecn without rate marks nothing, since nothing waits: give the link a rate")
	case mark < frame:
		say("ecn", over.ECN != none, "ecn of %s is less than one frame, so every frame would be marked: expected at least %d bytes (MTU + %d)", shape.ECN, frame, EthernetHeader)
	case mark >= shape.QueueSize():
		say("ecn", over.ECN != none, "ecn of %s is not less than the queue of %s, so nothing would be marked", shape.ECN, shape.QueueSize())
	}
	if shape.Jitter > shape.Delay {
		say("jitter", over.Jitter != 0, "jitter of %s to either side of a delay of %s: no frame arrives before it was sent", shape.Jitter, shape.Delay)
	}
	switch {
	case shape.Reorder >= 1:
		say("reorder", over.Reorder != 0, "reorder of %s: expected less than 100%%", shape.Reorder)
	case shape.Reorder > 0 && shape.Delay == 0:
		say("reorder", over.Reorder != 0, "reorder without delay: there is nothing under way to overtake; give the link a delay")
	}
	switch took := float64(shape.Burst) * 8 / float64(shape.Rate); {
	case shape.Burst == 0:
	case shape.Rate == 0:
		say("burst", over.Burst != 0, "burst without rate shapes nothing: give the link a rate")
	case shape.Burst < frame:
		say("burst", over.Burst != 0, "burst of %s is smaller than one frame, so nothing would pass: expected at least %d bytes (MTU + %d)", shape.Burst, frame, EthernetHeader)
	case took > maxBurstTime:
		say("rate", over.Rate != 0, "rate %s is too small for the burst of %s, which lasts %.2g s: expected at most %g ms, so a burst of at most %s",
			shape.Rate, shape.Burst, took, maxBurstTime*1000, bytesIn(shape.Rate, maxBurstTime))
	}
}
