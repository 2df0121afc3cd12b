package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/lab"
	"linerate/internal/control/reach"
	"linerate/internal/control/rounds"
	"linerate/internal/model/fabric"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
)

type meshFlags struct {
	hostFlags
	lab, resume, planFile string
	pattern               string
	share                 unit.Ratio
	hours                 mesh.Hours
	rounds, streams       int
	seed                  uint64
	udp, latency          bool
	duration, warmup      time.Duration
	plan, asJSON, wait    bool
	csv, expect, name     string
	noSave                bool
	topology              string
	fabric                *topology.Topology // of the file topology; nil: there is none
	all                   *pflag.FlagSet
	expected              expect.Mesh
}

func patternNames() []string {
	return lists.Map(mesh.Patterns(), func(p mesh.Pattern) string { return string(p) })
}

func (f *meshFlags) define(flags *pflag.FlagSet) {
	f.all = flags
	f.hostFlags.define(flags, "measure")
	flags.StringVar(&f.lab, "lab", "", "measure all hosts of a lab that is up, by its `name`")
	valueVar(flags, &f.pattern, oneOf(patternNames()...), "pattern", "pattern", string(mesh.Triage),
		"which pairs are tested: "+strings.Join(patternNames(), ", "))
	valueVar(flags, &f.share, unit.ParseRatio, "share", "share", "",
		"pace each test to this share of the slower interface, such as 5% (default: as fast as it can)")
	valueVar(flags, &f.hours, mesh.ParseHours, "hours", "from-to", "",
		"measure only in these hours of each day, such as 01:00-05:00")
	numberVar(flags, &f.rounds, 0, 1<<18, "rounds", 0, "how many permutations (triage), halvings or receivers there "+
		"are (default: 10, 30, all)")
	flags.BoolVar(&f.latency, "latency", false, "measure the time of requests and responses instead of goodput")
	flags.BoolVar(&f.udp, "udp", false, "measure with UDP instead of TCP")
	durationVar(flags, &f.duration, 10*time.Millisecond, "duration", unit.Duration(rounds.DefaultDuration).String(),
		"length of the window of each round")
	durationVar(flags, &f.warmup, 0, "warmup", unit.Duration(rounds.DefaultWarmup).String(),
		"traffic before each window, which is not counted")
	numberVar(flags, &f.streams, 1, 64, "streams", 1, "connections of each pair")
	flags.Uint64Var(&f.seed, "seed", 0, "order of the pairs (default: drawn)")
	flags.BoolVar(&f.plan, "plan", false, "print the plan and reach no host; with --json the document")
	flags.StringVar(&f.planFile, "plan-file", "", "measure the plan of a `file` that --plan --json has printed")
	flags.StringVar(&f.topology, "topology", "",
		"take racks and uplinks from a `study`, such as linerate discover writes, and name links that slow pairs "+
			"have in common")
	flags.StringVar(&f.expect, "expect", "",
		"a `condition` for every pair, such as 'goodput >= 90% of limit' or 'latency_p50 <= 200us'")
	valueVar(flags, &f.name, runName, "name", "string", "", "a name to find the mesh by")
	flags.StringVar(&f.csv, "csv", "", "write a row for each pair of each round to a `file`, too")
	flags.StringVar(&f.resume, "resume", "", "continue an interrupted `mesh`")
	flags.BoolVar(&f.noSave, "no-save", false, "do not keep the mesh in the notebook")
	flags.BoolVar(&f.asJSON, "json", false, "print the result document ("+record.RunSchema+") instead of the report")
	flags.BoolVar(&f.wait, "wait", false, waitUsage)
}

// protocol is that of the flows.
func (f *meshFlags) protocol() string {
	switch {
	case f.latency:
		return flow.RR
	case f.udp:
		return flow.UDP
	}
	return flow.TCP
}

// problems returns what is wrong with the flags together.
func (f *meshFlags) problems(args []string) (problems []error) {
	problem := func(text string) { problems = append(problems, errors.New(text)) }
	given := f.all.Changed
	if f.udp && f.latency {
		problem("--udp with --latency: expected one of them")
	}
	if f.latency && f.streams > 1 {
		problem("--latency with --streams: requests have one connection")
	}
	if f.noSave && (f.name != "" || f.resume != "") {
		problem("--no-save with --name or --resume: a mesh that is not kept has no name, and is not continued")
	}
	if f.resume != "" {
		for _, flag := range []string{"select", "inventory", "host", "via", "lab", "pattern", "share", "hours", "rounds",
			"topology", "latency", "udp", "duration", "warmup", "streams", "seed", "plan", "plan-file", "name"} {
			if given(flag) {
				problem("--" + flag + " with --resume: a mesh keeps what it was begun with")
			}
		}
		if len(args) > 0 {
			problem("hosts with --resume: a mesh keeps those that it was begun with")
		}
	}
	for _, flag := range []string{"pattern", "share", "hours", "rounds", "seed"} {
		if f.planFile != "" && given(flag) {
			problem("--" + flag + " with --plan-file: the file has the plan")
		}
	}
	of := metric.Goodput
	if f.latency {
		of = metric.LatencyP50
	}
	var err error
	if f.expected, err = expect.ParseMesh(f.expect, of, metric.Setup{Protocol: f.protocol()}); err != nil {
		problems = append(problems, fmt.Errorf("--expect: %w", err))
	}
	return problems
}

// hostsOf returns the hosts that are named, and what the plan has of each.
func (f *meshFlags) hostsOf(ctx context.Context, s streams, args []string) (hosts []rounds.Host, planned []mesh.Host,
	err error) {
	named := f.hostFlags
	named.hosts = slices.Concat(f.hosts, args)
	if f.lab != "" {
		if named.named() > 0 {
			return nil, nil, usageError(errors.New("--lab with other hosts: expected one of them"))
		}
		all, switches, err := lab.Hosts(f.lab)
		if err != nil {
			return nil, nil, usageError(err)
		}
		for _, name := range all {
			if !slices.Contains(switches, name) {
				hosts = append(hosts, rounds.Host{Host: reach.Host{Name: name, Called: name, Lab: f.lab}})
				planned = append(planned, mesh.Host{Name: name})
			}
		}
		return hosts, planned, nil
	}
	if named.named() == 0 {
		named.from.chosen = []string{"all"}
	}
	selected, err := named.selected(ctx, s)
	for _, h := range selected {
		one := rounds.Host{Host: reach.Host{Name: h.Name, Called: h.Name, Via: h.Via}}
		if len(h.Addresses) > 0 {
			one.Address = h.Addresses[0]
		}
		hosts = append(hosts, one)
		planned = append(planned, mesh.Host{Name: h.Name, Rack: h.Rack, Machine: h.Machine, RateBps: h.RateBps})
	}
	return hosts, planned, err
}

// planOf makes the plan, or reads that of --plan-file, whose hosts are then those that are measured.
func (f *meshFlags) planOf(hosts []rounds.Host, planned []mesh.Host) (*mesh.Plan, []rounds.Host, error) {
	defer computing()()
	if f.planFile == "" {
		var uplinks map[string]float64
		if f.fabric != nil {
			uplinks = fabric.Place(f.fabric, planned)
		}
		seed := cmp.Or(f.seed, rand.Uint64N(1e6)+1) // short enough to be typed again
		plan, err := mesh.Make(mesh.Options{Hosts: planned, Pattern: mesh.Pattern(f.pattern), Rounds: f.rounds,
			Seed: seed, Share: float64(f.share), Hours: f.hours, Uplinks: uplinks})
		if err != nil {
			return nil, nil, usageError(err)
		}
		return plan, hosts, nil
	}
	text, err := readFile(f.planFile)
	if err != nil {
		return nil, nil, usageError(err)
	}
	plan, err := mesh.Parse(text)
	if err != nil {
		return nil, nil, usageError(fmt.Errorf("--plan-file %s: %w", f.planFile, err))
	}
	var list []rounds.Host
	for _, h := range plan.Hosts {
		i := slices.IndexFunc(hosts, func(one rounds.Host) bool { return one.Name == h.Name })
		if i < 0 {
			return nil, nil, usageError(fmt.Errorf(
				"--plan-file %s: host %s of the plan is not among those that are named", f.planFile, h.Name))
		}
		list = append(list, hosts[i])
	}
	return plan, list, nil
}

// options returns the options of a new mesh, whose plan has the seed.
func (f *meshFlags) options(args []string, seed uint64) rounds.Options {
	flows := flow.Spec{Protocol: f.protocol()}.Fitted()
	flows.Direction, flows.Streams = "", f.streams
	words := []string{"linerate mesh"}
	for _, a := range args {
		words = append(words, quote(a))
	}
	var given []string
	f.all.Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"name", "csv", "no-save", "json", "quiet", "wait", "expect"}, flag.Name) {
			given = append(given, flag.Name)
		}
	})
	words = append(words, spelled(f.all, given...)...)
	if f.planFile == "" && !f.all.Changed("seed") {
		words = append(words, "--seed "+strconv.FormatUint(seed, 10))
	}
	return rounds.Options{Duration: f.duration, Warmup: f.warmup, Flows: flows, RunName: f.name, Fabric: f.fabric,
		Again: strings.Join(words, " ")}
}
