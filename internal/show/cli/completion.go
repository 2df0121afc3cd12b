package cli

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/lab"
	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/show/export"
	"linerate/internal/show/words"
	"linerate/studies"
)

// A shell's completion is asked for at each press of a key: it gives up after
// completionTime, offers at most mostCompletions, and says nothing of errors.
const (
	completionTime  = time.Second
	mostCompletions = 100
)

// completer lists what may be typed for a flag or an argument.
type completer func(cmd *cobra.Command, args []string, typed string) []string

const (
	filesToo = cobra.ShellCompDirectiveDefault
	alone    = cobra.ShellCompDirectiveNoFileComp
	goesOn   = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
)

// completed is how the arguments of verbs, by path, and the flags of any verb, by name, are
// completed. The arguments of flows' options follow from package flow.
var completed = map[string]struct {
	list completer
	then cobra.ShellCompDirective
}{
	"run":     {studyNames, filesToo},
	"check":   {studyNames, filesToo},
	"show":    {studyNames, alone},
	"lab up":  {studyNames, filesToo},
	"tune":    {func(*cobra.Command, []string, string) []string { return studies.ListNames() }, filesToo},
	"report":  {oneRun, alone},
	"plot":    {oneRun, alone},
	"export":  {oneRun, alone},
	"compare": {runNames, alone},
	"note":    {oneRun, alone},
	"fix":     {oneRun, alone},
	"runs rm": {runNames, alone},

	"lab exec":  {labHosts, filesToo},
	"lab shell": {labHosts, alone},

	"--resume":    {runNames, alone},
	"--run":       {runNames, alone},
	"--on":        {studyNames, filesToo},
	"--study":     {studyNames, alone},
	"--host":      {studyHosts, alone},
	"--only":      {studyLevels, alone},
	"--part":      {studyParts, alone},
	"--set":       {assignments, goesOn},
	"--search":    {parameters, goesOn},
	"--alias":     {interfaces, goesOn},
	"--response":  {func(*cobra.Command, []string, string) []string { return metric.ResponseNames() }, alone},
	"--table":     {func(*cobra.Command, []string, string) []string { return export.Names() }, alone},
	"--system":    {fixed(settingfile.Linux, settingfile.FreeBSD, settingfile.OpenBSD), alone},
	"--family":    {fixed("ipv4", "ipv6"), alone},
	"--until":     {untilWords, alone},
	"--direction": {fixed(flow.Write, flow.Read, flow.Both), alone},
}

// fixed is a completer of these.
func fixed(list ...string) completer {
	return func(*cobra.Command, []string, string) []string { return list }
}

func untilWords(cmd *cobra.Command, _ []string, _ string) []string {
	if cmd.Name() == "up" {
		return []string{"ready"}
	}
	return []string{"1%", "2%", "5%"}
}

// complete has the shell complete the arguments and flags of a command and those below it.
func complete(cmd *cobra.Command) {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if c, found := completed[path]; found && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = bounded(c.list, c.then)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		c, found := completed["--"+f.Name]
		if o := flow.Find(strings.ReplaceAll(f.Name, "-", "_")); o != nil && o.Enum != nil {
			c.list, c.then, found = fixed(o.Enum...), alone, true
		}
		if found {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, bounded(c.list, c.then)) // each flag once
		}
	})
	for _, c := range cmd.Commands() {
		complete(c)
	}
}

// bounded offers what a completer lists within bounds.
func bounded(list completer, then cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found := make(chan []string, 1)
		go func() { found <- list(cmd, args, typed) }()
		var all []string
		select {
		case all = <-found:
		case <-time.After(completionTime):
		}
		all = slices.DeleteFunc(slices.Clone(all), func(s string) bool {
			return !strings.HasPrefix(s, typed) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) // one a line
		})
		return all[:min(len(all), mostCompletions)], then
	}
}

func studyNames(_ *cobra.Command, args []string, _ string) []string {
	if len(args) > 0 {
		return nil
	}
	return studies.Names()
}

// runNames are the latest runs, by ID and by name, without those that the line has. The
// shells quote a name with spaces.
func runNames(_ *cobra.Command, args []string, _ string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	path, err := notebook.Path(os.Getenv)
	if err != nil {
		return nil
	}
	store, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		return nil
	}
	defer store.Close()
	runs, err := store.Runs(ctx, notebook.Filter{Limit: mostCompletions})
	if err != nil || len(runs) == 0 {
		return nil
	}
	names := []string{"latest"}
	for _, r := range runs {
		names = append(names, r.ID)
	}
	for _, r := range runs {
		if notebook.CheckName(r.Name) == nil {
			names = append(names, r.Name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
}

// oneRun is for verbs whose first argument alone is a run.
func oneRun(cmd *cobra.Command, args []string, typed string) []string {
	if len(args) > 0 {
		return nil
	}
	return runNames(cmd, args, typed)
}

// labHosts are those of the lab that is up.
func labHosts(cmd *cobra.Command, args []string, _ string) []string {
	if len(args) > 0 {
		return nil
	}
	names, _ := lab.Hosts(cmd.Flags().Lookup("lab").Value.String())
	return names
}

// studyOf is the study that a line names; nil: none that can be read.
func studyOf(cmd *cobra.Command, args []string) *study.Study {
	name := ""
	if on := cmd.Flags().Lookup("on"); on != nil {
		name = on.Value.String()
	} else if len(args) > 0 {
		name = args[0]
	}
	if name == "" || name == "-" {
		return nil
	}
	file, text, err := readStudy(name)
	if err != nil {
		return nil
	}
	s, _ := study.Parse(file, text)
	return s
}

func studyHosts(cmd *cobra.Command, args []string, _ string) (names []string) {
	if s := studyOf(cmd, args); s != nil {
		for _, h := range s.Topology.Hosts {
			names = append(names, h.Name)
		}
	}
	return names
}

func studyLevels(cmd *cobra.Command, args []string, _ string) (names []string) {
	if s := studyOf(cmd, args); s != nil {
		for _, f := range s.Factors {
			for _, l := range f.Levels {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

func studyParts(cmd *cobra.Command, args []string, _ string) []string {
	names := []string{"all"}
	if s := studyOf(cmd, args); s != nil {
		for _, p := range s.Design.Parts {
			names = append(names, p.Name)
		}
	}
	return names
}

// assignments are the values of a study that are most often replaced.
func assignments(*cobra.Command, []string, string) []string {
	list := []string{"workload.duration=", "workload.warmup=", "workload.interval=", "design.replicates=", "design.until=", "design.budget=", "design.margin="}
	for _, o := range flow.Options {
		list = append(list, "workload."+o.Key+"=")
	}
	return list
}

// parameters are the settings of the published lists, for --search.
func parameters(*cobra.Command, []string, string) (names []string) {
	for _, list := range studies.ListNames() {
		text, err := studies.List(list)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			key, value, found := strings.Cut(line, "=")
			key = strings.TrimSpace(key)
			if !found || strings.HasPrefix(key, "#") {
				continue
			}
			of := []string{key + "="}
			if len(strings.Fields(value)) == 3 { // one of them is searched for
				of = []string{key + ".min=", key + ".default=", key + ".max="}
			}
			for _, name := range of {
				names = words.Distinct(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// interfaces are this host's, for addresses to add.
func interfaces(*cobra.Command, []string, string) (names []string) {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range all {
		names = append(names, i.Name+"=")
	}
	return names
}
