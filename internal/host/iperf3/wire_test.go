package iperf3

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestStates(t *testing.T) {
	var b bytes.Buffer
	for s := range stateNames {
		b.Reset()
		if err := WriteState(&b, s); err != nil || b.Len() != 1 {
			t.Fatalf("%v: %d bytes, %v", s, b.Len(), err)
		}
		if got, err := ReadState(&b); got != s || err != nil {
			t.Errorf("%v came back as %v, %v", s, got, err)
		}
	}
	for _, none := range []byte{0, 3, 8, 15, 17, 'G', 0xfd} {
		if s, err := ReadState(bytes.NewReader([]byte{none})); err == nil {
			t.Errorf("byte %d is taken for %v", none, s)
		}
	}
	b.Reset()
	if err := WriteServerError(&b, CodeAuthentication, -1); err != nil {
		t.Fatal(err)
	}
	if want := []byte{0xfe, 0, 0, 0, 142, 0xff, 0xff, 0xff, 0xff}; !bytes.Equal(b.Bytes(), want) {
		t.Errorf("an error is % x, want % x", b.Bytes(), want)
	}
	b.Next(1)
	if code, errno, err := ReadServerError(&b); code != CodeAuthentication || errno != -1 || err != nil {
		t.Errorf("an error came back as %v, %d, %v", code, errno, err)
	}
}

// TestParameters: what Debian's iperf3 3.12 sends for
// -u -b 12345678901 -P 3 -R -l 1448 -O 1 --get-server-output.
func TestParameters(t *testing.T) {
	const text = `{"udp":true,"omit":1,"time":10,"num":0,"blockcount":0,"parallel":3,"reverse":true,"len":1448,` +
		`"bandwidth":12345678901,"pacing_timer":1000,"get_server_output":1,"client_version":"3.12"}`
	var p Parameters
	if err := ReadJSON(framed(text), MaxParametersBytes, &p); err != nil {
		t.Fatal(err)
	}
	want := Parameters{UDP: true, Omit: 1, Time: 10, Parallel: 3, Reverse: true, Length: 1448, Bandwidth: 12345678901,
		PacingTimer: 1000, GetServerOutput: 1, ClientVersion: "3.12"}
	if p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	back, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs map[string]any
	if json.Unmarshal(back, &ours) != nil || json.Unmarshal([]byte(text), &theirs) != nil ||
		!reflect.DeepEqual(ours, theirs) {
		t.Errorf("written again: %s\nwant            %s", back, text)
	}
}

// TestWrongTypes: such a field is as good as absent, and the others hold.
func TestWrongTypes(t *testing.T) {
	var p Parameters
	text := ` {"tcp":"yes","udp":1,"reverse":true,"parallel":"4","time":1e1,"num":null,"len":[1],"omit":2.9,` +
		`"bandwidth":1e99,"congestion":7,"MSS":1400,"unknown":{"a":1}}`
	if err := ReadJSON(framed(text), MaxParametersBytes, &p); err != nil {
		t.Fatal(err)
	}
	if want := (Parameters{Reverse: true, Time: 10, Omit: 2, MSS: 1400}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}

func framed(text string) io.Reader {
	return io.MultiReader(bytes.NewReader([]byte{0, 0, byte(len(text) >> 8), byte(len(text))}), strings.NewReader(text))
}

func TestBadDocuments(t *testing.T) {
	var p Parameters
	for name, c := range map[string]struct {
		text, say string
	}{
		"nothing announced": {"\x00\x00\x00\x00", "expected 1 to 8192"},
		"too much":          {"\x00\x00\x20\x01{", "8193 bytes: expected 1 to 8192"},
		"far too much":      {"\xff\xff\xff\xff{", "expected 1 to 8192"},
		"cut off":           {"\x00\x00\x00\x09{", "ended after 1"},
		"no object":         {"\x00\x00\x00\x02[]", "not a JSON object"},
		"no JSON":           {"\x00\x00\x00\x02{]", "invalid character"},
		"two documents":     {"\x00\x00\x00\x04{}{}", "invalid character"},
	} {
		if err := ReadJSON(strings.NewReader(c.text), MaxParametersBytes, &p); err == nil ||
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want %q", name, err, c.say)
		}
	}
}

// TestResults: fields that old versions lack differ from zeros, and what every version
// sends is insisted on.
func TestResults(t *testing.T) {
	const top = `{"cpu_util_total":1.5,"cpu_util_user":1,"cpu_util_system":0.5,"sender_has_retransmits":-1,"streams":[`
	const stream = `{"id":3,"bytes":1e6,"retransmits":-1,"jitter":0.001,"errors":2,"packets":100`
	var r Results
	if err := json.Unmarshal([]byte(top+stream+`}]}`), &r); err != nil {
		t.Fatal(err)
	}
	want := StreamResult{ID: 3, Bytes: 1e6, Retransmits: -1, Jitter: 0.001, Errors: 2, Packets: 100}
	if len(r.Streams) != 1 || r.Streams[0] != want || r.CPUTotal != 1.5 || r.Find(3) == nil || r.Find(1) != nil {
		t.Errorf("%+v, want one stream %+v", r, want)
	}
	full := stream + `,"omitted_errors":0,"omitted_packets":7,"start_time":0,"end_time":1.5}]}`
	if err := json.Unmarshal([]byte(top+full), &r); err != nil {
		t.Fatal(err)
	}
	if s := r.Streams[0]; !s.HasOmitted || !s.HasTimes || s.OmittedPackets != 7 || s.EndTime != 1.5 {
		t.Errorf("%+v", s)
	}
	for _, missing := range []string{`"id":3,`, `"bytes":1e6,`, `"errors":2,`, `"cpu_util_user":1,`,
		`"sender_has_retransmits":-1,`} {
		text := strings.Replace(top+full, missing, "", 1)
		if err := json.Unmarshal([]byte(text), &r); err == nil || !strings.Contains(err.Error(), "no field") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	many := top + strings.Repeat(stream+"},", maxResultStreams) + stream + `}]}`
	if err := json.Unmarshal([]byte(many), &r); err == nil {
		t.Error("results of 257 streams are taken")
	}
}

func TestCookies(t *testing.T) {
	c := NewCookie()
	if got, err := ReadCookie(bytes.NewReader(append(c[:], "more"...))); got != c || err != nil {
		t.Errorf("%q came back as %q, %v", c, got, err)
	}
	if c == NewCookie() {
		t.Error("the same cookie twice")
	}
	for _, stranger := range []string{"GET / HTTP/1.0\r\n\r\n", "\x16\x03\x01", "linerateh\x00\x10{",
		strings.Repeat("a", CookieBytes)} {
		if _, err := ReadCookie(strings.NewReader(stranger)); !errors.Is(err, ErrNotIperf3) {
			t.Errorf("%q: %v", stranger, err)
		}
	}
	if _, err := ReadCookie(strings.NewReader("abc")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cookie cut off: %v", err)
	}
}

func TestStreamIDs(t *testing.T) {
	for n, want := range []int{1, 3, 4, 5} {
		if got := StreamID(n); got != want {
			t.Errorf("stream %d has id %d, want %d", n, got, want)
		}
	}
}

// TestDatagramHeader: on the wire a flow's numbers begin with 1 and its times are in µs; a
// header that is cut off has a number that no flow has.
func TestDatagramHeader(t *testing.T) {
	for size, wire := range map[int][]byte{
		headerBytes:     {0, 0, 0, 5, 0, 0, 0, 123, 0x80, 0, 0, 5},
		wideHeaderBytes: {0, 0, 0, 5, 0, 0, 0, 123, 0, 0, 0, 0, 0x80, 0, 0, 5},
	} {
		b, h := make([]byte, size), DatagramHeader{size == wideHeaderBytes}
		h.Put(b, 1<<31+4, 5_000_123_999)
		if !bytes.Equal(b, wire) {
			t.Errorf("%d bytes: %v, want %v", size, b, wire)
		}
		if n, ns := h.Parse(b); n != 1<<31+4 || ns != 5_000_123_000 {
			t.Errorf("%d bytes: number %d at %d", size, n, ns)
		}
		if n, _ := h.Parse(b[:size-1]); n != 1<<64-1 {
			t.Errorf("%d bytes: number %d of a datagram without a header", size, n)
		}
	}
}

func TestTokens(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	said := Credentials{User: "ada", Password: "s3cret", At: time.Unix(1700000000, 0)}
	for _, pkcs1 := range []bool{false, true} {
		token, err := said.Encode(&key.PublicKey, pkcs1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeToken(token, key, pkcs1); got != said || err != nil {
			t.Errorf("%+v came back as %+v, %v", said, got, err)
		}
		if _, err := DecodeToken(token, key, !pkcs1); err == nil {
			t.Error("a token is taken with another padding than its own")
		}
	}
	for _, bad := range []string{"", "####", "AAAA"} {
		if _, err := DecodeToken(bad, key, false); err == nil {
			t.Errorf("%q is taken for a token", bad)
		}
	}
	for _, bad := range []string{"", "user: a pwd: b", "user: a pwd: b ts: c", "user: a b pwd: c ts: 1"} {
		if _, err := parseToken(bad); err == nil {
			t.Errorf("%q is taken for credentials", bad)
		}
	}
	if _, err := (Credentials{User: "a b", Password: "c"}).Encode(&key.PublicKey, false); err == nil {
		t.Error("a name with a blank is sent")
	}
	// sha256 of "{mario}rossi", the example of iperf3's manual.
	if got := PasswordHash("mario",
		"rossi"); got != "bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b" {
		t.Errorf("the hash is %s", got)
	}
}

// TestIsHello: clients of any version and byte order are understood, and nothing else is
// taken for one.
func TestIsHello(t *testing.T) {
	for text, want := range map[string]bool{
		"9876": true, "6789": true, "\x15\xcd\x5b\x07": true, "\x07\x5b\xcd\x15": true,
		"": false, "987": false, "98765": false, "0000": false, "\xb1\x68\xde\x3a": false, "\x00\x00\x00\x00": false,
	} {
		if IsHello([]byte(text)) != want {
			t.Errorf("%q: %t, want %t", text, !want, want)
		}
	}
}
