package bus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"linerate/internal/model/message"
)

type greeting struct {
	Text string `json:"text"`
}

// pair starts a bus with one agent over the given two ends of a stream.
func pair(t *testing.T, near, far net.Conn) (*Bus, *Conn) {
	t.Helper()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.Attach("h1", near)
	c, err := Join("h1", far, Silence)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Serve(t.Context(), handlings(map[string]Handler{
		"echo": func(_ context.Context, request []byte) (any, error) {
			var g greeting
			err := json.Unmarshal(request, &g)
			return g, err
		},
		"fail": func(context.Context, []byte) (any, error) { return nil, errors.New("no such port: eth9") },
		"panic": func(context.Context, []byte) (any, error) {
			var ports map[string]int
			//lint:ignore SA5000 this handler is to panic
			ports["eth0"]++
			return ports, nil
		},
		"huge":  func(context.Context, []byte) (any, error) { return strings.Repeat("x", MaxMessage+1), nil },
		"sleep": func(ctx context.Context, _ []byte) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
	}), Gate{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Announce(message.Hello{Version: "here"}); err != nil {
		t.Fatal(err)
	}
	if hello := helloOf(t, b, "h1"); hello.Version != "here" {
		t.Fatalf("announcement %+v", hello)
	}
	return b, c
}

// handlings are verbs that are not those of an agent.
func handlings(by map[string]Handler) (list []Handling) {
	for name, h := range by {
		list = append(list, Handling{Name: name, Handler: h})
	}
	return list
}

// ask is call; a reply of nil: whatever it is.
func (b *Bus) ask(ctx context.Context, node, verb string, request, reply any) error {
	if reply == nil {
		reply = new(any)
	}
	return b.call(ctx, node, verb, request, reply)
}

// helloOf waits for a node's announcement.
func helloOf(t *testing.T, b *Bus, node string) message.Hello {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	hellos, err := b.Hellos(ctx, []string{node})
	if err != nil {
		t.Fatalf("no announcement: %v", err)
	}
	return hellos[node]
}

// TestHellos: the wait for agents ends with the first that ends, or with the context; what
// arrived is returned.
func TestHellos(t *testing.T) {
	near, far := net.Pipe()
	b, _ := pair(t, near, far)
	near2, far2 := net.Pipe()
	b.Attach("h2", near2)
	cause := errors.New("too long")
	short, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, cause)
	defer cancel()
	if hellos, err := b.Hellos(short, []string{"h1", "h2"}); err != cause || len(hellos) != 1 ||
		hellos["h1"].Version != "here" {
		t.Errorf("%v: %+v, want h1's after the context's cause", err, hellos)
	}
	far2.Close()
	_, err := b.Hellos(t.Context(), []string{"h1", "h2", "h3"})
	if lost, is := errors.AsType[*Error](err); !is || lost.Node != "h2" || !errors.Is(err, message.Gone) {
		t.Errorf("%v, want h2's end", err)
	}
}

func TestCallOverSocketAndPipes(t *testing.T) {
	left, right := net.Pipe()
	inR, inW, _ := os.Pipe()
	outR, outW, _ := os.Pipe()
	for name, ends := range map[string][2]net.Conn{
		"socket": {left, right},
		"pipes":  {Pipes(outR, inW), Pipes(inR, outW)},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := pair(t, ends[0], ends[1])
			var got greeting
			big := strings.Repeat("x", 3<<20)
			if err := b.ask(t.Context(), "h1", "echo", greeting{big}, &got); err != nil || got.Text != big {
				t.Fatalf("echo of 3 MiB: %v, %d bytes", err, len(got.Text))
			}
			err := b.ask(t.Context(), "h1", "fail", nil, nil)
			if err == nil || err.Error() != "h1: no such port: eth9" {
				t.Fatalf("error reads %v", err)
			}
		})
	}
}

// slow is a stream whose second and later writes arrive late, as over a path that loses packets.
type slow struct {
	net.Conn
	writes atomic.Int32
}

func (s *slow) Write(p []byte) (int, error) {
	if s.writes.Add(1) == 2 {
		time.Sleep(2500 * time.Millisecond) // the server pings a client after 2 to 2.4 s
	}
	return s.Conn.Write(p)
}

// clients counts the connections to the embedded server.
func clients(b *Bus) int { return b.server.(interface{ NumClients() int }).NumClients() }

// TestSlowPath: an agent joins whose greeting arrives in parts, seconds apart. Until it is
// complete the server has no connection that it would ping, or end.
func TestSlowPath(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	b, _ := pair(t, near, &slow{Conn: far})
	if err := b.ask(t.Context(), "h1", "echo", greeting{"late"}, nil); err != nil {
		t.Error(err)
	}
	if n := clients(b); n != 2 {
		t.Errorf("%d connections, want the conductor's and the agent's", n)
	}
	waiting, agent := net.Pipe()
	b.Attach("h2", waiting)
	if line, err := bufio.NewReader(agent).ReadString('\n'); err != nil || !strings.HasPrefix(line, "INFO ") {
		t.Fatalf("%q, %v", line, err)
	}
	if n := clients(b); n != 2 {
		t.Errorf("%d connections, one of them of an agent that has said nothing", n)
	}
	b.Close()
	select {
	case <-b.Lost("h2"):
	case <-time.After(20 * time.Second):
		t.Error("the bus is closed, and the stream of an agent that has said nothing is not")
	}
}

// A conductor must learn at once, and not by a timeout, that a host is gone.
func TestCallFailsWhenTheAgentGoes(t *testing.T) {
	left, right := net.Pipe()
	b, c := pair(t, left, right)
	result := make(chan error, 1)
	go func() { result <- b.ask(context.Background(), "h1", "sleep", nil, nil) }()
	time.Sleep(50 * time.Millisecond)
	right.Close()
	select {
	case err := <-result:
		if !errors.Is(err, message.Gone) {
			t.Fatalf("got %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the call still waits for an agent that is gone")
	}
	select {
	case <-c.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the agent did not notice that its stream ended")
	}
}

// cut is a stream by which at some time nothing comes any more, and which does not
// end.
type cut struct {
	net.Conn
	now chan struct{}
}

func (c cut) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.now:
		select {} // and a writer waits, too
	default:
		return n, err
	}
}

// A network that is cut ends no stream: the agent must notice all the same, even
// while it waits to write, and not before. One that is to wait for ever does.
func TestAgentNoticesSilence(t *testing.T) {
	t.Parallel()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	now := make(chan struct{})
	agent := func(node string, silence time.Duration) *Conn {
		left, right := net.Pipe()
		b.Attach(node, cut{left, now})
		c, err := Join(node, right, silence)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const silence = 800 * time.Millisecond
	c, patient := agent("h1", silence), agent("h2", 0)
	select {
	case <-c.Done():
		t.Fatal("the agent has gone, and its conductor is there")
	case <-time.After(silence * 3 / 2):
	}
	close(now)
	select {
	case <-c.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the agent did not notice that nothing comes any more")
	}
	select {
	case <-patient.Done():
		t.Error("an agent that was to wait for ever did not")
	default:
	}
}

// A handler that fails badly must not take the agent along, whose settings would
// stay; and a reply that does not fit must not leave the conductor waiting.
func TestCallsThatCannotBeAnswered(t *testing.T) {
	left, right := net.Pipe()
	b, _ := pair(t, left, right)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for verb, want := range map[string]string{
		"panic": "h1: the agent failed: assignment to entry in nil map",
		"huge":  "h1: the reply to huge has more than 64 MiB",
	} {
		err := b.ask(ctx, "h1", verb, nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", verb, err, want)
		}
	}
	var got greeting
	if err := b.ask(ctx, "h1", "echo", greeting{"still here"}, &got); err != nil || got.Text != "still here" {
		t.Errorf("after that: %v, %+v", err, got)
	}
}

// One host's agent cannot listen to what others are asked, answer for them,
// announce itself as one of them, or ask anything itself.
func TestAgentsAreApart(t *testing.T) {
	near1, far1 := net.Pipe()
	b, c := pair(t, near1, far1)
	near2, far2 := net.Pipe()
	b.Attach("h2", near2)
	bad, err := Join("h2", far2, Silence)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10)
	for _, subject := range []string{"linerate.agent.h1.echo", "linerate.agent.>", ">", "_INBOX.>"} {
		if _, err := bad.conn.Subscribe(subject, func(m *nats.Msg) { heard <- m.Subject }); err != nil {
			t.Fatal(err)
		}
	}
	asked := make(chan string, 10)
	if _, err := c.conn.Subscribe(subject("h1", "other"), func(m *nats.Msg) { asked <- string(m.Data) }); err != nil {
		t.Fatal(err)
	}
	bad.node = "h1"
	if err := errors.Join(c.conn.Flush(), bad.Announce(message.Hello{Version: "I am h1"}),
		bad.conn.Publish(subject("h1", "other"), nil)); err != nil {
		t.Fatal(err)
	}
	bad.node = "h2"
	if err := bad.Announce(message.Hello{Version: "I am h2"}); err != nil {
		t.Fatal(err)
	}
	var got greeting
	if err := b.ask(t.Context(), "h1", "echo", greeting{"for h1 alone"}, &got); err != nil ||
		got.Text != "for h1 alone" {
		t.Fatalf("%v, %+v", err, got)
	}
	if err := errors.Join(bad.conn.Flush(), c.conn.Flush()); err != nil {
		t.Fatal(err)
	}
	if h1, h2 := helloOf(t, b, "h1"), helloOf(t, b, "h2"); h1.Version != "here" || h2.Version != "I am h2" {
		t.Errorf("h1's announcement is %q and h2's %q", h1.Version, h2.Version)
	}
	select {
	case what := <-heard:
		t.Errorf("h2 heard %s", what)
	case data := <-asked:
		t.Errorf("h2 asked h1: %q", data)
	default:
	}
}

// A node's second stream is not lost with its first one, whose end may come late.
func TestAttachAgain(t *testing.T) {
	first, far := net.Pipe()
	b, _ := pair(t, first, far)
	gone := b.Lost("h1")
	second, other := net.Pipe()
	b.Attach("h1", second)
	far.Close()
	<-gone
	select {
	case <-b.Lost("h1"):
		t.Error("the second stream counts as lost")
	default:
	}
	other.Close()
	<-b.Lost("h1")
}

// stuck is a writer that blocks from an instant on, as a device whose other end is not read.
type stuck struct {
	io.WriteCloser
	now chan struct{}
}

func (s stuck) Write(data []byte) (int, error) {
	select {
	case <-s.now:
		select {}
	default:
		return s.WriteCloser.Write(data)
	}
}

func (s stuck) Close() error { return nil }

// TestOutputThatIsNotTaken: an agent ends with its input although nothing takes its output.
func TestOutputThatIsNotTaken(t *testing.T) {
	near, far := net.Pipe()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Attach("h1", near)
	in, input := io.Pipe()
	go func() {
		_, _ = io.Copy(input, far)
		input.Close()
	}()
	now := make(chan struct{})
	c, err := Join("h1", Pipes(in, stuck{far, now}), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Announce(message.Hello{}); err != nil {
		t.Fatal(err)
	}
	close(now)
	go func() { _ = c.conn.Publish("anything", make([]byte, 1<<20)) }() // holds the connection's lock
	time.Sleep(50 * time.Millisecond)                                   // until it does
	near.Close()
	ended := make(chan struct{})
	go func() {
		<-c.Done()
		c.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the agent waits for its output")
	}
}
