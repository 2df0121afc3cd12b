package redis

import (
	"bufio"
	"strings"
	"testing"

	"linerate/internal/host/application/applicationtest"
	"linerate/internal/model/flow"
)

// TestReplies: replies are found in pieces of any size, with their outcome.
func TestReplies(t *testing.T) {
	for stream, want := range map[string]string{
		"+PONG\r\n":                         "PONG",
		"$5\r\nhello\r\n":                   "value",
		"$0\r\n\r\n$-1\r\n+OK\r\n":          "value nil OK",
		"-ERR unknown command\r\n+PONG\r\n": "ERR! PONG",
		"-\x1b[31m\r\n+" + strings.Repeat("A", 300) + "\r\n": "other! other",
		"$3\r\nab\r\n\r\n+PONG\r\n":                          "error", // the value is longer than its size
		"$-2\r\n":                                            "error",
		"$600000000\r\n":                                     "error",
		"*1\r\n$4\r\nPONG\r\n":                               "error",
		"PONG\r\n":                                           "error",
		"+PONG\n":                                            "error",
		"\r\n":                                               "error",
		strings.Repeat("a", longestLine+1):                   "error",
	} {
		applicationtest.Answers(t, newCodec(flow.Spec{}), stream, want)
	}
}

// FuzzReplies: any bytes are found the same in pieces as at once.
func FuzzReplies(f *testing.F) {
	f.Add("$5\r\nhello\r\n+PONG\r\n-ERR x\r\n$-1\r\n")
	f.Fuzz(func(t *testing.T, stream string) { applicationtest.Pieces(t, newCodec(flow.Spec{}), stream) })
}

// TestCommands: the server reads its client's commands, and inline ones; others are refused.
func TestCommands(t *testing.T) {
	for text, want := range map[string]string{
		string(newCodec(flow.Spec{}).command):             "+PONG\r\n",
		string(newCodec(flow.Spec{Path: "/key"}).command): "$3\r\n",
		"PING\r\n": "+PONG\r\n", "ping\r\n": "+PONG\r\n", "SET a b\r\n": "-ERR unknown command\r\n",
		"*0\r\n": "", "*1\r\n$-1\r\n": "", "*1\r\n$4\r\nPIN\r\n": "", "*99\r\n": "", "*1\r\n$9999999\r\n": "",
	} {
		got := strings.Builder{}
		command, err := read(bufio.NewReaderSize(strings.NewReader(text), longestLine))
		if err == nil {
			err = answer(&got, command, flow.Spec{Response: 3})
		}
		if (err != nil) != (want == "") || !strings.HasPrefix(got.String(), want) {
			t.Errorf("%q: %q, %v", text, got.String(), err)
		}
	}
	want := "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"
	if text := string(newCodec(flow.Spec{Path: "/key"}).command); text != want {
		t.Errorf("%q", text)
	}
}
