package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
)

// nft is a chain of nftables in a table of its own, made and deleted as a whole.
type nft struct {
	baseTarget
	n setting.NFT
}

func newNFT(base baseTarget, n setting.NFT) (*nft, error) {
	if place, why := n.Check(); why != "" {
		return nil, errors.New("nft " + place + ": " + why)
	}
	return &nft{base, n}, nil
}

func (t *nft) what() string { return "table inet " + t.n.Table() }

func (t *nft) read() (State, error) {
	rules, there, err := proc.NFTRules(context.Background(), t.n.Table())
	if err != nil || !there {
		return State{Text: Absent}, err
	}
	return State{Text: countText(rules)}, nil
}

func countText(rules int) string { return fmt.Sprintf("present, %d rules", rules) }

func (t *nft) plan(prior State) (State, error) {
	if !prior.absent() {
		return State{}, fmt.Errorf("there is a table of that name already (%s): nft delete %s", prior.Text, t.what())
	}
	return State{Text: countText(len(t.n.Rules))}, nil
}

// between: not all rules were added before a kill.
func (*nft) between(_, _, is State) bool { return !is.absent() }

func (t *nft) change(State) error {
	for commands := range slices.Chunk(t.n.Commands(), nftAtOnce) {
		if err := proc.NFT(context.Background(), commands); err != nil {
			return err
		}
	}
	return nil
}

// nftAtOnce is how many commands a transaction has: it is one message to the kernel, for which
// a process without privileges over the machine has net.core.wmem_max bytes of room.
const nftAtOnce = 100

func (t *nft) restore(_, _ State) error {
	return proc.NFT(context.Background(), []string{"delete " + t.what()})
}
