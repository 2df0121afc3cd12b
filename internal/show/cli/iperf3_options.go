package cli

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
)

// iperf3Option describes an option of iperf3, and what corresponds to it here.
type iperf3Option struct {
	short, long string // names in iperf3; long may be empty
	// flag is linerate's flag that means the same, which also gets the short name. Empty: there is
	// none.
	flag string
	note string // the difference, or what to do instead
}

// spelled returns the option as it is typed.
func (o iperf3Option) spelled() string {
	switch {
	case o.short == "":
		return "--" + o.long
	case o.long == "":
		return "-" + o.short
	}
	return "-" + o.short + ", --" + o.long
}

// iperf3Client lists the options of an iperf3 client for measure. docs/iperf3.md contains this
// table.
var iperf3Client = []iperf3Option{
	{"c", "client", "server", ""},
	{"p", "port", "port", ""},
	{"t", "time", "duration", ""},
	{"O", "omit", "warmup", ""},
	{"i", "interval", "interval", "at least 0.1 s; 0: the whole window"},
	{"P", "parallel", "streams", ""},
	{"R", "reverse", "reverse", "`--direction read`"},
	{"", "bidir", "bidir", "`--direction both`"},
	{"u", "udp", "udp", "`--protocol udp`; without `-b` as fast as it can, where iperf3 sends 1 Mbit/s"},
	{"b", "bitrate", "rate-cap", "of each stream, as in iperf3; 0: as fast as it can; no `/BURST`"},
	{"l", "length", "datagram", "of datagrams; the size of a write to TCP depends on `--mode`"},
	{"w", "window", "window", ""},
	{"M", "set-mss", "mss", ""},
	{"N", "no-delay", "nodelay", ""},
	{"C", "congestion", "congestion-control", ""},
	{"S", "tos", "tos", "the type of service, four times `--dscp`"},
	{"", "dscp", "dscp", ""},
	{"B", "bind", "source", "an address, several, or a range"},
	{"", "cport", "source-port", ""},
	{"4", "version4", "ipv4", ""},
	{"6", "version6", "ipv6", ""},
	{"J", "json", "json", "the document is linerate's own (`linerate.measure/v2`)"},
	{"s", "server", "", "`linerate serve`"},
	{"Z", "zerocopy", "", "the default; `--copy` sends as iperf3 does without it"},
	{"", "skip-rx-copy", "", "the default; `--copy` receives as iperf3 does without it"},
	{"n", "bytes", "", "tests end by time: `--duration`"},
	{"k", "blockcount", "", "tests end by time: `--duration`"},
	{"A", "affinity", "", "`taskset -c CPU linerate measure …`"},
	{"F", "file", "", "no counterpart: linerate generates the payload"},
	{"T", "title", "", "`--name`"},
	{"f", "format", "", "no counterpart: units are chosen by size; `--json` has bit/s"},
	{"V", "verbose", "", "always on"},
	{"D", "daemon", "", "for `linerate serve`, by systemd"},
	{"", "username", "iperf3-user", ""},
	{"", "rsa-public-key-path", "iperf3-key", ""},
	{"", "fq-rate", "", "`--rate-cap`, which the kernel paces"},
	{"", "connect-timeout", "", "10 s"},
	{"", "get-server-output", "", "with `--iperf3` the server's results are shown"},
	{"", "logfile", "", "a shell's `> FILE`; progress is on standard error"},
	{"", "sctp", "", "tcp and udp only"},
	{"X", "xbind", "", "no counterpart: SCTP only"},
	{"", "nstreams", "", "no counterpart: SCTP only"},
	{"L", "flowlabel", "", "no counterpart: the kernel chooses the IPv6 flow label"},
	{"m", "mptcp", "", "no counterpart: tcp and udp only"},
	{"d", "debug", "", "no counterpart; `--json` has all that was recorded"},
	{"", "json-stream", "", "no counterpart: `--json` prints one document at the end, with the intervals"},
	{"", "timestamps", "",
		"no counterpart: intervals begin at the start of the window; `--json` has the time of the start"},
	{"", "extra-data", "", "`--name`, which the notebook keeps"},
	{"", "dont-fragment", "", "no counterpart: the kernel's path MTU discovery sets it on IPv4"},
	{"", "repeating-payload", "", "no counterpart: linerate generates the payload"},
	{"", "rcv-timeout", "", "no counterpart: a server that is silent ends the test"},
	{"", "snd-timeout", "", "no counterpart: a server that is silent ends the test"},
	{"", "cntl-ka", "", "always on"},
	{"", "pacing-timer", "", "no counterpart: the kernel paces TCP, and linerate each datagram"},
	{"", "udp-counters-64bit", "", "always on between linerates; with `--iperf3` no counterpart"},
	{"", "gsro", "", "always tried: the report has how datagrams were sent"},
	{"", "forceflush", "", "always on"},
	{"", "bind-dev", "", "no counterpart: `--source ADDRESS`"},
}

// iperf3Serving lists the options of an iperf3 server for serve.
var iperf3Serving = []iperf3Option{
	{"s", "server", "", "not needed: `linerate serve`"},
	{"p", "port", "port", "`--listen :PORT`; iperf3 clients are answered at `--iperf3`"},
	{"B", "bind", "", "`--listen ADDRESS`, with `:PORT` if it is not 5202"},
	{"1", "one-off", "", "`linerate serve` runs until Ctrl-C: `timeout 60 linerate serve`"},
	{"D", "daemon", "", "by systemd"},
	{"c", "client", "", "`linerate measure HOST`"},
	{"J", "json", "", "`linerate measure --json` at the client"},
	{"i", "interval", "", "`linerate measure --interval` at the client"},
	{"A", "affinity", "", "`taskset -c CPU linerate serve`"},
	{"V", "verbose", "", "always on: a line per test"},
	{"", "server-max-duration", "max-duration", ""},
	{"", "server-bitrate-limit", "max-rate", ""},
	{"", "rsa-private-key-path", "rsa-private-key-path", ""},
	{"", "authorized-users-path", "authorized-users-path", ""},
}

// iperf3Options lists the iperf3 options for each verb. "linerate" has those that select client or
// server.
var iperf3Options = map[string][]iperf3Option{
	"measure": iperf3Client, "serve": iperf3Serving,
	"linerate": {{"c", "client", "", "`linerate measure HOST`"}, {"s", "server", "", "`linerate serve`"}},
}

// withShorthands adds flags to another set, with the short names of iperf3.
func withShorthands(to, flags *pflag.FlagSet, options []iperf3Option) {
	to.SortFlags, flags.SortFlags = false, false
	flags.VisitAll(func(f *pflag.Flag) {
		if i := slices.IndexFunc(options, func(o iperf3Option) bool { return o.flag == f.Name }); i >= 0 &&
			f.Shorthand == "" {
			f.Shorthand = options[i].short
		}
		to.AddFlag(f)
	})
}

// iperf3Words explains what corresponds to an option of iperf3 in a verb. Empty: iperf3 has no such
// option.
func iperf3Words(verb, short, long string) string {
	for _, o := range iperf3Options[verb] {
		if (short == "" || o.short != short) && (long == "" || o.long != long) {
			continue
		}
		note := strings.ReplaceAll(o.note, "`", "")
		switch {
		case o.flag == "":
			return fmt.Sprintf("iperf3's %s; here: %s", o.spelled(), note)
		case note != "":
			note = " (" + note + ")"
		}
		return fmt.Sprintf("iperf3's %s; here: --%s%s", o.spelled(), o.flag, note)
	}
	return ""
}

// iperf3Instead returns, with a leading semicolon, what the iperf3 option of a flag corresponds to
// for another protocol. Empty: unknown.
func iperf3Instead(flag, protocol string) string {
	for _, o := range iperf3Client {
		if _, instead, _ := strings.Cut(o.note, "; "); o.flag == flag &&
			strings.Contains(instead, strings.ToUpper(protocol)) {
			return "; " + strings.ReplaceAll(instead, "`", "")
		}
	}
	return ""
}

// iperf3Table returns the table of a verb's options as Markdown.
func iperf3Table(options []iperf3Option) string {
	var b strings.Builder
	b.WriteString("| iperf3 | here | |\n|---|---|---|\n")
	for _, o := range options {
		ours := ""
		if o.flag != "" {
			ours = "`--" + o.flag + "`"
			if o.short != "" {
				ours = "`-" + o.short + "`, " + ours
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(o.spelled(), ", ", "`, `"), ours, o.note)
	}
	return b.String()
}

// iperf3Like holds flags with the names of iperf3 for which measure has other flags of the same
// meaning.
type iperf3Like struct {
	server              string
	port                int
	reverse, bidir, udp bool
	ipv4, ipv6          bool
}

func (l *iperf3Like) define(flags *pflag.FlagSet, spec *flow.Spec) {
	flags.StringVar(&l.server, "server", "", "the server, as an `ADDRESS` without the option names it")
	numberVar(flags, &l.port, 1, 65535, "port", 0,
		"the server's port, if ADDRESS or URL has none (default: 5202; with --iperf3 5201; of a URL its scheme's)")
	flags.BoolVar(&l.reverse, "reverse", false, "the same as --direction read")
	flags.BoolVar(&l.bidir, "bidir", false, "the same as --direction both")
	flags.BoolVar(&l.udp, "udp", false, "the same as --protocol udp")
	flags.BoolVar(&l.ipv4, "ipv4", false, "resolve names to IPv4 addresses")
	flags.BoolVar(&l.ipv6, "ipv6", false, "resolve names to IPv6 addresses")
	flags.Var(&value[int]{to: new(int), what: "number", parse: func(text string) (int, error) {
		tos, err := strconv.ParseUint(text, 0, 8)
		if err != nil || tos%4 != 0 {
			return 0,
				fmt.Errorf("%q: expected a type of service, 0 to 252, whose lowest two bits (ECN) are 0, such as 0x10",
					text)
		}
		spec.DSCP = new(flow.DSCP)
		*spec.DSCP = flow.DSCP(tos / 4)
		return int(tos), nil
	}}, "tos", "type of service of all packets: four times --dscp")
}

// apply sets the flags that these flags stand for. given reports whether a flag was given.
func (l *iperf3Like) apply(spec *flow.Spec, given func(string) bool) (problems []error) {
	if n := count(given("direction"), l.reverse, l.bidir); n > 1 {
		problems = append(problems, fmt.Errorf("--direction, --reverse and --bidir: expected one of them"))
	}
	switch {
	case l.reverse:
		spec.Direction = flow.Read
	case l.bidir:
		spec.Direction = flow.Both
	}
	if l.udp {
		if given("protocol") && spec.Protocol != flow.UDP {
			problems = append(problems, fmt.Errorf("-u and --protocol %s: expected one of them", spec.Protocol))
		}
		spec.Protocol = flow.UDP
	}
	if given("dscp") && given("tos") {
		problems = append(problems, fmt.Errorf("--dscp and -S: expected one of them"))
	}
	if l.ipv4 && l.ipv6 {
		problems = append(problems, fmt.Errorf("-4 and -6: expected one of them"))
	}
	return problems
}

func count(conditions ...bool) (n int) {
	return lists.Count(conditions, func(c bool) bool { return c })
}

// withServer puts the address of --server before the others, unless it is one of them.
func (l *iperf3Like) withServer(addresses []string, byDefault string) []string {
	complete := func(address string) string {
		if at, err := measure.Complete(address, byDefault); err == nil {
			return at
		}
		return address
	}
	same := func(address string) bool { return complete(address) == complete(l.server) }
	if l.server == "" || slices.ContainsFunc(addresses, same) {
		return addresses
	}
	return append([]string{l.server}, addresses...)
}

// network returns the address family to which names are resolved. Empty: either.
func (l *iperf3Like) network() string {
	return map[bool]string{l.ipv4: "ip4", l.ipv6: "ip6"}[true]
}

// locate adds the requested port to addresses, and replaces names by an address of the requested
// family.
func (l *iperf3Like) locate(ctx context.Context, addresses []string, byDefault string) (located []string, err error) {
	network := l.network()
	if l.port == 0 && network == "" {
		return addresses, nil
	}
	if l.port != 0 {
		byDefault = strconv.Itoa(l.port)
	}
	for _, text := range addresses {
		at, err := measure.Complete(text, byDefault)
		if err != nil {
			return nil, usageError(err)
		}
		host, port, _ := net.SplitHostPort(at) // the address is complete, so this cannot fail
		if network != "" {
			at, err := measure.Resolve(ctx, network, host)
			if err != nil {
				return nil, err
			}
			host = at.String()
		}
		located = append(located, net.JoinHostPort(host, port))
	}
	return located, nil
}
