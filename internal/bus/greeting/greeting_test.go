package greeting

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/message"
)

// greet lets a conductor and a server greet each other; the server then welcomes.
func greet(t *testing.T, token string, server Server) (v Peer, conductor, host error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	for _, c := range []net.Conn{near, far} {
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		var welcome func() error
		if v, welcome, host = server.Receive(far); host == nil {
			host = welcome()
		}
	}()
	_, conductor = Introduce(near, token)
	near.Close()
	<-done
	return v, conductor, host
}

func TestGreeting(t *testing.T) {
	for _, test := range []struct {
		name, token     string
		server          Server
		conductor, host string // parts of the errors
	}{
		{"no token", "", Server{}, "", ""},
		{"the same token", "sesame", Server{Token: "sesame"}, "", ""},
		{"another token", "barley", Server{Token: "sesame"}, "wrong token", "wrong token"},
		{"a token is wanted", "", Server{Token: "sesame"}, "requires a token", "EOF"},
		{"a token that the server does not know", "sesame", Server{}, "has no token", "EOF"},
		{"closed", "", Server{Closed: "not you"}, "not you", "not you"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, conductor, host := greet(t, test.token, test.server)
			for who, got := range map[string][2]any{"conductor": {conductor, test.conductor},
				"server": {host, test.host}} {
				err, _ := got[0].(error)
				want := got[1].(string)
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", who, err, want)
				}
			}
			if _, refused := errors.AsType[Refused](conductor); refused != (test.conductor != "") {
				t.Errorf("the conductor's error is %T", conductor)
			}
			if v.Version == "" || !v.Cookie.IsZero() {
				t.Errorf("client %+v", v)
			}
		})
	}
}

// TestImpostor: a server that does not know the token is found out, although it
// claims to welcome.
func TestImpostor(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		_, _, _ = readFrame(far)
		mine := introduce("")
		mine.Token = true
		_ = say(far, kindChallenge, mine)
		secured, _, err := secure(far, true)
		if err != nil {
			return
		}
		_, _, _ = readFrame(secured)
		_ = say(secured, kindWelcome, make([]byte, 32))
	}()
	_, err := Introduce(near, "sesame")
	if err == nil || !strings.Contains(err.Error(), "does not have the token") {
		t.Errorf("%v", err)
	}
}

// TestProofs: a proof is good for one side of one meeting.
func TestProofs(t *testing.T) {
	a, b, c := introduce(""), introduce(""), introduce("")
	x, y := []byte("one connection"), []byte("another")
	good := proof("t", "conductor", a, b, x)
	for name, other := range map[string][]byte{
		"role": proof("t", "server", a, b, x), "token": proof("u", "conductor", a, b, x),
		"connection": proof("t", "conductor", a, b, y),
		"conductor":  proof("t", "conductor", c, b, x), "server": proof("t", "conductor", a, c, x),
		"sides": proof("t", "conductor", b, a, x),
	} {
		if bytes.Equal(good, other) {
			t.Errorf("another %s, the same proof", name)
		}
	}
}

// TestRelay: a host in between that passes on everything, also the proofs, is let in by
// neither side: each proof is good for one TLS connection.
func TestRelay(t *testing.T) {
	conductor, near := net.Pipe()
	far, host := net.Pipe()
	for _, c := range []net.Conn{conductor, near, far, host} {
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	refused := make(chan error, 1)
	go func() {
		_, _, err := (Server{Token: "sesame"}).Receive(host)
		refused <- err
		host.Close()
	}()
	go func() {
		pass := func(from, to io.ReadWriter) {
			if k, payload, err := readFrame(from); err == nil {
				_ = writeFrame(to, k, payload)
			}
		}
		pass(near, far) // the introductions, whose challenges are then the same
		pass(far, near)
		inside, _, err := secure(near, true)
		if err != nil {
			return
		}
		outside, _, err := secure(far, false)
		if err != nil {
			return
		}
		pass(inside, outside)
		pass(outside, inside)
	}()
	if _, err := Introduce(conductor, "sesame"); err == nil {
		t.Error("the conductor takes the host in between for the server")
	}
	if err := <-refused; err == nil || !strings.Contains(err.Error(), WrongToken) {
		t.Errorf("the server: %v", err)
	}
}

// TestSecured: with a token, nothing that follows can be read on the path.
func TestSecured(t *testing.T) {
	near, far := net.Pipe()
	seen := &tap{Conn: near}
	defer near.Close()
	go func() {
		v, welcome, err := (Server{Token: "sesame"}).Receive(far)
		if err != nil || welcome() != nil {
			far.Close()
			return
		}
		_, _ = io.Copy(v.Stream, v.Stream)
	}()
	host, err := Introduce(seen, "sesame")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(host.Stream, "a request"); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("a request"))
	if _, err := io.ReadFull(host.Stream, answer); err != nil || string(answer) != "a request" {
		t.Errorf("%q, %v", answer, err)
	}
	if bytes.Contains(seen.written.Bytes(), []byte("a request")) {
		t.Error("the request was sent in clear")
	}
}

// tap keeps what is written.
type tap struct {
	net.Conn
	written bytes.Buffer
}

func (c *tap) Write(p []byte) (int, error) {
	c.written.Write(p)
	return c.Conn.Write(p)
}

// TestOtherProtocol: both sides say which versions meet.
func TestOtherProtocol(t *testing.T) {
	theirs := introduce("")
	theirs.Protocol, theirs.Version = 7, "9.9\x1b[31m"
	err := understand(introduce(""), theirs, "the server", "this")
	if err == nil || !strings.Contains(err.Error(),
		"the server runs linerate 9.9�[31m (protocol 7), and this is linerate ") {
		t.Errorf("%v", err)
	}
}

// TestIperf3: an iperf3 client is answered, and its reason known to the server; a client
// knows an iperf3 server.
func TestIperf3(t *testing.T) {
	stream := bytes.NewBufferString(strings.Repeat("a7", 18) + "\x00")
	_, _, err := Server{Iperf3: "elsewhere"}.Receive(stream)
	if refused, is := errors.AsType[Refused](err); !is || refused.Reason != "elsewhere" ||
		!strings.HasPrefix(stream.String(), magic) {
		t.Errorf("%v, answered %q", err, stream.String())
	}
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		_, _, _ = readFrame(far)
		_, _ = far.Write([]byte{9}) // PARAM_EXCHANGE
	}()
	_, err = Introduce(near, "")
	if other, is := errors.AsType[UnknownPeerError](err); !is || !other.Iperf3 {
		t.Errorf("%v", err)
	}
	_, _, err = Server{}.Receive(bytes.NewBufferString("GET / HTTP/1.1\r\n\r\n"))
	if other, is := errors.AsType[UnknownPeerError](err); !is || other.Iperf3 {
		t.Errorf("%v", err)
	}
}

func TestCookie(t *testing.T) {
	var b bytes.Buffer
	sent := NewCookie()
	if err := SendCookie(&b, sent); err != nil {
		t.Fatal(err)
	}
	b.WriteString("what follows is the flow's")
	v, _, err := Server{Token: "cookies need none"}.Receive(&b)
	if err != nil || v.Cookie != sent || b.String() != "what follows is the flow's" {
		t.Errorf("%v, %+v, then %q", err, v, b.String())
	}
	b.Reset()
	if err := SendCookie(&b, message.Cookie{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (Server{}).Receive(&b); !unknown(err) {
		t.Errorf("no cookie: %v", err)
	}
}

// TestStranger: what another program says is passed on.
func TestStranger(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		_, _ = io.WriteString(far, "SSH-2.0-OpenSSH_10.0\r\n")
	}()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	_, err := Introduce(near, "")
	if !unknown(err) || !strings.Contains(err.Error(), `"SSH-2.0-Ope"`) {
		t.Errorf("%v", err)
	}
}

// halfway is a stream that can be read and whose answers are dropped.
type halfway struct{ io.Reader }

func (halfway) Write(p []byte) (int, error) { return len(p), nil }

// mostOfTLS is more than TLS reads before the peer has proved anything.
const mostOfTLS = 128 << 10

// FuzzReceive: whatever comes, a server reads no more than the frames, says what
// it makes of it, and accepts no client without proof.
func FuzzReceive(f *testing.F) {
	var hello bytes.Buffer
	_ = say(&hello, kindHello, introduce(""))
	f.Add(hello.Bytes())
	f.Add(append(hello.Bytes(), "lineratep\x00\x20................................"...))
	f.Add([]byte("lineratet\x00\x10sixteen bytes ok and more"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("linerateh\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		v, welcome, err := Server{Token: "sesame"}.Receive(halfway{r})
		if welcome != nil {
			t.Fatalf("let in by %q", data)
		}
		if read := len(data) - r.Len(); read > 2*(headerBytes+maxPayload)+mostOfTLS {
			t.Fatalf("read %d bytes of a stranger", read)
		}
		if err == nil {
			if v.Cookie.IsZero() || len(data) < headerBytes+16 ||
				!bytes.Equal(v.Cookie[:], data[headerBytes:headerBytes+16]) {
				t.Fatalf("%+v from %q", v, data)
			}
		}
	})
}

// FuzzIntroduce: whatever a server says, a conductor is not taken in.
func FuzzIntroduce(f *testing.F) {
	var challenge bytes.Buffer
	mine := introduce("")
	mine.Token = true
	_ = say(&challenge, kindChallenge, mine)
	f.Add(challenge.Bytes())
	_ = say(&challenge, kindWelcome, make([]byte, 32))
	f.Add(challenge.Bytes())
	f.Add([]byte("SSH-2.0-OpenSSH_10.0\r\n"))
	f.Add([]byte("linerater\x00\x06\"full\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Introduce(halfway{bytes.NewReader(data)}, "sesame"); err == nil {
			t.Fatalf("taken in by %q", data)
		}
	})
}

// TestName: a server tells its name, welcomed or not, whether or not a token is
// known.
func TestName(t *testing.T) {
	name := rand.Text()
	if name == rand.Text() {
		t.Fatal("two servers have the same name")
	}
	for _, ask := range []func(io.ReadWriter) (string, error){
		AskName, func(s io.ReadWriter) (string, error) {
			host, err := Introduce(s, "sesame")
			return host.Name, err
		},
	} {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if _, welcome, err := (Server{Name: name, Token: "sesame"}).Receive(far); err == nil {
				_ = welcome()
			}
		}()
		if got, err := ask(near); err != nil || got != name {
			t.Errorf("name %x, %v; want %x", got, err, name)
		}
		near.Close()
	}
	near, far := net.Pipe()
	go func() {
		_, _, _ = (Server{Name: name, Closed: "not you"}).Receive(far)
		far.Close()
	}()
	if _, err := AskName(near); err == nil || !strings.Contains(err.Error(), "not you") {
		t.Errorf("a closed server: %v", err)
	}
}

func unknown(err error) bool {
	_, is := errors.AsType[UnknownPeerError](err)
	return is
}
