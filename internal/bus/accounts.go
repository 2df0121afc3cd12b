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
)

// Accounts has the secrets by which connections to the embedded server are known.
type Accounts struct {
	self string // the conductor's secret

	mu    sync.Mutex
	nodes map[string]string // by secret
}

// NewAccounts returns the accounts of a bus without agents.
func NewAccounts() *Accounts { return &Accounts{self: secret(), nodes: map[string]string{}} }

func secret() string { return rand.Text() }

// add returns a new secret for one stream of a node.
func (g *Accounts) add(node string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	token := secret()
	g.nodes[token] = node
	return token
}

// Role is what a connection may do. The zero value may do nothing.
type Role struct {
	// Conductor may publish and subscribe to everything.
	Conductor bool
	// Node is the name of an agent's node. It may subscribe to Requests, publish to Hello, and reply
	// once to each request.
	Node, Requests, Hello string
}

// Check returns the role of a connection with this secret. The secret of a node is good once.
func (g *Accounts) Check(secret string) Role {
	if secret == g.self {
		return Role{Conductor: true}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	node, known := g.nodes[secret]
	delete(g.nodes, secret)
	if !known {
		return Role{}
	}
	return Role{Node: node, Requests: subject(node, "*"), Hello: helloSubjects + node}
}

// maxLine bounds each of the first lines of a stream.
const maxLine = 16 << 10

// greeting reads the first lines of an agent's stream, CONNECT with its options and PING, and
// returns them with a secret of its node added, which the agent itself never has. The
// remainder of the stream is read from rest.
func (g *Accounts) greeting(node string, stream io.Reader) (lines []byte, rest *bufio.Reader, err error) {
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
