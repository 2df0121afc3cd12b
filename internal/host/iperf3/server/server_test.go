package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/host/budget"
	"linerate/internal/host/iperf3"
	"linerate/internal/model/message"
)

// raw is a client by hand.
type raw struct {
	*testing.T
	conn   net.Conn
	cookie iperf3.Cookie
	at     string
}

func dial(t *testing.T, port string) *raw {
	t.Helper()
	r := &raw{T: t, cookie: iperf3.NewCookie(), at: net.JoinHostPort("127.0.0.1", port)}
	r.conn = r.connect()
	return r
}

func (r *raw) connect() net.Conn {
	r.Helper()
	conn, err := net.Dial("tcp", r.at)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		r.Fatal(err)
	}
	return conn
}

func (r *raw) write(conn net.Conn, b []byte) {
	r.Helper()
	if _, err := conn.Write(b); err != nil {
		r.Fatal(err)
	}
}

// hears fails the test unless the server says this next.
func (r *raw) hears(want iperf3.State) {
	r.Helper()
	if got, err := iperf3.ReadState(r.conn); got != want || err != nil {
		r.Fatalf("the server says %v, %v; want %v", got, err, want)
	}
}

// asks goes as far as the answer to the parameters.
func (r *raw) asks(p iperf3.Parameters) {
	r.Helper()
	r.write(r.conn, r.cookie[:])
	r.hears(iperf3.ParamExchange)
	if err := iperf3.WriteJSON(r.conn, p); err != nil {
		r.Fatal(err)
	}
}

// stream opens one over TCP.
func (r *raw) stream() net.Conn {
	r.Helper()
	conn := r.connect()
	r.write(conn, r.cookie[:])
	return conn
}

func simple() iperf3.Parameters {
	return iperf3.Parameters{TCP: true, Time: 1, Parallel: 1, ClientVersion: "3.12"}
}

// TestByHand: the whole of a test, and its figures.
func TestByHand(t *testing.T) {
	port, visits := open(t, "127.0.0.1", unchanged)
	r := dial(t, port)
	p := simple()
	p.Parallel, p.GetServerOutput = 2, 1
	r.asks(p)
	r.hears(iperf3.CreateStreams)
	one, two := r.stream(), r.stream()
	r.hears(iperf3.TestStart)
	r.hears(iperf3.TestRunning)
	r.write(one, make([]byte, 1000))
	r.write(two, make([]byte, 234567))
	_ = iperf3.WriteState(r.conn, iperf3.TestEnd)
	r.hears(iperf3.ExchangeResults)
	mine := iperf3.Results{Streams: []iperf3.StreamResult{{ID: 1, Bytes: 1000}, {ID: 3, Bytes: 234567}}}
	var theirs iperf3.Results
	if err := errors.Join(iperf3.WriteJSON(r.conn, mine), iperf3.ReadJSON(r.conn, iperf3.MaxResultsBytes,
		&theirs)); err != nil {
		t.Fatal(err)
	}
	r.hears(iperf3.DisplayResults)
	_ = iperf3.WriteState(r.conn, iperf3.Done)
	if a, b := theirs.Find(1), theirs.Find(3); a == nil || b == nil || a.Bytes != 1000 || b.Bytes != 234567 ||
		a.Retransmits != -1 ||
		!a.HasTimes || !a.HasOmitted || theirs.SenderRetransmits != -1 {
		t.Errorf("the server has counted %+v", theirs)
	}
	for _, words := range []string{"2 flows", "client to server", "234567 B", "received"} {
		if !strings.Contains(theirs.ServerOutputText, words) {
			t.Errorf("the server's output has no %q:\n%s", words, theirs.ServerOutputText)
		}
	}
	for _, line := range strings.Split(theirs.ServerOutputText, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
	if v := visit(t, visits); v.Err != nil || v.Flows != 2 || v.Received != 235567 || v.Sent != 0 || v.RanS <= 0 ||
		v.Version != "3.12" {
		t.Errorf("the visit is %+v", v)
	}
}

// TestStrangers: what is no client is shown out without an answer and without a
// word, and the next client is served.
func TestStrangers(t *testing.T) {
	port, visits := open(t, "127.0.0.1", unchanged)
	for _, garbage := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nand more than a cookie",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x00",
	} {
		r := dial(t, port)
		r.write(r.conn, []byte(garbage))
		_ = r.conn.(*net.TCPConn).CloseWrite()
		if answer, _ := io.ReadAll(r.conn); len(answer) > 0 {
			t.Errorf("%q is answered with %q", garbage, answer)
		}
	}
	for _, document := range []string{"\x00\x00\x00\x00", "\xff\xff\xff\xff", "\x00\x00\x00\x02[]",
		"\x00\x00\x00\x0a{\"tcp\":"} {
		r := dial(t, port)
		r.write(r.conn, r.cookie[:])
		r.hears(iperf3.ParamExchange)
		r.write(r.conn, []byte(document))
		_ = r.conn.(*net.TCPConn).CloseWrite()
		if answer, _ := io.ReadAll(r.conn); len(answer) > 0 {
			t.Errorf("%q is answered with %q", document, answer)
		}
	}
	r := dial(t, port)
	r.asks(simple())
	r.hears(iperf3.CreateStreams)
	r.conn.Close()
	if v := visit(t, visits); v.Err == nil || !strings.Contains(v.Err.Error(), "left before its test was over") {
		t.Errorf("the first that is reported: %v", v.Err)
	}
}

// TestVanishing: wherever a client leaves, its place is free again and the reason
// is reported.
func TestVanishing(t *testing.T) {
	var inside atomic.Int32
	port, visits := open(t, "127.0.0.1", func(o *Options) {
		o.Admit = func(Client, netip.Addr, budget.Use) (func(), error) {
			inside.Add(1)
			return func() { inside.Add(-1) }, nil
		}
	})
	left := "left before its test was over"
	for name, c := range map[string]struct {
		steps int
		last  iperf3.State // what it says when it leaves; 0: nothing
		say   string
	}{
		"before its streams":     {steps: 0, say: left},
		"between its streams":    {steps: 1, say: left},
		"in the test":            {steps: 2, say: left},
		"in the test, and says":  {steps: 2, last: iperf3.ClientTerminate, say: "interrupted"},
		"says it is done":        {steps: 2, last: iperf3.Done, say: left},
		"says what it may not":   {steps: 2, last: iperf3.TestStart, say: "TEST_START came where it means nothing"},
		"instead of its results": {steps: 2, last: iperf3.TestEnd, say: "the client's results"},
	} {
		t.Run(name, func(t *testing.T) {
			r := dial(t, port)
			p := simple()
			p.Parallel, p.Bidirectional = 1, true
			r.asks(p)
			r.hears(iperf3.CreateStreams)
			for range c.steps {
				r.stream()
			}
			if c.steps == 2 {
				r.hears(iperf3.TestStart)
				r.hears(iperf3.TestRunning)
			}
			if c.last != 0 {
				_ = iperf3.WriteState(r.conn, c.last)
			}
			r.conn.Close()
			if v := visit(t, visits); v.Err == nil || !strings.Contains(v.Err.Error(), c.say) {
				t.Errorf("reported: %v, want %q", v.Err, c.say)
			}
			if n := inside.Load(); n != 0 {
				t.Errorf("%d are still inside", n)
			}
		})
	}
}

// TestStopped: a client learns that the server ends.
func TestStopped(t *testing.T) {
	stop := make(chan struct{})
	port, visits := open(t, "127.0.0.1", unchanged, stop)
	r := dial(t, port)
	r.asks(simple())
	r.hears(iperf3.CreateStreams)
	r.stream()
	r.hears(iperf3.TestStart)
	r.hears(iperf3.TestRunning)
	close(stop)
	r.hears(iperf3.ServerTerminate)
	if v := visit(t, visits); v.Err == nil || v.Err.Error() != "the server was stopped" {
		t.Errorf("reported: %v", v.Err)
	}
}

// TestSameCookie: a test is not disturbed by another with its cookie.
func TestSameCookie(t *testing.T) {
	port, _ := open(t, "127.0.0.1", unchanged)
	r := dial(t, port)
	r.asks(simple())
	r.hears(iperf3.CreateStreams)
	r.stream()
	r.hears(iperf3.TestStart)
	r.hears(iperf3.TestRunning)
	// As a stream it comes too late; as a client it is one like any other.
	late := r.stream()
	if s, err := iperf3.ReadState(late); s != iperf3.ParamExchange || err != nil {
		t.Errorf("a further connection hears %v, %v", s, err)
	}
	_ = iperf3.WriteState(r.conn, iperf3.TestEnd)
	r.hears(iperf3.ExchangeResults)
}

// TestUnproven: datagrams are answered with as many bytes as they bring, only while
// a control connection from their address waits for them, and only once for each
// stream.
func TestUnproven(t *testing.T) {
	port, _ := open(t, "127.0.0.1", unchanged)
	ask := func(from string, question string) (answer []byte) {
		t.Helper()
		local := net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))
		dialer := net.Dialer{LocalAddr: local}
		conn, err := dialer.Dial("udp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte(question)); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		buffer := make([]byte, 2000)
		n, err := conn.Read(buffer)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		return buffer[:n]
	}
	hello := string(iperf3.Hello[:])
	if got := ask("127.0.0.1", hello); len(got) > 0 {
		t.Errorf("with no test, the answer is %q", got)
	}
	r := dial(t, port)
	r.asks(iperf3.Parameters{UDP: true, Time: 1, Parallel: 2, Reverse: true, ClientVersion: "3.12"})
	r.hears(iperf3.CreateStreams)
	if got := ask("127.0.0.2", hello); len(got) > 0 {
		t.Errorf("to another address, the answer is %q", got)
	}
	if got := ask("127.0.0.1", hello+"\x00"); len(got) > 0 {
		t.Errorf("to five bytes, the answer is %q", got)
	}
	if got := ask("127.0.0.1", "abcd"); len(got) > 0 {
		t.Errorf("to four other bytes, the answer is %q", got)
	}
	for range 2 {
		if got := ask("127.0.0.1", hello); !iperf3.IsHelloAnswer(got) || len(got) != 4 {
			t.Errorf("to the client, the answer is %q", got)
		}
	}
	r.hears(iperf3.TestStart)
	if got := ask("127.0.0.1", hello); len(got) > 0 {
		t.Errorf("to one too many, the answer is %q", got)
	}
}

// TestHelloTwice: a client's port gets one stream, however often it asks.
func TestHelloTwice(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dial(t, strconv.Itoa(l.Addr().Port))
	control, err := l.tcp.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	s := &server{listener: l, ctx: t.Context(), asking: map[netip.Addr]*test{}}
	asking := newTest(s, control, iperf3.NewCookie())
	s.asking[asking.from.Addr()] = asking
	defer drain(asking.asks, func(conn *net.UDPConn) { conn.Close() })
	for i, port := range []uint16{40001, 40001, 40002, 40001, 40002} {
		s.hello(netip.AddrPortFrom(asking.from.Addr(), port))
		if want := min(1+i/2, 2); len(asking.asks) != want {
			t.Errorf("after question %d: %d streams, want %d", i+1, len(asking.asks), want)
		}
	}
}

func TestCheck(t *testing.T) {
	bounds := message.Bounds{Flows: 4, DurationS: 100, RateBps: 1e9}
	for name, c := range map[string]struct {
		change func(*iperf3.Parameters)
		want   iperf3.Code
	}{
		"plain":           {func(*iperf3.Parameters) {}, 0},
		"no protocol":     {func(p *iperf3.Parameters) { p.TCP = false }, iperf3.CodeProtocol},
		"two protocols":   {func(p *iperf3.Parameters) { p.UDP = true }, iperf3.CodeProtocol},
		"sctp":            {func(p *iperf3.Parameters) { p.TCP, p.SCTP = false, true }, iperf3.CodeProtocol},
		"no stream":       {func(p *iperf3.Parameters) { p.Parallel = 0 }, iperf3.CodeStreams},
		"too many":        {func(p *iperf3.Parameters) { p.Parallel = 5 }, iperf3.CodeStreams},
		"both directions": {func(p *iperf3.Parameters) { p.Parallel, p.Bidirectional = 3, true }, iperf3.CodeStreams},
		"long":            {func(p *iperf3.Parameters) { p.Time = 101 }, iperf3.CodeDuration},
		"long, and new": {func(p *iperf3.Parameters) {
			p.Time, p.Omit, p.ClientVersion = 90, 20, "3.21"
		}, iperf3.CodeMaxDuration},
		"before it": {func(p *iperf3.Parameters) { p.Time = -1 }, iperf3.CodeDuration},
		"omit":      {func(p *iperf3.Parameters) { p.Omit = 601 }, iperf3.CodeOmit},
		"block":     {func(p *iperf3.Parameters) { p.Length = 1<<20 + 1 }, iperf3.CodeBlockSize},
		"datagram": {func(p *iperf3.Parameters) {
			p.TCP, p.UDP, p.Length = false, true, 15
		}, iperf3.CodeUDPBlockSize},
		"large datagram": {func(p *iperf3.Parameters) {
			p.TCP, p.UDP, p.Length = false, true, 65508
		}, iperf3.CodeUDPBlockSize},
		"window":  {func(p *iperf3.Parameters) { p.Window = -1 }, iperf3.CodeWindow},
		"segment": {func(p *iperf3.Parameters) { p.MSS = 40000 }, iperf3.CodeMSS},
		"service": {func(p *iperf3.Parameters) { p.TOS = 256 }, iperf3.CodeTOS},
		"burst":   {func(p *iperf3.Parameters) { p.Burst = 1001 }, iperf3.CodeBurst},
		"both": {func(p *iperf3.Parameters) {
			p.Reverse, p.Bidirectional = true, true
		}, iperf3.CodeReverseBidir},
		"rate":           {func(p *iperf3.Parameters) { p.Bandwidth = 2e9 }, iperf3.CodeTotalRate},
		"sum of rates":   {func(p *iperf3.Parameters) { p.Bandwidth, p.Parallel = 4e8, 3 }, iperf3.CodeTotalRate},
		"any rate":       {func(p *iperf3.Parameters) { p.TCP, p.UDP = false, true }, iperf3.CodeTotalRate},
		"any, from us":   {func(p *iperf3.Parameters) { p.TCP, p.UDP, p.Reverse = false, true, true }, 0},
		"no rate at all": {func(p *iperf3.Parameters) { p.Bandwidth = -5 }, iperf3.CodeTotalRate},
	} {
		p := simple()
		c.change(&p)
		var refused Refused
		errors.As(check(&p, bounds), &refused)
		if refused.Code != c.want {
			t.Errorf("%s: code %d, want %d", name, refused.Code, c.want)
		} else if c.want == 0 && p.Length == 0 {
			t.Errorf("%s: the size of a block is left open", name)
		}
	}
}

// TestPiece: a client's block is what is handed to the kernel at a time, or a burst of
// them, if nothing bounds the rate; a client that names no block leaves it to the stream.
func TestPiece(t *testing.T) {
	for _, c := range []struct {
		length, burst iperf3.Int
		bound         float64
		want          int
	}{
		{iperf3.DefaultLength, 0, 0, 0}, {iperf3.DefaultLength, 1, 0, 0},
		{iperf3.DefaultLength, 2, 0, 2 * iperf3.DefaultLength},
		{100, 0, 0, 100}, {1000, 3, 0, 3000}, {iperf3.MaxTCPLength, iperf3.MaxBurst, 0,
			iperf3.MaxTCPLength * iperf3.MaxBurst},
		{1000, 3, 1e9, 3000}, {iperf3.DefaultLength, 2, 1e9, iperf3.DefaultLength},
		{iperf3.MaxTCPLength, 0, 1e9, iperf3.DefaultLength},
	} {
		test := &test{p: iperf3.Parameters{Length: c.length, Burst: c.burst},
			server: &server{options: Options{Bounds: message.Bounds{RateBps: c.bound}}}}
		if got := test.piece(); got != c.want {
			t.Errorf("blocks of %d, %d at once: pieces of %d bytes, want %d", c.length, c.burst, got, c.want)
		}
	}
}

func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{"3.12": true, "3.19+": true, "3.20": false, "3.21-mt1": false,
		"4.0": false, "2.1": true, "": true, "x": true} {
		if got := older(version, 3, 20); got != want {
			t.Errorf("%q is older: %v", version, got)
		}
	}
}
