package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

type exportFlags struct {
	csv, trials   bool
	table, output string
}

func newExportCommand(s streams) *cobra.Command {
	var f exportFlags
	var tables strings.Builder
	for _, t := range export.Tables {
		fmt.Fprintf(&tables, "  %-10s  %s\n", t.Name, t.About)
	}
	cmd := &cobra.Command{
		Use:   "export RUN --csv",
		Short: "Write a run's trials, flows, interfaces or samples as CSV",
		Long: `Write a run as flat tables for a spreadsheet or a statistics program:

` + tables.String() + `
One table goes to standard output or into a file; all of them go into a file
whose name ends with .zip, or into a directory (name it with a / at its end,
when it is not there yet).

With --trials: every trial as it was recorded, samples, counters and TCP_INFO
included, one JSON document a line, gzip. linerate report RUN --json prints what
follows from them.`,
		Example: `  linerate export latest --csv > trials.csv
  linerate export arp-flux-7 --csv --table flows -o flows.csv
  linerate export arp-flux-7 --csv -o arp-flux-7.zip
  linerate export arp-flux-7 --trials -o trials.jsonl.gz`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.trials {
				return f.writeTrials(cmd, s.out, args[0])
			}
			if !f.csv {
				return usageError(errors.New("--csv=false: expected a format; there is CSV only (linerate report RUN --json prints JSON)"))
			}
			all := f.intoArchive() || f.intoDirectory()
			if all && f.table != "" {
				return usageError(fmt.Errorf("-o %s takes every table: expected it without --table", f.output))
			}
			if f.table == "" {
				f.table = "trials"
			}
			table, err := export.Find(f.table)
			if err != nil {
				return usageError(fmt.Errorf("--table: %w", err))
			}
			runs, err := storedRuns(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := f.write(s.out, table, runs[0]); err != nil {
				return fmt.Errorf("export run %s: %w", runs[0].ID, err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.csv, "csv", true, "comma-separated values, the only format there is")
	cmd.Flags().BoolVar(&f.trials, "trials", false, "every trial as it was recorded, instead of tables: JSON lines, gzip")
	cmd.Flags().StringVar(&f.table, "table", "", "which table: "+strings.Join(export.Names(), ", ")+" (default trials)")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file, .zip file or directory (default: standard output)")
	return cmd
}

func (f *exportFlags) intoArchive() bool { return strings.HasSuffix(f.output, ".zip") }

func (f *exportFlags) intoDirectory() bool {
	if f.output == "" {
		return false
	}
	info, err := os.Stat(f.output)
	return err == nil && info.IsDir() || os.IsPathSeparator(f.output[len(f.output)-1])
}

func (f *exportFlags) write(stdout io.Writer, table export.Table, run *record.Run) error {
	one := func(t export.Table) func(io.Writer) error {
		return func(w io.Writer) error { return export.CSV(w, t, run) }
	}
	switch {
	case f.output == "" || f.output == "-":
		return one(table)(stdout)
	case f.intoDirectory():
		if err := os.MkdirAll(f.output, 0o755); err != nil {
			return err
		}
		for _, t := range export.Tables {
			if err := export.WriteFile(filepath.Join(f.output, t.Name+".csv"), one(t)); err != nil {
				return err
			}
		}
		return nil
	case f.intoArchive():
		return export.WriteFile(f.output, func(w io.Writer) error { return export.Zip(w, run) })
	}
	return export.WriteFile(f.output, one(table))
}

// writeTrials writes the recorded trials of a run into a file or to standard output.
func (f exportFlags) writeTrials(cmd *cobra.Command, out io.Writer, reference string) error {
	if f.table != "" || cmd.Flags().Changed("csv") {
		return usageError(errors.New("--trials takes every trial whole: expected it without --csv and --table"))
	}
	runs, err := storedRuns(cmd.Context(), reference)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return export.Trials(w, runs[0]) }
	if f.output == "" {
		return write(out)
	}
	if err := export.WriteFile(f.output, write); err != nil {
		return fmt.Errorf("export run %s: %w", runs[0].ID, err)
	}
	return nil
}
