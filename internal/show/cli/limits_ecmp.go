package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/model/unit"
	"linerate/internal/science/ecmp"
	"linerate/internal/show/document"
	"linerate/internal/show/present"
)

// ecmpFlags are the flags of `linerate limits ecmp` and `linerate limits bond`.
type ecmpFlags struct {
	asked                 ecmp.Question // links and flows come from the other fields
	links, tiers, second  int
	rates, weights, flows []string
	secondBps             float64
	asJSON                bool
	flags                 *pflag.FlagSet
	bonds                 bool // the links are the members of a bond
}

func newLimitsECMPCommand(s streams) *cobra.Command {
	var f ecmpFlags
	cmd := f.command(s, cobra.Command{
		Use:   "ecmp",
		Short: "Compute how much flows hashed onto equal-cost links carry",
		Long: `Compute how much flows carry together when a host or router hashes them onto
equal-cost links: mean and scatter, how often a link stays idle, how many flows
are enough. Each flow stays on one link, and flows share a link fairly: a link
with one flow is full, and a link without flows carries nothing. Without --flows
the answer is how many flows use all links, with which probability. limits bond
computes the same of a bond's members.

With --tiers 2 the router behind each link splits again, with a seed of its own
or with the same one, which leaves links idle for good (polarisation). With
--hosts it is a Clos network of that many hosts, simulated flow by flow.

Rates are those of links; limits goodput computes the payload.`,
		Example: `  linerate limits ecmp --links 4
  linerate limits ecmp --links 2 --policy l3
  linerate limits ecmp --links 2 --flows 3
  linerate limits ecmp --links 4 --rate 10gbit --flows 900x20mbit,4
  linerate limits ecmp --links 2 --rate 1gbit,10gbit --weights 1,10 --flows 32
  linerate limits ecmp --links 4 --flows 40 --policy l3 --pairs 8
  linerate limits ecmp --links 4 --flows 64 --tiers 2 --second-rate 250mbit
  linerate limits ecmp --links 16 --hosts 10000 --flows 1000000 --json`,
	})
	f.define(cmd.Flags(), "links that a router or host splits over", func(flags *pflag.FlagSet) {
		valueVar(flags, &f.asked.Policy, ecmp.ParsePolicy, "policy", "string", "l4",
			"fib_multipath_hash_policy: 0 or l3 (addresses), 1 or l4 (ports, too),\n2 or inner (a tunnel's inner "+
				"addresses), 3 or custom")
	})
	return cmd
}

func newLimitsBondCommand(s streams) *cobra.Command {
	var f ecmpFlags
	cmd := f.command(s, cobra.Command{
		Use:   "bond",
		Short: "Compute how much flows hashed onto the members of a bond carry",
		Long: `Compute how much flows carry together when a bond (802.3ad, balance-xor) hashes
them onto its members by its xmit_hash_policy: mean and scatter, how often a member
stays idle, how many flows are enough. Each flow stays on one member. Without
--flows the answer is how many flows use all members, with which probability.
Each direction is hashed by the end that sends it.

Rates are those of links; limits goodput computes the payload.`,
		Example: `  linerate limits bond --links 2
  linerate limits bond --links 4 --flows 8
  linerate limits bond --links 4 --flows 8 --policy layer2 --pairs 2`,
	})
	f.define(cmd.Flags(), "members of the bond", func(flags *pflag.FlagSet) {
		valueVar(flags, &f.asked.Policy, ecmp.ParseBondPolicy, "policy", "string", "layer3+4",
			"xmit_hash_policy: layer2 (MAC addresses; the default of Linux),\nlayer2+3 (IP addresses, too) or "+
				"layer3+4 (IP addresses and ports)")
	})
	f.bonds = true
	return cmd
}

// command adds these flags to a verb.
func (f *ecmpFlags) command(s streams, cmd cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{flagSections: `Common flags: links rate flows weights target policy json
		Hashing: fields pairs sizes
		Two tiers: tiers second-links second-rate
		A Clos network: hosts hosts-per-leaf host-rate
		Draws: replicates seed`}
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.answer(cmd.Context(), s) }
	return &cmd
}

// answer prints the forecast for the given flows or, without flows, how many are needed.
func (f *ecmpFlags) answer(ctx context.Context, s streams) error {
	if !f.flags.Changed("flows") {
		return f.needed(s)
	}
	q, err := f.question()
	if err != nil {
		return usageError(err)
	}
	var answer any
	var shown document.Document
	found := make(chan struct{})
	go func() {
		defer close(found)
		if q.Fabric.Hosts > 0 {
			forecast := q.Simulate()
			answer, shown = forecast, present.FabricForecast(forecast)
			return
		}
		forecast := q.Forecast()
		answer, shown = forecast, present.ECMPForecast(forecast)
	}()
	select {
	case <-found:
	case <-ctx.Done(): // the process holds nothing that outlives it
		return statusError{ExitInterrupted, errors.New("interrupted: fewer --replicates or --flows take less time")}
	}
	return s.answer(f.asJSON, answer, asText(shown))
}

// define defines the flags. links describes the verb's links, and policy defines its flag of the
// hash policy.
func (f *ecmpFlags) define(flags *pflag.FlagSet, links string, policy func(*pflag.FlagSet)) {
	flags.SortFlags = false
	f.flags = flags
	q := &f.asked
	numberVar(flags, &f.links, 1, mostECMPLinks, "links", 2, links)
	flags.StringSliceVar(&f.rates, "rate", []string{"1gbit"}, "rate of all links, or a list with the rate of each")
	flags.StringSliceVar(&f.weights, "weights", nil, "weight of each link, such as 1,3 (default: alike)")
	flags.StringSliceVar(&f.flows, "flows", nil,
		"number of flows; 900x20mbit,4: 900 that need at most 20 Mbit/s\neach, and 4 that take what they get")
	policy(flags)
	valueVar(flags, &q.Fields, parseHashFields, "fields", "string", "0x7", "custom: fib_multipath_hash_fields")
	numberVar(flags, &q.Pairs, 1, math.MaxInt, "pairs", 0,
		"pairs of addresses that the flows are between (default: 1; with\n--hosts each flow has its own)")
	valueVar(flags, &q.Sizes, ecmp.ParseSizes, "sizes", "string", "",
		"how sizes of transfers scatter: exponential, pareto:1.2, lognormal:2\n(default: all equal)")
	numberVar(flags, &f.tiers, 1, 2, "tiers", 1, "1 or 2: how often flows are split on their path")
	flags.IntVar(&f.second, "second-links", 0, "links of each router in the second tier (default: as --links)")
	valueVar(flags, &f.secondBps, bitsPerSecond, "second-rate", "rate", "",
		"rate of each of those (default: as the first of --rate)")
	flags.IntVar(&q.Fabric.Hosts, "hosts", 0, "simulate a Clos network of so many hosts; --links are the spines")
	flags.IntVar(&q.Fabric.HostsPerLeaf, "hosts-per-leaf", 0, "hosts on each leaf (default: as --links)")
	valueVar(flags, &q.Fabric.HostBps, bitsPerSecond, "host-rate", "rate", "",
		"rate of a host's link (default: as the first of --rate)")
	valueVar(flags, &q.Target, parseTarget, "target", "ratio", "95%",
		"share or probability for which the number of flows is computed")
	numberVar(flags, &q.Replicates, 0, mostECMPReplicates, "replicates", 0,
		"draws, where there is no formula (default: as many as are quick)")
	flags.Uint64Var(&q.Seed, "seed", 1, "seed of the draws: the same seed gives the same answer")
	flags.BoolVar(&f.asJSON, "json", false,
		"print JSON (with --flows linerate.limits.ecmp/v1, otherwise linerate.limits.ecmp-flows/v1)")
}

const (
	mostECMPLinks      = 4096
	mostECMPReplicates = 1_000_000
)

func parseHashFields(text string) (uint32, error) {
	fields, err := strconv.ParseUint(text, 0, 12)
	if err != nil {
		err = fmt.Errorf("%q: expected a number such as 0x37, the fields of fib_multipath_hash_fields", text)
	}
	return uint32(fields), err
}

func parseTarget(text string) (float64, error) {
	target, err := unit.ParseRatio(text)
	if err == nil && !(target > 0 && target < 1) {
		err = fmt.Errorf("%s: expected more than 0 and less than 100%%", target)
	}
	return float64(target), err
}

// question returns the question that the flags ask. The error lists all mistakes.
func (f *ecmpFlags) question() (q ecmp.Question, err error) {
	if err := errors.Join(mistakes(f.flags)...); err != nil {
		return q, err
	}
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	q, given := f.asked, f.flags.Changed
	q.Bond = f.bond()
	if q.Tiers.First, err = f.firstTier(); err != nil {
		say("%w", err)
	}
	if q.Kinds, q.Flows, err = ecmp.ParseKinds(f.flows); err != nil {
		say("--flows: %w", err)
	}
	for _, need := range []struct {
		flag, of string
		there    bool
	}{
		{"fields", "--policy custom", q.Policy == 3},
		{"second-links", "--tiers 2", f.tiers == 2}, {"second-rate", "--tiers 2", f.tiers == 2},
		{"hosts-per-leaf", "--hosts", given("hosts")}, {"host-rate", "--hosts", given("hosts")},
	} {
		if given(need.flag) && !need.there {
			say("--%s is for %s", need.flag, need.of)
		}
	}
	if q.Sizes != nil && slices.ContainsFunc(q.Kinds, func(k ecmp.Kind) bool { return k.Bps > 0 }) {
		say("--sizes is for flows that take what they get: --flows without rates")
	}
	if given("hosts") && (q.Sizes != nil || given("target")) {
		say("--sizes and --target are for one sender: without --hosts")
	}
	if len(wrong) > 0 {
		return q, errors.Join(wrong...)
	}
	if f.tiers == 2 {
		if q.Tiers.Second, err = f.secondTier(q.Tiers.First); err != nil {
			return q, err
		}
	}
	if given("hosts") {
		return q, f.clos(&q)
	}
	q.Pairs = max(1, q.Pairs)
	return q, nil
}

// bond returns the policy of the bond. Empty: the links are those of routes.
func (f *ecmpFlags) bond() string {
	if !f.bonds {
		return ""
	}
	return strings.ToLower(f.flags.Lookup("policy").Value.String())
}

// needed prints how many flows fill the links.
func (f *ecmpFlags) needed(s streams) error {
	problems := mistakes(f.flags)
	for _, flag := range []string{"fields", "pairs", "sizes", "tiers", "second-links", "second-rate", "hosts",
		"hosts-per-leaf", "host-rate", "replicates"} {
		if f.flags.Changed(flag) {
			problems = append(problems,
				fmt.Errorf("--%s: expected --flows, too; without it the answer is how many flows use all links of "+
					"one router", flag))
		}
	}
	if f.asked.Policy > 1 {
		problems = append(problems,
			errors.New("--policy: expected --flows, too; without it the answer is for policies l3 and l4"))
	}
	links, err := f.firstTier()
	if problems = append(problems, err); errors.Join(problems...) != nil {
		return usageError(errors.Join(problems...))
	}
	chances := []float64{0.5, 0.9, 0.95, 0.99}
	if !slices.Contains(chances, f.asked.Target) {
		chances = append(chances, f.asked.Target)
		slices.Sort(chances)
	}
	answer := links.Needed(f.asked.Target, chances...)
	answer.Pairs, answer.Bond = f.asked.Policy == 0, f.bond()
	if len(answer.Flows) == 0 {
		return usageError(errors.New("too many links with different weights for an answer without --flows: " +
			"expected --flows as well"))
	}
	return s.answer(f.asJSON, answer, asText(present.ECMPNeeded(answer)))
}

func (f *ecmpFlags) firstTier() (ecmp.Links, error) {
	links := ecmp.Alike(f.links, 0)
	if len(f.rates) != 1 && len(f.rates) != f.links {
		return links, fmt.Errorf("--rate has %d rates: expected one, or one for each of %d links",
			len(f.rates), f.links)
	}
	if len(f.weights) != 0 && len(f.weights) != f.links {
		return links, fmt.Errorf("--weights has %d weights: expected one for each of %d links", len(f.weights), f.links)
	}
	for i := range links {
		var err error
		if links[i].RateBps, err = bitsPerSecond(f.rates[min(i, len(f.rates)-1)]); err != nil {
			return links, fmt.Errorf("--rate: %w", err)
		}
		if len(f.weights) > 0 {
			// The kernel allows 8 bits for a route and 16 bits for a nexthop group.
			weight, err := strconv.ParseUint(strings.TrimSpace(f.weights[i]), 10, 16)
			if err != nil || weight == 0 {
				return links, fmt.Errorf("--weights: %q: expected a whole number from 1 to 65535", f.weights[i])
			}
			links[i].Weight = float64(weight)
		}
	}
	return links, nil
}

func (f *ecmpFlags) secondTier(first ecmp.Links) (ecmp.Links, error) {
	n, bps := f.second, f.secondBps
	if !f.flags.Changed("second-links") {
		n = f.links
	}
	if n < 1 || n > mostECMPLinks || n*f.links > mostECMPLinks*4 {
		return nil,
			fmt.Errorf("--second-links %d behind each of %d links: expected at least one, and at most %d together",
				n, f.links, mostECMPLinks*4)
	}
	if !f.flags.Changed("second-rate") {
		bps = first[0].RateBps
	}
	return ecmp.Alike(n, bps), nil
}

// clos turns the question into one about a simulated Clos network.
func (f *ecmpFlags) clos(q *ecmp.Question) error {
	q.Fabric.Up = q.Tiers.First
	if !f.flags.Changed("hosts-per-leaf") {
		q.Fabric.HostsPerLeaf = f.links
	}
	if !f.flags.Changed("host-rate") {
		q.Fabric.HostBps = q.Tiers.First[0].RateBps
	}
	if f.tiers == 2 {
		q.Fabric.Core, q.Fabric.LeavesPerPod = q.Tiers.Second, len(q.Tiers.Second)
	}
	return q.Fabric.Check(ecmp.FabricLoad{Kinds: q.Kinds, Pairs: q.Pairs})
}
