package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	ExitOK          = 0   // the question was answered
	ExitFailed      = 1   // the tool failed
	ExitUsage       = 2   // bad usage or input
	ExitDoubt       = 3   // answered, but a trust check failed or a gate was not met
	ExitInterrupted = 130 // SIGINT or SIGTERM
)

// streams are the input and outputs of a verb.
type streams struct {
	in       io.Reader
	out, err io.Writer
	args     []string // of the command line, as given
	quiet    *bool    // --quiet of the verb; nil: there is none
}

// hints returns the stream for progress, hints and what a command has done: err unless the verb is
// quiet. Errors, warnings and questions go to err.
func (s streams) hints() io.Writer {
	if s.isQuiet() {
		return io.Discard
	}
	return s.err
}

// isQuiet reports whether --quiet is given.
func (s streams) isQuiet() bool { return s.quiet != nil && *s.quiet }

// defineQuiet defines --quiet of a verb and those below it.
func (s streams) defineQuiet(cmd *cobra.Command) {
	if cmd.Runnable() && cmd.Flags().Lookup("quiet") == nil {
		cmd.Flags().BoolVar(s.quiet, "quiet", false, "no progress or hints on stderr")
	}
	for _, c := range cmd.Commands() {
		s.defineQuiet(c)
	}
}

// statusError carries an exit status. With a nil cause nothing is printed.
type statusError struct {
	status int
	cause  error
}

func (e statusError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.cause.Error()
}

func (e statusError) Unwrap() error { return e.cause }

// exitStatus returns the exit status of a command that failed, and the error to print; nil: none.
// ctx is the context of the command, which a signal ends.
func exitStatus(ctx context.Context, err error) (int, error) {
	if coded, ok := errors.AsType[statusError](err); ok {
		return coded.status, coded.cause
	}
	interrupted := func(err error) bool {
		return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))
	}
	switch {
	case ctx.Err() == nil, !interrupted(err):
		return ExitFailed, withAdvice(err)
	case each(err, interrupted):
		return ExitInterrupted, errors.New("interrupted")
	}
	return ExitInterrupted, err // other errors say more
}

// each reports whether is holds for an error, or for each error that is joined in it.
func each(err error, is func(error) bool) bool {
	if joined, several := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); several {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !each(err, is) })
	}
	return is(err)
}

// usageError marks an error as a usage error, with exit status 2. An interruption stays one.
func usageError(err error) error {
	if coded, is := errors.AsType[statusError](err); is && coded.status == ExitInterrupted {
		return coded
	}
	return statusError{ExitUsage, err}
}
