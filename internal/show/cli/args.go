package cli

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// The checks of arguments differ from cobra's own in that they count as bad
// usage: exit status 2, with the verb's usage line.

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(fmt.Errorf("unexpected argument %q; usage: %s", args[0], cmd.UseLine()))
	}
	return nil
}

func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError(fmt.Errorf("%d arguments, expected %d; usage: %s", len(args), n, cmd.UseLine()))
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
		f := flags.Lookup(missing.GetFlag().Name)
		_, usage := pflag.UnquoteUsage(f)
		return usageError(fmt.Errorf("--%s needs a value: %s", f.Name, usage))
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
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
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := source.Nearest(name, names); near != "" {
		return fmt.Errorf("unknown flag: %s; did you mean --%s?", said, near)
	}
	return fmt.Errorf("unknown flag: %s; %s --help lists them", said, cmd.CommandPath())
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
	return usageError(fmt.Errorf("no verb %q%s (linerate --help lists them)", args[0], source.DidYouMean(args[0], verbs)))
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

// inUse says which port to listen on instead, where another program has this one.
func inUse(err error, address, flag string) error {
	host, text, _ := net.SplitHostPort(address)
	port, wrong := strconv.Atoi(text)
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
