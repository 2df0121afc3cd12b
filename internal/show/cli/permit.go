package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/control/permitted"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/lists"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/studies"
)

const trustUsage = "execute the commands of the file (linerate check lists them) without asking"

// permit returns an error unless a file's commands may be executed: those of a built-in study, and
// those that the user permits now or permitted before.
func (s streams) permit(ctx context.Context, nameOrFile string, trust bool, commands []topology.Command) error {
	if len(commands) == 0 || slices.Contains(studies.Names(), nameOrFile) {
		return nil
	}
	list, err := permitted.Load()
	if err != nil {
		if trust { // only the permission cannot be remembered
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
		return usageError(fmt.Errorf(
			"%s executes commands that have not been permitted; nothing was made\n%s\nGive --trust once: it "+
				"permits these commands now, and from then on without --trust",
			nameOrFile, commandLines(unknown)))
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

// permitRun is like permit for the commands of a run in the notebook, which may come from
// elsewhere, as a file may.
func (s streams) permitRun(ctx context.Context, saved *record.Run, trust bool) error {
	if saved.Mesh != nil {
		return s.permit(ctx, "run "+saved.ID, trust, saved.Topology.Commands())
	}
	if saved.StudyFile == "" { // it is a measurement
		return nil
	}
	plan, err := study.PlanOf(saved)
	if err != nil {
		return usageError(err)
	}
	commands := plan.Commands()
	if len(commands) > 0 {
		builtIn := builtInCommands()
		commands = slices.DeleteFunc(commands, func(c topology.Command) bool {
			return slices.ContainsFunc(builtIn, func(b topology.Command) bool {
				return b.Node == c.Node && b.Alike == c.Alike
			})
		})
	}
	return s.permit(ctx, "run "+saved.ID, trust, commands)
}

// builtInCommands returns the commands that the built-in studies execute.
func builtInCommands() (list []topology.Command) {
	for _, name := range studies.Names() {
		file, text, err := readStudy(nil, name)
		if err != nil {
			continue // then its commands are asked about
		}
		s, err := study.Parse(file, text)
		if err != nil {
			continue
		}
		if plan, err := study.NewPlan(s, study.AllParts); err == nil {
			list = append(list, plan.Commands()...)
		}
	}
	return list
}

// commandLines has one line for each command; of many, only the first ones.
func commandLines(commands []topology.Command) string {
	const most = 20
	lines := lists.Map(commands, func(c topology.Command) string { return "  " + c.Node + ": " + commandText(c) })
	return strings.Join(source.Some(lines, most), "\n")
}

// commandText returns a command as a shell reads it, on one line.
func commandText(c topology.Command) string {
	text := plain.Line(hostconfig.Command(c.Argv...))
	if c.Times > 1 {
		text += fmt.Sprintf("   (and %d more with other addresses)", c.Times-1)
	}
	return text
}
