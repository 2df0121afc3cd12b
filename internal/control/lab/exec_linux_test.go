package lab

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/sock"
)

// Without a lab it is said what to do, and no socket is named.
func TestExecWithoutLab(t *testing.T) {
	const want = "no lab named no-such-lab is up" // and others that are
	if _, err := Exec("no-such-lab", "h1", []string{"true"}, [3]*os.File{}, false, nil); err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Files that a client sends must not stay open in the init process when the request
// is malformed: a reader of a pipe would otherwise wait until the lab ends.
func TestExecClosesFiles(t *testing.T) {
	near, far, err := sock.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	client, err := fileConn(near)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := fileConn(far)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = file.SendFiles(client.(*net.UnixConn), execRequest{Host: "h1", Argv: []string{"true"}}, w) // one of three
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if reply := handleExec(server.(*net.UnixConn), plan{}, nil); reply.Status == 0 || reply.Error == "" {
		t.Errorf("understood: %+v", reply)
	}
	if _, err := io.ReadAll(r); err != nil { // waits for ever if it is still open
		t.Error(err)
	}
}
