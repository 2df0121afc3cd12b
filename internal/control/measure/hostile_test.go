package measure

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/host/agent"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// hostileServer answers one conductor with handlers of its own.
func hostileServer(t *testing.T, hello message.Hello, handlers map[string]bus.Handler) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				peer, welcome, err := greeting.Server{Name: "rogue"}.Receive(conn)
				if err != nil || !peer.Cookie.IsZero() || welcome() != nil {
					_, _ = io.Copy(io.Discard, conn) // a flow's
					return
				}
				c, err := bus.Join(record.NodeServer, conn, bus.Silence)
				var list []bus.Handling
				for name, h := range handlers {
					list = append(list, bus.Handling{Name: name, Handler: h})
				}
				if err != nil || c.Serve(t.Context(), list, bus.Gate{}) != nil || c.Announce(hello) != nil {
					return
				}
				<-c.Done()
			}()
		}
	}()
	return l.Addr().String()
}

// friendly are handlers of a server that measures, with figures of its own.
func friendly() map[string]bus.Handler {
	var ids []string
	ends := func(bytes int64) (list []message.FlowEnd) {
		for _, id := range ids {
			list = append(list, message.FlowEnd{ID: id, Alive: true, ReceivedBytes: bytes, FirstNs: 1, LastNs: 2})
		}
		return list
	}
	return map[string]bus.Handler{
		"clock":    func(context.Context, []byte) (any, error) { return message.ClockReply{NowNs: sched.Now()}, nil },
		"progress": func(context.Context, []byte) (any, error) { return message.FlowProgress{AtNs: sched.Now()}, nil },
		"close":    func(context.Context, []byte) (any, error) { return struct{}{}, nil },
		"ready":    func(context.Context, []byte) (any, error) { return ends(0), nil },
		"listen": func(_ context.Context, data []byte) (any, error) {
			var list []message.FlowRequest
			if err := json.Unmarshal(data, &list); err != nil {
				return nil, err
			}
			var out []message.Listening
			ids = nil
			for _, o := range list {
				ids, out = append(ids, o.ID), append(out, message.Listening{ID: o.ID})
			}
			return out, nil
		},
		"window": func(_ context.Context, data []byte) (any, error) {
			var w message.WindowRequest
			if err := json.Unmarshal(data, &w); err != nil {
				return nil, err
			}
			sched.SleepUntil(w.StopNs)
			r := message.WindowReply{BeginFlows: ends(0), EndFlows: ends(1e6), FinalFlows: ends(1e6)}
			r.Reading.Host = record.NodeServer
			r.Reading.Begin.BeganNs, r.Reading.Begin.EndedNs = w.BeginNs, w.BeginNs
			r.Reading.End.BeganNs, r.Reading.End.EndedNs = w.EndNs, w.EndNs
			return r, nil
		},
	}
}

// conduct is why a measurement ended, if it did so early; nil: it did not.
func conduct(t *testing.T, at string, limit time.Duration) error {
	t.Helper()
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_ = agent.Serve(ctx, far, agent.Options{Node: record.NodeClient, Access: message.Client | message.Own})
	}()
	ended := make(chan error, 1)
	go func() {
		run, err := Conduct(ctx, near, Options{
			Addresses: []string{at}, Duration: 100 * time.Millisecond, Warmup: 10 * time.Millisecond,
			Interval: 50 * time.Millisecond,
			Flows:    flow.Spec{Protocol: flow.TCP, Direction: flow.Write, Streams: 1}, limit: limit,
		})
		if err == nil && run.Trials[0].Ended != "" {
			err = errors.New(run.Trials[0].Ended)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the measurement goes on")
		return nil
	}
}

// TestHostileServer: whatever a server does, a measurement ends with a sentence of one line
// that can be shown.
func TestHostileServer(t *testing.T) {
	stall := func(ctx context.Context, _ []byte) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	says := func(text string) bus.Handler {
		return func(context.Context, []byte) (any, error) { return json.RawMessage(text), nil }
	}
	window := func(change func(*message.WindowReply)) bus.Handler {
		return func(ctx context.Context, data []byte) (any, error) {
			handlers := friendly()
			_, _ = handlers["listen"](ctx, []byte(`[{"id":"w1"}]`))
			reply, err := handlers["window"](ctx, data)
			r := reply.(message.WindowReply)
			change(&r)
			return r, err
		}
	}
	for name, test := range map[string]struct {
		verb    string
		handler bus.Handler
		want    string // a regular expression; empty: it measures, or any error
	}{
		"honest":           {"none", nil, "none"},
		"stalls at clock":  {"clock", stall, "no answer within"},
		"stalls at listen": {"listen", stall, "no answer within"},
		"stalls at ready":  {"ready", stall, "no answer within"},
		// This host's own readings are enough if the server's kernel took bytes for long enough.
		"stalls at window":   {"window", stall, "no reading within|connection to the server was lost"},
		"stalls at close":    {"close", stall, "none"},
		"stalls at progress": {"progress", stall, "none"},
		"a giant reply":      {"listen", says(`["` + strings.Repeat("x", 22<<20) + `"]`), "expected at most"},
		"many objects":       {"ready", says(`[` + strings.Repeat("{},", 1<<20) + `{}]`), "objects and lists in"},
		"another type":       {"window", says(`[1e999]`), "unreadable reply"},
		"no number":          {"window", says(`{"reading":{"begin":{"began_ns":NaN}}}`), ""},
		"negative counters": {"window", window(func(r *message.WindowReply) { r.EndFlows[0].ReceivedBytes = -5 }),
			"ReceivedBytes of flow \"w1\" is -5"},
		"falling counters": {"window", window(func(r *message.WindowReply) {
			r.BeginFlows[0].ReceivedBytes = 1e9
		}), "fall"},
		"absurd counters": {"window", window(func(r *message.WindowReply) {
			r.EndFlows[0].ReceivedBytes = 1<<63 - 1
		}), "ReceivedBytes"},
		"another window": {"window", window(func(r *message.WindowReply) {
			r.Reading.End.BeganNs = r.Reading.Begin.BeganNs + 1
		}), "a window of 1ns"},
		"flows that were not asked for": {"window", window(func(r *message.WindowReply) {
			r.EndFlows = append(r.EndFlows, r.EndFlows...)
		}), "1 flows at the beginning and 2 later"},
		"refuses after the window": {"window", func(ctx context.Context, data []byte) (any, error) {
			_, err := friendly()["window"](ctx, data)
			time.Sleep(200 * time.Millisecond) // this host has its readings by then
			return nil, errors.Join(err, errors.New("the counters are gone"))
		}, "the counters are gone"},
		"no flows": {"window", window(func(r *message.WindowReply) {
			r.BeginFlows, r.EndFlows, r.FinalFlows = nil, nil, nil
		}), ""},
		"an absurd clock": {"clock", says(`{"now_ns":-9223372036854775808}`), ""},
		"escapes": {"listen", func(context.Context, []byte) (any, error) {
			return nil, &message.Error{Text: "\x1b]0;owned\a\x1b[2J"}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handlers := friendly()
			if test.handler != nil {
				handlers[test.verb] = test.handler
			}
			limit := 10 * time.Second // calls that are answered must be within it on a slow machine, too
			switch name {
			case "stalls at clock", "stalls at listen", "stalls at ready":
				limit /= 5 // the error is the same when an earlier call takes longer
			case "a giant reply":
				limit *= 6 // its 64 MiB take some time under the race detector
			case "stalls at window":
				limit /= 4 // it is waited for several times
			}
			err := conduct(t, hostileServer(t, message.Hello{Node: record.NodeServer}, handlers), limit)
			switch {
			case test.want == "none" && err != nil:
				t.Errorf("%v, want a measurement", err)
			case test.want == "none" || test.want == "" && err == nil:
			case err == nil || !regexp.MustCompile(test.want).MatchString(err.Error()):
				t.Errorf("%.300v, want %q", err, test.want)
			case len(err.Error()) > 1000:
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
	for name, hello := range map[string]message.Hello{
		"negative bounds": {Bounds: &message.Bounds{Flows: -1, DurationS: -1, RateBps: -1}},
		"absurd bounds": {Bounds: &message.Bounds{Flows: 1 << 62, DurationS: 1e300, RateBps: 1e-300,
			Connections: 1 << 62}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_ = conduct(t, hostileServer(t, hello, friendly()), 10*time.Second) // it ends
		})
	}
}
