// Package greeting is the beginning of a connection to a serving host. A conductor and a server exchange
// a few frames of bounded size, to check that both are linerate, in versions that understand each other,
// and that both have the same token. The connection of a flow begins with the flow's cookie instead.
//
// The token itself is never sent: each side answers the other's random challenge with a keyed hash
// (HMAC-SHA256, RFC 2104), inside the TLS connection that the stream becomes. Without a token, and on the
// connections of flows, nothing is encrypted.
//
// Except for Dial, the package sets no time limits: the caller's deadlines do. A Queue bounds the
// connections that have not identified themselves yet.
package greeting

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/version"
)

// protocolVersion is the version of what conductors and servers send each other. It is raised
// with each change that the other side would not understand.
const protocolVersion = 2

// Timeout is how long a server waits for a connection to identify itself.
const Timeout = 10 * time.Second

// nonceBytes is the size of a challenge.
const nonceBytes = 32

// introduction is what each side sends first.
type introduction struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Nonce    []byte `json:"nonce"`
	// Name identifies a server, at all its addresses.
	Name string `json:"name,omitempty"`
	// Token: the server requires a proof.
	Token bool `json:"token,omitempty"`
}

// WrongToken is the reason for refusing a conductor that has not proved that it has the token.
const WrongToken = "wrong token"

// Refused is the error if one side refuses the other, with the reason.
type Refused struct{ Reason string }

func (r Refused) Error() string { return r.Reason }

// Host is a server that has accepted a conductor.
type Host struct {
	Name string
	// Stream is the connection after the handshake: the original stream or, with a token, TLS over it.
	Stream io.ReadWriter
}

// Introduce is the conductor's part of the handshake. token is the one that the server must have; empty:
// none. The error is an UnknownPeerError if another program answers, and Refused if the server refuses,
// or if its version or token does not fit.
func Introduce(stream io.ReadWriter, token string) (Host, error) {
	mine, theirs, err := meet(stream)
	if err != nil {
		return Host{}, err
	}
	switch {
	case theirs.Token && token == "":
		return Host{}, Refused{"the server requires a token: --token"}
	case !theirs.Token && token != "":
		// It could not prove that it has the token.
		return Host{}, Refused{"the server has no token: leave out --token, or check the address"}
	}
	var binding []byte
	if token != "" {
		if stream, binding, err = secure(stream, false); err != nil {
			return Host{}, err
		}
	}
	if err := writeFrame(stream, kindProof, proof(token, "conductor", mine, theirs, binding)); err != nil {
		return Host{}, err
	}
	var answer []byte
	if err := hear(stream, kindWelcome, &answer); err != nil {
		return Host{}, err
	}
	if !hmac.Equal(answer, proof(token, "server", mine, theirs, binding)) {
		return Host{}, Refused{"the server does not have the token: check the address"}
	}
	return Host{theirs.Name, stream}, nil
}

// AskName returns the name of a server. The stream cannot be used afterwards. Errors are those of
// Introduce.
func AskName(stream io.ReadWriter) (name string, err error) {
	_, theirs, err := meet(stream)
	return theirs.Name, err
}

// meet exchanges introductions.
func meet(stream io.ReadWriter) (mine, theirs introduction, err error) {
	mine = introduce("")
	if err := say(stream, kindHello, mine); err != nil {
		return mine, theirs, err
	}
	if err := hear(stream, kindChallenge, &theirs); err != nil {
		return mine, theirs, err
	}
	return mine, theirs, understand(mine, theirs, "the server", "this")
}

// Peer is what connected to a server: a flow or a conductor.
type Peer struct {
	Cookie message.Cookie // of the flow; zero: it is a conductor
	// Version is the linerate version of a conductor.
	Version string
	// Stream is the connection to a conductor after the handshake; see Host.Stream.
	Stream net.Conn
}

// Server is the server's part of the handshake.
type Server struct {
	// Token is what conductors must have; empty: none is required.
	Token string
	// Name identifies the server at all its addresses: random text (rand.Text).
	Name string
	// Closed is the reason for refusing all conductors; empty: they are accepted.
	Closed string
	// Guess is called when a conductor has answered, with whether it has the token. A reason that it
	// returns is sent instead of the result; empty: the result is sent. nil: it always is.
	Guess func(right bool) (refused string)
	// Iperf3 is the reason for refusing iperf3 clients on this port.
	Iperf3 string
}

// Receive reads the greeting of a peer. If the peer is a conductor, the caller accepts it by calling the
// returned function, or refuses it with Refuse. If the error is a Refused, the conductor knows the
// reason: it was sent, or, if the versions do not fit, the conductor finds the same.
func (s Server) Receive(stream io.ReadWriter) (Peer, func() error, error) {
	k, payload, err := readFrame(stream)
	if unknown, is := errors.AsType[UnknownPeerError](err); is && unknown.Iperf3 {
		// Read whole, so that closing is no RST. The client says of the answer that the
		// other side is not iperf3.
		_, _ = io.CopyN(io.Discard, stream, int64(iperf3CookieBytes-headerBytes))
		return Peer{}, nil, Refuse(stream, cmp.Or(s.Closed, s.Iperf3))
	}
	if err != nil {
		return Peer{}, nil, err
	}
	if k == kindCookie {
		cookie, ok := cookieOf(payload)
		if !ok {
			return Peer{}, nil, unknownPeer("an empty cookie, or one of %d bytes", len(payload))
		}
		return Peer{Cookie: cookie}, nil, nil
	}
	var theirs introduction
	if k != kindHello || json.Unmarshal(payload, &theirs) != nil {
		return Peer{}, nil, unknownPeer("expected an introduction")
	}
	v := Peer{Version: plain.Short(theirs.Version, longestText), Stream: connOf(stream)}
	if s.Closed != "" {
		return v, nil, Refuse(stream, s.Closed)
	}
	mine := introduce(s.Name)
	mine.Token = s.Token != ""
	if err := say(stream, kindChallenge, mine); err != nil {
		return v, nil, err
	}
	if err := understand(mine, theirs, "the client", "the server"); err != nil {
		return v, nil, err // the client has seen the same, and says so
	}
	var binding []byte
	if s.Token != "" {
		if v.Stream, binding, err = secure(stream, true); err != nil {
			return v, nil, err
		}
	}
	k, answer, err := readFrame(v.Stream)
	switch {
	case err != nil:
		return v, nil, err
	case k != kindProof:
		return v, nil, unknownPeer("expected a proof")
	}
	right := hmac.Equal(answer, proof(s.Token, "conductor", theirs, mine, binding))
	if s.Guess != nil {
		if why := s.Guess(right); why != "" {
			return v, nil, Refuse(v.Stream, why)
		}
	}
	if !right {
		return v, nil, Refuse(v.Stream, WrongToken)
	}
	welcome := func() error { return say(v.Stream, kindWelcome, proof(s.Token, "server", theirs, mine, binding)) }
	return v, welcome, nil
}

// Refuse sends a conductor the reason for refusing it, and returns a Refused with it.
func Refuse(stream io.Writer, reason string) error {
	return errors.Join(Refused{reason}, say(stream, kindRefusal, reason))
}

func introduce(name string) introduction {
	mine := introduction{Protocol: protocolVersion, Version: version.String(), Nonce: make([]byte, nonceBytes),
		Name: name}
	_, _ = rand.Read(mine.Nonce) // never fails
	return mine
}

// understand checks the other side's introduction.
func understand(mine, theirs introduction, they, we string) error {
	if theirs.Protocol != mine.Protocol {
		return Refused{fmt.Sprintf(
			"%s runs linerate %s (protocol %d), and %s is linerate %s (protocol %d): install the same release on "+
				"both hosts",
			they, plain.Short(theirs.Version, longestText), theirs.Protocol, we, mine.Version, mine.Protocol)}
	}
	if len(theirs.Nonce) != nonceBytes {
		return unknownPeer("a challenge of %d bytes, expected %d", len(theirs.Nonce), nonceBytes)
	}
	return nil
}

// proof shows that a side in this role has the token, for this connection only.
func proof(token, role string, conductor, server introduction, binding []byte) []byte {
	h := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(h, "linerate %d %s\n", protocolVersion, role)
	h.Write(conductor.Nonce)
	h.Write(server.Nonce)
	h.Write(binding)
	return h.Sum(nil)
}

func say(w io.Writer, k kind, what any) error {
	payload, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return writeFrame(w, k, payload)
}

// hear reads the frame that is expected, or a refusal.
func hear(r io.Reader, expected kind, what any) error {
	k, payload, err := readFrame(r)
	if err != nil {
		return err
	}
	if k == kindRefusal {
		var reason string
		if json.Unmarshal(payload, &reason) != nil {
			reason = "unreadable reason"
		}
		return Refused{plain.Short(reason, longestText)}
	}
	if k != expected || json.Unmarshal(payload, what) != nil {
		return unknownPeer("an unexpected answer")
	}
	return nil
}

// longestText is how many characters of a peer's version or reason are kept.
const longestText = 200
