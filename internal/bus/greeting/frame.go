package greeting

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"linerate/internal/model/message"
)

// magic begins every frame, so that the first bytes show whether the peer is linerate.
const magic = "linerate"

// maxPayload bounds what is read from a peer that is not authenticated.
const maxPayload = 1024

const headerBytes = len(magic) + 1 + 2 // magic, kind, length of the payload

// kind is what a frame is.
type kind byte

const (
	kindHello     kind = 'h' // conductor: its introduction
	kindChallenge kind = 'c' // server: its introduction, and whether it requires a token
	kindProof     kind = 'p' // conductor: that it has the token
	kindWelcome   kind = 'w' // server: accepted, and that it has the token
	kindRefusal   kind = 'r' // server: the reason
	kindCookie    kind = 't' // a flow's connection: its cookie
)

// UnknownPeerError means that the peer does not speak linerate's protocol. Sent is what it
// sent instead, as far as that was read.
type UnknownPeerError struct {
	Sent string
	// Iperf3 says that the peer begins like iperf3.
	Iperf3 bool
}

func (e UnknownPeerError) Error() string { return "not linerate: " + e.Sent }

func unknownPeer(format string, args ...any) error {
	return UnknownPeerError{Sent: fmt.Sprintf(format, args...)}
}

// iperf3CookieBytes is what an iperf3 client sends first: 36 letters of base 32, and a NUL.
const iperf3CookieBytes = 37

// isIperf3 reports whether a peer begins as iperf3 does: a client with its cookie, and a
// server with one byte, PARAM_EXCHANGE or ACCESS_DENIED (iperf_api.h).
func isIperf3(seen []byte) bool {
	switch len(seen) {
	case 0:
		return false
	case headerBytes:
		return len(bytes.Trim(seen, "abcdefghijklmnopqrstuvwxyz234567")) == 0
	}
	return seen[0] == 9 || seen[0] == 0xff
}

// IsLinerate reports whether seen, the first bytes of a peer, begin as linerate does.
func IsLinerate(seen []byte) bool { return bytes.HasPrefix(seen, []byte(magic)) }

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

// readFrame reads one frame and not a byte more: what follows is read by others. The
// error is an UnknownPeerError if something else arrived.
func readFrame(r io.Reader) (kind, []byte, error) {
	var header [headerBytes]byte
	n, err := io.ReadFull(r, header[:])
	if seen := header[:min(n, len(magic))]; !bytes.HasPrefix([]byte(magic), seen) {
		return 0, nil, UnknownPeerError{Sent: fmt.Sprintf("it begins with %q", header[:n]),
			Iperf3: isIperf3(header[:n])}
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

// SendCookie writes the cookie of a flow, as the first bytes of the flow's connection.
func SendCookie(w io.Writer, t message.Cookie) error { return writeFrame(w, kindCookie, t[:]) }

// CookieFrame returns what SendCookie writes.
func CookieFrame(t message.Cookie) []byte { return frame(kindCookie, t[:]) }

// CookieFrameBytes is the length of a CookieFrame.
const CookieFrameBytes = headerBytes + len(message.Cookie{})

// cookieHeader begins every CookieFrame.
var cookieHeader = frame(kindCookie, make([]byte, len(message.Cookie{})))[:headerBytes]

// ParseCookie returns the cookie in a CookieFrame; false: the frame is no CookieFrame.
func ParseCookie(frame []byte) (message.Cookie, bool) {
	payload, is := bytes.CutPrefix(frame, cookieHeader)
	if !is {
		return message.Cookie{}, false
	}
	return cookieOf(payload)
}

func cookieOf(payload []byte) (t message.Cookie, ok bool) {
	n := copy(t[:], payload)
	return t, n == len(payload) && n == len(t) && !t.IsZero()
}

// NewCookie returns a random cookie.
func NewCookie() message.Cookie {
	var t message.Cookie
	_, _ = rand.Read(t[:]) // never fails
	return t
}
