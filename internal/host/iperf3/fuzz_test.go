package iperf3

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzControl: whatever comes on a control connection is read or refused, and
// what was read is written and read again as the same.
func FuzzControl(f *testing.F) {
	f.Add(
		[]byte(`{"tcp":true,"omit":0,"time":10,"num":0,"blockcount":0,"parallel":1,"len":131072,"client_version":"3.12"}`))
	f.Add([]byte(`{"udp":true,"time":"x","parallel":1e3,"bandwidth":-1e300,"title":"\ud800"}`))
	f.Add([]byte(`{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":1,` +
		`"streams":[{"id":1,"bytes":1,"retransmits":0,"jitter":0,"errors":0,"packets":0}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = ReadState(bytes.NewReader(text))
		_, _ = ReadCookie(bytes.NewReader(text))
		_, _, _ = ReadServerError(bytes.NewReader(text))
		var p, again Parameters
		_ = ReadJSON(bytes.NewReader(text), MaxParametersBytes, &p)
		p = Parameters{}
		if decode(text, &p) == nil {
			var b bytes.Buffer
			if err := WriteJSON(&b, p); err != nil {
				t.Fatal(err)
			}
			if err := ReadJSON(&b, 1<<20, &again); err != nil || p != again {
				t.Fatalf("%+v came back as %+v, %v", p, again, err)
			}
		}
		var r Results
		if decode(text, &r) == nil {
			if _, err := json.Marshal(r); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzDatagram: a datagram has a header, or none; a header is the same when written.
func FuzzDatagram(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), true)
	f.Add(make([]byte, 24), false)
	f.Fuzz(func(t *testing.T, b []byte, wide bool) {
		IsHelloAnswer(b)
		h := DatagramHeader{wide}
		n, ns := h.Parse(b)
		if n == 1<<64-1 {
			return
		}
		again := make([]byte, wideHeaderBytes)
		h.Put(again, n, ns)
		if back, _ := h.Parse(again); back != n {
			t.Fatalf("number %d came back as %d", n, back)
		}
	})
}

// FuzzToken: what a token says is parsed or refused.
func FuzzToken(f *testing.F) {
	f.Add("user: a\npwd:  b\nts:   1700000000")
	f.Add("user: pwd: ts: user: pwd: ts:")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseToken(text); err == nil && (c.User == "" || c.Password == "") {
			t.Fatalf("%q says %+v", text, c)
		}
	})
}
