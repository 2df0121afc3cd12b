package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/spf13/pflag"

	"linerate/internal/host/openmetrics"
)

// metricsPort is the default port for Prometheus.
const metricsPort = "5299"

// metricsFlag is the value of --metrics: the address where Prometheus reads the metrics.
type metricsFlag struct{ address string } // empty: not requested

func (f *metricsFlag) define(flags *pflag.FlagSet) {
	valueVar(flags, &f.address, metricsAt, "metrics", "address", "",
		"address and TCP port at which Prometheus reads this host over HTTP, at "+openmetrics.Path+
			"; a port alone is one of 127.0.0.1")
}

// metricsAt completes an address. A port alone is on the loopback address, because everyone who
// reaches the port may read.
func metricsAt(text string) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return net.JoinHostPort("127.0.0.1", text), nil
	}
	return listenAt(text, metricsPort)
}

// open opens the port; nil: it was not requested.
func (f *metricsFlag) open(ctx context.Context, said io.Writer) (*openmetrics.Endpoint, error) {
	if f.address == "" {
		return nil, nil
	}
	e, err := openmetrics.Listen(ctx, f.address)
	if err != nil {
		return nil, cannotListen(ctx, err, f.address, "--metrics", 1)
	}
	say(said, "metrics for Prometheus at %s\n", e.URL())
	return e, nil
}

// while serves the metrics of this host while run runs; if run is nil, until ctx ends.
func (f *metricsFlag) while(ctx context.Context, said io.Writer, run func(context.Context) error) error {
	e, err := f.open(ctx, said)
	if err != nil {
		return err
	}
	if e == nil {
		return run(ctx)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, nil) }()
	if run != nil {
		err = run(ctx)
		end()
	}
	if failed := <-served; failed != nil {
		err = errors.Join(err, fmt.Errorf("metrics: %w", failed))
	}
	return err
}
