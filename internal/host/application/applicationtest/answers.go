// Package applicationtest tests codecs of package application: it gives their parsers a stream in pieces of every size,
// and compares the answers that they find.
package applicationtest

import (
	"strings"
	"testing"

	"linerate/internal/host/application"
)

// Answers fails unless a codec's parser finds these answers in a stream: the outcome of each, with ! if it failed, or
// the word error in the end, whatever the size of the pieces in which the stream arrives.
func Answers(t *testing.T, codec application.Codec, stream, want string) {
	t.Helper()
	for piece := 1; piece <= len(stream); piece++ {
		if got := found(codec, stream, piece); got != want {
			t.Errorf("%.60q in pieces of %d: %s, want %s", stream, piece, got, want)
			return
		}
		if piece > 64 {
			piece += len(stream) / 4
		}
	}
}

// Pieces fails unless a codec's parser finds the same in a stream in any pieces.
func Pieces(t *testing.T, codec application.Codec, stream string) {
	t.Helper()
	Answers(t, codec, stream, found(codec, stream, max(1, len(stream))))
}

// found returns what a parser finds in a stream that arrives in pieces, each followed by room for another request.
func found(codec application.Codec, stream string, piece int) string {
	parser, pending := codec.Parser(), application.NewPending(1)
	pending.Add()
	var all []string
	for len(stream) > 0 {
		b := []byte(stream[:min(piece, len(stream))])
		stream = stream[len(b):]
		for len(b) > 0 {
			n, e, err := parser.Next(b, &pending)
			if err != nil || n <= 0 || n > len(b) {
				return strings.Join(append(all, "error"), " ")
			}
			b = b[n:]
			if e.Done {
				outcome := e.Outcome
				if e.Failed {
					outcome += "!"
				}
				all = append(all, outcome)
			}
		}
	}
	return strings.Join(all, " ")
}
