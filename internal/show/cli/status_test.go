package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestExitStatus: what a signal ended has status 130, unless the command says which it has.
func TestExitStatus(t *testing.T) {
	signalled := errors.New("interrupt signal received")
	ended, end := context.WithCancelCause(t.Context())
	end(signalled)
	canceled := fmt.Errorf("counters: %w", context.Canceled)
	left := errors.New("removing the addresses: file exists")
	for _, c := range []struct {
		ctx    context.Context
		err    error
		status int
		said   string
	}{
		{ended, canceled, ExitInterrupted, "interrupted"},
		{ended, fmt.Errorf("ssh nas: %w", signalled), ExitInterrupted, "interrupted"},
		{ended, errors.Join(context.Canceled, left), ExitInterrupted, "context canceled\n" + left.Error()},
		{ended, errors.Join(context.Canceled, nil), ExitInterrupted, "interrupted"},
		{ended, errors.Join(canceled, fmt.Errorf("ssh nas: %w", signalled)), ExitInterrupted, "interrupted"},
		{ended, errors.Join(errors.Join(canceled, left), nil), ExitInterrupted, canceled.Error() + "\n" + left.Error()},
		{ended, left, ExitFailed, left.Error()},
		{ended, statusError{ExitDoubt, canceled}, ExitDoubt, canceled.Error()},
		{t.Context(), canceled, ExitFailed, canceled.Error()},
	} {
		if status, err := exitStatus(c.ctx, c.err); status != c.status || err.Error() != c.said {
			t.Errorf("%v: %d, %q; want %d, %q", c.err, status, err, c.status, c.said)
		}
	}
}
