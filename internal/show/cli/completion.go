package cli

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/lab"
	"linerate/internal/model/flow"
	"linerate/internal/model/inventory"
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/study"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/export"
	"linerate/internal/show/top"
	"linerate/internal/show/words"
	"linerate/studies"
)

// completer lists the possible values of a flag or an argument, given the flags and arguments that
// the line already has. A description follows the value after a tab.
type completer func(flags *pflag.FlagSet, args []string) []string

const (
	filesToo = cobra.ShellCompDirectiveDefault
	alone    = cobra.ShellCompDirectiveNoFileComp
	goesOn   = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
)

type completion struct {
	list completer
	then cobra.ShellCompDirective
}

// completionOf returns how the values of a flag are completed. Without a list they are not.
func completionOf(f *pflag.Flag) completion {
	if o := flow.Find(strings.ReplaceAll(f.Name, "-", "_")); o != nil && o.Enum != nil {
		return completion{fixed(o.Enum...), alone}
	}
	return completed["--"+f.Name]
}

// completed says how the arguments of verbs, by path, and the flags of any verb, by name, are
// completed. The values of flow options come from package flow.
var completed = map[string]completion{
	"run":     {studyNames, filesToo},
	"check":   {studyNames, filesToo},
	"show":    {studyNames, alone},
	"lab up":  {studyNames, filesToo},
	"schema":  {fixed("study", "hosts"), alone},
	"tune":    {func(*pflag.FlagSet, []string) []string { return studies.ListNames() }, filesToo},
	"prove":   {findingNames, filesToo},
	"report":  {oneRun, alone},
	"plot":    {oneRun, alone},
	"export":  {oneRun, alone},
	"compare": {runNames, alone},
	"note":    {oneRun, alone},
	"fix":     {oneRun, alone},
	"runs rm": {runNames, alone},

	"lab exec":  {labHosts, filesToo},
	"lab shell": {labHosts, alone},

	"--accept":    {hostRules, alone},
	"--unaccept":  {hostRules, alone},
	"--explain":   {hostRules, alone},
	"--resume":    {resumable, alone},
	"--run":       {runNames, alone},
	"--on":        {anyStudy, filesToo},
	"--study":     {anyStudy, alone},
	"--host":      {hostNames, alone},
	"--select":    {selections, goesOn},
	"--only":      {studyLevels, alone},
	"--part":      {studyParts, alone},
	"--set":       {assignments, goesOn},
	"--search":    {parameters, goesOn},
	"--alias":     {interfaces, goesOn},
	"--pattern":   {fixed(patternNames()...), alone},
	"--response":  {func(*pflag.FlagSet, []string) []string { return metric.ResponseNames() }, alone},
	"--table":     {func(*pflag.FlagSet, []string) []string { return export.Names() }, alone},
	"--system":    {fixed(opsystem.Linux, opsystem.FreeBSD, opsystem.OpenBSD, opsystem.MacOS), alone},
	"--family":    {fixed("ipv4", "ipv6"), alone},
	"--until":     {untilWords, alone},
	"--sort":      {fixed(top.OrderNames()...), alone},
	"--direction": {fixed(flow.Write, flow.Read, flow.Both), alone},
}

// hostRules completes the rules of doctor.
func hostRules(*pflag.FlagSet, []string) (ids []string) {
	for _, r := range diagnose.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// fixed returns a completer of a fixed list.
func fixed(list ...string) completer {
	return func(*pflag.FlagSet, []string) []string { return list }
}

func untilWords(flags *pflag.FlagSet, _ []string) []string {
	if flags.Lookup("lab") != nil {
		return []string{"ready"}
	}
	return []string{"1%", "2%", "5%"}
}

// complete sets up the completion of arguments and flags for a command and its subcommands.
func complete(cmd *cobra.Command) {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if c, found := completed[path]; found && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = bounded(c.list, c.then)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if c := completionOf(f); c.list != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, bounded(c.list, c.then)) // fails only if called twice for a flag
		}
	})
	for _, c := range cmd.Commands() {
		complete(c)
	}
}

// bounded returns what a completer lists, within bounds of time and number.
func bounded(list completer, then cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found := make(chan []string, 1)
		go func() { found <- list(cmd.Flags(), args) }()
		var all []string
		select {
		case all = <-found:
		case <-time.After(completionTime):
		}
		all = slices.DeleteFunc(slices.Clone(all), func(s string) bool {
			word, _, _ := strings.Cut(s, "\t")
			// one per line
			return !strings.HasPrefix(word, typed) || strings.ContainsFunc(word, func(r rune) bool {
				return !unicode.IsPrint(r)
			})
		})
		return all[:min(len(all), mostCompletions)], then
	}
}

func anyStudy(*pflag.FlagSet, []string) []string { return studies.Names() }

// studyNames completes verbs of which only the first argument is a study.
func studyNames(_ *pflag.FlagSet, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return studies.Names()
}

// oneRun completes verbs of which only the first argument is a run.
func oneRun(flags *pflag.FlagSet, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return runNames(flags, args)
}

// findingNames completes a finding first, and then studies.
func findingNames(flags *pflag.FlagSet, args []string) (ids []string) {
	if len(args) > 0 {
		return studyNames(flags, args[1:])
	}
	for _, r := range diagnose.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// labHosts completes the hosts of the lab that is up.
func labHosts(flags *pflag.FlagSet, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	names, _, _ := lab.Hosts(flags.Lookup("lab").Value.String())
	return names
}

// studyOf returns the study that a command line names; nil if it names none that can be read.
func studyOf(flags *pflag.FlagSet, args []string) *study.Study {
	name := ""
	if on := flags.Lookup("on"); on != nil {
		name = on.Value.String()
	} else if len(args) > 0 {
		name = args[0]
	}
	if name == "" || name == "-" {
		return nil
	}
	file, text, err := readStudy(nil, name)
	if err != nil {
		return nil
	}
	defer computing()()
	s, _ := study.Parse(file, text)
	return s
}

// hostNames completes the hosts of the inventory, where there may be one, and else those of a study.
func hostNames(flags *pflag.FlagSet, args []string) []string {
	inv := inventoryOf(flags)
	if inv == nil {
		return studyHosts(flags, args)
	}
	return lists.Map(inv.Hosts, func(h inventory.Host) string { return h.Name })
}

// selections completes groups, labels and hosts of the inventory.
func selections(flags *pflag.FlagSet, _ []string) (terms []string) {
	inv := inventoryOf(flags)
	if inv == nil {
		return nil
	}
	for _, label := range inv.Labels() {
		terms = append(terms, label+"=")
	}
	return slices.Concat(inv.Groups, terms, hostNames(flags, nil))
}

// inventoryOf returns the inventory that a command line names; nil if it names none that can be read.
func inventoryOf(flags *pflag.FlagSet) *inventory.Inventory {
	named := flags.Lookup("inventory")
	if named == nil || named.Value.String() == "-" {
		return nil
	}
	inv, _ := inventoryFlags{file: named.Value.String()}.read(context.Background(), streams{})
	return inv
}

func studyHosts(flags *pflag.FlagSet, args []string) (names []string) {
	if s := studyOf(flags, args); s != nil {
		for _, h := range s.Topology.Hosts {
			names = append(names, h.Name)
		}
	}
	return names
}

func studyLevels(flags *pflag.FlagSet, args []string) (names []string) {
	if s := studyOf(flags, args); s != nil {
		for _, f := range s.Factors {
			names = append(names, lists.Map(f.Levels, func(l study.Level) string { return l.Name })...)
		}
	}
	return names
}

func studyParts(flags *pflag.FlagSet, args []string) []string {
	names := []string{"all"}
	if s := studyOf(flags, args); s != nil {
		names = append(names, lists.Map(s.Design.Parts, func(p study.Part) string { return p.Name })...)
	}
	return names
}

// assignments lists the values of a study that are most often replaced.
func assignments(*pflag.FlagSet, []string) []string {
	list := []string{"workload.duration=", "workload.warmup=", "workload.interval=", "design.replicates=",
		"design.until=", "design.budget=", "design.margin="}
	list = append(list, lists.Map(flow.Options, func(o *flow.Option) string { return "workload." + o.Key + "=" })...)
	return list
}

// parameters lists the settings of the published lists, for --search.
func parameters(*pflag.FlagSet, []string) (names []string) {
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
			if len(strings.Fields(value)) == 3 { // one of the three values is searched for
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

// interfaces completes the interfaces of this host, for --alias.
func interfaces(*pflag.FlagSet, []string) (names []string) {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	return lists.Map(all, func(i net.Interface) string { return i.Name + "=" })
}
