package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/reach"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/show/answer"
	"linerate/internal/show/present"
	"linerate/internal/show/wording"
)

type doctorFlags struct {
	hostFlags
	over      time.Duration
	overGiven float64 // seconds; 0: the flag is not given
	failOn    string
	plain     bool
	commands  bool
	all       bool
	list      bool
	explain   string
	asJSON    bool
	accepting acceptFlags
	probing   probeFlags
}

var confidences = []string{record.Certain, record.Likely, record.Possible}

func newDoctorCommand(s streams) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [FILE…]",
		Short: "Find causes of a slow or broken network on a host, with evidence and fix",
		Long: `Find causes of a slow or broken network on hosts, each with its evidence and
what removes it. Nothing is changed.

Without an argument this host is looked at. A file tells by its content what it
is: what linerate snapshot has written, an archive of sos report or supportconfig
(.tar, .tar.xz, .tgz, .zip, …), a directory of such files or of outputs of tools,
or a text with what tools print ("-": standard input). With --host or --via
linerate's agent is started on the host by ssh or by another command. A host that
is not reached is named, and the others are looked at; the exit status is 1 then.
Several hosts are also compared with each other: addresses, MTUs, prefix lengths,
ARP entries.

Counters are read twice, --over apart: what grew is what goes on now. What was
counted before, since the boot, is possible at most. A cause and what follows
from it are one entry.

In between the kernel's reasons for dropped packets are counted, where the kernel
and the privileges allow it (kfree_skb: Linux 5.17, CAP_BPF and CAP_PERFMON).

A text has what tools print, of one or more machines: arp -n or arp -a, ip neigh,
addr, -s link, route and rule, bridge fdb, ss (-tin, -ltn, -uanm, -s), ethtool
without option and with -S, -i, -g, -l, -k, -c and -a, tc -s qdisc, nstat -az or
netstat -s, ifconfig, sysctl, dmesg, /proc/net/softnet_stat, and switches' tables
of MAC addresses. Leave the commands in the text: some of them do not print what
they are of. Shell prompts, heads and empty lines tell machines apart; lines that
are not understood are listed. Only the rules that such a text has enough for are
evaluated. If a command is there twice with the time (date, sleep 10, a prompt with
the time), what grew in between is what goes on; --over is the time if the text
does not have it.

With --plain the hosts of --host and --via, or this one, are read by such tools
instead of by linerate, which need not be there: one shell script, sent to sh over
the same connection. It reads the counters once. --plain-commands prints it, for
a person to run and to paste what it prints.

With --probe the host that is looked at, or each of --host and --via, sends some
tens of packets to a peer within 20 s, and says which: ARP and ICMP echo requests of several sizes, TCP connections to --port
(refused is an answer), and DNS queries for the peer's name to each name server.

What you know of and leave as it is: --accept RULE --until DATE --because TEXT,
on every host or on those of --host, by the names that findings have. Such
findings, and those that say the same under another name, are listed apart, do
not count for --fail-on, and are findings again after the date. The list is in
the notebook's directory.

Exit status: 0 nothing was found that is at least as sure as --fail-on; 1 failed;
2 bad usage or input; 3 something was found; 130 interrupted.`,
		Example: `  linerate doctor
  linerate doctor --over 10s --host root@nas --host root@client
  linerate doctor nas.json client.json
  linerate doctor --probe nas --port 445
  linerate doctor sosreport-nas-2026-11-29-x.tar.xz client.txt
  ssh nas 'ip -s link; ss -tin' | linerate doctor -
  linerate doctor --host root@nas --plain
  linerate doctor --explain wrong-neighbour
  linerate doctor --accept clock-unsynchronised --until 2027-01-31 \
      --because 'a lab'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(slices.Concat(mistakes(cmd.Flags()), f.accepting.check(cmd.Flags(), args),
				f.probing.check(cmd.Flags(), len(args) > 0 && f.named() == 0))...); err != nil {
				return usageError(err)
			}
			if err := f.checkPlain(cmd.Flags(), args); err != nil {
				return usageError(err)
			}
			switch {
			case f.commands:
				_, err := io.WriteString(s.out, reach.PlainScript)
				return err
			case f.accepting.given():
				return f.accepting.run(s, f.hosts, f.asJSON)
			case f.explain != "":
				return f.explained(s)
			case f.list:
				return s.answer(f.asJSON, ruleList{"linerate.rules/v1", wording.Rules()},
					asText(present.Rules(wording.Rules())))
			}
			if cmd.Flags().Changed("over") {
				f.overGiven = f.over.Seconds()
			}
			// lost is why some hosts have no snapshot.
			in, lost := f.read(cmd.Context(), s, args)
			if lost != nil && (len(in.snapshots) == 0 || cmd.Context().Err() != nil) {
				return lost
			}
			err := f.evaluate(s, in)
			if _, found := errors.AsType[statusError](err); found && lost != nil {
				return lost
			}
			return errors.Join(err, lost)
		},
	}
	flags := cmd.Flags()
	durationVar(flags, &f.over, 0, "over", "3s",
		"time between the two readings of the counters; 0s: one reading, since boot")
	f.hostFlags.define(flags, "look at")
	defineInstall(flags, &f.install)
	valueVar(flags, &f.failOn, oneOf(confidences...), "fail-on", "confidence", record.Likely,
		"exit with 3 for findings that are at least so sure: certain, likely, possible")
	flags.BoolVar(&f.plain, "plain", false,
		"read hosts that do not have linerate, with ip, ss, tc, ethtool, sysctl and dmesg")
	flags.BoolVar(&f.commands, "plain-commands", false, "print the script that --plain sends to hosts")
	flags.BoolVar(&f.all, "all", false, "show each finding that follows from another in full, and all drops")
	flags.BoolVar(&f.list, "list", false, "list the rules")
	flags.StringVar(&f.explain, "explain", "", "say what a `rule` goes by")
	f.probing.define(flags)
	f.accepting.define(flags)
	flags.BoolVar(&f.asJSON, "json", false,
		"print JSON (linerate.doctor/v1; with --list linerate.rules/v1, with --explain linerate.rule/v1)")
	return cmd
}

type ruleList struct {
	Schema string             `json:"schema"`
	Rules  []rule.Description `json:"rules"`
}

type explainedRule struct {
	Schema string `json:"schema"`
	rule.Description
}

func (f doctorFlags) explained(s streams) error {
	if err := knownRule("--explain", f.explain); err != nil {
		return usageError(err)
	}
	rules := wording.Rules()
	i := slices.IndexFunc(rules, func(r rule.Description) bool { return r.ID == f.explain })
	return s.answer(f.asJSON, explainedRule{"linerate.rule/v1", rules[i]}, asText(present.Rule(rules[i])))
}

func (f doctorFlags) evaluate(s streams, in inputs) error {
	defer computing()()
	e := diagnose.Hosts(in.snapshots)
	text := in.text
	e.Lines, e.Idle, e.Lost, e.NotUnderstood = text.Lines, text.Idle, text.Lost, text.NotUnderstood
	e.Untimed = text.Untimed
	for _, f := range text.Formats {
		e.Texts = append(e.Texts, record.TextFormat{Format: f.Format, Used: f.Used, Idle: f.Idle})
	}
	if len(in.sources) > 1 || len(in.sources) == 1 && len(in.text.Formats) > 0 {
		e.Sources = in.sources
	}
	for _, s := range in.snapshots {
		e.Probes = append(e.Probes, s.State.Probes...)
		for _, why := range s.State.LeftOut() {
			e.NotUnderstood = append(e.NotUnderstood, s.Reading.Host+": "+why)
		}
	}
	e = wording.Evaluation(e)
	if err := applyAccepted(s.err, &e); err != nil {
		return err
	}
	e.Answer = answer.Doctor(e)
	if err := s.answer(f.asJSON, e, asText(present.Doctor(e, f.all))); err != nil {
		return err
	}
	if len(e.Evaluated) == 0 {
		return statusError{ExitUsage, nil}
	}
	if slices.ContainsFunc(e.Findings, func(found record.Finding) bool {
		return slices.Index(confidences, found.Confidence) <= slices.Index(confidences, f.failOn)
	}) {
		return statusError{ExitDoubt, nil}
	}
	return nil
}

// checkPlain returns an error for flags that say nothing about hosts that are read by their own tools.
func (f doctorFlags) checkPlain(flags *pflag.FlagSet, files []string) error {
	if !f.plain {
		return nil
	}
	for _, name := range []string{"over", "probe"} {
		if flags.Changed(name) {
			return fmt.Errorf("--%s: expected without --plain, which reads what the tools of a host print, once", name)
		}
	}
	if len(files) > 0 {
		return errors.New("files: expected without --plain, which reads hosts")
	}
	return nil
}

// plainly reads the hosts, or else this one, with their own tools.
func (f doctorFlags) plainly(ctx context.Context, s streams) (in inputs, err error) {
	hosts, err := f.remotes(ctx, s)
	if err != nil {
		return in, err
	}
	if len(hosts) == 0 {
		hosts = []reach.Host{{Here: true}}
	}
	in.snapshots, in.text, err = plainOf(ctx, s, hosts)
	in.snapshots = named(in.snapshots)
	return in, err
}

// read reads files and hosts, all hosts at the same time. Without either it reads this host. If some
// hosts cannot be reached, it returns the snapshots of the others and an error that says why.
func (f doctorFlags) read(ctx context.Context, s streams, files []string) (in inputs, err error) {
	if f.plain {
		return f.plainly(ctx, s)
	}
	if in, err = readInputs(ctx, s, files, f.overGiven); err != nil {
		return in, usageError(err)
	}
	hosts, err := f.remotes(ctx, s)
	if err != nil {
		return in, err
	}
	f.probing.say(s)
	if len(files)+len(hosts) == 0 {
		hosts = []reach.Host{{Here: true}}
		if f.over > 0 {
			say(s.hints(), "linerate: reading this host for %s\n", f.over)
		}
	}
	taken, err := snapshotsOf(ctx, hosts, message.SnapshotRequest{OverNs: int64(f.over)}, f.probing)
	in.snapshots = named(append(in.snapshots, taken...))
	return in, err
}
