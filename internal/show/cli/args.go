package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/model/source"
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
