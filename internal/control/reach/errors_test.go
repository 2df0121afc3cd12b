package reach

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/version"
)

// script makes a program of a shell script, and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReasons: an error says by a reason why a host was not reached, with what the command said, and
// without the command's arguments, which may be secrets: errors are kept and shown.
func TestReasons(t *testing.T) {
	sh := func(text string) []string { return []string{"sh", "-c", text} }
	ssh := func(says string) []string {
		return []string{script(t, "ssh", "echo '"+says+"' >&2; exit 255")}
	}
	for name, test := range map[string]struct {
		via    []string
		reason Reason
		exit   int
		said   string // in the text
	}{
		"no such command": {[]string{"/no/such/command"}, NoCommand, -1, "executing /no/such/command"},
		"no linerate":     {sh("echo not found >&2; exit 127"), NoProgram, 127, "not found"},
		"may not run it":  {sh("exit 126"), NotAllowed, 126, "exit status 126"},
		"dash may not":    {sh("echo linerate: Permission denied >&2; exit 127"), NotAllowed, 127, "denied"},
		"no such name":    {ssh("Could not resolve hostname nas: Name or service not known"), UnknownName, 255, "nas"},
		"no sshd":         {ssh("connect to host nas port 22: Connection refused"), NotListening, 255, "refused"},
		"it is off":       {ssh("connect to host nas port 22: Connection timed out"), NoAnswer, 255, "timed out"},
		"no known key":    {ssh("Host key verification failed."), HostKey, 255, "verification"},
		"no key of ours":  {ssh("nas: Permission denied (publickey)."), Authentication, 255, "publickey"},
		"no route":        {ssh("No route to host"), Unreachable, 255, "No route to host"},
		"a banner":        {sh("echo Welcome to nas"), NotAnAgent, 0, "Welcome to nas"},
		"it fails":        {sh("echo out of memory >&2; exit 1"), Ended, 1, "out of memory"},
		"it is quiet":     {sh("exec sleep 100"), TimedOut, -1, "no message from its agent within"},
		"an earlier release": {[]string{script(t, "old", `case "$*" in *--version) echo linerate v0.0.1, go1.20;; `+
			`*) echo unknown flag: --for >&2; exit 2;; esac`)}, OtherVersion, 2, "v0.0.1, and this is " +
			version.String()},
	} {
		expected := map[Install]Reason{Never: test.reason, Temporary: test.reason}
		switch test.reason {
		case NoProgram, NotAllowed: // which is as true of sh
			expected[Temporary] = NoShell
		case OtherVersion: // nothing is said about the words sh -s
			delete(expected, Temporary)
		}
		for install, want := range expected {
			t.Run(name+" "+string(install), func(t *testing.T) {
				t.Parallel()
				test := test
				test.reason = want
				within := time.Minute
				if test.reason == TimedOut {
					within = 300 * time.Millisecond
				}
				via := append(test.via, "-p", "hunter2")
				h, err := Open(t.Context(), []Host{{Name: "nas", Via: via, Install: install}}, Read,
					Options{Within: within})
				if h != nil {
					defer h.Close()
				}
				e, is := errors.AsType[*Error](err)
				if !is || e.Host != "nas" || e.Reason != test.reason || e.Exit != test.exit {
					t.Fatalf("%v: %+v, want %s and exit status %d", err, e, test.reason, test.exit)
				}
				if text := err.Error(); !strings.HasPrefix(text, "nas: ") || !strings.Contains(text, test.said) ||
					strings.Contains(text, "hunter2") {
					t.Errorf("%q: want %q", text, test.said)
				}
			})
		}
	}
}

// imitated starts agents that answer as a test has them.
func imitated(t *testing.T, hellos map[string]message.Hello, handle ...bus.Handling) Options {
	return Options{Within: 20 * time.Second, Self: func(node string, _ message.Access) net.Conn {
		near, far := net.Pipe()
		go func() {
			c, err := bus.Join(node, far, bus.Silence)
			if err != nil {
				return
			}
			_ = errors.Join(c.Serve(t.Context(), handle, bus.Gate{}), c.Announce(hellos[node]))
			<-c.Done()
		}()
		return near
	}}
}

// TestHellos: an agent of another major release, and one that cannot serve, are known by their
// first message; others can be asked.
func TestHellos(t *testing.T) {
	own := version.String()
	o := imitated(t, map[string]message.Hello{"good": {Version: own},
		"left": {Version: own, Error: &message.Error{Code: message.Leftover, Text: "a journal holds 3 changes"}},
		"busy": {Version: own, Error: &message.Error{Code: message.Busy, Text: "another agent has the lock"}},
	})
	h, err := Open(t.Context(), []Host{{Name: "left", Node: "left", Here: true},
		{Name: "good", Node: "good", Here: true}, {Name: "busy", Node: "busy", Here: true}}, Read, o)
	t.Cleanup(h.Close)
	joined, is := err.(interface{ Unwrap() []error })
	if !is || len(joined.Unwrap()) != 2 || len(h.List()) != 1 || h.List()[0].Name != "good" {
		t.Fatalf("%v, and %d hosts", err, len(h.List()))
	}
	for i, want := range []Reason{Journal, Busy} {
		if e, is := errors.AsType[*Error](joined.Unwrap()[i]); !is || e.Reason != want {
			t.Errorf("%v, want %s", joined.Unwrap()[i], want)
		}
	}
	other := imitated(t, map[string]message.Hello{"a": {Version: "other"}})
	h, err = Open(t.Context(), []Host{{Name: "a", Node: "a", Here: true}}, Measure, other)
	t.Cleanup(h.Close)
	if e, is := errors.AsType[*Error](err); !is || e.Reason != OtherVersion || !strings.Contains(err.Error(), own) {
		t.Errorf("%v", err)
	}
	for pair, want := range map[[2]string]bool{{"v1.2.3", "v1.9.0"}: true, {"v1.2.3", "v2.0.0"}: false,
		{"devel-0123456789ab", "v2.0.0"}: true, {"1.2", "v1.3"}: true} {
		if fits(pair[0], pair[1]) != want {
			t.Errorf("%v: %t, want %t", pair, !want, want)
		}
	}
}

// TestSnapshots: a host that answers never, with too much, with what is none, or that does not
// know the request, is named with its reason, and the others' snapshots are returned.
func TestSnapshots(t *testing.T) {
	good := netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, Reading: netstate.HostReading{Host: "own"}}
	answers := map[string]func(context.Context, []byte) (any, error){
		"good":  func(context.Context, []byte) (any, error) { return good, nil },
		"never": func(ctx context.Context, _ []byte) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
		"much": func(context.Context, []byte) (any, error) {
			return json.RawMessage(`[` + strings.Repeat("{},", 1<<20) + `{}]`), nil
		},
		"none":    func(context.Context, []byte) (any, error) { return netstate.HostSnapshot{}, nil },
		"refuses": func(context.Context, []byte) (any, error) { return nil, os.ErrPermission },
		"old":     nil,
	}
	reasons := map[string]Reason{"never": TimedOut, "much": TooLarge, "none": Refused, "refuses": NotPermitted,
		"old": OtherVersion}
	var list []Host
	for _, name := range []string{"never", "much", "good", "none", "refuses", "old"} {
		list = append(list, Host{Name: name, Node: name, Called: name, Here: true})
	}
	o := Options{Within: 20 * time.Second, Self: func(node string, access message.Access) net.Conn {
		var handlings []bus.Handling
		if f := answers[node]; f != nil {
			handlings = append(handlings, bus.Handling{Name: message.Snapshot.Name, Handler: f})
		}
		return imitated(t, map[string]message.Hello{node: {Version: version.String()}}, handlings...).Self(node, access)
	}}
	h, err := Open(t.Context(), list, Read, o)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	taken, err := Snapshots(ctx, h, message.SnapshotRequest{})
	if len(taken) != 1 || taken[0].Reading.Host != "good" {
		t.Errorf("%d snapshots, %v", len(taken), err)
	}
	joined, is := err.(interface{ Unwrap() []error })
	if !is || len(joined.Unwrap()) != len(reasons) {
		t.Fatal(err)
	}
	for _, one := range joined.Unwrap() {
		if e, is := errors.AsType[*Error](one); !is || e.Reason != reasons[e.Host] {
			t.Errorf("%v: %+v", one, e)
		}
	}
}
