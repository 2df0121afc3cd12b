package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"linerate/internal/host/application"
)

// TestGoAwayOfHTTP3: after GOAWAY (RFC 9114, section 5.2) the library's error says that a
// request was not begun.
func TestGoAwayOfHTTP3(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	release, asked := make(chan struct{}), make(chan struct{}, 1)
	server := &http3.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	})}
	l, err := quic.ListenAddrEarly("127.0.0.1:0",
		http3.ConfigureTLSConfig(&tls.Config{Certificates: certified.TLS.Certificates}), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go server.ServeListener(l)
	conn, err := quic.DialAddr(t.Context(), l.Addr().String(), &tls.Config{InsecureSkipVerify: true,
		NextProtos: []string{http3.NextProtoH3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := (&http3.Transport{}).NewClientConn(conn)
	request := func() error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+l.Addr().String()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.RoundTrip(r)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	first, shut := make(chan error, 1), make(chan error, 1)
	go func() { first <- request() }()
	<-asked
	go func() { shut <- server.Shutdown(context.Background()) }()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if err = client.Context().Err(); err != nil || time.Now().After(end) {
			t.Fatalf("no GOAWAY: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		stream, opened := client.OpenRequestStream(ctx)
		cancel()
		if opened != nil {
			break
		}
		stream.CancelWrite(0)
		stream.CancelRead(0)
	}
	if err := request(); err == nil || !errors.Is(unprocessed(err), application.ErrUnprocessed) {
		t.Errorf("%v", err)
	}
	close(release)
	if err := errors.Join(<-first, <-shut); err != nil {
		t.Errorf("the request that was begun: %v", err)
	}
}

// TestAtMost: so many connections may be open, and another one when one has ended, which is
// reported.
func TestAtMost(t *testing.T) {
	ended := make(chan struct{}, 3)
	accept := atMost(2, func() { ended <- struct{}{} })
	ctx, end := context.WithCancel(t.Context())
	for i, c := range []context.Context{ctx, t.Context()} {
		if _, err := accept(c, nil); err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
	}
	if _, err := accept(t.Context(), nil); err == nil {
		t.Error("a third one of two was accepted")
	}
	select {
	case <-ended:
		t.Error("the end of a connection is reported, and none has ended")
	default:
	}
	end()
	<-ended
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := accept(t.Context(), nil); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("one has ended: %v", err)
		}
	}
}
