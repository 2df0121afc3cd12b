package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"linerate/internal/control/notebook"
	"linerate/internal/control/permitted"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/plain"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/studies"
)

const trustUsage = "execute the commands of the file (linerate check lists them) without asking"

// permit returns an error unless a file's commands may be executed: those of a built-in
// study may, and those that the user has permitted, now or before.
func (s streams) permit(ctx context.Context, nameOrFile string, trust bool, commands []topology.Command) error {
	if len(commands) == 0 || slices.Contains(studies.Names(), nameOrFile) {
		return nil
	}
	path, err := notebook.Path(os.Getenv)
	var list *permitted.List
	if err == nil {
		list, err = permitted.Beside(path)
	}
	if err != nil {
		if trust { // it can only not be remembered
			return nil
		}
		return usageError(err)
	}
	unknown := list.Without(commands)
	switch {
	case len(unknown) == 0:
		return nil
	case trust:
	case nameOrFile == "-" || !s.asks():
		return usageError(fmt.Errorf("%s executes commands that have not been permitted; nothing was made\n%s\nThey are executed with --trust, once and from then on", nameOrFile, commandLines(unknown)))
	default:
		say(s.err, "%s executes commands that have not been permitted:\n%s\n", nameOrFile, commandLines(unknown))
		switch yes, err := s.confirm(ctx, "Execute them, now and from now on?"); {
		case err != nil:
			return err
		case !yes:
			return usageError(errors.New("not permitted; nothing was made"))
		}
	}
	err = list.Add(unknown)
	if trust && err != nil {
		say(s.err, "linerate: %v\n", err)
		return nil
	}
	return err
}

// commandLines has a line for each command, of many for the first ones.
func commandLines(commands []topology.Command) string {
	const most = 20
	var lines []string
	for _, c := range commands {
		lines = append(lines, "  "+c.Node+": "+commandText(c))
	}
	return strings.Join(source.Some(lines, most), "\n")
}

// commandText is a command as a shell reads it, in one line.
func commandText(c topology.Command) string {
	text := plain.Line(hostconfig.Command(c.Argv...))
	if c.Times > 1 {
		text += fmt.Sprintf("   (and %d more with other addresses)", c.Times-1)
	}
	return text
}
