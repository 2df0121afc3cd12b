package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"

	"linerate/internal/science/ecmp"
)

// ecmpFlags are the flags of `linerate limits ecmp`.
type ecmpFlags struct {
	links, tiers         int
	rates, weights       []string
	flows                []string
	second               int
	secondRate, hostRate unit.BitRate
	policy, sizes        string
	fields               string
	pairs                int
	hosts, perLeaf       int
	target               unit.Ratio
	replicates           int
	seed                 uint64
	asJSON               bool
	flags                *pflag.FlagSet
}

func newLimitsECMPCommand(s streams) *cobra.Command {
	var f ecmpFlags
	cmd := &cobra.Command{
		Use:   "ecmp",
		Short: "What flows carry that are hashed over equal-cost links",
		Long: `What flows carry together that a host or router spreads over equal-cost links
by hash: the mean, how it scatters, how often a link stays idle, how many flows
it takes. Each flow stays on one link, and flows share a link fairly; so one
that is alone fills it, and one that nobody was hashed to carries nothing.

With --tiers 2 the router behind each link splits again, with a seed of its own
or with the same one, which leaves links idle for good (polarisation). With
--hosts it is a Clos network of that many hosts, simulated flow by flow.

Rates are those of links; limits goodput says what of them is payload.`,
		Example: `  linerate limits ecmp --links 2 --flows 3
  linerate limits ecmp --links 4 --rate 10gbit --flows 900x20mbit,4
  linerate limits ecmp --links 2 --rate 1gbit,10gbit --weights 1,10 --flows 32
  linerate limits ecmp --links 4 --flows 40 --policy l3 --pairs 8
  linerate limits ecmp --links 4 --flows 64 --tiers 2 --second-rate 250mbit
  linerate limits ecmp --links 16 --hosts 10000 --flows 1000000 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.question()
			if err != nil {
				return usageError(err)
			}
			var answer ecmpAnswer
			found := make(chan struct{})
			go func() {
				defer close(found)
				answer = q.answer()
			}()
			select {
			case <-found:
			case <-cmd.Context().Done(): // nothing is held that the end of the process does not free
				return statusError{ExitInterrupted, errors.New("interrupted: fewer --replicates or --flows take less time")}
			}
			if f.asJSON {
				return json.NewEncoder(s.out).Encode(answer)
			}
			return answer.print(s.out)
		},
	}
	f.define(cmd.Flags())
	return cmd
}

func (f *ecmpFlags) define(flags *pflag.FlagSet) {
	flags.SortFlags = false
	f.flags = flags
	flags.IntVar(&f.links, "links", 2, "links that a router or host splits over")
	flags.StringSliceVar(&f.rates, "rate", []string{"1gbit"}, "rate of the links, or of each")
	flags.StringSliceVar(&f.weights, "weights", nil, "weight of each link, such as 1,3 (default: alike)")
	flags.StringSliceVar(&f.flows, "flows", nil, "number of flows; 900x20mbit,4: so many that ask for 20 Mbit/s each at\nmost, and 4 that take what they get")
	flags.StringVar(&f.policy, "policy", "l4", "fib_multipath_hash_policy: 0 or l3 (addresses), 1 or l4 (ports, too),\n2 or inner (a tunnel's inner addresses), 3 or custom")
	flags.StringVar(&f.fields, "fields", "0x7", "custom: fib_multipath_hash_fields")
	flags.IntVar(&f.pairs, "pairs", 0, "pairs of addresses that the flows are between (default: 1; with\n--hosts each flow has its own)")
	flags.StringVar(&f.sizes, "sizes", "", "how sizes of transfers scatter: exponential, pareto:1.2, lognormal:2\n(default: all equal)")
	flags.IntVar(&f.tiers, "tiers", 1, "1 or 2: how often flows are split on their way")
	flags.IntVar(&f.second, "second-links", 0, "links of each router in the second tier (default: as --links)")
	quantityVar(flags, &f.secondRate, unit.ParseBitRate, "second-rate", "rate", "", "rate of each of those (default: as the first of --rate)")
	flags.IntVar(&f.hosts, "hosts", 0, "simulate a Clos network of so many hosts; --links are the spines")
	flags.IntVar(&f.perLeaf, "hosts-per-leaf", 0, "hosts on each leaf (default: as --links)")
	quantityVar(flags, &f.hostRate, unit.ParseBitRate, "host-rate", "rate", "", "rate of a host's link (default: as the first of --rate)")
	quantityVar(flags, &f.target, unit.ParseRatio, "target", "ratio", "95%", "how much is enough, for the number of flows that it takes")
	flags.IntVar(&f.replicates, "replicates", 0, "draws, where no formula tells (default: as many as are quick)")
	flags.Uint64Var(&f.seed, "seed", 1, "which draws: the same seed gives the same answer")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.limits.ecmp/v1)")
}

// ecmpAnswer can be printed as text, and encoded.
type ecmpAnswer interface{ print(io.Writer) error }

// question is what the flags ask.
type question struct {
	tiers      ecmp.Tiers
	kinds      []ecmp.Kind // single flows
	flows      int
	policy     int
	fields     uint32
	pairs      int
	distinct   int // what is placed
	sizes      *ecmp.Sizes
	target     float64
	replicates int
	seed       uint64
	fabric     ecmp.Fabric
}

const (
	mostECMPLinks      = 4096
	mostECMPReplicates = 1_000_000
)

// question reads the flags, and tells all mistakes at once.
func (f *ecmpFlags) question() (question, error) {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	q := question{target: float64(f.target), seed: f.seed, replicates: f.replicates, pairs: f.pairs}
	var err error
	if f.links < 1 || f.links > mostECMPLinks {
		say("--links %d: expected 1 to %d", f.links, mostECMPLinks)
		f.links = 1
	}
	if q.tiers.First, err = f.firstTier(); err != nil {
		wrong = append(wrong, err)
	}
	if q.kinds, q.flows, err = parseFlows(f.flows); err != nil {
		wrong = append(wrong, err)
	}
	if q.policy, err = parsePolicy(f.policy); err != nil {
		wrong = append(wrong, err)
	}
	fields, err := strconv.ParseUint(f.fields, 0, 12)
	if err != nil {
		say("--fields %q: expected a number such as 0x37, the fields of fib_multipath_hash_fields", f.fields)
	}
	q.fields = uint32(fields)
	if f.flags.Changed("fields") && q.policy != 3 {
		say("--fields is for --policy custom")
	}
	if f.flags.Changed("pairs") && f.pairs < 1 {
		say("--pairs %d: expected at least one pair of addresses", f.pairs)
	}
	if f.tiers != 1 && f.tiers != 2 {
		say("--tiers %d: expected 1 or 2", f.tiers)
	}
	for _, flag := range []string{"second-links", "second-rate"} {
		if f.flags.Changed(flag) && f.tiers != 2 {
			say("--%s is for --tiers 2", flag)
		}
	}
	if !(f.target > 0 && f.target < 1) {
		say("--target %s: expected more than 0 and less than 100%%", f.target)
	}
	if f.replicates < 0 || f.replicates > mostECMPReplicates {
		say("--replicates %d: expected 0 to %d", f.replicates, mostECMPReplicates)
	}
	if f.tiers == 2 {
		q.tiers.Second, err = f.secondTier()
		wrong = append(wrong, err)
	}
	if q.sizes, err = parseSizes(f.sizes); err != nil {
		wrong = append(wrong, err)
	}
	if q.sizes != nil && slices.ContainsFunc(q.kinds, func(k ecmp.Kind) bool { return k.Bps > 0 }) {
		say("--sizes is for flows that take what they get: --flows without rates")
	}
	wrong = append(wrong, f.clos(&q))
	if err := errors.Join(wrong...); err != nil {
		return q, err
	}
	if f.hosts == 0 {
		q.pairs = max(1, q.pairs)
	}
	q.distinct = ecmp.Distinct(q.policy, q.fields, q.flows, q.pairs)
	return q, nil
}

func (f *ecmpFlags) firstTier() (ecmp.Links, error) {
	links := ecmp.Alike(f.links, 0)
	if len(f.rates) != 1 && len(f.rates) != f.links {
		return links, fmt.Errorf("--rate has %d rates: expected one, or one for each of %d links", len(f.rates), f.links)
	}
	if len(f.weights) != 0 && len(f.weights) != f.links {
		return links, fmt.Errorf("--weights has %d weights: expected one for each of %d links", len(f.weights), f.links)
	}
	for i := range links {
		rate, err := unit.ParseBitRate(f.rates[min(i, len(f.rates)-1)])
		if err == nil && rate <= 0 {
			err = fmt.Errorf("%s: expected more than 0", rate)
		}
		if err != nil {
			return links, fmt.Errorf("--rate: %w", err)
		}
		links[i].RateBps = float64(rate)
		if len(f.weights) > 0 {
			// The kernel's are 8 bits for a route, 16 for a nexthop group.
			weight, err := strconv.ParseUint(strings.TrimSpace(f.weights[i]), 10, 16)
			if err != nil || weight == 0 {
				return links, fmt.Errorf("--weights: %q: expected a whole number from 1 to 65535", f.weights[i])
			}
			links[i].Weight = float64(weight)
		}
	}
	return links, nil
}

func (f *ecmpFlags) secondTier() (ecmp.Links, error) {
	n, rate := f.second, float64(f.secondRate)
	if !f.flags.Changed("second-links") {
		n = f.links
	}
	if n < 1 || n > mostECMPLinks || n*f.links > mostECMPLinks*4 {
		return nil, fmt.Errorf("--second-links %d behind each of %d links: expected at least one, and at most %d together", n, f.links, mostECMPLinks*4)
	}
	if !f.flags.Changed("second-rate") {
		first, _ := unit.ParseBitRate(f.rates[0]) // firstTier tells
		rate = max(1, float64(first))
	}
	if rate <= 0 {
		return nil, fmt.Errorf("--second-rate %s: expected more than 0", f.secondRate)
	}
	return ecmp.Alike(n, rate), nil
}

// clos takes the flags of a simulated network.
func (f *ecmpFlags) clos(q *question) error {
	if !f.flags.Changed("hosts") {
		for _, flag := range []string{"hosts-per-leaf", "host-rate"} {
			if f.flags.Changed(flag) {
				return fmt.Errorf("--%s is for --hosts", flag)
			}
		}
		return nil
	}
	if q.sizes != nil || f.flags.Changed("target") {
		return fmt.Errorf("--sizes and --target are for one sender: without --hosts")
	}
	q.fabric = ecmp.Fabric{Hosts: f.hosts, HostsPerLeaf: f.perLeaf, HostBps: float64(f.hostRate), Up: q.tiers.First}
	if !f.flags.Changed("hosts-per-leaf") {
		q.fabric.HostsPerLeaf = f.links
	}
	if !f.flags.Changed("host-rate") {
		q.fabric.HostBps = max(1, q.tiers.First[0].RateBps)
	}
	if f.tiers == 2 {
		q.fabric.Core, q.fabric.LeavesPerPod = q.tiers.Second, len(q.tiers.Second)
	}
	if q.flows == 0 || q.tiers.First.Check() != nil {
		return nil // told already
	}
	return q.fabric.Check(ecmp.FabricLoad{Kinds: q.kinds, Pairs: f.pairs})
}

// parseFlows reads "900x20mbit,4".
func parseFlows(parts []string) ([]ecmp.Kind, int, error) {
	const expected = "expected a number of flows, such as 3, or of flows with what they ask for, such as 900x20mbit,4"
	if len(parts) == 0 {
		return nil, 0, fmt.Errorf("--flows: %s", expected)
	}
	var kinds []ecmp.Kind
	total := 0
	for _, part := range parts {
		number, rate, limited := strings.Cut(strings.TrimSpace(part), "x")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > ecmp.MostFlows {
			return nil, 0, fmt.Errorf("--flows %q: %s; at most %d", part, expected, ecmp.MostFlows)
		}
		kind := ecmp.Kind{Count: n}
		if limited {
			bps, err := unit.ParseBitRate(rate)
			if err == nil && bps <= 0 {
				err = fmt.Errorf("%s: expected more than 0", rate)
			}
			if err != nil {
				return nil, 0, fmt.Errorf("--flows %q: %w", part, err)
			}
			kind.Bps = float64(bps)
		}
		kinds = append(kinds, kind)
		total += n
	}
	if total > ecmp.MostFlows {
		return nil, 0, fmt.Errorf("--flows: %d together: expected at most %d", total, ecmp.MostFlows)
	}
	return kinds, total, nil
}

// policies are the values of fib_multipath_hash_policy with their names here.
var policies = []string{"l3", "l4", "inner", "custom"}

func parsePolicy(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(policies) {
		return n, nil
	}
	if n := slices.Index(policies, strings.ToLower(text)); n >= 0 {
		return n, nil
	}
	return 0, fmt.Errorf("--policy %q: expected 0 to 3, or %s%s", text, strings.Join(policies, ", "), source.DidYouMean(text, policies))
}

// parseSizes reads "pareto:1.2"; nil is that all are equal.
func parseSizes(text string) (*ecmp.Sizes, error) {
	if text == "" || text == "equal" {
		return nil, nil
	}
	law, shape, given := strings.Cut(text, ":")
	sizes := &ecmp.Sizes{Law: law}
	if given {
		var err error
		if sizes.Shape, err = strconv.ParseFloat(shape, 64); err != nil || math.IsNaN(sizes.Shape) {
			return nil, fmt.Errorf("--sizes %q: %q is not a number", text, shape)
		}
	}
	if err := sizes.Check(); err != nil {
		return nil, fmt.Errorf("--sizes %q: %w", text, err)
	}
	return sizes, nil
}
