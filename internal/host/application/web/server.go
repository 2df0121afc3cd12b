package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

// requestHeader limits the header of a request to linerate's own server, in bytes; its clients send little more
// than a path.
const requestHeader = 8 << 10

// How long a client may take for a request's header and for a whole exchange.
const (
	headerTimeout   = 10 * time.Second
	exchangeTimeout = 2 * time.Minute
)

func length(bytes int64) string { return strconv.FormatInt(bytes, 10) }

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// Serve reads each request and answers it with a body of the flow's size.
func (Protocol) Serve(ctx context.Context, s *application.Server) error {
	if s.Spec.Protocol == flow.HTTP {
		return serve1(ctx, s)
	}
	body := bodyOf(s.Spec)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, int64(s.Spec.Request)))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		client, _ := r.Context().Value(connectionKey{}).(net.Conn) // nil: of HTTP/3
		if !s.Think(r.Context(), client) {
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", length(body))
		if r.Method == http.MethodHead {
			return
		}
		written, err := io.Copy(w, newPayload(body))
		if s.Packets != nil {
			s.Moved(address3(r.RemoteAddr), int(received), int(written))
		}
		if err == nil {
			s.Answered()
		}
	})
	if s.Packets != nil {
		return serve3(ctx, s, handler)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
		Handler: handler, Protocols: protocols, ReadHeaderTimeout: headerTimeout, ReadTimeout: exchangeTimeout,
		WriteTimeout: exchangeTimeout,
		IdleTimeout:  idleTimeout, MaxHeaderBytes: requestHeader, ErrorLog: slog.NewLogLogger(slog.DiscardHandler,
			slog.LevelError),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: max(1, s.Spec.Pipeline), MaxReceiveBufferPerConnection: application.ReceiveWindow(
				s.Spec), MaxReceiveBufferPerStream: application.ReceiveWindow(s.Spec),
		},
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { server.Close() })()
	l := s.Listener
	if application.Encrypted(s.Spec) {
		l = s.SecureListener("h2")
	}
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// address3 parses a client's address.
func address3(text string) net.Addr {
	at, err := net.ResolveUDPAddr("udp", text)
	if err != nil {
		return nil
	}
	return at
}

// atMost refuses connections while most are open; it calls ended when one ends.
func atMost(most int, ended func()) func(context.Context, *quic.ClientInfo) (context.Context, error) {
	var open atomic.Int64
	return func(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
		if open.Add(1) > int64(most) {
			open.Add(-1)
			return nil, errors.New("as many connections as the server may have are open")
		}
		context.AfterFunc(ctx, func() {
			open.Add(-1)
			ended()
		})
		return ctx, nil
	}
}

// lingering is how many connections beyond the flow's a shared socket may have open: those whose last packet
// was lost stay for idleTimeout.
const lingering = 4096

// serve3 answers over HTTP/3. On a connected socket it returns when its one connection ends.
func serve3(ctx context.Context, s *application.Server, handler http.Handler) error {
	quiet()
	window := uint64(application.ReceiveWindow(s.Spec))
	config := &quic.Config{
		HandshakeIdleTimeout: headerTimeout, MaxIdleTimeout: idleTimeout,
		MaxIncomingStreams: int64(max(1, s.Spec.Pipeline)), MaxIncomingUniStreams: 8,
		InitialStreamReceiveWindow: window, MaxStreamReceiveWindow: window, InitialConnectionReceiveWindow: window,
		MaxConnectionReceiveWindow: window,
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	most, ended := 1, end
	if !s.Connected {
		most, ended = application.MostOpen(s.Spec)+lingering, func() {}
	}
	over := &quic.Transport{Conn: s.Packets, ConnContext: atMost(most, ended)}
	l, err := over.ListenEarly(http3.ConfigureTLSConfig(s.TLS.Clone()), config)
	if err != nil {
		return err
	}
	defer over.Close()
	server := &http3.Server{Handler: handler, MaxHeaderBytes: requestHeader, IdleTimeout: idleTimeout,
		Logger: slog.New(slog.DiscardHandler)}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	err = server.ServeListener(l)
	if errors.Is(err, http.ErrServerClosed) || ctx.Err() != nil {
		return nil
	}
	return err
}
