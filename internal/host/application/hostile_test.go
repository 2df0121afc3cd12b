package application_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// hostile are what servers send instead of answers.
var hostile = map[string]func(net.Conn){
	"silence": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	"close":   func(net.Conn) {},
	"reset":   func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
	"endless header": func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		endless(c, "X-A: "+strings.Repeat("a", 1000)+"\r\n")
	},
	"endless line": func(c net.Conn) { endless(c, strings.Repeat("a", 1000)) },
	"endless body": func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		endless(c, strings.Repeat("b", 1000))
	},
	"negative length": func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")
	},
	"bad chunks": func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	},
	"interim responses": func(c net.Conn) { endless(c, "HTTP/1.1 103 Early Hints\r\n\r\n") },
	"zeros":             func(c net.Conn) { endless(c, string(make([]byte, 1000))) },
	"endless greeting":  func(c net.Conn) { endless(c, "220-"+strings.Repeat("g", 500)+"\r\n") },
	"large value": func(c net.Conn) {
		_, _ = io.WriteString(c, "$536870912\r\n")
		endless(c, strings.Repeat("v", 1000))
	},
	"arrays": func(c net.Conn) { endless(c, "*1000000\r\n") },
	"values": func(c net.Conn) { endless(c, "VALUE k 0 1\r\na\r\n") },
	"escapes": func(c net.Conn) {
		endless(c, "\x1b]0;a\x07\x1b[2J\r\n")
	},
}

func endless(c net.Conn, text string) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

// streams are the protocols over TCP, also with TLS where they have it.
func streams() (specs []flow.Spec) {
	for _, p := range flow.Protocols {
		if !p.Application || p.Transport != flow.TCP {
			continue
		}
		specs = append(specs, flow.Spec{Protocol: p.Name})
		if p.Encrypts && !p.Encrypted {
			specs = append(specs, flow.Spec{Protocol: p.Name, TLS: flow.TLSFull})
		}
	}
	return specs
}

// TestHostile: whatever a server sends, a request ends within its time, and in words.
func TestHostile(t *testing.T) {
	for name, serve := range hostile {
		for _, spec := range streams() {
			t.Run(spec.Protocol+spec.TLS+" "+name, func(t *testing.T) {
				t.Parallel()
				to := accepting(t, func(_ int, c net.Conn) { serve(c) })
				var e interface{ Close() }
				var failed *message.Error
				ends(t, "the first request", func() { e, failed = asking(t, spec, to) })
				if failed == nil || strings.ContainsAny(failed.Error(), "\x00\r\x1b\x07") || len(failed.Error()) > 300 {
					t.Errorf("%v", failed)
				}
				ends(t, "closing", e.Close)
			})
		}
	}
}

// TestHostileLater is TestHostile for servers that answer first, and then in each way on some connection: the flow goes
// on with other connections, and ends.
func TestHostileLater(t *testing.T) {
	kinds := slices.Collect(maps.Values(hostile))
	for _, spec := range streams() {
		t.Run(spec.Protocol+spec.TLS, func(t *testing.T) {
			t.Parallel()
			server := engine(t)
			listening := server.Listen(t.Context(), []message.FlowRequest{{ID: "f", Spec: spec}})[0]
			if listening.Error != nil {
				t.Fatal(listening.Error)
			}
			window(server, time.Hour)
			var used atomic.Int64
			to := accepting(t, func(n int, c net.Conn) {
				turning(c, listening.Local.Port(), func(c net.Conn) {
					used.Add(1)
					kinds[n%len(kinds)](c)
				})
			})
			spec.Connections, spec.Insecure, spec.Timeout = len(kinds), new(true), unit.Duration(300*time.Millisecond)
			if flow.Of(spec.Protocol).Pipelines {
				spec.Pipeline = 4
			}
			e, failed := asking(t, spec, to)
			if failed != nil {
				t.Fatal(failed)
			}
			window(e, time.Hour)
			eventually(t, "all kinds are used", func() bool { return used.Load() >= int64(len(kinds)) })
			if text := e.Read()[0].Error.Error(); strings.ContainsAny(text, "\x00\r\x1b\x07") {
				t.Errorf("%q", text)
			}
			ends(t, "closing", e.Close)
		})
	}
}

// turning answers as the server at a port does, for a while, and then as a hostile one.
func turning(c net.Conn, server uint16, serve func(net.Conn)) {
	to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", server))
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, c)
		to.Close()
	}()
	_, _ = io.CopyN(c, to, 5_000)
	serve(c)
}
