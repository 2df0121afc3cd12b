package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/control/measure"
	"linerate/internal/host/budget"
	"linerate/internal/host/serve"
	"linerate/internal/model/flow"
	"linerate/internal/model/unit"
)

type serveFlags struct {
	asked         serve.Options
	listen, allow []string
	token         string
	metrics       metricsFlag
	port          int
	duration      time.Duration
	quiet         bool
	iperf3        iperf3ServeFlags
	aliases       aliasFlags
	flags         *pflag.FlagSet
	args          []string // of the command line
	addresses     []string // listen, with ranges expanded
}

func newServeCommand(s streams) *cobra.Command {
	f := serveFlags{args: s.args}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Let other hosts measure with this one: linerate measure ADDRESS",
		Long: `Let other hosts measure with this one, several at the same time, until Ctrl-C. On the other host:
  linerate measure ADDRESS

All connections are opened by the client, to one port. No setting of this host is changed; --alias adds addresses while the server runs. Each test is one line on stderr.

The bounds are for each client. What clients use of the machine (threads, memory, descriptors) is bounded for all of them together, and below RLIMIT_NOFILE, RLIMIT_NPROC and the limits of the control group; a request that needs more is refused with the name of the bound. SIGTERM ends the server within two seconds, a second signal at once.

iperf3 clients are served as well, on iperf3's port (TCP and UDP):
  iperf3 -c ADDRESS`,
		Example: `  linerate serve
  linerate serve --listen 192.0.2.1:5202 --token /etc/linerate.token
  linerate serve --listen '10.0.{1..4}.1:5202' --listen '[fd00::1]:5202'
  linerate serve --alias 'eth1=192.168.2.1-254/24'
  linerate serve --allow 10.0.0.0/8 --allow fd00::/8 --max-rate 2gbit
  linerate serve --metrics 5299`,
		Annotations: map[string]string{flagSections: `Common flags: listen port iperf3 allow token quiet
			Bounds: max-rate max-duration max-clients max-flows max-connections
			Addresses: alias
			Prometheus: metrics
			Users of iperf3: rsa-private-key-path authorized-users-path time-skew-threshold use-pkcs1-padding`},
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), s) },
	}
	f.define(cmd.Flags())
	return cmd
}

func (f *serveFlags) define(to *pflag.FlagSet) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	defer func() { withShorthands(to, flags, iperf3Serving) }()
	f.flags = to
	numberVar(flags, &f.port, 1, 65535, "port", 0, "the same as --listen :PORT")
	flags.StringArrayVar(&f.listen, "listen", []string{":" + measure.DefaultPort},
		"`address` and TCP port to listen on, or one of them (10.0.0.1, :5300), or a range such as ':{5202..5209}' "+
			"or '192.168.2.1-254:5202' (may be repeated)")
	f.aliases.define(flags, "without --listen, the server listens only on these addresses")
	flags.StringVar(&f.token, "token", "", tokenUsage+"; clients need the same token")
	flags.StringArrayVar(&f.allow, "allow", nil,
		"serve only clients of this `prefix`, such as 10.0.0.0/8 (may be repeated)")
	bounds := &f.asked.Bounds
	transactional := strings.Join(flow.Names(flow.Protocol.Transactional), ", ")
	numberVar(flags, &f.asked.Clients, 1, math.MaxInt, "max-clients", 16,
		"clients at the same time; an address (of IPv6: a /64, a /56 and a /48) gets no more places than it leaves "+
			"to others")
	numberVar(flags, &bounds.Flows, 1, math.MaxInt, "max-flows", 128,
		"flows of each client; at least one for each address listened on")
	numberVar(flags, &bounds.Connections, 1, math.MaxInt, "max-connections", 1024, "connections of each client's "+
		transactional+" flows together")
	durationVar(flags, &f.duration, time.Nanosecond, "max-duration", "5m", "longest test, with its warm-up")
	valueVar(flags, &bounds.RateBps, bitsPerSecond, "max-rate", "rate", "",
		"rate of one client's flows together, in each direction, such as 1gbit")
	f.iperf3.add(flags)
	f.metrics.define(flags)
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on stderr but errors")
}

// maxListeners bounds the listeners well below the limit of open files.
const maxListeners = 1024

// options returns the options that the flags give, or everything that is wrong with them.
func (f *serveFlags) options() (serve.Options, error) {
	o := f.asked
	problems := append(mistakes(f.flags), f.aliases.parse()...)
	switch {
	case f.port != 0 && f.flags.Changed("listen"):
		problems = append(problems, errors.New("--port and --listen: expected one of them"))
	case f.port != 0:
		f.listen = []string{fmt.Sprintf(":%d", f.port)}
	}
	if own := f.aliases.addresses(); len(own) > 0 && !f.flags.Changed("listen") && f.port == 0 {
		f.listen = nil
		for _, a := range own {
			f.addresses = append(f.addresses, net.JoinHostPort(a.String(), measure.DefaultPort))
		}
	}
	for _, text := range f.listen {
		addresses, err := places(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--listen %q: %w", text, err))
		}
		for _, text := range addresses {
			at, err := listenAt(text, measure.DefaultPort)
			if err != nil {
				problems = append(problems, fmt.Errorf("--listen %w", err))
			}
			f.addresses = append(f.addresses, at)
		}
	}
	switch n := len(f.addresses); {
	case n <= maxListeners:
	case len(f.listen) == 0:
		problems = append(problems,
			fmt.Errorf(
				"--alias: %d addresses with a socket each, expected at most %d; --listen :%s listens on all "+
					"addresses with one",
				n, maxListeners, measure.DefaultPort))
	default:
		problems = append(problems, fmt.Errorf("--listen: %d addresses, expected at most %d", n, maxListeners))
	}
	if most := max(len(f.addresses), min(len(f.aliases.all), maxListeners)); !f.flags.Changed("max-flows") &&
		most > o.Bounds.Flows {
		o.Bounds.Flows = most
	}
	for _, text := range f.allow {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, alone := netip.ParseAddr(text)
			if p, err = netip.PrefixFrom(a, a.BitLen()), alone; err != nil {
				problems = append(problems,
					fmt.Errorf("--allow %q: expected a prefix such as 10.0.0.0/8, or an address", text))
			}
		}
		o.Allow = append(o.Allow, p.Masked())
	}
	problems = append(problems, f.iperf3.complete()...)
	if len(problems) > 0 {
		typed := typedFlags{f.flags, f.args, iperf3Serving}
		return o, usageError(errors.Join(typed.asTyped(problems)...))
	}
	o.Bounds.DurationS = f.duration.Seconds()
	var err error
	o.Token, err = readToken(f.token)
	return o, err
}

func (f *serveFlags) serve(ctx context.Context, s streams) error {
	o, err := f.options()
	if err == nil {
		err = budget.Enough()
	}
	if err != nil {
		return err
	}
	logins, err := f.iperf3.logins()
	if err != nil {
		return err
	}
	w := newLogWriter(s.err)
	defer w.close()
	log := sessionLog{w: w}
	if f.quiet {
		log.w = io.Discard
	}
	o.OnSession = log.line
	return f.aliases.while(ctx, "serve", log.w, func(ctx context.Context) error {
		listeners, err := f.open(ctx, log.w)
		if err != nil {
			return err
		}
		o.Metrics, err = f.metrics.open(ctx, log.w)
		if err != nil {
			for _, l := range listeners {
				l.Close()
			}
			return err
		}
		o.Iperf3 = f.iperf3.open(ctx, log.w, logins, o.Token != "", listeners)
		return serve.Run(ctx, listeners, o)
	})
}

// open opens all listeners, or none.
func (f *serveFlags) open(ctx context.Context, said io.Writer) ([]serve.Listener, error) {
	var listeners []serve.Listener
	var at []string
	for _, address := range f.addresses {
		l, err := serve.Listen(ctx, address)
		if err != nil {
			for _, open := range listeners {
				open.Close()
			}
			return nil, cannotListen(ctx, err, address, "--listen", len(f.addresses))
		}
		listeners, at = append(listeners, l), append(at, l.Addr().String())
	}
	if len(at) > listenersListed {
		at = append(at[:listenersListed:listenersListed], fmt.Sprintf("… (%d in all)", len(listeners)))
	}
	first := listeners[0].Addr().(*net.TCPAddr).AddrPort()
	say(said, "listening on %s; measure from another host with: linerate measure ADDRESS%s\n", strings.Join(at, ", "),
		portWords(int(first.Port()), measure.DefaultPort, ":%d"))
	return listeners, nil
}

// listenersListed is how many listeners are listed one by one.
const listenersListed = 8

// sessionLog logs a line for each session with a test, and at intervals for other sessions.
type sessionLog struct {
	w        io.Writer
	untested time.Time // when a session without a test was logged last
	unlogged int       // number of such sessions since then
}

// untestedInterval limits how often sessions without a test are logged, because any host can cause
// them.
const untestedInterval = time.Second

func (l *sessionLog) line(session serve.Session) {
	more := ""
	if session.Windows == 0 {
		if time.Since(l.untested) < untestedInterval {
			l.unlogged++
			return
		}
		if l.unlogged > 0 {
			more = fmt.Sprintf(" (and %d more without a test)", l.unlogged)
		}
		l.untested, l.unlogged = time.Now(), 0
	}
	client := session.From.String()
	if session.Program != "" {
		client += " " + strings.TrimSpace(session.Program+" "+session.Version)
	}
	why := ""
	if session.Err != nil && (session.Asked || !bus.Closed(session.Err)) {
		why = session.Err.Error()
	}
	if _, refused := errors.AsType[greeting.Refused](session.Err); refused {
		say(l.w, "%s %s refused: %s%s\n", time.Now().Format(time.TimeOnly), client,
			strings.ReplaceAll(why, "\n", "; "), more)
		return
	}
	text := "no test"
	if session.Asked {
		text = "test not finished"
	}
	if session.Windows > 0 {
		text = fmt.Sprintf("%s in %s", unit.Plural(session.Flows, "flow"), unit.FormatSeconds(session.WindowS))
		for i, bytes := range []int64{session.Received, session.Written} {
			if bytes > 0 {
				text += fmt.Sprintf(", %s %s (%s)", []string{"received", "sent"}[i], unit.FormatBytes(float64(bytes)),
					unit.FormatRate(float64(bytes)*8/session.WindowS))
			}
		}
	} else if session.Refused != nil {
		first, others, _ := strings.Cut(session.Refused.Error(), "\n")
		if text = "refused: " + first; others != "" {
			text += ", and the like of other flows"
		}
	} else if why == "" {
		if why = "the client left"; !session.Asked {
			why = "the client left without asking for one, as it does if that exceeds the bounds"
		}
	}
	if why != "" {
		text += ": " + strings.ReplaceAll(why, "\n", "; ")
	}
	say(l.w, "%s %s %s%s\n", time.Now().Format(time.TimeOnly), client, text, more)
}
