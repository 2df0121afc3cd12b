package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/show/export"
	"linerate/internal/show/starter"
)

func newNewCommand(s streams) *cobra.Command {
	var kinds []string
	long := "Write a study file to begin from, with comments. It runs as it is.\n\n"
	for _, k := range starter.Kinds {
		kinds = append(kinds, k.Name)
		long += fmt.Sprintf("  %-7s %s\n", k.Name, k.Short)
	}
	cmd := &cobra.Command{
		Use:   "new KIND",
		Short: "Write a study file to begin from",
		Long:  long + "\nA file that exists is kept, unless --force is given.",
		Example: `  linerate new nas --interfaces 2 --clients 3
  linerate new wan --rate 100mbit --rtt 40ms -o office.yaml
  linerate new fabric --spines 4 -o - | linerate check -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError(fmt.Errorf("no template %q%s", args[0], source.DidYouMean(args[0], kinds)))
		},
		RunE: func(*cobra.Command, []string) error {
			return usageError(fmt.Errorf("expected a template: %s (linerate new --help describes them)",
				source.Or(kinds)))
		},
	}
	for _, k := range starter.Kinds {
		cmd.AddCommand(newStarterCommand(s, k))
	}
	return cmd
}

func newStarterCommand(s streams, k starter.Kind) *cobra.Command {
	var out string
	var force bool
	arguments := make([]any, len(k.Arguments))
	cmd := &cobra.Command{
		Use:     k.Name,
		Short:   strings.ToUpper(k.Short[:1]) + k.Short[1:],
		Example: fmt.Sprintf("  linerate new %s %s\n  linerate run %[1]s.yaml", k.Name, k.Example),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && k.Name == "list" {
				return usageError(fmt.Errorf(
					"unexpected argument %q: linerate tune %s tries the settings of a file; linerate new list "+
						"writes a study with a list to begin from",
					args[0], quote(args[0])))
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			text, err := k.Study(arguments, func(key string) string {
				value, _ := proc.Sysctls{}.Read(key) // empty: not Linux
				return value
			})
			if err != nil {
				return usageError(err)
			}
			file := cmp.Or(out, k.Name+".yaml")
			if s.into(file) {
				file = "-"
			}
			return s.writeStudy(file, text, force)
		},
	}
	for i, a := range k.Arguments {
		valueVar(cmd.Flags(), &arguments[i], a.Parse, a.Name, a.Type, a.Default, a.Usage())
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `file` to write; -: standard output (default "+k.Name+".yaml)")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return cmd
}

// into reports whether standard output is that file, which the shell has created, as with linerate
// new nas > nas.yaml.
func (s streams) into(file string) bool {
	stdout, is := fileOf(s.out)
	if !is {
		return false
	}
	to, err := stdout.Stat()
	there, missing := os.Stat(file)
	return err == nil && missing == nil && os.SameFile(to, there)
}

// writeStudy writes a study's text and prints what to do with it.
func (s streams) writeStudy(file string, text []byte, force bool) error {
	parsed, err := study.Parse(file, text)
	if err != nil {
		return fmt.Errorf("the template makes no valid study: %w", err)
	}
	plan, err := study.NewPlan(parsed)
	if err != nil {
		return fmt.Errorf("the template makes no valid study: %w", err)
	}
	about := fmt.Sprintf("%s × %s, %s", unit.Plural(len(plan.Treatments), "treatment"),
		unit.Plural(plan.Blocks(), "block"), estimate(plan.Time(plan.Blocks()).Seconds()))
	if file == "-" {
		_, err = s.out.Write(text)
		say(s.hints(), "linerate: %s\nNext: save it as FILE.yaml, and linerate run FILE.yaml\n", about)
		return err
	}
	if err := absent(file, "file", force); err != nil {
		return err
	}
	err = export.WriteFile(file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	say(s.hints(), "wrote %s: %s\nNext: linerate run %s\n", file, about, quote(file))
	return nil
}

// absent returns an error if a file exists that would be replaced, unless force is set. named says
// in the message what -o names.
func absent(file, named string, force bool) error {
	if _, err := os.Lstat(file); force || err != nil { // writing reports any other error
		return nil
	}
	return usageError(fmt.Errorf("%s exists: --force replaces it, -o names another %s", file, named))
}
