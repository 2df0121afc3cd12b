package greeting

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"linerate/internal/model/message"
)

// magic begins every frame, so that either side knows at the first bytes whether
// it talks to linerate.
const magic = "linerate"

// maxPayload bounds what is read from somebody who is not known yet.
const maxPayload = 1024

const headerBytes = len(magic) + 1 + 2 // magic, kind, length of the payload

// kind is what a frame is.
type kind byte

const (
	kindHello     kind = 'h' // conductor: who I am
	kindChallenge kind = 'c' // server: who I am, and whether I want a token
	kindProof     kind = 'p' // conductor: that I know the token
	kindWelcome   kind = 'w' // server: come in, and that I know it too
	kindRefusal   kind = 'r' // server: why not
	kindTicket    kind = 't' // a flow's connection
)

// UnknownPeerError says that the peer does not speak linerate's protocol, and what it
// sent instead, as far as that was read.
type UnknownPeerError struct{ Sent string }

func (e UnknownPeerError) Error() string { return "not linerate: " + e.Sent }

func unknownPeer(format string, args ...any) error {
	return UnknownPeerError{fmt.Sprintf(format, args...)}
}

// writeFrame sends one frame in one write.
func writeFrame(w io.Writer, k kind, payload []byte) error {
	if len(payload) > maxPayload {
		return fmt.Errorf("greeting of %d bytes: at most %d", len(payload), maxPayload)
	}
	_, err := w.Write(frame(k, payload))
	return err
}

func frame(k kind, payload []byte) []byte {
	f := append([]byte(magic), byte(k), 0, 0)
	binary.BigEndian.PutUint16(f[len(magic)+1:], uint16(len(payload)))
	return append(f, payload...)
}

// readFrame reads one frame and not a byte more: what follows belongs to others.
// An UnknownPeerError says what arrived instead.
func readFrame(r io.Reader) (kind, []byte, error) {
	var header [headerBytes]byte
	n, err := io.ReadFull(r, header[:])
	if seen := header[:min(n, len(magic))]; !bytes.HasPrefix([]byte(magic), seen) {
		return 0, nil, unknownPeer("it begins with %q", header[:n])
	}
	if err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint16(header[len(magic)+1:]))
	if size > maxPayload {
		return 0, nil, unknownPeer("a greeting of %d bytes, expected at most %d", size, maxPayload)
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, err
	}
	return kind(header[len(magic)]), payload, nil
}

// ShowTicket begins a flow's connection.
func ShowTicket(w io.Writer, t message.Cookie) error { return writeFrame(w, kindTicket, t[:]) }

// TicketFrame is what ShowTicket writes, for those who write it themselves.
func TicketFrame(t message.Cookie) []byte { return frame(kindTicket, t[:]) }

// TicketBytes is how long a ticket's frame is.
const TicketBytes = headerBytes + len(message.Cookie{})

// TicketOf is the ticket that a connection shows with its first TicketBytes.
// False: it shows none.
func TicketOf(frame []byte) (t message.Cookie, shown bool) {
	if len(frame) != TicketBytes || string(frame[:len(magic)]) != magic || kind(frame[len(magic)]) != kindTicket ||
		int(binary.BigEndian.Uint16(frame[len(magic)+1:])) != len(t) {
		return t, false
	}
	copy(t[:], frame[headerBytes:])
	return t, !t.IsZero()
}

// NewTicket draws a ticket that nobody can guess.
func NewTicket() message.Cookie {
	var t message.Cookie
	_, _ = rand.Read(t[:]) // never fails
	return t
}
