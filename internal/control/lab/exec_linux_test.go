package lab

import (
	"io"
	"net"
	"os"
	"testing"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/sock"
)

// What a visitor sends along must not stay open in the keeper when the request
// makes no sense: who waits for the end of a pipe would wait as long as the lab.
func TestDoorKeepsNothing(t *testing.T) {
	near, far, err := sock.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	visitor, err := fileConn(near)
	if err != nil {
		t.Fatal(err)
	}
	defer visitor.Close()
	door, err := fileConn(far)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = file.SendFiles(visitor.(*net.UnixConn), execRequest{Host: "h1", Argv: []string{"true"}}, w) // one of three
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if reply := handleExec(door.(*net.UnixConn), plan{}, nil); reply.Status == 0 || reply.Error == "" {
		t.Errorf("understood: %+v", reply)
	}
	if _, err := io.ReadAll(r); err != nil { // waits for ever if it is still open
		t.Error(err)
	}
}
