// Package greeting is how a connection to a serving host begins: with a few
// bounded frames by which a conductor and a server find out that both are
// linerate, of versions that understand each other, and know the same token; or
// with the ticket of a flow. Whatever else comes in is a stranger.
//
// The token itself is never sent: each side answers the other's random challenge
// with a keyed hash (HMAC-SHA256, RFC 2104). What follows is not encrypted. A
// token keeps strangers away; it is no protection against somebody who can
// change packets on the way.
//
// It sets no time limits (the caller's deadlines do), and knows nothing of what
// is said afterwards.
package greeting

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"linerate/internal/model/message"
	"linerate/internal/version"
)

// Protocol is raised with every change to what conductors and servers say to
// each other that the other side would not understand.
const Protocol = 1

// nonceBytes is the size of a challenge.
const nonceBytes = 32

// introduction is what each side says of itself.
type introduction struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Nonce    []byte `json:"nonce"`
	// Name tells one server from another, at whatever addresses it answers.
	Name []byte `json:"name,omitempty"`
	// Token: the server wants a proof.
	Token bool `json:"token,omitempty"`
}

// Refused is a server's reason.
type Refused struct{ Reason string }

func (r Refused) Error() string { return r.Reason }

// Introduce is the conductor's side. It returns the server's name. The error is
// UnknownPeerError when another program answers, and Refused with the
// server's reason.
func Introduce(stream io.ReadWriter, token string) (name string, err error) {
	mine, theirs, err := meet(stream)
	if err != nil {
		return "", err
	}
	switch {
	case theirs.Token && token == "":
		return "", Refused{"the server wants a token: --token"}
	case !theirs.Token && token != "":
		// It could not prove that it is the one that the token is for.
		return "", Refused{"the server knows of no token: it may be another than meant, or --token is to be left out"}
	}
	if err := writeFrame(stream, kindProof, proof(token, "conductor", mine, theirs)); err != nil {
		return "", err
	}
	var answer []byte
	if err := hear(stream, kindWelcome, &answer); err != nil {
		return "", err
	}
	if !hmac.Equal(answer, proof(token, "server", mine, theirs)) {
		return "", Refused{"the server does not know the token: it is another than meant"}
	}
	return string(theirs.Name), nil
}

// AskName asks a server for its name, and no more: the stream is of no further
// use. Errors are as Introduce's.
func AskName(stream io.ReadWriter) (name string, err error) {
	_, theirs, err := meet(stream)
	return string(theirs.Name), err
}

// meet exchanges introductions.
func meet(stream io.ReadWriter) (mine, theirs introduction, err error) {
	mine = introduce(nil)
	if err := say(stream, kindHello, mine); err != nil {
		return mine, theirs, err
	}
	if err := hear(stream, kindChallenge, &theirs); err != nil {
		return mine, theirs, err
	}
	return mine, theirs, understand(mine, theirs, "the server", "this")
}

// NewName draws a name for a server.
func NewName() []byte {
	name := make([]byte, 16)
	_, _ = rand.Read(name) // never fails
	return name
}

// Visitor is who has connected to a server: the bearer of a ticket, or a
// conductor.
type Visitor struct {
	Ticket message.Cookie // zero: a conductor
	// Version is the conductor's linerate.
	Version string
}

// Server is who receives visitors.
type Server struct {
	// Token that conductors have to know; empty: none.
	Token string
	// Name tells the server from others; see NewName.
	Name []byte
	// Closed is why no conductor is let in; empty: they are.
	Closed string
}

// Receive is the server's side; after it, a conductor is to be welcomed or
// refused. An error that is a Refused has been told to the conductor.
func (s Server) Receive(stream io.ReadWriter) (Visitor, func() error, error) {
	token := s.Token
	k, payload, err := readFrame(stream)
	if err != nil {
		return Visitor{}, nil, err
	}
	if k == kindTicket {
		var t message.Cookie
		if len(payload) != len(t) {
			return Visitor{}, nil, unknownPeer("a ticket of %d bytes", len(payload))
		}
		copy(t[:], payload)
		if t.IsZero() {
			return Visitor{}, nil, unknownPeer("an empty ticket")
		}
		return Visitor{Ticket: t}, nil, nil
	}
	var theirs introduction
	if k != kindHello || json.Unmarshal(payload, &theirs) != nil {
		return Visitor{}, nil, unknownPeer("expected an introduction")
	}
	if s.Closed != "" {
		return Visitor{Version: printable(theirs.Version)}, nil, Refuse(stream, s.Closed)
	}
	mine := introduce(s.Name)
	mine.Token = token != ""
	if err := say(stream, kindChallenge, mine); err != nil {
		return Visitor{}, nil, err
	}
	v := Visitor{Version: printable(theirs.Version)}
	if err := understand(mine, theirs, "the client", "the server"); err != nil {
		return v, nil, err // the client has seen the same, and says so
	}
	k, answer, err := readFrame(stream)
	switch {
	case err != nil:
		return v, nil, err
	case k != kindProof:
		return v, nil, unknownPeer("expected a proof")
	case !hmac.Equal(answer, proof(token, "conductor", theirs, mine)):
		return v, nil, Refuse(stream, "wrong token")
	}
	welcome := func() error { return say(stream, kindWelcome, proof(token, "server", theirs, mine)) }
	return v, welcome, nil
}

// Refuse tells a conductor why it is not served, and returns that as an error.
func Refuse(stream io.Writer, reason string) error {
	return errors.Join(Refused{reason}, say(stream, kindRefusal, reason))
}

func introduce(name []byte) introduction {
	mine := introduction{Protocol: Protocol, Version: version.String(), Nonce: make([]byte, nonceBytes), Name: name}
	_, _ = rand.Read(mine.Nonce) // never fails
	return mine
}

// understand holds the other side's introduction against one's own.
func understand(mine, theirs introduction, they, we string) error {
	if theirs.Protocol != mine.Protocol {
		return Refused{fmt.Sprintf("%s runs linerate %s (protocol %d), and %s is linerate %s (protocol %d): install the same release on both hosts",
			they, printable(theirs.Version), theirs.Protocol, we, mine.Version, mine.Protocol)}
	}
	if len(theirs.Nonce) != nonceBytes {
		return unknownPeer("a challenge of %d bytes, expected %d", len(theirs.Nonce), nonceBytes)
	}
	return nil
}

// proof is what only somebody who knows the token can say, for this connection
// and in this role.
func proof(token, role string, conductor, server introduction) []byte {
	h := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(h, "linerate %d %s\n", Protocol, role)
	h.Write(conductor.Nonce)
	h.Write(server.Nonce)
	return h.Sum(nil)
}

func say(w io.Writer, k kind, what any) error {
	payload, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return writeFrame(w, k, payload)
}

// hear reads the frame that is expected, or the refusal that came instead.
func hear(r io.Reader, expected kind, what any) error {
	k, payload, err := readFrame(r)
	if err != nil {
		return err
	}
	if k == kindRefusal {
		var reason string
		if json.Unmarshal(payload, &reason) != nil {
			reason = "no reason that could be read"
		}
		return Refused{printable(reason)}
	}
	if k != expected || json.Unmarshal(payload, what) != nil {
		return unknownPeer("an unexpected answer")
	}
	return nil
}

// printable keeps what somebody else says from writing on the terminal.
func printable(text string) string {
	clean := make([]rune, 0, len(text))
	for _, r := range text {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			r = '?'
		}
		clean = append(clean, r)
	}
	const longest = 200
	return string(clean[:min(len(clean), longest)])
}
