// Package mail is SMTP (RFC 5321) as an application of flows: a client that delivers mails, and a server that
// accepts and discards them.
package mail

import (
	"strings"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

// Names in the envelopes of mails (RFC 2606).
const (
	sender    = "sender@linerate.test"
	recipient = "recipient@linerate.test"
)

const (
	// lineBytes is the length of a mail's lines including CRLF (RFC 5322, section 2.1.1).
	lineBytes = 78
)

func init() { application.Register(Protocol{}, flow.SMTP) }

// Protocol is SMTP.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	return application.NewCoded(d, &codec{mail: message(size(d.Spec())), encrypted: application.Encrypted(d.Spec())})
}

// size returns the size of the flow's mails, in bytes.
func size(spec flow.Spec) int {
	if spec.Request > 0 {
		return int(spec.Request)
	}
	return flow.DefaultBody
}

// message returns a mail of the given size, at least its header, with the final dot line.
func message(bytes int) []byte {
	header := "From: <" + sender + ">\r\nTo: <" + recipient + ">\r\nSubject: linerate\r\n\r\n"
	text := []byte(header)
	line := strings.Repeat("x", lineBytes-2) + "\r\n"
	for len(text) < bytes {
		rest := line[lineBytes-min(lineBytes, max(3, bytes-len(text))):]
		text = append(text, rest...)
	}
	return append(text, ".\r\n"...)
}
