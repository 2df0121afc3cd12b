// Package dns is DNS as an application of flows: queries over UDP, TCP (RFC 7766) and
// TLS (RFC 7858), and a server that answers every name.
package dns

import (
	"encoding/binary"
	"fmt"
	"io"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

// longest is the maximum size of a UDP message at either end (RFC 9715).
const longest = 1232

// anyName is queried if the flow gives no names.
var anyName = []string{"*.linerate.test"}

// types maps the names in flow.QueryTypes to record types.
var types = map[string]dnsmessage.Type{
	"A": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA, "MX": dnsmessage.TypeMX, "NS": dnsmessage.TypeNS,
	"SOA": dnsmessage.TypeSOA, "TXT": dnsmessage.TypeTXT,
}

func init() { application.Register(Protocol{}, flow.DNS, flow.DNSTCP, flow.DoT) }

// Protocol is DNS over UDP, TCP or TLS.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	codec, err := newCodec(d.Spec())
	if err != nil {
		return application.Invalid{Err: err}
	}
	return application.NewCoded(d, codec, "dot")
}

// readMessage reads one message. It fails before reading one that exceeds the buffer.
func readMessage(from io.Reader, buffer []byte) (int, error) {
	var length [2]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	if n > len(buffer) {
		return 0, fmt.Errorf("a message of %d bytes, expected at most %d", n, len(buffer))
	}
	return io.ReadFull(from, buffer[:n])
}
