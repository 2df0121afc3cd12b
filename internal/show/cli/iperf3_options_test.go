package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/model/flow"
)

// listening is a port of this host that is in use.
func listening(t *testing.T) (l net.Listener, port string) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return l, port
}

// TestIperf3Options: iperf3's short options are read as it reads them, and mean what the
// long ones do.
func TestIperf3Options(t *testing.T) {
	read := func(line string) *measureFlags {
		f := &measureFlags{}
		flags := pflag.NewFlagSet("measure", pflag.ContinueOnError)
		f.define(flags)
		if err := flags.Parse(strings.Fields(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, _, err := f.options([]string{"nas"}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return f
	}
	f := read("-c nas -p 5203 -t 30 -O 2 -i 0.5 -P 4 -R -M 1400 -N -C reno -w 256K -S 0x10 -J -4")
	o := f.asked
	if f.like.server != "nas" || f.like.port != 5203 || o.Duration != 30*time.Second || o.Warmup != 2*time.Second ||
		o.Interval != time.Second/2 || !f.asJSON || !f.like.ipv4 {
		t.Errorf("%+v", f)
	}
	if s := o.Flows; s.Streams != 4 || s.Direction != flow.Read || s.MSS != 1400 || !flow.On(s.NoDelay) ||
		s.CongestionControl != "reno" || s.Window != 256<<10 || s.DSCP == nil || *s.DSCP != 4 {
		t.Errorf("%+v", s)
	}
	if s := read("-c nas -u -b 100M -l 1000 --bidir").asked.Flows; s.Protocol != flow.UDP || s.RateCap != 1e8 ||
		s.Datagram != 1000 || s.Direction != flow.Both {
		t.Errorf("%+v", s)
	}
	if s := read("-c nas -u -b 0").asked.Flows; s.RateCap != 0 {
		t.Errorf("-b 0: %+v", s)
	}
}

// TestServerOnce: an address that is given as an argument and as -c is one address, and the
// command that measures again has it once.
func TestServerOnce(t *testing.T) {
	for line, want := range map[string]string{
		"-c nas":                       "linerate measure nas",
		"-c nas nas":                   "linerate measure nas",
		"--server nas:5202 nas -t 3":   "linerate measure nas --duration 3",
		"-c 10.0.0.1 10.0.0.2":         "linerate measure 10.0.0.1 10.0.0.2",
		"-c nas 10.0.0.2 nas -t 3":     "linerate measure 10.0.0.2 nas --duration 3",
		"--iperf3 -c nas:5201 nas -P4": "linerate measure nas --iperf3 --streams 4",
	} {
		f := &measureFlags{}
		flags := pflag.NewFlagSet("measure", pflag.ContinueOnError)
		f.define(flags)
		if err := flags.Parse(strings.Fields(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		addresses := f.like.withServer(flags.Args(), f.defaultPort())
		if got := f.again(addresses); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestIperf3Table: docs/iperf3-options.md has the tables, and every flag in them is one.
func TestIperf3Table(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "iperf3-options.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for verb, options := range iperf3Options {
		if verb == "linerate" {
			continue
		}
		if table := iperf3Table(options); !strings.Contains(string(page), table) {
			t.Errorf("%s lacks, for %s:\n%s", path, verb, table)
		}
		cmd, _, err := Command().Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range options {
			f := cmd.Flags().Lookup(o.flag)
			if o.flag != "" && (f == nil || f.Shorthand != o.short) {
				t.Errorf("%s %s: no --%s with -%s", verb, o.spelled(), o.flag, o.short)
			}
		}
	}
}

// TestLocate: the port and the family that are asked for.
func TestLocate(t *testing.T) {
	l := iperf3Like{port: 5203, ipv4: true}
	got, err := l.locate(t.Context(), []string{"127.0.0.1", "127.0.0.1:7"}, "5202")
	if err != nil || strings.Join(got, " ") != "127.0.0.1:5203 127.0.0.1:7" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := l.locate(t.Context(), []string{"::1"}, "5202"); err == nil ||
		!strings.Contains(err.Error(), "::1 has no IPv4 address") {
		t.Errorf("%v", err)
	}
}
