package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/host/iperf3"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// The checks of arguments differ from cobra's own in that they count as bad
// usage: exit status 2, with the verb's usage line.

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrongArguments(cmd, fmt.Errorf("unexpected argument %q; usage: %s", args[0], cmd.UseLine()))
	}
	return nil
}

// wrongArguments is what is wrong with values of flags, or else the error: a flag that took
// the next one for its value leaves that one's value among the arguments.
func wrongArguments(cmd *cobra.Command, err error) error {
	if wrong := mistakes(cmd.Flags()); len(wrong) > 0 {
		err = errors.Join(wrong...)
	}
	return usageError(err)
}

func exactArgs(n int) cobra.PositionalArgs { return rangeArgs(n, n) }

func rangeArgs(least, most int) cobra.PositionalArgs {
	expected := strconv.Itoa(least)
	if most > least {
		expected += " or " + strconv.Itoa(most)
	}
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return wrongArguments(cmd, fmt.Errorf("%s, expected %s; usage: %s", unit.Plural(len(args), "argument"), expected, cmd.UseLine()))
		}
		return nil
	}
}

func minimumArgs(n int, expected string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return usageError(errors.New(expected))
		}
		return nil
	}
}

// flagError says what is wrong with a flag: the one that was probably meant, what iperf3's
// is here, or which values there are, instead of what the parser stumbled over.
func flagError(cmd *cobra.Command, err error) error {
	flags := cmd.Flags()
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		return usageError(unknownFlag(cmd, unknown))
	}
	if missing, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		return usageError(needsValue(flags, missing.GetFlag(), ""))
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		if err := swallowed(flags, wrong.GetFlag(), wrong.GetValue()); err != nil {
			return usageError(err)
		}
		expected := map[string]string{
			"int": "a whole number", "uint64": "a whole number of at least 0", "float64": "a number", "bool": "true or false",
			"stringSlice": "values with commas between, a quoted one whole in quotes",
		}[wrong.GetFlag().Value.Type()]
		if expected != "" {
			return usageError(fmt.Errorf("--%s %.60q: expected %s", wrong.GetFlag().Name, wrong.GetValue(), expected))
		}
	}
	return usageError(err)
}

// unknownFlag names the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, short := unknown.GetSpecifiedName(), ""
	said := "--" + name
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		short, name = name, ""
		said = "-" + short
		if len(letters) > 1 {
			said += " in -" + letters
		}
	}
	if words := iperf3Words(cmd.Name(), short, name); words != "" {
		return fmt.Errorf("unknown flag: %s; it is %s", said, words)
	}
	if here := equivalents[cmd.Name()][cmp.Or(name, short)]; here != "" {
		return fmt.Errorf("unknown flag: %s; here: %s", said, here)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	elsewhere := slices.Sorted(maps.Keys(equivalents[cmd.Name()]))
	for _, o := range iperf3Options[cmd.Name()] {
		elsewhere = append(elsewhere, o.long)
	}
	switch near := source.Nearest(name, slices.Concat(names, elsewhere)); {
	case slices.Contains(names, near):
		return fmt.Errorf("unknown flag: %s; did you mean --%s?", said, near)
	case near != "":
		here := "Here: " + equivalents[cmd.Name()][near]
		if words := iperf3Words(cmd.Name(), "", near); words != "" {
			here = "It is " + words
		}
		return fmt.Errorf("unknown flag: %s; did you mean --%s? %s", said, near, here)
	}
	return fmt.Errorf("unknown flag: %s; %s --help lists them", said, cmd.CommandPath())
}

// equivalents are flags that other verbs, or programs, have for what a verb has by another
// name; measure and serve have those of iperf3.
var equivalents = map[string]map[string]string{
	"goodput": {
		"4": "--family ipv4", "ipv4": "--family ipv4", "6": "--family ipv6", "ipv6": "--family ipv6",
		"u": "--protocol udp", "udp": "--protocol udp", "l": "--datagram", "length": "--datagram", "M": "--mss", "set-mss": "--mss",
		"b": "--rate", "bitrate": "--rate", "bandwidth": "--rate", "m": "--mtu", "J": "--json",
	},
	"bdp": {
		"b": "--rate", "bitrate": "--rate", "bandwidth": "--rate", "delay": "--rtt, twice the delay", "latency": "--rtt",
		"w": "--window", "M": "--mss", "set-mss": "--mss", "J": "--json",
	},
	"ecmp":    {"P": "--flows", "parallel": "--flows", "streams": "--flows", "paths": "--links", "bandwidth": "--rate", "J": "--json"},
	"measure": {"flows": "--streams"},
	"run": {
		"blocks": "--replicates", "repeats": "--replicates", "trials": "--replicates", "n": "--replicates", "o": "--out", "dir": "--out",
		"duration": "--set workload.duration=", "t": "--set workload.duration=", "dry-run": "linerate check", "J": "--json",
	},
	"check":   {"blocks": "--replicates", "repeats": "--replicates", "trials": "--replicates", "n": "--replicates", "duration": "--set workload.duration=", "t": "--set workload.duration=", "J": "--json"},
	"report":  {"csv": "linerate export RUN --csv", "svg": "linerate plot RUN -o FILE", "o": "--html FILE or --out DIR", "J": "--json"},
	"plot":    {"format": "the ending of -o, .svg or .png"},
	"export":  {"format": "--csv, or --trials", "output": "--out", "json": "linerate report RUN --json"},
	"runs":    {"n": "--last", "limit": "--last", "search": "--grep", "J": "--json"},
	"compare": {"J": "--json"},
}

// knownVerb is asked about arguments that no verb took: none is right.
func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			verbs = append(verbs, verb.Name())
		}
	}
	return usageError(fmt.Errorf("no verb %q%s (%s --help lists them)", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "linerate "), source.DidYouMean(args[0], verbs), cmd.CommandPath()))
}

// places writes out the ranges of an argument that names addresses: with braces as
// in study files, which make every combination, and with a dash as for aliases.
func places(text string) (all []string, err error) {
	if strings.Contains(text, "%d") {
		return nil, fmt.Errorf("a template is written as a range here: %s or, of addresses, 192.168.2.1-254",
			strings.Replace(text, "%d", "{1..254}", 1))
	}
	texts, err := source.Texts(text)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		some, err := topology.Places(text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// portWords are what a client has to add to reach a port that is not the default one.
func portWords(port int, byDefault, format string) string {
	if fmt.Sprint(port) == byDefault {
		return ""
	}
	return fmt.Sprintf(format, port)
}

// listenAt completes what a server listens at: a port, an address, or both.
func listenAt(text, byDefault string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if _, number := strconv.Atoi(text); err != nil && number == nil {
		host, port = "", text
	} else if err != nil {
		at, err := measure.Complete(text, byDefault)
		if err != nil {
			return "", fmt.Errorf("%q: expected a port such as :%s, an address, or both as ADDRESS:PORT", text, byDefault)
		}
		return at, nil
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", fmt.Errorf("%q: port %q: expected 0 to 65535, or a name of /etc/services", text, port)
	}
	return net.JoinHostPort(host, port), nil
}

// cannotListen says why an address and port cannot be listened on, and which can instead.
func cannotListen(err error, address, flag string) error {
	host, text, _ := net.SplitHostPort(address)
	port, wrong := strconv.Atoi(text)
	if errors.Is(err, syscall.EACCES) && wrong == nil && port < 1024 {
		free := measure.DefaultPort
		if flag == "--iperf3" {
			free = iperf3.DefaultPort
		}
		return fmt.Errorf("port %s: permission denied: ports below net.ipv4.ip_unprivileged_port_start (by default 1024) need root or CAP_NET_BIND_SERVICE; another port: %s %s",
			text, flag, net.JoinHostPort(host, free))
	}
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("%s %s: no interface of this host has the address %s (ip address lists them)", flag, address, host)
	}
	if !errors.Is(err, syscall.EADDRINUSE) || wrong != nil {
		return err
	}
	if port++; fmt.Sprint(port) == measure.DefaultPort {
		port++
	}
	return fmt.Errorf("port %s is in use by another program (ss -lntup names it); another port: %s %s", text, flag, net.JoinHostPort(host, strconv.Itoa(port)))
}

// quote protects a word from the shell where it needs it.
func quote(word string) string { return hostconfig.Quote(word) }
