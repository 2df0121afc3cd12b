package client

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// patience is how long the client of these tests waits for a server's word.
const patience = 300 * time.Millisecond

// against runs a server's half of the control connection, whose cookie has been
// read. Further connections are streams; what comes over them is thrown away.
func against(t testing.TB, server func(net.Conn)) message.Iperf3Request {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for first := true; ; first = false {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := iperf3.ReadCookie(conn); err != nil {
					return
				}
				if first {
					server(conn)
				} else {
					_, _ = io.Copy(io.Discard, conn)
				}
			}()
		}
	}()
	return message.Iperf3Request{Server: l.Addr().String(), Writes: 1, DurationNs: 1e9, TimeoutNs: int64(patience)}
}

func say(c net.Conn, states ...iperf3.State) {
	for _, s := range states {
		_ = iperf3.WriteState(c, s)
	}
}

// asks has the server ask for parameters and read them.
func asks(c net.Conn) (p iperf3.Parameters) {
	say(c, iperf3.ParamExchange)
	_ = iperf3.ReadJSON(c, iperf3.MaxParametersBytes, &p)
	return p
}

// runs has the server begin a test.
func runs(c net.Conn) iperf3.Parameters {
	p := asks(c)
	say(c, iperf3.CreateStreams, iperf3.TestStart, iperf3.TestRunning)
	return p
}

// raw sends a document of any text.
func raw(c net.Conn, text string) {
	_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
}

func contains(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q does not say %q", what, text, w)
		}
	}
}

// TestOpenRefused: whatever listens there, and whatever it sends, the reason is
// reported, and soon.
func TestOpenRefused(t *testing.T) {
	login := func(o *message.Iperf3Request) {
		o.Login = &message.Iperf3Login{User: "me", Password: "secret", PublicKey: testKey}
	}
	for name, test := range map[string]struct {
		server func(net.Conn)
		change func(*message.Iperf3Request)
		words  []string
	}{
		"busy": {func(c net.Conn) { say(c, iperf3.AccessDenied) }, nil, []string{"busy with another test"}},
		"hangs up": {func(net.Conn) {}, nil, []string{"closed the connection without an answer", "busy",
			"something else than iperf3"}},
		"resets": {func(c net.Conn) {
			_ = c.(*net.TCPConn).SetLinger(0)
		}, nil, []string{"closed the connection without an answer"}},
		"silent": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, nil, []string{"sent nothing for 300ms"}},
		"a banner": {func(c net.Conn) {
			_, _ = c.Write([]byte("SSH-2.0-x\r\n"))
		}, nil, []string{"something else than iperf3", "83"}},
		"another state": {func(c net.Conn) { say(c, iperf3.DisplayResults) }, nil,
			[]string{"something else than iperf3", "DISPLAY_RESULTS"}},
		"refuses": {func(c net.Conn) { asks(c); _ = iperf3.WriteServerError(c, iperf3.CodeMaxDuration, 0) }, nil,
			[]string{"refuses", "longer than the server allows", "parameters"}},
		"refuses, with an errno": {func(c net.Conn) {
			asks(c)
			_ = iperf3.WriteServerError(c, iperf3.CodeCongestion, 2)
		}, nil,
			[]string{"congestion control", "no such file"}},
		"refuses without a reason": {func(c net.Conn) {
			asks(c)
			say(c, iperf3.ServerError)
		}, nil, []string{"it gives no reason"}},
		"refuses with an unknown code": {func(c net.Conn) {
			asks(c)
			_ = iperf3.WriteServerError(c, 9999, 0)
		}, nil, []string{"9999"}},
		"wants a user": {func(c net.Conn) {
			asks(c)
			_ = iperf3.WriteServerError(c, iperf3.CodeAuthentication, 0)
		}, nil,
			[]string{"authentication failed", "--iperf3-user"}},
		"wants another": {func(c net.Conn) {
			asks(c)
			_ = iperf3.WriteServerError(c, iperf3.CodeAuthentication, 0)
		}, login,
			[]string{"authentication failed", "wrong user or password", "--iperf3-pkcs1"}},
		"hangs up on a user": {func(c net.Conn) {
			asks(c)
		}, login, []string{"closed the connection", "user, password or clock", "10 s"}},
		"stops": {func(c net.Conn) {
			asks(c)
			say(c, iperf3.ServerTerminate)
		}, nil, []string{"was stopped"}},
		"streams, and no start": {func(c net.Conn) {
			asks(c)
			say(c, iperf3.CreateStreams)
			_, _ = io.Copy(io.Discard, c)
		}, nil, []string{"sent nothing", "streams were open"}},
		"streams, and a wrong word": {func(c net.Conn) { asks(c); say(c, iperf3.CreateStreams, iperf3.TestRunning) },
			nil, []string{"TEST_RUNNING", "is unexpected"}},
		"a key that is none": {func(c net.Conn) { asks(c) }, func(o *message.Iperf3Request) {
			login(o)
			o.Login.PublicKey = []byte("key")
		}, []string{"public key is not in PEM form"}},
		"a user with blanks": {func(c net.Conn) { asks(c) }, func(o *message.Iperf3Request) {
			login(o)
			o.Login.User = "a b"
		}, []string{"no blanks"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := against(t, test.server)
			if test.change != nil {
				test.change(&request)
			}
			began := time.Now()
			tested, _, err := Open(t.Context(), request)
			if err == nil {
				tested.Close()
				t.Fatal("opened")
			}
			contains(t, name, err.Error(), test.words...)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestOpenNobody: nothing listens there.
func TestOpenNobody(t *testing.T) {
	request := against(t, func(net.Conn) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	request.Server = l.Addr().String()
	l.Close()
	_, _, err = Open(t.Context(), request)
	if err == nil {
		t.Fatal("opened")
	}
	contains(t, "no listener", err.Error(), "connection refused", "iperf3 -s")
}

// started opens a test and lets its window pass.
func started(t *testing.T, request message.Iperf3Request) *Test {
	t.Helper()
	test, opened, err := Open(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(test.Close)
	if len(opened.Flows) != request.Writes+request.Reads || opened.Streams[0] != 1 || opened.Flows[0].ID != "w1" {
		t.Fatalf("opened %+v", opened)
	}
	now := sched.Now()
	test.Start(message.WindowRequest{StartNs: now, BeginNs: now + 20e6, EndNs: now + 60e6, StopNs: now + 70e6})
	return test
}

const goodResults = `{"cpu_util_total":1.5,"cpu_util_user":1,"cpu_util_system":0.5,"sender_has_retransmits":-1,"congestion_used":"cubic",
	"server_output_json":{"start":{"version":"iperf 3.12"}},
	"streams":[{"id":1,"bytes":1000,"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":2}]}`

// ends has a server end a test with results of this text.
func ends(text string) func(net.Conn) {
	return func(c net.Conn) {
		runs(c)
		if s, err := iperf3.ReadState(c); err != nil || s != iperf3.TestEnd {
			return
		}
		say(c, iperf3.ExchangeResults)
		var ours iperf3.Results
		if iperf3.ReadJSON(c, iperf3.MaxResultsBytes, &ours) != nil {
			return
		}
		raw(c, text)
		say(c, iperf3.DisplayResults)
		_, _ = io.Copy(io.Discard, c)
	}
}

// TestResults: what the server says in the end is understood, or refused.
func TestResults(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(goodResults, old, new, 1) }
	for name, test := range map[string]struct {
		text, refused, peer string
		seconds             float64
	}{
		"good": {goodResults, "", "iperf3 3.12", 2},
		"without a version": {change(`"server_output_json":{"start":{"version":"iperf 3.12"}},`, ""), "",
			"iperf3", 2},
		"in its text": {change(`"server_output_json":{"start":{"version":"iperf 3.12"}}`,
			`"server_output_text":"iperf 3.9\nLinux"`), "", "iperf3 3.9", 2},
		"another program":       {change("iperf 3.12", "linerate 0.1"), "", "linerate 0.1, as iperf3", 2},
		"a terminal's language": {change("iperf 3.12", `x\u001b[31m`), "", "iperf3", 2},
		"an old one":            {change(`,"start_time":0,"end_time":2`, ""), "", "iperf3 3.12", 0},
		"the wrong stream":      {change(`"id":1`, `"id":3`), "stream 1 is missing", "", 0},
		"no stream": {
			change(
				`[{"id":1,"bytes":1000,"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":2}]`,
				"[]"), "0 streams: expected 1", "", 0},
		"fewer than no bytes": {change(`"bytes":1000`, `"bytes":-1000`), "-1000 bytes", "", 0},
		"time going back":     {change(`"end_time":2`, `"end_time":-2`), "-2 s", "", 0},
		"not JSON":            {"{]", "results", "", 0},
		"no object":           {"[]", "not a JSON object", "", 0},
		"half of it":          {`{"streams":[]}`, "no field", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tested := started(t, against(t, ends(test.text)))
			closed, err := tested.End(t.Context())
			if test.refused != "" {
				if err == nil {
					t.Fatalf("understood %+v", closed)
				}
				contains(t, name, err.Error(), test.refused)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if closed.Peer != test.peer || len(closed.Counts) != 1 || closed.Counts[0].Seconds != test.seconds ||
				closed.Counts[0].Bytes != 1000 {
				t.Errorf("understood %+v, want %q and %g s", closed, test.peer, test.seconds)
			}
			if closed.Totals[0] <= 0 || closed.CongestionControl != "cubic" || !json.Valid(closed.Results) {
				t.Errorf("totals %v, %q, %s", closed.Totals, closed.CongestionControl, closed.Results)
			}
		})
	}
}

// TestBroken: a server that ends the test in the middle is noticed at once, and why
// is reported.
func TestBroken(t *testing.T) {
	for name, test := range map[string]struct {
		server func(net.Conn)
		word   string
	}{
		"dies": {func(c net.Conn) { runs(c); _ = c.(*net.TCPConn).SetLinger(0) }, "closed the connection"},
		"stopped": {func(c net.Conn) { runs(c); say(c, iperf3.ServerTerminate); _, _ = io.Copy(io.Discard, c) },
			"was stopped"},
		"expired": {func(c net.Conn) {
			runs(c)
			_ = iperf3.WriteServerError(c, iperf3.CodeExpired, 0)
			_, _ = io.Copy(io.Discard, c)
		}, "longer than was agreed"},
		"says more": {func(c net.Conn) { runs(c); say(c, iperf3.CreateStreams); _, _ = io.Copy(io.Discard, c) },
			"is unexpected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tested, _, err := Open(t.Context(), against(t, test.server))
			if err != nil {
				contains(t, name, err.Error(), test.word) // it was quicker than the last word before
				return
			}
			defer tested.Close()
			select {
			case <-tested.Broken():
			case <-time.After(20 * time.Second):
				t.Fatal("not noticed")
			}
			contains(t, name, tested.Err().Error(), test.word)
			if _, err := tested.End(t.Context()); err == nil {
				t.Error("it could be ended")
			}
		})
	}
}

// TestTerminate: an interruption is sent to the server, when the test is being
// agreed on as well as when it runs.
func TestTerminate(t *testing.T) {
	for name, runsFirst := range map[string]bool{"while agreeing": false, "while running": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := make(chan iperf3.State, 1)
			agreed := make(chan struct{})
			request := against(t, func(c net.Conn) {
				if runsFirst {
					runs(c)
				} else {
					asks(c)
				}
				close(agreed)
				s, _ := iperf3.ReadState(c)
				said <- s
			})
			request.TimeoutNs = int64(20 * time.Second)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-agreed
				if !runsFirst {
					cancel()
				}
			}()
			tested, _, err := Open(ctx, request)
			if runsFirst {
				if err != nil {
					t.Fatal(err)
				}
				tested.Close()
			} else if err == nil {
				t.Fatal("opened")
			}
			cancel()
			if s := <-said; s != iperf3.ClientTerminate {
				t.Errorf("the server heard %v", s)
			}
		})
	}
}

// TestParameters: what the server is sent.
func TestParameters(t *testing.T) {
	yes := true
	request := message.Iperf3Request{
		Writes: 3, Reads: 3, WarmupNs: 2.7e9, DurationNs: 3.2e9,
		Flow: message.FlowRequest{Spec: flow.Spec{MSS: 900, NoDelay: &yes, CongestionControl: "reno", Window: 1 << 16,
			RateCap: 5e6}},
	}
	p, err := (&Test{request: request}).parameters()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "parameters", string(text), `"tcp":true`, `"omit":2`, `"time":4`, `"num":0`, `"blockcount":0`,
		`"parallel":3`,
		`"bidirectional":true`, `"nodelay":true`, `"MSS":900`, `"window":65536`, `"bandwidth":5000000`,
		`"congestion":"reno"`, `"get_server_output":1`)
	request.Writes, request.DurationNs, request.Flow.Protocol, request.Flow.Datagram = 0, 3600e9, flow.UDP, 1000
	if p, err = (&Test{request: request}).parameters(); err != nil || !p.UDP || !p.Reverse || p.Length != 1000 ||
		p.GetServerOutput != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// FuzzServer: a server that says anything at all is survived, soon, and never
// believed to have held a test.
func FuzzServer(f *testing.F) {
	start := string([]byte{byte(iperf3.ParamExchange), byte(iperf3.CreateStreams), byte(iperf3.TestStart),
		byte(iperf3.TestRunning)})
	for _, seed := range []string{
		"", "\xff", "\xfe\x00\x00\x00\x8e\x00\x00\x00\x01", "\x09\xfe", "HTTP/1.1 400 Bad Request\r\n\r\n", start,
		start + "\x0d",
		start + "\x0d\x00\x00\x00\x02{}", start + "\x0d\xff\xff\xff\xff{", start + "\x0d\x00\x00\x00\x00",
		start + "\x0b", "\x09\x0a\x0a",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		request := against(t, func(c net.Conn) {
			_, _ = c.Write(data)
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
		})
		request.TimeoutNs = int64(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		test, _, err := Open(ctx, request)
		if err != nil {
			return
		}
		defer test.Close()
		now := sched.Now()
		test.Start(message.WindowRequest{StartNs: now, BeginNs: now, EndNs: now, StopNs: now})
		if closed, err := test.End(ctx); err == nil && len(closed.Counts) != 1 {
			t.Errorf("%q: %+v", data, closed)
		}
		if ctx.Err() != nil {
			t.Errorf("%q: took too long", data)
		}
	})
}

// FuzzResults: results are understood as a whole, or not at all.
func FuzzResults(f *testing.F) {
	for _, seed := range []string{goodResults, "{}", `{"streams":null}`, strings.Replace(goodResults, `"bytes":1000`,
		`"bytes":1e30`, 1), strings.Replace(goodResults, `"end_time":2`, `"end_time":1e308`, 1)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range []iperf3.Parameters{{TCP: true, Parallel: 1}, {UDP: true, Parallel: 1, Reverse: true},
			{UDP: true, Parallel: 2, Bidirectional: true}} {
			closed := message.Iperf3Closed{Results: text}
			if (&Test{params: p}).understand(&closed) != nil {
				continue
			}
			if len(closed.Counts) != p.Streams() || !strings.Contains(closed.Peer, "iperf3") {
				t.Errorf("%s: %+v", text, closed)
			}
			for _, c := range closed.Counts {
				if c.Bytes < 0 || c.Seconds < 0 || c.GoodputBps < 0 {
					t.Errorf("%s: %+v", text, c)
				}
			}
			if _, err := json.Marshal(closed); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}
