package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/control/notebook"
	"linerate/internal/control/run"
	"linerate/internal/model/inventory"
	"linerate/internal/model/lists"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/show/export"
)

// planFlags say which trials of a study are planned; options has the part that is recorded.
type planFlags struct {
	options run.Options
	parts   []string
	from    inventoryFlags
	taken   []inventory.Host // hosts of the study that are in the inventory
}

const setUsage = "replace a value of the study, such as workload.duration=5s (may be repeated)"

func (f *planFlags) define(flags *pflag.FlagSet, verb string) {
	flags.StringArrayVar(&f.options.Set, "set", nil, setUsage)
	flags.StringSliceVar(&f.options.Only, "only", nil, verb+" only these `levels` (and the baseline)")
	flags.StringSliceVar(&f.parts, "part", nil,
		verb+" these `parts` of the study's design, or all (default: those that are not on demand)")
	f.from.define(flags)
	flags.Lookup("inventory").Usage = "reach the study's hosts as a `file` says that has hosts of their names: an " +
		"inventory as of linerate hosts"
	flags.Lookup("select").Usage = "of the inventory only these `hosts` (may be repeated); see linerate hosts --help"
}

// plan loads a study, by the name of a built-in one or by its file's path ("-": in), and derives
// the requested plan. It adds the study's text, and the tables that it names, to the options.
// Mistakes are usage errors: exit status 2.
func (f *planFlags) plan(ctx context.Context, s streams, nameOrFile string) (*study.Plan, error) {
	file, text, err := readStudy(s.input(ctx), nameOrFile)
	if err != nil {
		return nil, usageError(err)
	}
	if err := topologyAlone(file, text); err != nil {
		return nil, usageError(err)
	}
	if err := f.takeHosts(ctx, s, file, text); err != nil {
		return nil, err
	}
	plan, err := f.planOf(file, text)
	if err == nil {
		locate(&plan.Study.Topology, nameOrFile)
		f.options.Published, err = published(nameOrFile, plan.Study)
	}
	return plan, err
}

// takeHosts makes hosts of the study that has them in a lab real ones that are in the inventory, by
// values of the study, which the run keeps.
func (f *planFlags) takeHosts(ctx context.Context, s streams, file string, text []byte) error {
	if !f.from.given() {
		return nil
	}
	inv, err := f.from.read(ctx, s)
	if err != nil {
		return err
	}
	found, err := inv.Select(f.from.chosen...)
	if err != nil {
		return usageError(fmt.Errorf("--select: %w", err))
	}
	defer computing()()
	t, err := study.ParseTopology(file, text)
	if err != nil {
		return inputError(file, err)
	}
	for _, h := range found {
		if in, is := t.Host(h.Name); is && len(in.Via) == 0 {
			f.taken = append(f.taken, h)
			f.options.Set = append(f.options.Set, fmt.Sprintf("topology.hosts.%s.via=[%s]", h.Name,
				strings.Join(lists.Map(h.Via, source.Quoted), ", ")))
		}
	}
	if len(f.taken) == 0 {
		return usageError(fmt.Errorf("--inventory: it has none of the study's hosts without via: %s",
			source.Or(lists.Map(t.Hosts, func(h topology.Host) string { return h.Name }))))
	}
	return nil
}

// planOf is like plan for the text of a study; file is its name in messages.
func (f *planFlags) planOf(file string, text []byte) (*study.Plan, error) {
	defer computing()()
	s, err := study.Parse(file, text, f.options.Set...)
	if err != nil {
		return nil, inputError(file, err)
	}
	f.options.StudyFile = string(text)
	plan, err := study.NewPlan(s, f.parts...)
	if err == nil {
		plan, err = plan.Only(f.options.Only)
	}
	if err == nil {
		err = plan.Redesign(f.options.Redesign)
	}
	if err != nil {
		return nil, usageError(err)
	}
	return plan, nil
}

// warning returns a warning about one of the study's kernel parameters, with its place in the file.
func (f *planFlags) warning(file string, w run.ParameterWarning) error {
	w.Text = "warning: " + w.Text
	return w.Problems(file, f.options.StudyFile, f.options.Set...)
}

// parameters returns an error for kernel parameters that a plan's hosts cannot have, and prints
// warnings about others.
func (f *planFlags) parameters(stderr io.Writer, file string, warnings []run.ParameterWarning) error {
	var wrong source.Problems
	for _, w := range warnings {
		if w.Misspelt {
			wrong = append(wrong, w.Problems(file, f.options.StudyFile, f.options.Set...)...)
			continue
		}
		say(stderr, "%s\n", f.warning(file, w))
	}
	if len(wrong) > 0 {
		return inputError(file, wrong.Err())
	}
	return nil
}

// trialFlags are flags common to the commands that make trials: where the result goes, and what is
// asked before.
type trialFlags struct {
	out         string
	asJSON      bool
	wait, trust bool
	flags       *pflag.FlagSet
}

// given reports whether a flag was given.
func (f trialFlags) given(flag string) bool { return f.flags.Changed(flag) }

func (f *trialFlags) define(flags *pflag.FlagSet, o *run.Options, out, json string) {
	f.flags = flags
	defineDesign(flags, o)
	flags.StringVar(&f.out, "out", "", out)
	flags.BoolVar(&f.asJSON, "json", false, json)
	flags.BoolVar(&f.wait, "wait", false, waitUsage)
	flags.BoolVar(&f.trust, "trust", false, trustUsage)
	defineInstall(flags, &o.Install)
	flags.BoolVar(&o.AllowMachine, permission, false, "permit settings that change more than one network namespace")
}

// defineDesign defines the flags that change a study's design.
func defineDesign(flags *pflag.FlagSet, o *run.Options) {
	flags.Uint64Var(&o.Seed, "seed", 0, "order of the trials (default: the study's, or drawn and printed)")
	valueVar(flags, &o.Redesign.Until, optional(unit.ParseRatio), "until", "ratio", "",
		"add blocks until every effect's interval is this narrow, such as 2%")
	valueVar(flags, &o.Redesign.Budget, optional(unit.ParseDuration), "budget", "duration", "",
		"stop adding blocks at this time limit, such as 10m")
	valueVar(flags, &o.Redesign.Replicates, optional(between(1, math.MaxInt)), "replicates", "int", "",
		"blocks: how often each treatment is tried")
}

// directory returns where a run's page and result go by default.
func (f trialFlags) directory(run string) string { return filepath.Join(cmp.Or(f.out, "runs"), run) }

// writable returns an error if pages cannot be written later.
func (f trialFlags) writable() error {
	if err := export.Writable(cmp.Or(f.out, "runs")); err != nil {
		return usageError(fmt.Errorf("%w: nothing was run; --out names another directory", err))
	}
	return nil
}

type runFlags struct {
	planFlags
	trialFlags
	resume string
}

func (f *runFlags) define(flags *pflag.FlagSet) {
	f.planFlags.define(flags, "run")
	f.trialFlags.define(flags, &f.options, "`directory` for the page and the result (default: runs/RUN)",
		"print the result document (linerate.run/v2) instead of the report")
	valueVar(flags, &f.options.RunName, runName, "name", "string", "",
		"a name to find the run by, such as 'after the new cable'")
	flags.StringVar(&f.resume, "resume", "", "continue an interrupted `run`, or add blocks to a finished one")
}

// runName checks the name of a run.
func runName(text string) (string, error) { return text, notebook.CheckName(text) }

// fitsResume returns an error for flags that would make the new trials of a resumed run different
// from those that it has.
func (f runFlags) fitsResume() error {
	var problems []error
	for _, c := range []struct{ flag, why string }{
		{"set", "its earlier trials were made with the study's present values"},
		{"only", "its earlier blocks were made with its present treatments"},
		{"part", "its earlier blocks were made with its present treatments"},
		{"name", "others may have noted its name"},
		{"inventory", "it has the commands that reach its hosts"},
		{"select", "it has the commands that reach its hosts"},
		{"seed", "it orders the trials that are there already"},
	} {
		if f.given(c.flag) {
			problems = append(problems,
				fmt.Errorf("--%s with --resume: a run keeps what it was begun with, since %s; expected only "+
					"--replicates, --until or --budget, or a new run", c.flag, c.why))
		}
	}
	return errors.Join(problems...)
}

// permission is the flag that permits settings of the whole machine.
const permission = "allow-machine-settings"

// designFlags may be given again when a run is resumed.
var designFlags = []string{"replicates", "until", "budget", permission}

// again returns the command that repeats a run, without its seed.
func (f runFlags) again(what string) string {
	var words []string
	for _, set := range f.options.Set[:len(f.options.Set)-len(f.taken)] { // the others are of the inventory
		words = append(words, "--set", quote(set))
	}
	others := append([]string{"only", "part", "inventory", "select"}, designFlags...)
	words = append(words, spelled(f.flags, others...)...)
	return strings.Join(append([]string{"linerate run", quote(what)}, words...), " ")
}

// resumeCommand returns the command that continues a run with the same permission.
func (f trialFlags) resumeCommand(id string) string {
	return strings.Join(append([]string{"linerate run --resume", id}, spelled(f.flags, permission)...), " ")
}

// spelled returns those of the named flags that were given, as a shell reads them.
func spelled(flags *pflag.FlagSet, names ...string) (words []string) {
	for _, name := range names {
		if !flags.Changed(name) {
			continue
		}
		value := flags.Lookup(name).Value
		texts := []string{value.String()}
		several, _ := value.(pflag.SliceValue)
		switch value.Type() {
		case "bool":
			words = append(words, strings.TrimSuffix("--"+name+"="+texts[0], "=true"))
			continue
		case "stringArray":
			texts = several.GetSlice()
		case "stringSlice":
			texts[0] = commaSeparated(several.GetSlice())
		}
		for _, text := range texts {
			words = append(words, "--"+name, quote(text))
		}
	}
	return words
}

// commaSeparated formats the value of a flag that takes several values as a line of CSV (RFC 4180):
// a name may contain a comma or a quote.
func commaSeparated(values []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a strings.Builder never fails
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
