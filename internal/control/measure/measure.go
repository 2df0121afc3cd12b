// Package measure conducts one trial between this host and a serving one: it
// reaches the server, has both ends open the flows and measure them in one
// common window, as a run's trials are, and makes the result document.
//
// The local end is an agent that the caller has started; this package meets it
// through its stream like any other. It changes nothing on either host.
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/control/conduct"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/version"
)

// DefaultPort is where a server listens unless told otherwise.
const DefaultPort = "5202"

// connectTimeout bounds reaching the server, its introduction, and the opening of
// flows, each.
const connectTimeout = 10 * time.Second

// attempts is how often a trial is tried when its schedule could not be kept.
const attempts = 3

// Options of a measurement. All but Source, Token and Progress have to be set.
type Options struct {
	// Address is the server's, with or without a service port.
	Address string
	// Source is the local address to connect from; invalid: the kernel's choice.
	Source           netip.Addr
	Token            string
	Duration, Warmup time.Duration
	// Interval is the length of the intervals that are told, also while the trial
	// is under way.
	Interval time.Duration
	// Flows say which direction, how many streams, and their options.
	Flows study.Options
	// Progress is told every interval.
	Progress func(Progress)
}

// Progress is how far a measurement is. Rates are those of the latest interval,
// counted at the receivers; below 0: that direction is not measured.
type Progress struct {
	Phase       string  // "warm-up", "measuring"
	ElapsedS    float64 // since the window began; below 0 before
	LeftS       float64
	Write, Read float64 // bit/s
}

// session is the state of a measurement.
type session struct {
	options Options
	server  netip.AddrPort
	source  netip.Addr
	group   conduct.Group
	hellos  map[string]record.Hello
}

// Conduct measures. The local agent answers as record.NodeClient over its stream.
func Conduct(ctx context.Context, local io.ReadWriteCloser, o Options) (*record.Measure, error) {
	stream, err := reach(ctx, o)
	if err != nil {
		local.Close()
		return nil, err
	}
	s := &session{options: o, server: addrOf(stream.RemoteAddr()), source: o.Source}
	if s.source.IsValid() {
		// As connected: with the zone, where it has one.
		s.source = addrOf(stream.LocalAddr()).Addr()
	}
	b, err := bus.Start()
	if err != nil {
		return nil, errors.Join(err, stream.Close(), local.Close())
	}
	defer b.Close()
	s.group = conduct.Group{Bus: b, Nodes: []string{record.NodeClient, record.NodeServer}}
	if err := s.attach(ctx, map[string]io.ReadWriteCloser{record.NodeClient: local, record.NodeServer: stream}); err != nil {
		return nil, s.explain(err)
	}
	if err := s.within(); err != nil {
		return nil, err
	}
	m, err := s.trial(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	return m, nil
}

func addrOf(a net.Addr) netip.AddrPort {
	both := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(both.Addr().Unmap(), both.Port())
}

// attach joins both agents to the bus and waits for their words.
func (s *session) attach(ctx context.Context, streams map[string]io.ReadWriteCloser) error {
	type word struct {
		node  string
		hello record.Hello
		err   error
	}
	words := make(chan word, 8)
	err := s.group.Bus.Hellos(func(node string, data []byte) {
		w := word{node: node}
		w.err = json.Unmarshal(data, &w.hello)
		select {
		case words <- w:
		default: // said often enough
		}
	})
	if err != nil {
		return err
	}
	for _, node := range s.group.Nodes {
		if err := s.group.Bus.Attach(node, streams[node]); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, errors.New("no word from both ends within "+connectTimeout.String()))
	defer cancel()
	s.hellos = map[string]record.Hello{}
	for len(s.hellos) < len(s.group.Nodes) {
		select {
		case w := <-words:
			if w.err != nil {
				return fmt.Errorf("%s: an introduction that cannot be read: %w", w.node, w.err)
			}
			s.hellos[w.node] = w.hello
		case <-s.group.Bus.Lost(record.NodeClient):
			return errors.New("the agent of this host ended before it was ready")
		case <-s.group.Bus.Lost(record.NodeServer):
			return errors.New("the server closed the connection before it was ready")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// within holds what is wanted against what the server grants, before anything is
// begun.
func (s *session) within() error {
	bounds := s.hellos[record.NodeServer].Bounds
	if bounds == nil {
		return nil
	}
	var errs []error
	if n := len(s.plan()); n > bounds.Flows {
		errs = append(errs, fmt.Errorf("%d flows: the server allows %d", n, bounds.Flows))
	}
	if all := s.options.Warmup + s.options.Duration; all.Seconds() > bounds.DurationS {
		errs = append(errs, fmt.Errorf("%v with the warm-up: the server allows %v", all, time.Duration(bounds.DurationS*float64(time.Second))))
	}
	return errors.Join(errs...)
}

// trial makes the flows and measures them.
func (s *session) trial(ctx context.Context) (*record.Measure, error) {
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		s.group.Close(after)
	}()
	for attempt := 0; ; attempt++ {
		made := record.Trial{Order: 1, Started: time.Now()}
		flows := s.plan()
		if err := s.group.Open(ctx, flows, connectTimeout); err != nil {
			return nil, err
		}
		for _, f := range flows {
			if f.Failure != "" {
				return nil, errors.New(f.Failure)
			}
		}
		readings, err := s.window(ctx, flows, attempt)
		if _, late := errors.AsType[conduct.LateError](err); late && attempt+1 < attempts {
			s.group.Close(ctx)
			continue
		}
		if err != nil {
			return nil, err
		}
		readings.Enter(&made, s.group.Nodes, flows)
		return s.conclude(&made, readings), nil
	}
}

// plan is the flows, each with a new ticket.
func (s *session) plan() []*conduct.Flow {
	o := s.options.Flows
	var flows []*conduct.Flow
	add := func(letter string, opens bool) {
		options := o
		options.RateCap = s.rateCap()
		for i := range o.Streams {
			f := &conduct.Flow{Ticket: greeting.NewTicket(), Accepted: s.server}
			f.PlannedFlow = study.PlannedFlow{
				ID: fmt.Sprintf("%s%d", letter, i+1), Opener: record.NodeClient, Acceptor: record.NodeServer,
				Source: s.source, Destination: s.server.Addr(), OpenerSends: opens, Options: options,
			}
			flows = append(flows, f)
		}
	}
	if o.Direction != study.Read {
		add("w", true)
	}
	if o.Direction != study.Write {
		add("r", false)
	}
	return flows
}

// rateCap is each connection's pacing: what was asked for, within what the server
// grants. The server paces what it sends; what it is sent is for us to pace.
func (s *session) rateCap() unit.BitRate {
	o := s.options.Flows
	if bounds := s.hellos[record.NodeServer].Bounds; bounds != nil && bounds.RateBps > 0 {
		share := unit.BitRate(bounds.RateBps / float64(o.Streams))
		if o.RateCap == 0 || share < o.RateCap {
			return share
		}
	}
	return o.RateCap
}

// window measures, and tells how far it is meanwhile.
func (s *session) window(ctx context.Context, flows []*conduct.Flow, attempt int) (conduct.Readings, error) {
	lookups := map[string][]record.RouteLookup{}
	if len(flows) > 0 {
		f := flows[0]
		lookups[record.NodeClient] = []record.RouteLookup{{
			Source: f.Opened.Addr().WithZone("").String(), Destination: f.Accepted.Addr().WithZone("").String(),
		}}
	}
	watching, done := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer done()
	return s.group.Measure(ctx, conduct.Window{
		Warmup: s.options.Warmup, Duration: s.options.Duration, Interval: s.sampling(), Lookups: lookups,
		Scheduled: func(begin, end int64) { watch.Go(func() { s.watch(watching, begin, end) }) },
	}, attempt)
}

// sampling is the time between samples: the interval that is asked for, but often
// enough to see whether the rate was steady, and no oftener than a server allows.
func (s *session) sampling() time.Duration {
	const least, most = 10, 500
	d := s.options.Duration
	return max(min(s.options.Interval, d/least), d/most, time.Millisecond)
}

// explain puts into a user's words what the bus says of a lost end.
func (s *session) explain(err error) error {
	select {
	case <-s.group.Bus.Lost(record.NodeServer):
		return fmt.Errorf("the server at %s has gone: %w", s.server, err)
	default:
		return fmt.Errorf("measuring with %s: %w", s.server, err)
	}
}

// environment is what an end has said of itself.
func (s *session) environment(node string) (record.HostEnvironment, string) {
	hello := s.hellos[node]
	if node == record.NodeClient {
		return hello.Environment, version.String()
	}
	return hello.Environment, hello.Version
}
