package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/bus/greeting"
	"linerate/internal/control/measure"
	"linerate/internal/host/serve"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/report"
)

type serveFlags struct {
	listen, token string
	allow         []string
	clients       int
	flows         int
	duration      unit.Duration
	rate          unit.BitRate
	quiet         bool
}

func newServeCommand(s streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Let other hosts measure with this one: linerate measure ADDRESS",
		Long: `Let other hosts measure with this one, any number at the same time, until
Ctrl-C. On the other host:
  linerate measure ADDRESS

Everything goes to one TCP port, which the client connects to in both
directions. Nothing on this host is changed. One line per test goes to stderr.`,
		Example: `  linerate serve
  linerate serve --listen 192.0.2.1:5202 --token /etc/linerate.token
  linerate serve --allow 10.0.0.0/8 --allow fd00::/8 --max-rate 2gbit`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", ":"+measure.DefaultPort, "address and TCP port to listen on")
	flags.StringVar(&f.token, "token", "", tokenUsage+"; clients then have to know it")
	flags.StringArrayVar(&f.allow, "allow", nil, "serve only clients of this prefix, such as 10.0.0.0/8 (may be repeated)")
	flags.IntVar(&f.clients, "max-clients", 16, "clients at the same time")
	flags.IntVar(&f.flows, "max-flows", 128, "flows of each client")
	quantityVar(flags, &f.duration, unit.ParseDuration, "max-duration", "duration", "5m", "the longest test, warm-up included")
	quantityVar(flags, &f.rate, unit.ParseBitRate, "max-rate", "rate", "", "the most that one client's flows carry together, each direction, such as 1gbit")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on stderr but errors")
	return cmd
}

// options are what the flags say, or everything that is wrong with them.
func (f serveFlags) options() (serve.Options, error) {
	var o serve.Options
	var problems []error
	for _, text := range f.allow {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, alone := netip.ParseAddr(text)
			if p, err = netip.PrefixFrom(a, a.BitLen()), alone; err != nil {
				problems = append(problems, fmt.Errorf("--allow %q: expected a prefix such as 10.0.0.0/8, or an address", text))
			}
		}
		o.Allow = append(o.Allow, p.Masked())
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"max-clients", f.clients}, {"max-flows", f.flows}} {
		if n.value < 1 {
			problems = append(problems, fmt.Errorf("--%s %d: expected a positive number", n.flag, n.value))
		}
	}
	if f.duration <= 0 {
		problems = append(problems, fmt.Errorf("--max-duration %v: expected a positive duration", f.duration))
	}
	if len(problems) > 0 {
		return o, usageError(errors.Join(problems...))
	}
	token, err := readToken(f.token)
	o.Token, o.Clients = token, f.clients
	o.Bounds.Flows, o.Bounds.DurationS, o.Bounds.RateBps = f.flows, f.duration.Seconds(), float64(f.rate)
	return o, err
}

func (f serveFlags) serve(ctx context.Context, s streams) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	log := visitors{w: s.err}
	if f.quiet {
		log.w = io.Discard
	}
	o.Ended = log.line
	l, err := serve.Listen(ctx, f.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(log.w, "listening on %s; measure from another host with: linerate measure ADDRESS%s\n", l.Addr(), portWords(l.Addr().(interface{ AddrPort() netip.AddrPort }).AddrPort()))
	return serve.Run(ctx, l, o)
}

// portWords are what has to be added to an address to reach a port.
func portWords(at netip.AddrPort) string {
	if port := fmt.Sprint(at.Port()); port != measure.DefaultPort {
		return ":" + port
	}
	return ""
}

// visitors writes a line for each visit.
type visitors struct {
	w       io.Writer
	refused time.Time // when the latest refusal was told
	untold  int       // those since
}

// refusals is how often one is told: whoever likes can cause them.
const refusals = time.Second

func (v *visitors) line(visit serve.Visit) {
	why := ""
	if visit.Err != nil {
		why = visit.Err.Error()
	}
	if _, refused := errors.AsType[greeting.Refused](visit.Err); refused {
		if time.Since(v.refused) < refusals {
			v.untold++
			return
		}
		if v.untold > 0 {
			why += fmt.Sprintf(" (and %d more since the line before)", v.untold)
		}
		v.refused, v.untold = time.Now(), 0
		fmt.Fprintf(v.w, "%s  %s  refused: %s\n", time.Now().Format(time.TimeOnly), visit.From, strings.ReplaceAll(why, "\n", "; "))
		return
	}
	text := "no test"
	if visit.Windows > 0 {
		text = fmt.Sprintf("%s in %.3g s", flowCount(visit.Flows), visit.WindowS)
		for _, way := range []struct {
			verb  string
			bytes int64
		}{{"received", visit.Received}, {"sent", visit.Written}} {
			if way.bytes > 0 {
				text += fmt.Sprintf(", %s %s (%s)", way.verb, report.Volume(way.bytes), limits.Rate(float64(way.bytes)*8/visit.WindowS))
			}
		}
	} else if why == "" {
		why = "the client left before its test was over"
	}
	if why != "" {
		text += ": " + strings.ReplaceAll(why, "\n", "; ")
	}
	fmt.Fprintf(v.w, "%s  %s  %s\n", time.Now().Format(time.TimeOnly), visit.From, text)
}

func flowCount(n int) string {
	if n == 1 {
		return "1 flow"
	}
	return fmt.Sprintf("%d flows", n)
}
