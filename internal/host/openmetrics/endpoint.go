package openmetrics

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/proc"
)

// Limits of the HTTP server. Prometheus gives up after 10 s by default (scrape_timeout).
const (
	mostConnections = 32 // a quarter of them from one source (greeting.Queue)
	mostHeader      = 16 << 10
	headerTimeout   = 5 * time.Second
	answerTimeout   = 10 * time.Second // from a request's header to the metrics
	writeTimeout    = 20 * time.Second // to the end of the answer
	idleTimeout     = 2 * time.Minute
)

// Path is the path of the metrics.
const Path = "/metrics"

// Endpoint is a port that serves the metrics over HTTP.
type Endpoint struct{ listener *net.TCPListener }

// Listen opens the port.
func Listen(ctx context.Context, address string) (*Endpoint, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Endpoint{l.(*net.TCPListener)}, nil
}

// URL returns the URL of the metrics.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + Path }

// Close closes an endpoint that Serve was not called on.
func (e *Endpoint) Close() error { return e.listener.Close() }

// Serve answers scrapes of this host, and of server if it is not nil, until ctx ends.
func (e *Endpoint) Serve(ctx context.Context, server func() Serving) error {
	host, err := OpenHost()
	if err != nil {
		return errors.Join(err, e.Close())
	}
	defer host.Close()
	registry := prometheus.NewRegistry()
	list := []prometheus.Collector{host, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
	if server != nil {
		list = append(list, serving(server))
	}
	for _, c := range list {
		if err := registry.Register(c); err != nil {
			return errors.Join(err, e.Close())
		}
	}
	return serveHTTP(ctx, e.listener, handler(registry))
}

// handler returns a handler for the registered metrics.
func handler(registry *prometheus.Registry) http.Handler {
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true,
		ErrorHandling: promhttp.ContinueOnError})
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.InstrumentMetricHandler(registry, newPaced(metrics)))
	return mux
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, l *net.TCPListener, h http.Handler) error {
	s := &http.Server{
		// The answer is built in memory, so that a slow client does not block others.
		Handler:           http.TimeoutHandler(h, answerTimeout, "the host could not be read in time\n"),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: mostHeader,
		// errors of clients that do not speak HTTP
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	err := s.Serve(&listener{l, ctx, greeting.NewQueue(mostConnections)})
	s.Close()
	if errors.Is(err, http.ErrServerClosed) || ctx.Err() != nil {
		return nil
	}
	return err
}

// listener limits the number of connections: one more closes the oldest of its source, or of the source that
// has the most. While many are open it accepts slowly, because a client whose connections are closed may open
// others at once.
type listener struct {
	*net.TCPListener
	ctx   context.Context
	queue *greeting.Queue
}

// While slowFrom connections or more are open, acceptPause passes between two of them.
const (
	slowFrom    = mostConnections / 4
	acceptPause = 10 * time.Millisecond
)

func (l *listener) Accept() (net.Conn, error) {
	for {
		if l.queue.Len() >= slowFrom {
			time.Sleep(acceptPause)
		}
		conn, err := socket.Accept(l.ctx, l.TCPListener)
		if err != nil {
			return nil, err
		}
		from := socket.AddrPort(conn.RemoteAddr())
		if !from.IsValid() { // already reset
			socket.Reset(conn)
			continue
		}
		return &connection{conn, l.queue.Enter(from.Addr(), func() { socket.Reset(conn) })}, nil
	}
}

type connection struct {
	*net.TCPConn
	place *greeting.Waiter
}

func (c *connection) Close() error {
	c.place.Leave()
	return c.TCPConn.Close()
}

// paced answers one request at a time and then pauses for pauseShare times as long as it took, at most
// pauseMost. A request takes its time in the handler, or the CPU time that the process has used since the last
// pause if that is more: readings use several CPUs, and connections cost before and after the handler. So
// scrapes take at most a fifth of a CPU; anything slower reads the host, which has limits of its own.
type paced struct {
	next http.Handler
	turn chan struct{} // holds an element while a request is answered and during the pause
	used time.Duration // CPU time of the process until the last pause; only the holder of turn uses it
}

const (
	pauseShare = 4
	pauseMost  = 500 * time.Millisecond
)

func newPaced(next http.Handler) *paced {
	return &paced{next: next, turn: make(chan struct{}, 1), used: proc.TotalCPUTime()}
}

func (p *paced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case p.turn <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	began := time.Now()
	defer func() {
		used := proc.TotalCPUTime()
		took := max(time.Since(began), used-p.used)
		p.used = used
		time.AfterFunc(min(pauseShare*took, pauseMost), func() { <-p.turn })
	}()
	p.next.ServeHTTP(w, r)
}
