package proof

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/facts"
)

// Host is a real host, with its snapshot.
type Host struct {
	Snapshot netstate.HostSnapshot
	// Via is the command that reaches it.
	Via []string
}

// traffic says which traffic of a finding's host shows the effect of the fix.
type traffic struct {
	direction string // as seen by the peer, which opens the connections
	protocol  string // empty: tcp
	// several requires that the traffic goes to several of the host's interfaces on one subnet. With
	// only one interface it does not show the finding.
	several bool
}

var (
	received   = traffic{direction: flow.Write}
	toEach     = traffic{direction: flow.Write, several: true}
	sent       = traffic{direction: flow.Read}
	bothWays   = traffic{direction: flow.Both}
	requests   = traffic{protocol: flow.RR}
	trafficFor = map[string]traffic{
		"receive-buffer-small": received, "autotuning-off": received, "netdev-backlog-small": received,
		"packets-squeezed": received, "softnet-drop": received,
		"one-queue": received, "one-cpu-for-interrupts": received,
		"strict-rp-filter": toEach, "same-subnet-interfaces": toEach, "arp-flux": toEach,
		"send-buffer-small": sent, "path-mtu-discovery-off": sent,
		"powersave-governor": requests,
	}
)

// trafficOf returns the traffic for a finding; in both directions if nothing else is known.
func trafficOf(id string) traffic {
	if t, known := trafficFor[id]; known {
		return t
	}
	return bothWays
}

const (
	otherQueue  = "the queue is that of another program, and linerate's own listener accepts at once"
	oneAtATime  = "the trials open a connection at a time, which fills no listener's queue"
	noPortsUsed = "the trials' connections use few ports, and leave none in TIME-WAIT"
	otherSocket = "the socket is that of another program, and linerate sets the receive buffer of its own"
	smallerMTU  = "TCP between the two hosts agrees on segments of the smaller MTU, and sends nothing that is dropped"
	healthyPath = "it is about peers and packets that the trials' traffic, between two hosts that answer, does not meet"
)

// notMet explains, by finding, why traffic between two hosts does not show its effect: the trials
// are the same with and without the fix, whether it helps or not.
var notMet = map[string]string{
	"accept-queue-full": otherQueue, "listen-overflow": otherQueue,
	"somaxconn-small": oneAtATime, "syn-backlog-small": oneAtATime, "syn-cookies-off": oneAtATime,
	"abort-on-overflow":  oneAtATime,
	"ports-in-time-wait": noPortsUsed, "port-range-small": noPortsUsed, "time-wait-few": noPortsUsed,
	"udp-buffer-overflow": otherSocket, "udp-buffer-default-small": otherSocket,
	"mtu-differs": smallerMTU, "bridge-mtu-mixed": smallerMTU,
	"orphans-many": healthyPath, "neighbour-table-full": healthyPath, "retries-few": healthyPath,
	"syn-retries-few": healthyPath, "synack-retries-few": healthyPath,
	"ttl-small": healthyPath, "proxy-arp": healthyPath, "echo-ignored": healthyPath, "mss-floor-small": healthyPath,
	"nexthop-dead": "the trials' traffic is between addresses of one subnet, and leaves by no route of the group",
}

// unmet returns the error that trials would show nothing.
func unmet(id, why string) error {
	return fmt.Errorf(
		"%w by traffic between the two hosts: %s. Compare linerate doctor before and after the fix, or prove it by "+
			"traffic that meets it: linerate new hosts, linerate prove %s FILE.yaml", ErrNone, why, id)
}

// OfHosts derives the study from snapshots of two hosts, at least one of which has the finding. The
// study's traffic is between their addresses on one subnet: network or, if that is the zero value,
// a subnet with an interface that the fix changes, or else the first. worded fills in the texts of
// findings, which the study quotes.
func OfHosts(a, b Host, id string, network netip.Prefix, worded func(record.Evaluation) record.Evaluation) (*Proof,
	error) {
	hosts := []Host{a, b}
	for i := range hosts {
		name := nodeName(hosts[i].Snapshot.Reading.Host)
		if i > 0 && name == hosts[0].Snapshot.Reading.Host {
			name += "-2"
		}
		hosts[i].Snapshot.Reading.Host, hosts[i].Snapshot.Reading.Snapshot.Host = name, name
	}
	evaluated := worded(diagnose.Hosts([]netstate.HostSnapshot{hosts[0].Snapshot, hosts[1].Snapshot}))
	where := "on " + hosts[0].name() + " and " + hosts[1].name()
	found, err := of(evaluated.Findings, id, where)
	if err != nil {
		for _, u := range evaluated.Unevaluated {
			if u.Rule == id {
				err = fmt.Errorf("%w\nIt was not evaluated on %s: %s", err, u.Host, u.Why)
			}
		}
		return nil, err
	}
	if why := notMet[id]; why != "" {
		return nil, unmet(id, why)
	}
	subject, peer := hosts[0], hosts[1]
	if found[0].Host == peer.name() {
		subject, peer = peer, subject
	}
	if network, err = shared(subject, peer, network, found); err != nil {
		return nil, err
	}
	if trafficOf(id).several && len(subject.on(network)) < 2 {
		return nil, unmet(id, fmt.Sprintf(
			"it is about senders that are answered by another interface than they are received by, and %s has one "+
				"interface in %s",
			subject.name(), network))
	}
	s := &study.Study{
		Topology: topology.Topology{
			Hosts:    []topology.Host{subject.host(network), peer.host(network)},
			Switches: []topology.Switch{{Name: "network", Unmanaged: true}},
			Links:    append(subject.links(network), peer.links(network)...),
		},
		Workload: workload(id, subject, peer, network),
		Design:   study.Design{Replicates: Replicates},
	}
	if peer.name() == "network" || subject.name() == "network" {
		s.Topology.Switches[0].Name = "the-network"
		for i := range s.Topology.Links {
			s.Topology.Links[i].To.Node = "the-network"
		}
	}
	p := &Proof{Of: found}
	return p, p.write(s, study.Level{},
		[]string{fmt.Sprintf("Made by linerate prove %s for %s and %s, between their addresses of %s.", id,
			subject.name(), peer.name(), network)})
}

func (h Host) name() string { return h.Snapshot.Reading.Host }

// nodeName returns a host's name as used in a study: up to the first dot, with dashes for
// characters other than letters and digits.
func nodeName(text string) string {
	short, _, _ := strings.Cut(text, ".")
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, short), "-")
	return cmp.Or(name[:min(len(name), 24)], "host")
}

// shared returns a subnet on which both hosts have addresses.
func shared(a, b Host, network netip.Prefix, found []record.Finding) (netip.Prefix, error) {
	var list []netip.Prefix
	var best netip.Prefix
	certain := false             // an interface there is changed by the fix, or meets the finding
	changed := map[string]bool{} // by host and interface
	several := trafficOf(found[0].ID).several
	for _, f := range found {
		for _, s := range f.Changes() {
			for _, name := range interfaces(s) {
				changed[s.Host+"."+name] = true
			}
		}
	}
	for _, x := range a.on(netip.Prefix{}) {
		for _, y := range b.on(netip.Prefix{}) {
			for _, p := range x.Addresses {
				for _, q := range y.Addresses {
					if p.Masked() != q.Masked() || p.Addr() == q.Addr() || p.IsSingleIP() {
						continue
					}
					list = append(list, p.Masked())
					affected := changed[a.name()+"."+x.Interface] || changed[b.name()+"."+y.Interface] || several &&
						len(a.on(p.Masked())) > 1
					if !best.IsValid() || affected && !certain {
						best, certain = p.Masked(), affected
					}
				}
			}
		}
	}
	switch {
	case network.IsValid() && slices.Contains(list, network.Masked()):
		return network.Masked(), nil
	case network.IsValid():
		return best, fmt.Errorf("%s and %s do not both have an address of %s; they share: %s", a.name(), b.name(),
			network, prefixes(list))
	case list == nil:
		return best, fmt.Errorf(
			"%s and %s have no addresses of one subnet; a study of theirs can have the route between them: "+
				"linerate new hosts writes one, and linerate prove %s FILE.yaml proves on it",
			a.name(), b.name(), found[0].ID)
	}
	return best, nil
}

func prefixes(list []netip.Prefix) string {
	var texts []string
	for _, p := range list {
		if !slices.Contains(texts, p.String()) {
			texts = append(texts, p.String())
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// interfaces returns the interfaces that a setting names.
func interfaces(s setting.Setting) (names []string) {
	for _, one := range s.Sysctl {
		names = append(names, setting.InterfaceOf(one.Key))
	}
	switch {
	case s.Link != nil:
		names = append(names, s.Link.Interface)
	case s.NIC != nil:
		names = append(names, s.NIC.Interface)
	case s.Qdisc != nil:
		names = append(names, s.Qdisc.Interface)
	case s.Route != nil:
		names = append(names, s.Route.Interface)
	}
	return names
}

// on returns the host's interfaces that have an address of a subnet, each with only these
// addresses. For the zero value it returns all interfaces.
func (h Host) on(network netip.Prefix) (list []facts.Attachment) {
	for _, a := range facts.Attachments(h.Snapshot) {
		if network.IsValid() {
			a.Addresses = slices.DeleteFunc(a.Addresses, func(p netip.Prefix) bool { return p.Masked() != network })
		}
		if len(a.Addresses) > 0 && len(list) < mostInterfaces {
			list = append(list, a)
		}
	}
	return list
}

// mostInterfaces is the largest number of interfaces of a host that are considered. It bounds the
// work, because the snapshot comes from the host.
const mostInterfaces = 64

func (h Host) host(network netip.Prefix) topology.Host {
	host := topology.Host{Name: h.name(), Via: h.Via}
	for _, a := range h.on(network) {
		i := topology.Interface{Name: a.Interface}
		for _, p := range a.Addresses {
			i.Addresses = append(i.Addresses, topology.Address{First: p.Addr(), Last: p.Addr(), Bits: p.Bits()})
		}
		host.Interfaces = append(host.Interfaces, i)
	}
	return host
}

func (h Host) links(network netip.Prefix) (list []topology.Link) {
	for _, a := range h.on(network) {
		l := topology.Link{From: topology.End{Node: h.name(), Interface: a.Interface},
			To: topology.End{Node: "network"}}
		l.Rate, l.MTU = unit.BitRate(a.SpeedBps), a.MTU
		list = append(list, l)
	}
	return list
}

// workload returns traffic between the peer and each interface of the host that has the finding.
func workload(id string, subject, peer Host, network netip.Prefix) study.Workload {
	t := trafficOf(id)
	w := study.Workload{Duration: unit.Duration(3 * time.Second), Warmup: unit.Duration(time.Second)}
	w.Direction, w.Protocol = t.direction, t.protocol
	if flow.Of(t.protocol).Transport == flow.TCP {
		sender := peer
		if t.direction == flow.Read {
			sender = subject
		}
		w.CongestionControl = sender.Snapshot.State.Parameters[setting.CongestionControl]
	}
	for _, a := range subject.on(network) {
		w.Flows = append(w.Flows, study.Flow{From: peer.name(), To: subject.name(), Destination: a.Addresses[0].Addr()})
	}
	return w
}
