// Package cli is linerate's command line: one file per verb, each of which turns flags into a plain
// call of the packages below. Answers go to stdout, everything else to stderr.
package cli

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/host/apply"
	"linerate/internal/host/caused"
	_ "linerate/internal/host/hoststate/texts" // the readers of texts
	"linerate/internal/host/transaction"
	"linerate/internal/version"
)

// Main runs the command line and returns the exit status.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := untilSignal()
	defer stop()
	defer func() { _ = caused.Flush() }() // without it, doctor may report the last resets
	out, errs = filtered(out, errs)
	root := newRoot(streams{in: in, out: out, err: errs, args: args})
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	slog.SetDefault(slog.New(slog.NewTextHandler(errs, nil))) // libraries log, too, by package log
	err := unlessComputing(ctx, func() error {
		cmd, err := root.ExecuteContextC(ctx)
		if err == nil {
			err = unknownHelp(cmd)
		}
		return err
	})
	if err == nil {
		return ExitOK
	}
	status, err := exitStatus(ctx, err)
	if err != nil {
		sayLast(ctx, errs, err)
	}
	return status
}

func sayLast(ctx context.Context, errs io.Writer, err error) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		say(errs, "linerate: %v\n", err)
	}()
	var over <-chan time.Time // never, unless there was a signal
	if ctx.Err() != nil {
		over = time.After(lastWords)
	}
	select {
	case <-written:
	case <-over:
	}
}

// Command returns the command line without input and output, from which manual pages and
// completions are generated.
func Command() *cobra.Command {
	root := newRoot(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	root.DisableAutoGenTag = true
	withDetails(root)
	return root
}

// withDetails moves what --help prints after the flags into the description, for manual pages.
func withDetails(cmd *cobra.Command) {
	if more := cmd.Annotations[details]; more != "" {
		cmd.Long += "\n\n" + more
	}
	for _, c := range cmd.Commands() {
		withDetails(c)
	}
}

// versionLine returns what --version prints. commit empty: unknown, and left out.
func versionLine(release, commit string) string {
	parts := []string{release}
	if commit != "" {
		parts = append(parts, "commit "+commit)
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), ", ")
}

func newRoot(s streams) *cobra.Command {
	s.quiet = new(bool)
	root := &cobra.Command{
		Use:           "linerate",
		Version:       versionLine(version.String(), version.Commit()),
		Short:         "Find out why a network is not running at line rate, and prove the fix",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownVerb,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
	}
	root.SetVersionTemplate("linerate {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if unknownHelp(cmd) == nil {
			writeHelp(cmd.OutOrStdout(), cmd)
		}
	})
	// One line per verb, in the order of the help. If the first word is one of them, the others are not made: each
	// host of a lab is a process that starts.
	type verb struct {
		name string
		make func(streams) *cobra.Command
	}
	verbs := []verb{
		{"run", newRunCommand},
		{"studies", newStudiesCommand},
		{"show", newShowCommand},
		{"new", newNewCommand},
		{"check", newCheckCommand},
		{"limits", newLimitsCommand},
		{"schema", newSchemaCommand},
		{"tune", newTuneCommand},
		{"doctor", newDoctorCommand},
		{"top", newTopCommand},
		{"prove", newProveCommand},
		{"snapshot", newSnapshotCommand},
		{"diff", newDiffCommand},
		{"discover", newDiscoverCommand},
		{"hosts", newHostsCommand},
		{"lab", newLabCommand},
		{"serve", newServeCommand},
		{"measure", newMeasureCommand},
		{"mesh", newMeshCommand},
		{"forward", newForwardCommand},
		{"replay", newReplayCommand},
		{"runs", newRunsCommand},
		{"report", newReportCommand},
		{"compare", newCompareCommand},
		{"plot", newPlotCommand},
		{"fix", newFixCommand},
		{"note", newNoteCommand},
		{"export", newExportCommand},
		{"agent", newAgentCommand},
		{apply.GuardCommand, newGuardCommand},
		{transaction.WorkerCommand, newTransactionWorkerCommand},
		{"recover", newRecoverCommand},
		{"completion", newCompletionCommand},
	}
	one := -1
	if len(s.args) > 0 {
		one = slices.IndexFunc(verbs, func(v verb) bool { return v.name == s.args[0] })
	}
	for i, v := range verbs {
		if one < 0 || i == one {
			root.AddCommand(v.make(s))
		}
	}
	root.CompletionOptions.DisableDefaultCmd = true
	helpVerb(root)
	s.defineQuiet(root)
	complete(root)
	return root
}
