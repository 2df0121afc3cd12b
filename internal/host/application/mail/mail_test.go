package mail

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/host/application"
	"linerate/internal/host/application/applicationtest"
)

// TestReplies: a mail needs each of its replies, which may have several lines, and ends with the first that refuses it.
func TestReplies(t *testing.T) {
	const accepted = "250 ok\r\n250 ok\r\n354 go on\r\n250 queued\r\n"
	for stream, want := range map[string]string{
		accepted:            "250",
		accepted + accepted: "250 250",
		"250-a\r\n250-b\r\n250 c\r\n251 forwarded\r\n354 go\n250 queued\n": "250",
		"421 busy\r\n":                       "421!",
		"250 ok\r\n550-no\r\n550 nobody\r\n": "550!",
		"250 ok\r\n250 ok\r\n250 ok\r\n":     "250!",
		"250-a\r\n251 b\r\n":                 "error",
		"250\r\n":                            "error",
		"hello world\r\n":                    "error",
		"999 x\r\n":                          "error",
		strings.Repeat("250-"+strings.Repeat("x", 200)+"\r\n", 100): "error",
		strings.Repeat("x", 20<<10):                                 "error",
		"250 ok":                                                    "",
	} {
		applicationtest.Answers(t, &codec{mail: message(100)}, stream, want)
	}
}

// TestDialogue: what follows each reply is the next command, then the mail.
func TestDialogue(t *testing.T) {
	c := &codec{mail: message(300)}
	parser, pending := c.Parser(), application.NewPending(1)
	for range 2 {
		pending.Add()
		var sent []string
		for _, reply := range []string{"250 ok\r\n", "250 ok\r\n", "354 go on\r\n", "250 queued\r\n"} {
			n, e, err := parser.Next([]byte(reply), &pending)
			if err != nil || n != len(reply) {
				t.Fatal(n, err)
			}
			sent = append(sent, string(e.Send))
		}
		want := []string{"RCPT TO:<" + recipient + ">\r\n", "DATA\r\n", string(c.mail), ""}
		if !slices.Equal(sent, want) {
			t.Errorf("%q", sent)
		}
		pending = application.NewPending(1)
	}
}

// FuzzReplies: replies are the same in any pieces.
func FuzzReplies(f *testing.F) {
	f.Add("250 ok\r\n250-a\r\n251 b\r\n354 go\r\n550 no\r\n")
	f.Fuzz(func(t *testing.T, stream string) {
		if stream != "" {
			applicationtest.Pieces(t, &codec{mail: message(100)}, stream)
		}
	})
}
