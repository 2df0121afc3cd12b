package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// flagError adds the flag that was probably meant to an error about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := source.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return usageError(err)
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
