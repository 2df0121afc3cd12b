package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestErrorsKeepTheirCode: what an agent fails with is the same kind of failure for
// the caller, wrapped or not, and says the same.
func TestErrorsKeepTheirCode(t *testing.T) {
	left, right := net.Pipe()
	b, c := pair(t, left, right)
	for _, test := range []struct {
		err  error
		code message.Code
	}{
		{os.NewSyscallError("set qdisc eth0", syscall.EOPNOTSUPP), message.Unsupported},
		{os.NewSyscallError("add route 10.0.0.0/8", syscall.EPERM), message.NotPermitted},
		{os.NewSyscallError("set link eth9", syscall.ENODEV), message.NotFound},
		{fmt.Errorf("apply: %w", os.NewSyscallError("add address 10.0.0.1", syscall.EEXIST)), message.Exists},
		{errors.Join(errors.New("first"), syscall.EINVAL), message.Invalid},
		{syscall.EADDRNOTAVAIL, message.Exhausted},
		{Coded(message.OutOfBounds, errors.New("9 flows: this server allows a client 3")), message.OutOfBounds},
		{syscall.EBUSY, message.Busy},
		{syscall.ENETUNREACH, message.Unreachable},
		{context.DeadlineExceeded, message.Deadline},
		{context.Canceled, message.Canceled},
		{Coded(message.Gone, errors.New("the session has ended")), message.Gone},
		{errors.New("nothing that has a kind"), ""},
	} {
		verb := "code" + string(test.code[:min(1, len(test.code))]) + fmt.Sprint(len(test.err.Error()))
		if err := c.Serve(t.Context(), handlings(map[string]Handler{verb: func(context.Context, []byte) (any, error) {
			return nil, test.err
		}}), Gate{}); err != nil {
			t.Fatal(err)
		}
		err := fmt.Errorf("trial 7: %w", b.ask(t.Context(), "h1", verb, nil, nil))
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Node != "h1" || e.Op != verb || CodeOf(e) != test.code || e.Err.Error() != test.err.Error() {
			t.Errorf("%v arrived as %+v", test.err, e)
		}
		for _, code := range []message.Code{message.Unsupported, message.NotPermitted, message.NotFound, message.Exists,
			message.Invalid, message.Exhausted, message.OutOfBounds, message.Busy, message.Unreachable,
			message.Deadline, message.Canceled, message.Gone, message.Crashed, message.TooLarge} {
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
		{t.Context(), "panic", message.Crashed, ""},
		{t.Context(), "huge", message.TooLarge, ""},
		{t.Context(), "unheard-of", message.Unsupported, "h1: unheard-of: the agent does not answer this request"},
		{short, "sleep", message.Deadline, ""},
		{short, "sleep", context.DeadlineExceeded, ""},
		{canceled, "sleep", own, "h1: sleep: the run is over"},
	} {
		err := b.ask(test.ctx, "h1", test.verb, nil, nil)
		if !errors.Is(err, test.is) || test.text != "" && err.Error() != test.text {
			t.Errorf("%s: %v, want %v, %q", test.verb, err, test.is, test.text)
		}
	}
	if err := b.ask(t.Context(), "h1", "echo", json.RawMessage("{"), nil); !errors.Is(err, message.Invalid) {
		t.Errorf("a request that cannot be encoded: %v", err)
	}
	if err := b.ask(t.Context(), "h1", "echo", greeting{"x"}, new(int)); !errors.Is(err, message.Invalid) {
		t.Errorf("a reply of another type: %v", err)
	}
}

// TestFlowErrorsKeepTheirCode: what one flow of a request fails with is the same kind of
// failure for the caller, with the ports that are in use.
func TestFlowErrorsKeepTheirCode(t *testing.T) {
	left, right := net.Pipe()
	b, c := pair(t, left, right)
	connect := func(err error) error { return fmt.Errorf("connect 10.0.0.1 → 10.0.0.2:5000: %w", err) }
	exhausted := &record.PortsExhausted{FirstPort: 32768, LastPort: 60999, Open: 28231, Wanted: 30000}
	var opened []message.Opened
	wants := []message.Code{message.Unreachable, message.Deadline, message.NotPermitted, message.Exhausted,
		message.Exhausted, "", ""}
	for i, err := range []error{
		connect(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		connect(context.DeadlineExceeded),
		connect(os.NewSyscallError("setsockopt", syscall.EPERM)),
		connect(os.NewSyscallError("bind", syscall.EADDRNOTAVAIL)),
		exhausted,
		errors.New("the peer closed the connection before its time"),
		nil,
	} {
		opened = append(opened, message.Opened{ID: fmt.Sprint(i), Error: Failure(err)})
	}
	if err := c.Serve(t.Context(), handlings(map[string]Handler{"connect": func(context.Context, []byte) (any, error) {
		return opened, nil
	}}), Gate{}); err != nil {
		t.Fatal(err)
	}
	var got []message.Opened
	if err := b.ask(t.Context(), "h1", "connect", nil, &got); err != nil {
		t.Fatal(err)
	}
	for i, want := range wants {
		if got[i].Error == nil {
			if i < len(wants)-1 {
				t.Errorf("%s arrived as no failure", opened[i].Error)
			}
			continue
		}
		err := fmt.Errorf("trial 7: %w", got[i].Error)
		if CodeOf(err) != want || want != "" && !errors.Is(err, want) ||
			err.Error() != "trial 7: "+opened[i].Error.Text {
			t.Errorf("%v: code %q, want %q", err, CodeOf(err), want)
		}
	}
	if p := got[4].Error.Ports; p == nil || *p != *exhausted {
		t.Errorf("the ports arrived as %+v", p)
	}
}

// TestLongTexts: the texts of a node that is not trusted are cut, of errors and within a reply.
func TestLongTexts(t *testing.T) {
	long := &message.Error{Code: message.Busy, Text: strings.Repeat("é", longestText)}
	type reply struct {
		Flows []message.FlowEnd
		Named map[string]*message.Error
		Host  netstate.Snapshot
		Any   any
		Times record.Distribution
	}
	for name, most := range map[string]int{"trusted": 0, "bounded": 1 << 20} {
		near, far := net.Pipe()
		b, err := Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		b.Bound("h1", most)
		b.Attach("h1", near)
		agent, err := Join("h1", far, Silence)
		if err != nil {
			t.Fatal(err)
		}
		err = agent.Serve(t.Context(), handlings(map[string]Handler{
			"fail": func(context.Context, []byte) (any, error) { return nil, long },
			"ends": func(context.Context, []byte) (any, error) {
				return reply{
					[]message.FlowEnd{{}, {Error: long, ModeNote: long.Text}}, map[string]*message.Error{"a": long},
					netstate.Snapshot{Tables: netstate.Tables{Missing: []string{long.Text}},
						Sysctls: map[string]string{"a": long.Text, long.Text: "a"}},
					map[string]any{"a": []any{long.Text}}, record.Distribution{Histogram: []byte(long.Text)},
				}, nil
			},
		}), Gate{})
		if err != nil {
			t.Fatal(err)
		}
		var got reply
		if err := b.ask(t.Context(), "h1", "ends", nil, &got); err != nil {
			t.Fatal(err)
		}
		failed, is := errors.AsType[*message.Error](b.ask(t.Context(), "h1", "fail", nil, nil))
		if !is {
			t.Fatalf("%s: the agent has not failed", name)
		}
		texts := []string{
			got.Flows[1].Error.Text, got.Named["a"].Text, failed.Text, got.Flows[1].ModeNote, got.Host.Missing[0],
			got.Host.Sysctls["a"], got.Any.(map[string]any)["a"].([]any)[0].(string),
		}
		for key := range got.Host.Sysctls {
			if key != "a" {
				texts = append(texts, key)
			}
		}
		for i, text := range texts {
			whole := text == long.Text
			cut := len(text) <= longestText+len("…") && utf8.ValidString(text)
			if whole != (most == 0) || cut != (most > 0) {
				t.Errorf("%s: text %d has %d bytes", name, i, len(text))
			}
		}
		if code := failed.Code; code != message.Busy || len(texts) != 8 || string(got.Times.Histogram) != long.Text {
			t.Errorf("%s: code %s, %d texts, a histogram of %d bytes", name, code, len(texts), len(got.Times.Histogram))
		}
	}
}
