package hoststate

import (
	"context"
	"errors"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/pasted"
	"linerate/internal/model/record"
)

// lldp are the neighbours that the machine's daemon lldpd knows. A program is executed for it,
// which a silent reading does not.
func lldp(ctx context.Context, silent bool) ([]record.LLDPNeighbour, error) {
	switch {
	case silent:
		return nil, errors.New("not asked for")
	case !netlink.First():
		return nil, errors.New("lldpd is a daemon of the machine's first network namespace, and this is another one")
	}
	return lldpNeighbours(ctx)
}

func lldpNeighbours(ctx context.Context) ([]record.LLDPNeighbour, error) {
	text, err := proc.LLDP(ctx)
	if err != nil {
		return nil, err
	}
	return pasted.LLDP(text)
}
