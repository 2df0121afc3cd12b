package memcached

import (
	"strings"
	"testing"

	"linerate/internal/host/application/applicationtest"
	"linerate/internal/model/flow"
)

// TestReplies: replies are found in pieces of any size, with their outcome.
func TestReplies(t *testing.T) {
	for stream, want := range map[string]string{
		"END\r\n":                                     "miss",
		"VALUE k 0 5\r\nhello\r\nEND\r\n":             "hit",
		"VALUE k 0 0 77\r\n\r\nEND\r\nEND\r\n":        "hit miss",
		"SERVER_ERROR out of memory\r\n":              "SERVER_ERROR!",
		"ERROR\r\nEND\r\n":                            "ERROR! miss",
		"VALUE k 0 -1\r\n":                            "error",
		"VALUE k 0 9999999999\r\n":                    "error",
		"VALUE k 0 1\r\na\r\nVALUE k 0 1\r\n":         "error",
		"VALUE k 0\r\n":                               "error",
		"VALUE k 0 1\r\na\r\nSERVER_ERROR\r\nEND\r\n": "SERVER_ERROR! miss",
		"\r\n":                             "error",
		strings.Repeat("a", longestLine+1): "error",
		"VALUE k 0 5\r\nhello\r\nEND\r\nSTORED\r\n":         "hit error",
		"VALUE k 0 5\r\nEND\r\n\r\nEND\r\nCLIENT_ERROR\r\n": "hit CLIENT_ERROR!",
	} {
		applicationtest.Answers(t, codec{}, stream, want)
	}
}

// FuzzReplies: any bytes are found the same in pieces as at once.
func FuzzReplies(f *testing.F) {
	f.Add("VALUE k 0 5\r\nhello\r\nEND\r\nEND\r\nERROR\r\n")
	f.Fuzz(func(t *testing.T, stream string) { applicationtest.Pieces(t, codec{}, stream) })
}

// TestCommands: the server answers get of one key, and refuses other commands.
func TestCommands(t *testing.T) {
	for command, want := range map[string]string{"get k": "VALUE k 0 3\r\n", "set k 0 0 1": "ERROR\r\n", "": "ERROR\r\n",
		"get": "ERROR\r\n"} {
		got := strings.Builder{}
		if err := answer(&got, strings.Fields(command), flow.Spec{Response: 3}); err != nil ||
			!strings.HasPrefix(got.String(), want) {
			t.Errorf("%q: %q, %v", command, got.String(), err)
		}
	}
}
