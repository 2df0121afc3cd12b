//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestMeasureURL: nginx and nsd are measured by URL, and rates agree with those of wrk and
// dnsperf where these are asked for the same; what a server refuses is said.
func TestMeasureURL(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "client")
		dir := t.TempDir()
		write := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return path
		}
		write("file", strings.Repeat("x", 100_000))
		controltest.Started(t, "server", 80, "nginx", "-p", dir, "-c",
			write("nginx.conf", strings.ReplaceAll(
				`user root root; daemon off; master_process off; pid DIR/pid; error_log DIR/log;
events {}
http { access_log off; keepalive_requests 1000000; client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
server { listen 10.0.0.1:80; root DIR; } }`, "DIR", dir)))
		write("zone",
			"$ORIGIN example.test.\n@ 60 IN SOA ns hostmaster 1 60 60 60 60\n@ 60 IN NS ns\nns 60 IN A "+
				"192.0.2.1\nwww 60 IN A 192.0.2.2\n")
		controltest.Started(t, "server", 53, "nsd", "-d", "-c", write("nsd.conf", strings.ReplaceAll(`server:
  ip-address: 10.0.0.1
  username: ""
  zonesdir: "DIR"
  database: ""
  pidfile: "DIR/nsd.pid"
  zonelistfile: "DIR/zones"
  xfrdfile: ""
  xfrdir: "DIR"
  rrl-ratelimit: 0
zone:
  name: example.test
  zonefile: zone
remote-control:
  control-enable: no
`, "DIR", dir)))
		queries := write("queries", "www.example.test A\n")

		m, _, said := measuredPlainly(t, "client", "http://10.0.0.1/file", "--connections", "4", "--duration", "2s")
		if m.Transactions == nil || m.Transactions.Application == nil ||
			m.Transactions.Application.Outcomes["200"] < m.Transactions.Done*9/10 {
			t.Fatalf("%+v %s", m.Transactions, said)
		}
		controltest.Agree(t, "nginx by linerate and wrk", m.RatePerS, func() float64 {
			return controltest.Figure(t, `Requests/sec:\s+([0-9.]+)`,
				kerneltest.Do(t, "timeout", "30", kerneltest.Program(t, "wrk"), "-t", "1", "-c", "4", "-d", "2",
					"http://10.0.0.1/file"))
		}, 0.1)

		closed := m.RatePerS
		controltest.Agree(t, "nginx in a closed loop and on a schedule that it keeps", closed, func() float64 {
			m, _, said := measuredPlainly(t, "client", "http://10.0.0.1/file", "--connections", "4", "--duration", "2s",
				"--warmup", "300ms", "--repeats", "1", "--resolution", "10%", "--find-max",
				"latency_p50 <= 1s, errors <= 1%")
			if m.FindMax == nil || m.FindMax.RatePerS == 0 {
				t.Fatalf("%+v %s", m.FindMax, said)
			}
			return m.FindMax.RatePerS
		}, 0.15)

		m, _, said = measuredPlainly(t, "client", "dns://10.0.0.1/www.example.test", "--connections", "4", "--pace",
			"1000", "--duration", "2s")
		if m.Transactions == nil || m.Transactions.Application.Outcomes["NOERROR"] < m.Transactions.Done*9/10 ||
			m.Transactions.Done == 0 {
			t.Fatalf("%+v %s", m.Transactions, said)
		}
		controltest.Agree(t, "nsd by linerate and dnsperf", m.RatePerS, func() float64 {
			return controltest.Figure(t, `Queries per second:\s+([0-9.]+)`,
				kerneltest.Do(t, "timeout", "30", kerneltest.Program(t, "dnsperf"), "-s", "10.0.0.1", "-d",
					queries, "-Q",
					"1000", "-l", "2"))
		}, 0.1)

		// What the server refuses, and what is not there; and linerate's own.
		serving(t)
		for _, c := range []struct {
			args   []string
			met    bool
			failed bool
			said   string
		}{
			{args: []string{"http://10.0.0.1/none", "--pace", "200", "--expect", "errors <= 1%"}},
			{args: []string{"dns+tcp://10.0.0.1", "--names", "*.example.test", "--pace", "200", "--expect",
				"errors <= 1%"}, met: true},
			{args: []string{"http://10.0.0.1:81/"}, failed: true, said: "connection refused"},
			{args: []string{"https://10.0.0.1:80/"}, failed: true},
			{args: []string{"http://10.0.0.1:5202/"}, failed: true,
				said: "linerate serve listens at 10.0.0.1:5202; measure with: linerate measure 10.0.0.1:5202 " +
					"--protocol http"},
			{args: []string{"smtp://10.0.0.1:80", "--timeout", "500ms"}, failed: true},
		} {
			m, status, said := measuredPlainly(t, "client", append(c.args, "--duration", "1s", "--warmup", "200ms")...)
			if (status == ExitFailed) != c.failed || !strings.Contains(said, c.said) || !c.failed &&
				(m.Expect == nil || m.Expect.Met != c.met) {
				t.Errorf("%v: status %d, %q, %+v", c.args, status, said, m.Expect)
			}
		}
	})
}
