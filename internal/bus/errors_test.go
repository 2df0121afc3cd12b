package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestErrorsKeepTheirCode: what an agent fails with is the same kind of failure for
// the caller, wrapped or not, and says the same.
func TestErrorsKeepTheirCode(t *testing.T) {
	left, right := net.Pipe()
	b, c := pair(t, left, right)
	for _, test := range []struct {
		err  error
		code Code
	}{
		{os.NewSyscallError("set qdisc eth0", syscall.EOPNOTSUPP), Unsupported},
		{os.NewSyscallError("add route 10.0.0.0/8", syscall.EPERM), NotPermitted},
		{os.NewSyscallError("set link eth9", syscall.ENODEV), NotFound},
		{fmt.Errorf("apply: %w", os.NewSyscallError("add address 10.0.0.1", syscall.EEXIST)), Exists},
		{errors.Join(errors.New("first"), syscall.EINVAL), Invalid},
		{syscall.EADDRNOTAVAIL, Exhausted},
		{Coded(Bounds, errors.New("9 flows: this server allows a client 3")), Bounds},
		{syscall.EBUSY, Busy},
		{syscall.ENETUNREACH, Unreachable},
		{context.DeadlineExceeded, Deadline},
		{context.Canceled, Canceled},
		{Coded(Gone, errors.New("the session has ended")), Gone},
		{errors.New("nothing that has a kind"), ""},
	} {
		verb := "code" + string(test.code[:min(1, len(test.code))]) + fmt.Sprint(len(test.err.Error()))
		if err := c.Serve(t.Context(), map[string]Handler{verb: func(context.Context, []byte) (any, error) { return nil, test.err }}); err != nil {
			t.Fatal(err)
		}
		err := fmt.Errorf("trial 7: %w", b.Call(t.Context(), "h1", verb, nil, nil))
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Node != "h1" || e.Op != verb || e.Code != test.code || e.Text != test.err.Error() {
			t.Errorf("%v arrived as %+v", test.err, e)
		}
		for _, code := range []Code{Unsupported, NotPermitted, NotFound, Exists, Invalid, Exhausted, Bounds, Busy, Unreachable, Deadline, Canceled, Gone, Crashed, TooLarge} {
			if errors.Is(err, code) != (code == test.code) {
				t.Errorf("%v: errors.Is %q: %t", err, code, code != test.code)
			}
		}
		if want := "trial 7: h1: " + test.err.Error(); err.Error() != want {
			t.Errorf("reads %q, want %q", err, want)
		}
		if got := Local(e, "h1"); got.Error() != test.err.Error() || test.code != "" && !errors.Is(got, test.code) {
			t.Errorf("on the host itself it reads %q", got)
		}
	}
}

// TestErrorsOfTheBus: failures that no handler returned have codes, too.
func TestErrorsOfTheBus(t *testing.T) {
	left, right := net.Pipe()
	b, _ := pair(t, left, right)
	own := errors.New("the run is over")
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(own)
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	for _, test := range []struct {
		ctx  context.Context
		verb string
		is   error
		text string
	}{
		{t.Context(), "panic", Crashed, ""},
		{t.Context(), "huge", TooLarge, ""},
		{t.Context(), "unheard-of", Unsupported, "h1: unheard-of: the agent does not answer this request"},
		{short, "sleep", Deadline, ""},
		{short, "sleep", context.DeadlineExceeded, ""},
		{canceled, "sleep", own, "h1: sleep: the run is over"},
	} {
		err := b.Call(test.ctx, "h1", test.verb, nil, nil)
		if !errors.Is(err, test.is) || test.text != "" && err.Error() != test.text {
			t.Errorf("%s: %v, want %v, %q", test.verb, err, test.is, test.text)
		}
	}
	if err := b.Call(t.Context(), "h1", "echo", json.RawMessage("{"), nil); !errors.Is(err, Invalid) {
		t.Errorf("a request that cannot be encoded: %v", err)
	}
	if err := b.Call(t.Context(), "h1", "echo", greeting{"x"}, new(int)); !errors.Is(err, Invalid) {
		t.Errorf("a reply of another type: %v", err)
	}
}
