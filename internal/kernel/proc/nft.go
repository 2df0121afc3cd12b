package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"linerate/internal/model/lists"
)

// nftTime limits how long nft may take, for tens of thousands of rules; mostNFT limits its output.
const nftTime, mostNFT = time.Minute, 128 << 20

// NFT executes commands of nft(8) in one transaction: all of them, or none.
func NFT(ctx context.Context, commands []string) error {
	_, err := nft(ctx, strings.NewReader(strings.Join(commands, "\n")+"\n"), "-f", "-")
	return err
}

// NFTRules returns how many rules a table of family inet has; there is false if the table does not
// exist.
func NFTRules(ctx context.Context, table string) (rules int, there bool, err error) {
	type object struct {
		Table *struct{ Family, Name string }
		Rule  json.RawMessage
	}
	list := func(what ...string) (objects []object, err error) {
		out, err := nft(ctx, nil, append([]string{"-j", "list"}, what...)...)
		if err != nil {
			return nil, err
		}
		var answer struct{ Nftables []object }
		if err := json.Unmarshal(out, &answer); err != nil {
			return nil, fmt.Errorf("nft -j list %s: %w", strings.Join(what, " "), err)
		}
		return answer.Nftables, nil
	}
	tables, err := list("tables", "inet")
	for _, o := range tables {
		there = there || o.Table != nil && o.Table.Family == "inet" && o.Table.Name == table
	}
	if err != nil || !there {
		return 0, false, err
	}
	objects, err := list("table", "inet", table)
	rules = lists.Count(objects, func(o object) bool { return o.Rule != nil })
	return rules, true, err
}

func nft(ctx context.Context, input io.Reader, arguments ...string) ([]byte, error) {
	out, err := output(ctx, nftTime, mostNFT, input, "nft", arguments...)
	if err != nil {
		// "nft: /dev/stdin:1:1-3: Error: syntax error, …"
		if _, why, ok := strings.Cut(err.Error(), "Error: "); ok {
			err = errors.New("nft: " + why)
		}
	}
	return out, err
}
