// Package measure conducts trials between this host and a serving one: it connects to
// the server, has both ends open the flows and measure them in one common window, as in
// a run, and returns a run.
//
// The local end is an agent that the caller has started, which is used over its stream
// like any other. It changes nothing on either host.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/bus/hub"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// DefaultPort is the port on which a server listens by default.
const DefaultPort = "5202"

// connectTimeout bounds reaching the server, its introduction, and the opening of
// flows, each.
const connectTimeout = 10 * time.Second

// closeTimeout bounds the closing of a trial's flows.
const closeTimeout = 3 * time.Second

// attempts is how often a trial is tried when its schedule could not be kept.
const attempts = 3

// Options of a measurement. Addresses, Duration, Warmup and Flows are required, and URL for a foreign
// server; every other field may be zero.
type Options struct {
	// Addresses of the server, each with or without a port. Flows use them in turn; the control connection
	// uses the first.
	Addresses []string
	// Sources are the local addresses, and SourcePorts the local ports, that connections use in turn; empty:
	// the kernel chooses.
	Sources          []netip.Addr
	SourcePorts      []uint16
	Token            string
	Duration, Warmup time.Duration
	// Interval is the length of the intervals in the result, and the time between calls of Progress; 0: one
	// interval, the whole window.
	Interval time.Duration
	// Flows says in which direction and with how many streams to measure, and the options of the flows.
	Flows flow.Spec
	// Modes are the modes of moving bytes to measure in, one after another; empty: the mode of Flows.
	Modes []string
	// Iperf3 says that the server is iperf3. Iperf3Login is for a server that requires a user; nil: none.
	Iperf3      bool
	Iperf3Login *message.Iperf3Login
	// URL addresses a server that is another program and speaks the protocol of the flows. Addresses then
	// has its address with the port. Empty: the server is linerate or iperf3.
	URL string
	// Network is the address family that the name in URL is resolved to, "ip4" or "ip6"; empty: either.
	Network string
	// Latency says that a probe measures latency, first alone and then beside the flows.
	Latency bool
	// LossFree requests a search for the highest rate of datagrams without loss; nil: the rate of Flows is
	// measured.
	LossFree *study.LossFree
	// FindMax requests a search for the highest rate of requests that meets an objective; nil: requests are
	// made at the pace of Flows.
	FindMax *FindMax
	// Linger is a context that continues when that of Conduct ends: the open window is then ended early,
	// read, and returned. Nil: it is given up.
	Linger context.Context
	// Progress is called every interval; nil: not called.
	Progress func(Progress)
	// Until is called every interval with what is known of the measurement until then, so that it can be
	// saved; nil: not called. The run is not concluded.
	Until func(*record.Run)

	limit time.Duration // see patience
}

// patience is how long the server may take for each step: its hello, the opening of flows,
// the answer to a request.
func (o Options) patience() time.Duration { return cmp.Or(o.limit, connectTimeout) }

// Bounds on the size of a reply of the server, in bytes: what a reply has once, the edges of a window per
// flow, and all samples of a window; sampleBytes is one sample of one flow, interface or queueing
// discipline.
const (
	onceBytes    = 4 << 20
	edgesBytes   = 16 << 10
	samplesBytes = 16 << 20
	sampleBytes  = 512
)

// replyBytes bounds a reply of the server.
func (s *session) replyBytes() int {
	return onceBytes + s.flows()*edgesBytes + samplesBytes
}

// Progress is the state of a measurement. Rates are those of the latest interval, counted at the receivers;
// a negative rate means that this direction is not measured.
type Progress struct {
	Phase       string        // "idle", "warm-up", "measuring", or the trial of a search
	Mode        string        // the current one, if several are measured one after another
	Left        time.Duration // time left, a whole number of intervals
	Write, Read float64       // bit/s
	// LostShare is the share of datagrams lost, in both directions together. RatePerS is the rate of
	// transactions per second, which replaces Write and Read.
	LostShare, RatePerS float64
}

// session is the state of a measurement.
type session struct {
	options Options
	server  netip.AddrPort
	host    string           // the server's name with its port, of a foreign one that was given by name
	servers []netip.AddrPort // all its addresses, server first
	sources []netip.Addr
	group   trial.Group
	hellos  map[string]message.Hello
	idle    bool // the probe is alone
	began   time.Time
	trials  []record.Trial         // those of the result, in order
	phase   string                 // which trial of a search is being made
	until   Progress               // of the open window, from its begin to the latest interval; zero: none has ended
	local   netstate.HostSnapshots // of this host
	lost    error                  // why the latest window has the readings of this host only; nil: it has all
}

// Conduct measures, and returns the result as a run of one block with a trial for each mode (see Keep).
// local is the stream of the local agent, which answers as record.NodeClient. An iperf3 server has no agent,
// so that only the local one is on the bus.
func Conduct(ctx context.Context, local io.ReadWriteCloser, o Options) (*record.Run, error) {
	o.Interval = cmp.Or(o.Interval, o.Duration)
	s := &session{options: o, began: time.Now(), sources: slices.Clone(o.Sources)}
	streams := map[string]io.ReadWriteCloser{record.NodeClient: local}
	defer func() {
		for _, stream := range streams {
			stream.Close()
		}
	}()
	if o.URL != "" {
		if err := s.resolve(ctx); err != nil {
			return nil, err
		}
	}
	if !o.alone() {
		var host greeting.Host
		stream, name, err := greet(ctx, o.Addresses[0], o.source(0), func(stream io.ReadWriter) (_ string, err error) {
			host, err = greeting.Introduce(stream, o.Token)
			return host.Name, err
		})
		if err != nil {
			return nil, err
		}
		streams[record.NodeServer] = struct {
			io.ReadWriter
			io.Closer
		}{host.Stream, stream}
		s.server = addrOf(stream.RemoteAddr())
		if len(s.sources) > 0 {
			// As connected: with the zone, where it has one.
			s.sources[0] = addrOf(stream.LocalAddr()).Addr()
		}
		if s.servers, err = destinations(ctx, o, s.server, name); err != nil {
			return nil, err
		}
	}
	whole := fmt.Errorf("the measurement took longer than %v", unit.Duration(o.longest()))
	ctx, cancel := context.WithTimeoutCause(ctx, o.longest(), whole)
	defer cancel()
	b, err := hub.Start()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	s.group = trial.Group{Bus: b, Nodes: slices.Sorted(maps.Keys(streams))}
	if !o.alone() { // which is no server on the bus, and a client's steps have limits of their own
		b.Bound(record.NodeServer, s.replyBytes())
		s.group.Limit = o.patience()
	}
	if err := s.attach(ctx, streams); err != nil {
		return nil, s.withServer(err)
	}
	if err := s.checkBounds(); err != nil {
		return nil, err
	}
	s.snapshot(ctx, &s.local.Before)
	if err := s.measure(ctx); err != nil {
		return nil, s.withServer(err)
	}
	s.snapshot(s.lingering(ctx), &s.local.After)
	return s.run(), nil
}

func addrOf(a net.Addr) netip.AddrPort {
	both := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(both.Addr().Unmap(), both.Port())
}

// attach joins both agents to the bus and waits for their hellos.
func (s *session) attach(ctx context.Context, streams map[string]io.ReadWriteCloser) (err error) {
	for _, node := range s.group.Nodes {
		s.group.Bus.Attach(node, streams[node])
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.patience(), fmt.Errorf("no hello from both ends within %v",
		s.options.patience()))
	defer cancel()
	s.hellos, err = s.group.Bus.Hellos(ctx, s.group.Nodes)
	return err
}

// measure makes a trial in each mode.
func (s *session) measure(ctx context.Context) error {
	if s.options.Latency {
		return s.latency(ctx)
	}
	if s.options.LossFree != nil {
		return s.lossFree(ctx)
	}
	if s.options.FindMax != nil {
		return s.findMax(ctx)
	}
	modes := s.options.Modes
	if len(modes) == 0 {
		modes = []string{s.options.Flows.Mode}
	}
	for _, mode := range modes {
		s.options.Flows.Mode = mode
		err := s.oneTrial()(ctx)
		if err != nil && ctx.Err() != nil && len(s.trials) > 0 {
			return nil
		}
		if err != nil || ctx.Err() != nil || s.lost != nil {
			return err
		}
	}
	return nil
}

// oneTrial is what makes a trial with this kind of server.
func (s *session) oneTrial() func(context.Context) error {
	switch {
	case s.options.Iperf3:
		return s.iperf3Trial
	case s.options.URL != "":
		return s.foreignTrial
	}
	return s.trial
}

// trial measures the planned flows.
func (s *session) trial(ctx context.Context) error {
	t, readings, err := s.measureFlows(ctx, s.planned)
	if err != nil {
		return err
	}
	return s.finish(t, readings)
}

// measureFlows opens planned flows, measures them in a window, and closes them.
func (s *session) measureFlows(ctx context.Context, plan func() []*trial.Flow) (*record.Trial, trial.Readings, error) {
	return s.measureOpened(ctx, func() ([]*trial.Flow, error) {
		flows := plan()
		leave := s.keepAlive(ctx)
		err := s.group.Open(ctx, flows, s.options.patience())
		leave()
		for _, f := range flows {
			if err == nil && f.Failure != nil {
				err = f.Failure
			}
		}
		return flows, err
	}, nil)
}

// measureOpened measures the flows that open returns in a window, and closes them. After
// the window it calls ended, unless that is nil, for what a peer without an agent counted.
func (s *session) measureOpened(ctx context.Context, open func() ([]*trial.Flow, error),
	ended func(context.Context) (*trial.Peer, error)) (*record.Trial, trial.Readings, error) {
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		s.group.Close(after)
	}()
	for attempt := 0; ; attempt++ {
		made := record.Trial{Order: 1, Started: time.Now()}
		flows, err := open()
		if err != nil {
			return nil, trial.Readings{}, err
		}
		readings, err := s.window(ctx, flows, attempt)
		s.lose(readings.Lost)
		if _, late := errors.AsType[trial.LateError](err); late && attempt+1 < attempts {
			s.group.Close(ctx)
			continue
		}
		known := trial.Context{Nodes: s.group.Nodes, Network: s.network(), Peer: s.peer()}
		if err == nil && ended != nil {
			known.Peer, err = ended(s.lingering(ctx))
		}
		if err == nil {
			made, err = trial.Assemble(made, flows, readings, known)
		}
		if err == nil {
			err = s.endedEarly(&made)
		}
		return &made, readings, err
	}
}

// keepAlive sends the ends requests until leave is called: opening very many connections
// may take longer than a server's idle timeout.
func (s *session) keepAlive(ctx context.Context) (leave func()) {
	const often = 10 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	var attending sync.WaitGroup
	attending.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(often):
			}
			for _, node := range s.group.Nodes {
				_, _ = bus.Call(ctx, s.group.Bus, node, message.Clock, struct{}{}) // an error shows elsewhere
			}
		}
	})
	return func() {
		cancel()
		attending.Wait()
	}
}

// flows is how many are measured together.
func (s *session) flows() int {
	n := s.options.Flows.Streams
	if s.options.Flows.Direction == flow.Both {
		n *= 2
	}
	if s.options.Latency {
		n++
	}
	return n
}

// planned are all flows that are measured together.
func (s *session) planned() []*trial.Flow {
	if !s.options.Latency {
		return s.plan()
	}
	return append(s.plan(), s.probe())
}

// plan are the flows without the probe, each with a new cookie.
func (s *session) plan() []*trial.Flow {
	o := s.options.Flows
	var flows []*trial.Flow
	add := func(prefix string, opens bool) {
		options := o
		options.RateCap = s.rateCap()
		for i := range o.Streams {
			at := placeOf(s.servers, s.sources, s.options.SourcePorts, i, len(flows))
			f := &trial.Flow{Cookie: greeting.NewCookie(), Accepted: at.destination, SourcePort: at.sourcePort}
			f.PlannedFlow = study.PlannedFlow{
				ID: fmt.Sprintf("%s%d", prefix, i+1), Opener: record.NodeClient, Acceptor: record.NodeServer,
				Source: at.source, Destination: at.destination.Addr(), OpenerSends: opens, Spec: options,
			}
			flows = append(flows, f)
		}
	}
	if o.Direction != flow.Read {
		add("w", true)
	}
	if o.Direction != flow.Write {
		add("r", false)
	}
	if len(flows) == 1 && !s.options.Latency {
		flows[0].Spins = true
	}
	return flows
}

// rateCap is each connection's pacing: what was requested, within what the server
// grants. Each end paces what it sends.
func (s *session) rateCap() unit.BitRate {
	o := s.options.Flows
	if bounds := s.hellos[record.NodeServer].Bounds; bounds != nil && bounds.RateBps > 0 {
		share := unit.BitRate(bounds.RateBps / float64(o.Streams*o.Paced()))
		if o.RateCap == 0 || share < o.RateCap {
			return share
		}
	}
	return o.RateCap
}

// window measures, and reports progress meanwhile.
func (s *session) window(ctx context.Context, flows []*trial.Flow, attempt int) (trial.Readings, error) {
	lookups := map[string][]netstate.RouteLookup{}
	for _, f := range flows {
		l := netstate.RouteLookup{Source: f.Opened.Addr().WithZone("").String(),
			Destination: f.Accepted.Addr().WithZone("").String()}
		if !slices.Contains(lookups[record.NodeClient], l) {
			lookups[record.NodeClient] = append(lookups[record.NodeClient], l)
		}
	}
	watching, done := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer done()
	w := trial.Window{
		Warmup: s.options.Warmup, Duration: s.options.Duration, Interval: s.sampling(), Lookups: lookups,
		Machines: []string{record.NodeClient},
		Scheduled: func(begin, end int64) {
			s.until = Progress{}
			watch.Go(func() { s.watch(watching, flows, begin, end) })
		},
	}
	if s.phase == "" && !s.idle {
		w.Linger = s.options.Linger
		if !s.options.alone() { // whose end this host's agent notices
			w.Alone = record.NodeClient
		}
	}
	if s.idle {
		w.Warmup, w.Duration, w.Interval = idleWarmup, s.idleWindow()-idleWarmup, 0
	}
	readings, err := s.group.Measure(ctx, w, attempt)
	done()
	watch.Wait()
	if reply, server := readings.Replies[record.NodeServer]; err == nil && server {
		err = plausible(reply, readings.Duration)
	}
	return readings, err
}

// lingering is the context for what follows a window.
func (s *session) lingering(ctx context.Context) context.Context {
	if s.options.Linger != nil {
		return s.options.Linger
	}
	return ctx
}

// mostSamples is how many samples a window has: as many as the server's reply has room for.
func (s *session) mostSamples() time.Duration {
	const most, least = 500, 2
	each := max(1, s.flows()+max(0, min(s.hellos[record.NodeServer].Counted, samplesBytes)))
	return time.Duration(max(least, min(most, samplesBytes/(each*sampleBytes))))
}

// sampling is the time between samples: the interval requested or a whole part of it,
// short enough to see whether the rate was steady, and no shorter than a server allows.
func (s *session) sampling() time.Duration {
	const least = 10
	d, interval := s.options.Duration, s.options.Interval
	parts := max(1, (interval*least+d-1)/d)
	return max(interval/parts, d/s.mostSamples(), time.Millisecond)
}
