package hoststate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/lldp"
	"linerate/internal/model/netstate"
)

// heardLLDP are the neighbours that the machine's daemon lldpd knows or, if it knows none and listen is not
// 0, those whose frames arrive within that time. A program is executed for it, which a silent reading
// does not.
func heardLLDP(ctx context.Context, silent bool, listen time.Duration, on []netstate.InterfaceSnapshot) (
	[]netstate.LLDPNeighbour, error) {
	list, err := knownLLDP(ctx, silent)
	if len(list) > 0 || listen <= 0 {
		return list, err
	}
	return receiveLLDP(ctx, listen, on)
}

// receiveLLDP receives the frames of neighbours at interfaces that may have a cable.
func receiveLLDP(ctx context.Context, listen time.Duration, on []netstate.InterfaceSnapshot) (
	list []netstate.LLDPNeighbour, err error) {
	names := map[int]string{}
	var indexes []int
	for _, i := range on {
		if i.Up && (i.Kind == "" || i.Kind == "veth") && i.MAC != "" {
			names[i.Index] = i.Interface
			indexes = append(indexes, i.Index)
		}
	}
	frames, err := netlink.ReceiveLLDP(ctx, indexes, listen)
	for _, f := range frames {
		n, stays, wrong := lldp.Parse(f.PDU)
		n.Interface = names[f.Index]
		same := func(o netstate.LLDPNeighbour) bool {
			return o.Interface == n.Interface && o.Chassis == n.Chassis && o.Port == n.Port
		}
		switch {
		case wrong != nil:
			err = errors.Join(err, fmt.Errorf("a frame at %s: %w", n.Interface, wrong))
		case stays && len(list) < netstate.MostLLDPNeighbours && !slices.ContainsFunc(list, same):
			list = append(list, n)
		}
	}
	return list, err
}

func knownLLDP(ctx context.Context, silent bool) ([]netstate.LLDPNeighbour, error) {
	if silent {
		return nil, errors.New("not asked for")
	}
	switch first, err := netlink.First(); {
	case err != nil:
		return nil,
			fmt.Errorf(
				"lldpd is a daemon of the machine's first network namespace, and whether this is it is not known: %w",
				err)
	case !first:
		return nil, errors.New("lldpd is a daemon of the machine's first network namespace, and this is another one")
	}
	return lldpNeighbours(ctx)
}

func lldpNeighbours(ctx context.Context) ([]netstate.LLDPNeighbour, error) {
	text, err := proc.LLDP(ctx)
	if err != nil {
		return nil, err
	}
	if texts.LLDP == nil {
		return nil, errNoTexts
	}
	return texts.LLDP(text)
}
