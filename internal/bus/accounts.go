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

// accounts authenticates connections to the embedded server and limits each agent to
// its own subjects. A compromised host can give false replies for itself; it cannot read
// or answer requests to other nodes, nor send requests.
type accounts struct {
	self string // the conductor's secret

	mu    sync.Mutex
	nodes map[string]string // by secret
}

func secret() string { return rand.Text() }

// add returns a new secret for one stream of a node.
func (g *accounts) add(node string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	token := secret()
	g.nodes[token] = node
	return token
}

// Check authenticates a connection by its secret (server.Authentication).
func (g *accounts) Check(c server.ClientAuthentication) bool {
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
		// One reply to each request, however late.
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: -1},
	}})
	return true
}

// maxLine bounds each of the first lines of a stream.
const maxLine = 16 << 10

// greeting reads the first lines of an agent's stream, CONNECT with its options and PING, and
// returns them with a secret of its node added, which the agent itself never has. The
// remainder of the stream is read from rest.
func (g *accounts) greeting(node string, stream io.Reader) (lines []byte, rest *bufio.Reader, err error) {
	r := bufio.NewReaderSize(stream, maxLine)
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || err != nil && len(line) > 0 {
		return nil, nil, fmt.Errorf("%w, but with %.60q", ErrNotAnAgent, line)
	}
	if err != nil {
		return nil, nil, err
	}
	verb, text, _ := bytes.Cut(line, []byte(" "))
	if !bytes.EqualFold(verb, []byte("CONNECT")) {
		return nil, nil, fmt.Errorf("%w, with CONNECT, but with %.60q", ErrNotAnAgent, line)
	}
	options := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &options); err != nil {
		return nil, nil, fmt.Errorf("reading CONNECT: %w", err)
	}
	for _, other := range []string{"user", "pass", "jwt", "nkey", "sig"} {
		delete(options, other)
	}
	if line, err = r.ReadSlice('\n'); err != nil {
		return nil, nil, err
	}
	if string(line) != "PING\r\n" {
		return nil, nil, errors.New("expected PING after CONNECT")
	}
	options["auth_token"], _ = json.Marshal(g.add(node))
	if text, err = json.Marshal(options); err != nil {
		return nil, nil, err
	}
	return fmt.Appendf(nil, "CONNECT %s\r\n%s", text, line), r, nil
}
