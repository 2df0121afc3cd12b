package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/show/export"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/present"
)

type plotFlags struct {
	out    string
	figure string
	scale  float64
}

func newPlotCommand(s streams) *cobra.Command {
	var f plotFlags
	cmd := &cobra.Command{
		Use:   "plot RUN -o FILE",
		Short: "Write a figure of a run as SVG or PNG",
		Long: `Write a figure of a run to a file, SVG or PNG by the file's ending.

RUN is a run's ID or name, the beginning of one, or latest. The figures are those of
the page: each response of the run (such as goodput or latency_p99), effects,
predicted, flows, accounts, interfaces, topology, paths and series, as far as the run
has data for them.`,
		Example: `  linerate plot latest -o goodput.svg
  linerate plot arp-flux-7 --figure topology -o topology.png --scale 3`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := f.writer()
			if err != nil {
				return usageError(err)
			}
			runs, err := runsWithTrials(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			found, err := findFigure(runs[0], f.figure)
			if err != nil {
				return usageError(err)
			}
			if err := export.WriteFile(f.out, func(w io.Writer) error { return write(found, w) }); err != nil {
				return fmt.Errorf("plot %s of run %s: %w", found.Name, runs[0].ID, err)
			}
			say(s.hints(), "%s (%s): %s\n", f.out, found.Name, found.Title)
			return nil
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "the `file` to write, ending in .svg or .png")
	cmd.Flags().StringVar(&f.figure, "figure", "",
		"one of the figures that the run has, such as goodput (where treatments are compared), effects, topology "+
			"or series; an unknown name lists them (default: the main one)")
	cmd.Flags().Float64Var(&f.scale, "scale", 2, "PNG: scale of the figure, which is about 1,100 pixels wide at 1")
	return cmd
}

// writer selects how to write by the file's ending. The error reports everything that is wrong with
// the flags.
func (f plotFlags) writer() (func(figure.Figure, io.Writer) error, error) {
	var problems []error
	if !(f.scale > 0 && f.scale <= 8) {
		problems = append(problems, fmt.Errorf("--scale %g: expected a number above 0 and at most 8", f.scale))
	}
	write := figure.Figure.WriteSVG
	switch ending := strings.ToLower(filepath.Ext(f.out)); {
	case f.out == "":
		problems = append(problems, errors.New("-o is missing: expected a file to write, ending in .svg or .png"))
	case ending == ".png":
		write = func(found figure.Figure, w io.Writer) error { return found.WritePNG(w, f.scale) }
	case ending != ".svg":
		problems = append(problems, fmt.Errorf("-o %s: expected a name ending in .svg or .png", f.out))
	}
	return write, errors.Join(problems...)
}

func findFigure(run *record.Run, name string) (figure.Figure, error) {
	var names []string
	for _, f := range present.Figures(run) {
		if f.Name == name || name == "" {
			f.Note = strings.TrimSpace(f.Note + " " + runNote(run))
			return f, nil
		}
		names = append(names, f.Name)
	}
	why := ""
	if len(run.Treatments) < 2 {
		why = " (a response has a figure where a run compares treatments or conditions)"
	}
	return figure.Figure{}, fmt.Errorf("--figure %s: run %s has no such figure; expected %s%s", name, run.ID,
		source.Or(names), why)
}

// runNote says which run a figure belongs to, because the file is read without the page.
func runNote(run *record.Run) string {
	name := "Run " + run.ID
	if run.Name != "" {
		name += ", “" + run.Name + "”"
	}
	return name + ", " + number.Moment(run.Started) + "."
}
