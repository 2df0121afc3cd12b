package dns

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
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
