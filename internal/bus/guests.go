package bus

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
)

// guests knows who may be on the bus, and what each may do there. A host that
// has been broken into can answer for itself, with lies if it likes; it cannot
// hear or answer what others are asked, nor ask anything.
type guests struct {
	self string // the conductor's secret

	mu    sync.Mutex
	nodes map[string]string // by secret
}

func secret() string { return rand.Text() }

// admit makes the secret of one stream.
func (g *guests) admit(node string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	token := secret()
	g.nodes[token] = node
	return token
}

// Check is asked by the server for each connection.
func (g *guests) Check(c server.ClientAuthentication) bool {
	token := c.GetOpts().Token
	if token == g.self {
		c.RegisterUser(&server.User{Username: "conductor"})
		return true
	}
	g.mu.Lock()
	node, known := g.nodes[token]
	delete(g.nodes, token)
	g.mu.Unlock()
	if !known {
		return false
	}
	c.RegisterUser(&server.User{Username: node, Permissions: &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: []string{subject(node, "*")}},
		Publish:   &server.SubjectPermission{Allow: []string{helloSubjects + node}},
		// One answer to each request, however long that took.
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: -1},
	}})
	return true
}

// maxGreeting bounds the first line of a stream.
const maxGreeting = 16 << 10

// introduce passes on the first line of a stream, CONNECT with its options, with
// the secret added that says whose stream this is. The agent itself never has
// it. What follows is to be read from rest.
func introduce(inside io.Writer, stream io.Reader, token string) (rest io.Reader, err error) {
	r := bufio.NewReaderSize(stream, maxGreeting)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	verb, text, _ := bytes.Cut(line, []byte(" "))
	if !bytes.EqualFold(verb, []byte("CONNECT")) {
		return nil, errors.New("the stream does not begin like an agent's")
	}
	options := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &options); err != nil {
		return nil, fmt.Errorf("reading CONNECT: %w", err)
	}
	for _, other := range []string{"user", "pass", "jwt", "nkey", "sig"} {
		delete(options, other)
	}
	options["auth_token"], _ = json.Marshal(token)
	text, err = json.Marshal(options)
	if err == nil {
		_, err = fmt.Fprintf(inside, "CONNECT %s\r\n", text)
	}
	return r, err
}
