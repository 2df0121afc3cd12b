package run

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/attacks"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
)

// mostTaken bounds how many addresses of hosts a request lists.
const mostTaken = 65_536

// attacksPermitted refuses attacks before the lab is made: those of a topology that has a host
// or switch which linerate does not make, whatever the study's check has said, and those that
// reach beyond the lab, unless machine-wide settings are permitted.
func (c *conductor) attacksPermitted() error {
	for _, t := range c.plan.Treatments {
		if len(t.Workload.Attacks) == 0 {
			continue
		}
		if node, why := study.NotMade(&c.study.Topology); node != "" {
			return fmt.Errorf("attacks are made in labs alone, and %s is not made by linerate: %s", node, why)
		}
		for _, a := range t.Attacks {
			if k, _ := attacks.Find(a.Kind); k.Machine && !c.options.AllowMachine {
				return fmt.Errorf(
					"%s fills the neighbour table, which all network namespaces of the machine share: it needs "+
						"--allow-machine-settings", a.Kind)
			}
		}
	}
	return nil
}

// prepareAttacks has the hosts prepare the attacks of a treatment, whose flows are open.
func (c *conductor) prepareAttacks(ctx context.Context, t *study.Treatment, flows []*trial.Flow) error {
	if len(t.Attacks) == 0 {
		return nil
	}
	key, err := c.lab.AttackKey()
	if err != nil {
		return err
	}
	requests := map[string]message.AttacksRequest{}
	for i, a := range t.Attacks {
		r := message.AttackRequest{
			Kind: a.Kind, Target: target(a, flows), PerSecond: a.PerSecond(), Connections: a.AtATime(),
			Sources: a.SourcesOf(a.Destination.Is6()),
			Network: a.Network, Claimed: a.Claimed, Payload: a.Payload(), Path: a.Path,
			// The same in a run that is made again.
			Seed: [2]uint64{c.run.Seed, uint64(c.order)<<8 | uint64(i)},
		}
		if a.Kind == attacks.ARPStorm {
			r.Taken = c.taken(t, a.Network)
		}
		request := requests[a.From]
		request.Key, request.Attacks = key, append(request.Attacks, r)
		requests[a.From] = request
	}
	_, err = bus.Ask(ctx, c.bus, message.Attacks, requests)
	return err
}

// target is the address and port that an attack goes to.
func target(a study.PlannedAttack, flows []*trial.Flow) netip.AddrPort {
	if i := slices.IndexFunc(flows, func(f *trial.Flow) bool { return a.Flow != "" && f.ID == a.Flow }); i >= 0 {
		return netip.AddrPortFrom(a.Destination, flows[i].Accepted.Port())
	}
	return netip.AddrPortFrom(a.Destination, uint16(a.Port))
}

// taken are the addresses of a network that hosts have in a treatment.
func (c *conductor) taken(t *study.Treatment, network netip.Prefix) (list []netip.Addr) {
	for _, h := range c.over(t).Hosts {
		for _, a := range h.Addresses() {
			for _, prefix := range a.Prefixes() {
				if network.Contains(prefix.Addr()) && len(list) < mostTaken {
					list = append(list, prefix.Addr())
				}
			}
		}
	}
	return list
}

// attacked are a treatment's attacks with what the hosts say of them.
func attacked(t *study.Treatment, flows []*trial.Flow, replies map[string]message.WindowReply) (list []record.Attack) {
	reported := map[string]int{}
	for _, a := range t.Attacks {
		k, _ := attacks.Find(a.Kind)
		made := record.Attack{Kind: a.Kind, From: a.From, To: a.To, Target: a.Destination.String(),
			AskedPerS: float64(a.PerSecond()), Connections: a.AtATime()}
		if k.Transport != "" {
			made.Target = target(a, flows).String()
		}
		made.Error = "it was not reported"
		if n, own := reported[a.From], replies[a.From].Attacks; n < len(own) {
			made.AttackCounts = own[n]
		}
		reported[a.From]++
		list = append(list, made)
	}
	return list
}
