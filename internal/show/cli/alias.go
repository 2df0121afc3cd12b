package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/host/apply"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	model "linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// aliasFlags describe additional addresses that interfaces of this host have while a command runs.
// They are handled like a study's settings: written to an undo journal first, and removed at the
// end, or by linerate recover if the command was killed.
type aliasFlags struct {
	texts []string
	all   []model.Setting
}

const aliasUsage = "add addresses to an `interface` of this host and remove them at the end, such as " +
	"'eth1=192.168.2.1-254/24' (may be repeated; needs root)"

func (f *aliasFlags) define(flags *pflag.FlagSet, more string) {
	flags.StringArrayVar(&f.texts, "alias", nil, aliasUsage+"; "+more)
}

// mostAdded bounds the addresses that one command adds: the time that a kernel needs for each
// address grows with their number.
const mostAdded = 65536

// parse parses the flags and returns everything that is wrong with them.
func (f *aliasFlags) parse() (problems []error) {
	seen := map[netip.Addr]bool{}
	for _, text := range f.texts {
		name, span, found := strings.Cut(text, "=")
		if !found || name == "" || span == "" {
			problems = append(problems,
				fmt.Errorf("--alias %q: expected INTERFACE=ADDRESSES/LENGTH, such as eth1=192.168.2.1-254/24", text))
			continue
		}
		spans, err := source.Texts(span)
		if strings.Contains(span, "%d") {
			err = fmt.Errorf("a template is written as a range here, such as 192.168.2.1-254/24")
		}
		for _, one := range spans {
			a, wrong := topology.ParseAddress(one)
			if err = errors.Join(err, wrong); wrong != nil {
				break // many more may have the same problem
			}
			for _, p := range a.Prefixes() {
				if seen[p.Addr()] {
					err = errors.Join(err, fmt.Errorf("%s is given twice", p.Addr()))
				}
				seen[p.Addr()] = true
				f.all = append(f.all, model.Setting{Address: &model.Address{Interface: name, Address: p}})
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("--alias %q: %w", text, err))
		}
	}
	if len(f.all) > mostAdded {
		problems = append(problems, fmt.Errorf("--alias: %d addresses, expected at most %d", len(f.all), mostAdded))
	}
	return problems
}

// addresses returns the addresses that are added.
func (f *aliasFlags) addresses() (list []netip.Addr) {
	return lists.Map(f.all, func(s model.Setting) netip.Addr { return s.Address.Address.Addr() })
}

// while adds the addresses, runs a command and removes them. name becomes part of the journal's
// name.
func (f *aliasFlags) while(ctx context.Context, name string, said io.Writer, command func(context.Context) error) (
	err error) {
	if len(f.all) == 0 {
		return command(ctx)
	}
	ctx, stop := untilHangup(ctx)
	defer stop()
	journal, err := apply.DefaultJournal(name)
	if err != nil {
		return err
	}
	manager, err := apply.Open(journal, apply.Lease)
	if err != nil {
		return err
	}
	defer func() {
		if undo := manager.End(); undo != nil {
			err = errors.Join(err, fmt.Errorf("removing the addresses: %w", undo))
		}
	}()
	defer manager.Keep()()
	began := time.Now()
	reply, err := manager.Apply(ctx, message.ApplyRequest{Settings: f.all, IfAbsent: true})
	if err != nil {
		return fmt.Errorf("--alias: %w", err)
	}
	took := time.Since(began)
	// Consecutive addresses are listed as one change.
	var runs []string
	for _, a := range reply.Applied {
		if a.Prior == a.New {
			a.What += " (there already)"
		}
		runs = append(runs, a.What)
	}
	say(said, "added %s in %s: %s\n", unit.Plural(len(f.all), "address"), milliseconds(took),
		strings.Join(source.Some(runs, aliasRunsListed), ", "))
	return command(ctx)
}

// aliasRunsListed is how many ranges of addresses are listed one by one.
const aliasRunsListed = 4

func milliseconds(d time.Duration) string { return unit.FormatMs(float64(d) / 1e6) }
