package hoststate

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/netstate"
)

// lldp are the neighbours that the machine's daemon lldpd knows. A program is executed for it,
// which a silent reading does not.
func lldp(ctx context.Context, silent bool) ([]netstate.LLDPNeighbour, error) {
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
