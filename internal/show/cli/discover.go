package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/reach"
	"linerate/internal/control/snmp"
	"linerate/internal/model/fabric"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/discover"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
)

// mostLLDP is the longest time to listen for LLDP; switches send it every 30 s.
const mostLLDP = 2 * time.Minute

type discoverFlags struct {
	hostFlags
	lab      string
	switches []string
	device   topology.SNMP
	listen   time.Duration
	out      string
	force    bool
	twin     bool
	asJSON   bool
}

func newDiscoverCommand(s streams) *cobra.Command {
	var f discoverFlags
	cmd := &cobra.Command{
		Use:   "discover [HOST…]",
		Short: "Find the switches and links between hosts, and write them as a study",
		Long: `Find the fabric behind hosts: which port of which switch each is connected to,
how switches are connected to each other, and how fast each link is. It is printed,
or written as a study that check accepts, run runs and people can correct.

Hosts are read by linerate's agent, started by ssh or by another command: addresses,
routes, neighbour tables, bonds, VLANs, and LLDP neighbours by lldpd. Where no
lldpd knows any, LLDP frames are received for up to 31 s, as root. Nothing is
changed, and nothing is sent but ARP requests.

A switch that --switch names is asked by SNMP for its ports, LLDP neighbours and
forwarding table. Of others only the ports of hosts are known. What is not known is
named, with what would tell; where it is needed, a switch stands for it.

With --twin the study has hosts that linerate makes, in place of the real ones.
Switches with several paths between them, or that route, are then routers with BGP.`,
		Example: `  linerate discover root@nas root@web1 root@web2
  linerate discover h{1..8} --switch 192.0.2.9 --credentials sw.snmp -o fabric.yaml
  linerate discover --inventory hosts.yaml --select 'dc1:!drained' -o fabric.yaml
  linerate discover --lab lab --twin -o twin.yaml && linerate run twin.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hosts = append(args, f.hosts...)
			hosts, err := f.list(cmd.Context(), s)
			if err := errors.Join(append(mistakes(cmd.Flags()), err, f.check(cmd.Flags()))...); err != nil {
				return usageError(err)
			}
			return f.discover(cmd.Context(), s, hosts)
		},
	}
	flags := cmd.Flags()
	f.define(flags, "also look at")
	flags.StringVar(&f.lab, "lab", "", "the hosts and switches of the lab with this `name` that is up")
	flags.StringArrayVar(&f.switches, "switch", nil,
		"`address` of a switch's SNMP agent, with :PORT if that is not 161 (may be repeated)")
	flags.StringVar(&f.device.Credentials, "credentials", "",
		"`file` with the community of the switches, or the user of SNMPv3")
	flags.StringVar(&f.device.Version, "snmp-version", "2c", "version of SNMP: 2c or 3")
	durationVar(flags, &f.listen, 0, "lldp", "31s",
		"receive LLDP frames for so long where no lldpd knows neighbours; 0s: not at all")
	flags.StringVarP(&f.out, "out", "o", "", "write a study to a `file`; -: to standard output")
	flags.BoolVar(&f.force, "force", false, "replace a file that exists")
	flags.BoolVar(&f.twin, "twin", false, "write a lab in place of the real hosts")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON ("+fabric.Schema+")")
	return cmd
}

func (f *discoverFlags) check(flags *pflag.FlagSet) error {
	var problems []error
	for _, address := range f.switches {
		if _, _, ok := (&topology.SNMP{Address: address}).Endpoint(); !ok {
			problems = append(problems,
				fmt.Errorf("--switch %.60q: expected an address or a name, with :PORT if that is not 161", address))
		}
	}
	switch {
	case len(f.switches) == 0 && (flags.Changed("credentials") || flags.Changed("snmp-version")):
		problems = append(problems,
			errors.New("--credentials, --snmp-version: expected --switch, the address of a switch"))
	case len(f.switches) > 0 && f.device.Credentials == "":
		problems = append(problems,
			errors.New("expected --credentials, a file with the community, or with the user of SNMPv3"))
	}
	if f.device.Version != "2c" && f.device.Version != "3" {
		problems = append(problems, fmt.Errorf("--snmp-version %.20q: expected 2c or 3", f.device.Version))
	}
	if f.listen < 0 || f.listen > mostLLDP {
		problems = append(problems, fmt.Errorf("--lldp %s: expected 0 to %s", f.listen, mostLLDP))
	}
	if f.asJSON && (f.out == "-" || f.out == "" && f.twin) {
		problems = append(problems,
			errors.New("--json: expected with it -o FILE for the study, or neither -o nor --twin"))
	}
	return errors.Join(problems...)
}

// list returns the hosts that are named.
func (f *discoverFlags) list(ctx context.Context, s streams) ([]reach.Host, error) {
	list, err := f.remotes(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(list) < 2 && f.lab == "" {
		return nil, errors.New("expected at least two hosts, or --lab: there are links between hosts")
	}
	return list, nil
}

// via returns the command that reaches a host, as a study has it.
func via(h reach.Host) []string {
	if h.Lab != "" {
		return []string{"linerate", "lab", "exec", "--lab", h.Lab, h.Name, "--"}
	}
	return h.Via
}

func (f *discoverFlags) discover(ctx context.Context, s streams, hosts []reach.Host) error {
	if f.out != "" && f.out != "-" {
		if err := absent(f.out, "file", f.force); err != nil {
			return err
		}
	}
	if f.lab != "" {
		up, err := hostsOfLab(f.lab)
		if err != nil {
			return err
		}
		hosts = append(hosts, up...)
	}
	devices, err := f.survey(ctx)
	if err != nil {
		return err
	}
	if f.listen > 0 {
		say(s.hints(), "linerate: reading %s; where no lldpd runs, LLDP is received for up to %s\n",
			unit.Plural(len(hosts), "host"), f.listen)
	}
	nodes, lost := f.read(ctx, hosts)
	if len(nodes) < 2 {
		return lost
	}
	if lost != nil { // the others have links nevertheless
		say(s.err, "linerate: %v\n", lost)
	}
	found, err := discover.Fabric(nodes, devices)
	if err != nil {
		return err
	}
	if err := f.write(s, found); err != nil || f.out == "-" {
		return err
	}
	return s.answer(f.asJSON, found, asText(shownFabric(found)))
}

// survey asks the switches, all at the same time.
func (f *discoverFlags) survey(ctx context.Context) ([]fabric.Device, error) {
	if len(f.switches) == 0 {
		return nil, nil
	}
	credentials, err := snmp.ReadCredentials(f.device.Credentials, f.device.Version)
	if err != nil {
		return nil, err
	}
	list, errs := make([]fabric.Device, len(f.switches)), make([]error, len(f.switches))
	var asking sync.WaitGroup
	for i, address := range f.switches {
		asking.Go(func() {
			at := f.device
			at.Address = address
			list[i], errs[i] = snmp.Survey(ctx, &at, credentials)
		})
	}
	asking.Wait()
	return list, errors.Join(errs...)
}

// read takes a snapshot of each host, of all at the same time. The error says why some are missing.
func (f *discoverFlags) read(ctx context.Context, hosts []reach.Host) (nodes []discover.Node, err error) {
	h, lost := reach.Open(ctx, hosts, reach.Read, reach.Options{Self: self})
	if h == nil {
		return nil, lost
	}
	defer h.Close()
	within := f.listen + reachTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s: %w", within,
		context.DeadlineExceeded))
	defer cancel()
	list := h.List()
	taken, errs := make([]netstate.HostSnapshot, len(list)), make([]error, len(list))
	var asking sync.WaitGroup
	for i, one := range list {
		asking.Go(func() {
			taken[i], errs[i] = reach.Call(ctx, one, message.Snapshot, message.SnapshotRequest{Name: one.Called,
				LLDPNs: int64(f.listen)})
			if errs[i] == nil {
				errs[i] = taken[i].Check()
			}
		})
	}
	asking.Wait()
	for i, one := range list {
		if errs[i] == nil {
			nodes = append(nodes, discover.Node{Name: one.Name, Via: via(one.Host), Snapshot: taken[i]})
		}
	}
	return nodes, errors.Join(append([]error{lost}, errs...)...)
}

// write writes the study.
func (f *discoverFlags) write(s streams, found fabric.Fabric) error {
	if f.out == "" && !f.twin {
		return nil
	}
	of := found.Topology
	if f.twin {
		of = found.Twin
	}
	question, err := discover.Question(of)
	if err != nil {
		return err
	}
	text, err := question.Text()
	if err != nil {
		return fmt.Errorf("the study of what was found: %w", err)
	}
	return s.writeStudy(cmp.Or(f.out, "-"), append(comments(found, f.twin), text...), f.force)
}

// comments are those at the head of a study: what is not known.
func comments(found fabric.Fabric, twin bool) []byte {
	var b strings.Builder
	b.WriteString("# What linerate discover found")
	if twin {
		b.WriteString(", as a lab")
	}
	b.WriteString(".\n")
	if len(found.Unknown) > 0 {
		b.WriteString("#\n# Not known, and what would tell:\n")
	}
	for _, u := range found.Unknown {
		fmt.Fprintf(&b, "# - %s: %s\n", u.What, u.Tell)
	}
	return []byte(b.String())
}

// shownFabric is a fabric for people.
func shownFabric(found fabric.Fabric) document.Document {
	hosts := &document.Table{Columns: []document.Column{{Head: "host"}, {Head: "rack"}}}
	for _, h := range found.Hosts {
		rack := h.Rack
		if h.Router {
			rack = strings.TrimSpace(rack + " (router)")
		}
		hosts.Add(h.Name, rack)
	}
	links := &document.Table{Columns: []document.Column{{Head: "link"}, {Head: ""}, {Head: "rate",
		Align: document.Right},
		{Head: "known by"}}}
	for _, l := range found.Links {
		rate := "unknown"
		if slow := math.Min(l.RateBps, l.BackBps); slow > 0 {
			rate = number.LinkRate(slow)
		}
		links.Add(l.From.String(), l.To.String(), rate, l.Source)
	}
	blocks := document.Tables(hosts, links)
	if len(found.Unknown) > 0 {
		unknown := &document.Table{Columns: []document.Column{{Head: "not known", Wrap: true}, {Head: "what would tell",
			Wrap: true}}}
		for _, u := range found.Unknown {
			unknown.Add(u.What, u.Tell)
		}
		blocks = append(blocks, document.Tables(unknown)...)
	}
	return document.Document{Summary: [][]document.Block{blocks}}
}
