package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

type exportFlags struct {
	csv, trials       bool
	snapshots, redact bool
	table, output     string
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
		Long: `Write a run as flat tables for a spreadsheet or a statistics program.

One table is written to standard output or to a file; all tables are written to a
file whose name ends in .zip, or to a directory (for a new one, end the name with
a /). Other extensions than .csv, .zip, or .gz with --trials, are refused.`,
		Annotations: map[string]string{details: "The tables:\n\n" + tables.String() + `
With --trials: every trial as it was recorded, samples, counters and TCP_INFO included, one JSON document a line, gzip. linerate report RUN --json prints what follows from them.

With --snapshots: the snapshots of hosts from before the first trial and after the last, one file each, for linerate doctor and diff; --redact replaces addresses and names, in all of them by the same ones.`},
		Example: `  linerate export latest --csv > trials.csv
  linerate export arp-flux-7 --csv --table flows -o flows.csv
  linerate export arp-flux-7 --csv -o arp-flux-7.zip
  linerate export arp-flux-7 --trials -o trials.jsonl.gz
  linerate export nas-7 --snapshots -o snapshots/`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			table, err := f.chosen(cmd.Flags().Changed("csv"))
			if err != nil {
				return usageError(err)
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
	cmd.Flags().BoolVar(&f.trials, "trials", false, "instead of tables, every trial as recorded: JSON lines, gzip")
	cmd.Flags().BoolVar(&f.snapshots, "snapshots", false,
		"instead of tables, the snapshots of hosts around the run, into a directory")
	cmd.Flags().BoolVar(&f.redact, "redact", false, "with --snapshots: replace addresses and names")
	cmd.Flags().StringVar(&f.table, "table", "", "which `table` of those below (default: trials)")
	cmd.Flags().StringVarP(&f.output, "out", "o", "", "`file`, .zip file or directory (default: standard output)")
	return cmd
}

func (f *exportFlags) intoArchive() bool { return strings.EqualFold(filepath.Ext(f.output), ".zip") }

// ending returns an error if the ending of the file's name suggests another format than the one
// that is written. A name without an ending is always accepted.
func (f *exportFlags) ending() error {
	ending := strings.ToLower(filepath.Ext(f.output))
	switch {
	case f.output == "" || f.output == "-" || ending == "" || f.intoDirectory():
	case f.trials && ending != ".gz":
		return fmt.Errorf("-o %s: --trials writes JSON lines, gzip; expected a name ending in .jsonl.gz", f.output)
	case !f.trials && ending != ".csv" && ending != ".zip":
		return fmt.Errorf(
			"-o %s: linerate does not write %s; expected a name ending in .csv, or for every table .zip or a "+
				"directory; linerate report RUN --json prints JSON, and --trials writes .jsonl.gz", f.output, ending)
	}
	return nil
}

func (f *exportFlags) intoDirectory() bool {
	if f.output == "" {
		return false
	}
	info, err := os.Stat(f.output)
	return err == nil && info.IsDir() || os.IsPathSeparator(f.output[len(f.output)-1])
}

// chosen returns the table that the flags select.
func (f *exportFlags) chosen(csvGiven bool) (export.Table, error) {
	switch {
	case f.snapshots && (f.trials || f.table != "" || csvGiven):
		return export.Table{}, errors.New(
			"--snapshots writes snapshots alone: expected it without --trials, --csv and --table")
	case f.snapshots && !f.intoDirectory():
		return export.Table{}, errors.New(
			"--snapshots writes several files: expected -o with a directory (for a new one, end the name with a /)")
	case f.redact && !f.snapshots:
		return export.Table{}, errors.New("--redact is for snapshots: expected it with --snapshots")
	case f.trials && (f.table != "" || csvGiven):
		return export.Table{}, errors.New("--trials exports whole trials: expected it without --csv and --table")
	case !f.trials && !f.csv:
		return export.Table{}, errors.New(
			"--csv=false: expected a format; there is CSV only (linerate report RUN --json prints JSON)")
	case f.ending() != nil:
		return export.Table{}, f.ending()
	case (f.intoArchive() || f.intoDirectory()) && f.table != "":
		return export.Table{}, fmt.Errorf("-o %s takes every table: expected it without --table", f.output)
	}
	table, err := export.Find(cmp.Or(f.table, "trials"))
	if err != nil {
		err = fmt.Errorf("--table: %w", err)
	}
	return table, err
}

func (f *exportFlags) write(stdout io.Writer, table export.Table, run *record.Run) error {
	one := func(t export.Table) func(io.Writer) error {
		return func(w io.Writer) error { return export.CSV(w, t, run) }
	}
	chosen := one(table)
	if f.trials {
		chosen = func(w io.Writer) error { return export.Trials(w, run) }
	}
	switch {
	case f.snapshots:
		return f.writeSnapshots(run)
	case f.output == "" || f.output == "-":
		return chosen(stdout)
	case f.trials:
		return export.WriteFile(f.output, chosen)
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
	return export.WriteFile(f.output, chosen)
}

func (f *exportFlags) writeSnapshots(run *record.Run) error {
	if err := os.MkdirAll(f.output, 0o755); err != nil {
		return err
	}
	if f.redact {
		var all []*netstate.HostSnapshot
		for _, s := range run.Snapshots {
			all = append(all, s.Before, s.After)
		}
		if err := redacted(slices.DeleteFunc(all, func(s *netstate.HostSnapshot) bool {
			return s == nil
		})...); err != nil {
			return err
		}
	}
	n, err := export.Snapshots(f.output, run)
	if err == nil && n == 0 {
		err = errors.New("it has no snapshots of hosts")
	}
	return err
}
