package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestIperf3Usage: what iperf3 has no counterpart for is refused, with the reason,
// before anything is connected to.
func TestIperf3Usage(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for args, want := range map[string]string{
		"--iperf3 --protocol rr":                 "only tcp and udp",
		"--iperf3 --token f":                     "--iperf3-user",
		"--iperf3 --read-cap 1mbit":              "reads as fast as it can",
		"--iperf3 --write-cap 1mbit":             "--rate-cap",
		"--iperf3 --send-buffer 64KiB":           "--window",
		"--iperf3 --streams 129":                 "at most 128",
		"--iperf3 --duration 25h":                "at most 24h",
		"--iperf3 --warmup 11m":                  "omits at most 10m",
		"--iperf3 --window 1GiB":                 "at most 536870912 bytes",
		"--iperf3 --iperf3-user me":              "--iperf3-key",
		"--iperf3 --iperf3-pkcs1":                "go with --iperf3-user",
		"--iperf3 --iperf3-user= ":               "without blanks",
		"--iperf3-user me":                       "expected --iperf3 with it",
		"--iperf3 --iperf3-user me --iperf3-key": missing,
	} {
		list := append([]string{"measure", "127.0.0.1"}, strings.Fields(args)...)
		if want == missing {
			list = append(list, missing)
		}
		var errs strings.Builder
		if status := Main(list, strings.NewReader(""), io.Discard, &errs); status != ExitUsage ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, %q; want %q", args, status, errs.String(), want)
		}
	}
}
