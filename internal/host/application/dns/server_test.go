package dns

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
	"linerate/internal/host/application/applicationtest"
	"linerate/internal/model/flow"
)

// TestEDNS: an answer has EDNS(0) if its query has (RFC 6891, section 6.1.1).
func TestEDNS(t *testing.T) {
	q := dnsmessage.Question{Name: dnsmessage.MustNewName("a.test."), Type: dnsmessage.TypeA,
		Class: dnsmessage.ClassINET}
	codec, err := newCodec(flow.Spec{Protocol: flow.DNS, Names: []string{"a.test"}})
	if err != nil {
		t.Fatal(err)
	}
	with := codec.Append(nil, application.Request{ID: 7})
	plain := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{q}}
	without, err := plain.Pack()
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string][]byte{"with": with, "without": without} {
		answer, err := respond(request, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var m dnsmessage.Message
		if err := m.Unpack(answer); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if has := len(m.Additionals) == 1 &&
			m.Additionals[0].Header.Type == dnsmessage.TypeOPT; has != (name == "with") || len(m.Answers) != 1 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// FuzzAnswers: any bytes of a stream are found the same in pieces as at once, and none of a datagram makes trouble.
func FuzzAnswers(f *testing.F) {
	framed, err := newCodec(flow.Spec{Protocol: flow.DNSTCP, Names: []string{"*.a.test", "b.test"}})
	if err != nil {
		f.Fatal(err)
	}
	alone := &codec{queries: framed.queries}
	query := framed.Append(nil, application.Request{ID: 7})
	answer, err := respond(query[2:], true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(answer))
	f.Add("\x00\x0c\x00\x00\x80\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff")
	f.Fuzz(func(t *testing.T, stream string) {
		applicationtest.Pieces(t, framed, stream)
		if len(stream) == 0 {
			return
		}
		pending := application.NewPending(4)
		call := pending.Add()
		message := []byte(stream)
		if len(message) > 1 { // the ID is known to a host in between
			message[0], message[1] = byte(call.ID>>8), byte(call.ID)
		}
		n, e, err := alone.Parser().Next(message, &pending)
		if n != len(message) || err != nil || !e.Late && e.Call != call {
			t.Errorf("%x: %d, %+v, %v", message, n, e, err)
		}
	})
}
