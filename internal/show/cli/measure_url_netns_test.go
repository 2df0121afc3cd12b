//go:build linux

package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// installed is the path of a program that script/setup installs.
func installed(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/sbin") {
		if path := filepath.Join(dir, name); exec.Command("test", "-x", path).Run() == nil {
			return path
		}
	}
	kerneltest.Skip(t, name+" is not installed")
	panic("unreachable")
}

// started runs a server in the namespace server until the test ends, once it listens at a port.
func started(t *testing.T, port int, name string, args ...string) {
	t.Helper()
	path := installed(t, name)
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", "server", path}, args...)...)
	var said strings.Builder
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = server.Wait() })
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		listening, _ := exec.Command("ip", "netns", "exec", "server", "ss", "-Hltn",
			fmt.Sprintf("sport = :%d", port)).Output()
		if len(listening) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen: %s", name, said.String())
		}
	}
}

// figureOf is the number that a program in the namespace client prints behind a text.
func figureOf(t *testing.T, pattern, name string, args ...string) float64 {
	t.Helper()
	cmd := exec.Command("timeout", append([]string{"30", "ip", "netns", "exec", "client", installed(t, name)},
		args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return figureIn(t, pattern, string(out))
}

// figureIn is the number behind a text that a program has printed.
func figureIn(t *testing.T, pattern, printed string) float64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(printed)
	if found == nil {
		t.Fatalf("no %s in %s", pattern, printed)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// agree: two rates are the same within a share; the link decides both. The other is measured
// up to three times, as other processes of the machine take their part of it now and then.
func agree(t *testing.T, what string, rate float64, other func() float64, within float64) {
	t.Helper()
	var others []float64
	for range 3 {
		others = append(others, other())
		if ratio := rate / others[len(others)-1]; ratio > 1-within && ratio < 1+within {
			t.Logf("%s: %.4g/s and %.4g/s, a ratio of %.4f", what, rate, others, ratio)
			return
		}
	}
	t.Errorf("%s: %.4g/s and %.4g/s", what, rate, others)
}

// TestMeasureURL: nginx and nsd are measured by URL, and rates agree with those of wrk and
// dnsperf where these are asked for the same; what a server refuses is said.
func TestMeasureURL(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		wired(t, "100mbit", "client")
		dir := t.TempDir()
		write := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return path
		}
		write("file", strings.Repeat("x", 100_000))
		started(t, 80, "nginx", "-p", dir, "-c",
			write("nginx.conf", strings.ReplaceAll(
				`user root root; daemon off; master_process off; pid DIR/pid; error_log DIR/log;
events {}
http { access_log off; keepalive_requests 1000000; client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
server { listen 10.0.0.1:80; root DIR; } }`, "DIR", dir)))
		write("zone",
			"$ORIGIN example.test.\n@ 60 IN SOA ns hostmaster 1 60 60 60 60\n@ 60 IN NS ns\nns 60 IN A 192.0.2.1\nwww 60 IN A 192.0.2.2\n")
		started(t, 53, "nsd", "-d", "-c", write("nsd.conf", strings.ReplaceAll(`server:
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
		agree(t, "nginx by linerate and wrk", m.RatePerS, func() float64 {
			return figureOf(t, `Requests/sec:\s+([0-9.]+)`, "wrk", "-t", "1", "-c", "4", "-d", "2",
				"http://10.0.0.1/file")
		}, 0.1)

		closed := m.RatePerS
		agree(t, "nginx in a closed loop and on a schedule that it keeps", closed, func() float64 {
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
		agree(t, "nsd by linerate and dnsperf", m.RatePerS, func() float64 {
			return figureOf(t, `Queries per second:\s+([0-9.]+)`, "dnsperf", "-s", "10.0.0.1", "-d", queries, "-Q",
				"1000", "-l", "2")
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
				said: "linerate serve listens at 10.0.0.1:5202; measure with: linerate measure 10.0.0.1:5202 --protocol http"},
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

// TestMeasureMail: Postfix's smtp-sink is measured by URL, and the rate agrees with that of
// its smtp-source. smtp-sink changes its user, which takes a root that is no namespace's.
func TestMeasureMail(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		wired(t, "100mbit", "client")
		started(t, 25, "smtp-sink", "-u", "root", "10.0.0.1:25", "100")
		m, _, said := measuredPlainly(t, "client", "smtp://10.0.0.1", "--request", "100kB", "--connections", "4",
			"--duration", "2s")
		if m.Transactions == nil || m.Transactions.Application.Outcomes["250"] < m.Transactions.Done*9/10 ||
			m.Transactions.Done == 0 {
			t.Fatalf("%+v %s", m.Transactions, said)
		}
		if phases := m.Transactions.Application.Phases; len(phases) == 0 ||
			phases[len(phases)-1].Phase != record.PhaseLastByte.String() {
			t.Errorf("%+v", phases)
		}
		const mails = 400
		agree(t, "SMTP by linerate and smtp-source", m.RatePerS, func() float64 {
			return mails / figureOf(t, `real\s+([0-9.]+)`, "bash", "-c",
				fmt.Sprintf("TIMEFORMAT='real %%R'; time %s -s 4 -m %d -l 100000 10.0.0.1:25",
					installed(t, "smtp-source"), mails))
		}, 0.3) // whose time begins with its start
	})
}
