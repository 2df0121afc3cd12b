package iperf3

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// DefaultPort is the TCP and UDP port of iperf3 servers.
const DefaultPort = "5201"

// Size limits of documents on the control connection. iperf3 limits the first in the same way, but no longer
// the second, in which a server may put its output.
const (
	MaxParametersBytes = 8 << 10
	MaxResultsBytes    = 4 << 20
)

// iperf3's limits of what a client may request.
const (
	MaxStreams    = 128 // per direction
	MaxTimeS      = 86400
	MaxOmitS      = 600
	MaxTCPLength  = 1 << 20
	MinUDPLength  = 16
	MaxUDPLength  = 65507
	MaxWindow     = 512 << 20
	MaxMSS        = 32767
	MaxBurst      = 1000
	MaxTOS        = 255
	DefaultLength = 128 << 10 // of a TCP block
)

// State is a one-byte message on the control connection.
type State int8

// The states and who sends them.
const (
	TestStart       State = 1  // server: begin counting
	TestRunning     State = 2  // server: begin sending
	TestEnd         State = 4  // client: the test is over
	ParamExchange   State = 9  // server: send parameters
	CreateStreams   State = 10 // server: open the streams
	ServerTerminate State = 11 // server: it was interrupted
	ClientTerminate State = 12 // client: it was interrupted
	ExchangeResults State = 13 // server: send results, then read mine
	DisplayResults  State = 14 // server: results are complete
	Done            State = 16 // client: it closes
	AccessDenied    State = -1 // server: busy, or a stream has a wrong cookie
	ServerError     State = -2 // server: two numbers follow, see WriteServerError
)

var stateNames = map[State]string{
	TestStart: "TEST_START", TestRunning: "TEST_RUNNING", TestEnd: "TEST_END",
	ParamExchange: "PARAM_EXCHANGE", CreateStreams: "CREATE_STREAMS",
	ServerTerminate: "SERVER_TERMINATE", ClientTerminate: "CLIENT_TERMINATE",
	ExchangeResults: "EXCHANGE_RESULTS", DisplayResults: "DISPLAY_RESULTS",
	Done: "IPERF_DONE", AccessDenied: "ACCESS_DENIED", ServerError: "SERVER_ERROR",
}

func (s State) String() string {
	if name, ok := stateNames[s]; ok {
		return name
	}
	return fmt.Sprintf("state %d", int8(s))
}

// ReadState reads one state. It fails on an unknown one.
func ReadState(r io.Reader) (State, error) {
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	s := State(b[0])
	if _, ok := stateNames[s]; !ok {
		return 0, fmt.Errorf("a byte %d on the control connection: expected one of iperf3's states", int8(s))
	}
	return s, nil
}

// WriteState sends one state.
func WriteState(w io.Writer, s State) error {
	_, err := w.Write([]byte{byte(s)})
	return err
}

// WriteServerError refuses or ends a test: it sends the state ServerError, the code, and the errno that belongs
// to it, or 0.
func WriteServerError(w io.Writer, code Code, errno int) error {
	state := ServerError
	b := []byte{byte(state)}
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	b = binary.BigEndian.AppendUint32(b, uint32(errno))
	_, err := w.Write(b)
	return err
}

// ReadServerError reads what follows the state ServerError. Some versions omit the errno.
func ReadServerError(r io.Reader) (Code, int, error) {
	var b [8]byte
	if n, err := io.ReadFull(r, b[:]); err != nil && n < 4 {
		return 0, 0, err
	}
	return Code(int32(binary.BigEndian.Uint32(b[:]))), int(int32(binary.BigEndian.Uint32(b[4:]))), nil
}

// WriteJSON writes one document: four bytes of length, and the text.
func WriteJSON(w io.Writer, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// ReadJSON reads one document of at most limit bytes into *document. As in iperf3, a field of an unexpected
// type is ignored.
func ReadJSON(r io.Reader, limit int, document any) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n == 0 || uint64(n) > uint64(limit) {
		return fmt.Errorf("a document of %d bytes: expected 1 to %d", n, limit)
	}
	// Memory grows as the text arrives, not as its length announces.
	var text bytes.Buffer
	if got, err := io.CopyN(&text, r, int64(n)); err != nil {
		return fmt.Errorf("a document of %d bytes ended after %d: %w", n, got, io.ErrUnexpectedEOF)
	}
	return decode(text.Bytes(), document)
}

// decode decodes an object whose fields may have the wrong type.
func decode(text []byte, document any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return errors.New("a document that is not a JSON object")
	}
	err := json.Unmarshal(text, document)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}

// Int is an integer in iperf3's JSON: it may have an exponent, or a fraction, which is cut off. Decoding
// anything else leaves it unchanged.
type Int int64

// UnmarshalJSON ignores what is not a number.
func (i *Int) UnmarshalJSON(text []byte) error {
	var whole int64
	if json.Unmarshal(text, &whole) == nil && string(text) != "null" {
		*i = Int(whole)
		return nil
	}
	var f *float64
	if json.Unmarshal(text, &f) == nil && f != nil && *f > -1<<63 && *f < 1<<63 {
		*i = Int(*f)
	}
	return nil
}

// CookieBytes is the length of a cookie on the wire, including its final zero.
const CookieBytes = 37

// Cookie identifies a test. A client begins its control connection and each TCP stream with it.
type Cookie [CookieBytes]byte

var cookieLetters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewCookie returns a random cookie.
func NewCookie() Cookie {
	var random [25]byte
	_, _ = rand.Read(random[:]) // never fails
	var c Cookie
	copy(c[:CookieBytes-1], cookieLetters.EncodeToString(random[:]))
	return c
}

// ErrNotIperf3 means that the peer does not speak iperf3.
var ErrNotIperf3 = errors.New("not iperf3")

// ReadCookie reads a cookie and not a byte more. It returns ErrNotIperf3 if the bytes are no cookie.
func ReadCookie(r io.Reader) (Cookie, error) {
	var c Cookie
	n, err := io.ReadFull(r, c[:])
	if !plausible(c[:n]) {
		return c, fmt.Errorf("%w: it begins with %q", ErrNotIperf3, c[:n])
	}
	return c, err
}

// plausible reports whether b may begin a cookie. iperf3 draws from a-z and 2-7 and checks nothing; other
// programs use other letters.
func plausible(b []byte) bool {
	for i, c := range b {
		allowed := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
			strings.IndexByte("-_.", c) >= 0
		if i < CookieBytes-1 && !allowed || i == CookieBytes-1 && c != 0 {
			return false
		}
	}
	return true
}

// StreamID returns the id of the n-th stream opened, counted from 0: 1, 3, 4, 5 and so on. Results name streams
// by it.
func StreamID(n int) int {
	if n == 0 {
		return 1
	}
	return n + 2
}
