//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

const (
	agentMetrics  = "127.0.0.1:5299"
	serverMetrics = "127.0.0.1:5298"
	prometheusAt  = "127.0.0.1:9090"
	// scrapeWait is how long something may take to arrive in Prometheus, which scrapes each
	// second.
	scrapeWait = time.Minute
)

// prometheusConfig has Prometheus scrape an agent and a server.
const prometheusConfig = `global:
  scrape_interval: 1s
scrape_configs:
  - job_name: linerate
    static_configs:
      - targets: ["` + agentMetrics + `", "` + serverMetrics + `"]
`

// TestPrometheus: Prometheus scrapes an agent and a server; what it then has is what the kernel
// counts, a planted cause is a finding, and each query of the dashboard is one that it answers.
func TestPrometheus(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Needs(t, "prometheus")
		for _, words := range []string{
			"link set dev lo up", "link add dev eth0 type veth peer name far0", "link set dev far0 up",
			"link set dev eth0 up",
			"address add 10.0.0.1/24 dev eth0", "neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev eth0",
		} {
			kerneltest.Do(t, "ip", strings.Fields(words)...)
		}
		kerneltest.Do(t, "tc", strings.Fields("qdisc add dev eth0 root tbf rate 80mbit burst 10k limit 3k")...)
		if err := os.WriteFile("/proc/sys/net/ipv4/tcp_window_scaling", []byte("0"), 0o644); err != nil {
			t.Fatal(err)
		}
		agent := startServerAs(t, command(t, t.Context(), t.TempDir(), "agent", "--metrics",
			strings.TrimPrefix(agentMetrics, "127.0.0.1:")))
		server := startServer(t, "--metrics", serverMetrics)
		p := startPrometheus(t)
		for _, at := range []string{agentMetrics, serverMetrics} {
			p.await(t, fmt.Sprintf("up{instance=%q}", at), func(value float64) bool { return value == 1 })
		}
		server.measure(t)
		conn, err := net.Dial("udp4", "10.0.0.9:9")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range 50 { // more than the shaper's queue holds
			_, _ = conn.Write(make([]byte, 1200))
		}
		agents := fmt.Sprintf("{instance=%q", agentMetrics)
		for query, want := range map[string]func() float64{
			`linerate_interface_receive_bytes_total` + agents + `,interface="far0"}`: func() float64 {
				return counted(t, "far0", "rx", "bytes")
			},
			`linerate_interface_transmit_packets_total` + agents + `,interface="eth0"}`: func() float64 {
				return counted(t, "eth0", "tx", "packets")
			},
			`linerate_qdisc_drops_total` + agents + `,interface="eth0",kind="tbf"}`: func() float64 {
				return queueDrops(t, "eth0")
			},
			`8 * linerate_interface_transmit_limit_bytes_per_second` + agents + `,interface="eth0"}`: func() float64 {
				return 80e6
			},
			`linerate_netstat_udp_in_datagrams_total` + agents + `}`: func() float64 {
				return protocolCount(t, "UdpInDatagrams")
			},
			`linerate_finding` + agents + `,rule="window-scaling-off",confidence="certain"}`: func() float64 {
				return 1
			},
			`linerate_serve_clients_limit`: func() float64 {
				return 16
			},
			`linerate_serve_sessions_total`: func() float64 {
				return 1
			},
			`linerate_serve_flows_in_use`: func() float64 {
				return 0
			},
			`count(linerate_serve_refusals_total)`: func() float64 {
				return 10
			},
		} {
			p.await(t, query, func(value float64) bool { return value == want() })
		}
		p.await(t, `linerate_serve_receive_bytes_total + linerate_serve_transmit_bytes_total`,
			func(value float64) bool { return value > 0 })
		p.await(t, `sum(linerate_qdisc_drops_total)`, func(value float64) bool { return value > 0 })
		p.answersDashboard(t)
		for name, s := range map[string]*serverProcess{"the agent": agent, "the server": server} {
			if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if !s.ends(stopsWithin + stopsMargin) {
				t.Errorf("%s goes on after SIGTERM: %s", name, s.said)
			} else if code := s.command.ProcessState.ExitCode(); code != ExitOK {
				t.Errorf("%s ended with status %d: %s", name, code, s.said)
			}
		}
	})
}

// prometheus is one with a directory of its own.
type prometheus struct{ *serverProcess }

func startPrometheus(t *testing.T) prometheus {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(prometheusConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+prometheusAt, "--log.level=warn")
	cmd.Dir = dir
	p := prometheus{startServerAs(t, cmd)}
	for end := time.Now().Add(scrapeWait); ; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get("http://" + prometheusAt + "/-/ready")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return p
			}
		}
		if time.Now().After(end) {
			t.Fatalf("Prometheus is not ready: %v\n%.2000s", err, p.said)
		}
	}
}

// query is the values that Prometheus answers with.
func (p prometheus) query(t *testing.T, expression string) (values []float64) {
	t.Helper()
	answer, err := http.Get("http://" + prometheusAt + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, p.said)
	}
	defer answer.Body.Close()
	var result struct {
		Status, Error string
		Data          struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil || result.Status != "success" {
		t.Fatalf("%s: %s %s %v", expression, result.Status, result.Error, err)
	}
	for _, one := range result.Data.Result {
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s: %v", expression, one.Value)
		}
		values = append(values, value)
	}
	return values
}

// await waits until a query has one value, and it is right.
func (p prometheus) await(t *testing.T, expression string, right func(float64) bool) {
	t.Helper()
	for end := time.Now().Add(scrapeWait); ; time.Sleep(100 * time.Millisecond) {
		values := p.query(t, expression)
		if len(values) == 1 && right(values[0]) {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%s is %v", expression, values)
			return
		}
	}
}

// answersDashboard has Prometheus answer each query of docs/grafana.json.
func (p prometheus) answersDashboard(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	queries, shown := 0, 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries++
			expression := strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*", "$interface", ".*").Replace(
				target.Expr)
			if len(p.query(t, expression)) > 0 {
				shown++
			}
		}
	}
	if queries < 20 || shown < queries/2 {
		t.Errorf("%d of the dashboard's %d queries have an answer", shown, queries)
	}
}

// counted is a counter of an interface, as ip(8) prints it.
func counted(t *testing.T, name, direction, counter string) float64 {
	t.Helper()
	var links []struct {
		Stats64 map[string]map[string]float64
	}
	if err := json.Unmarshal([]byte(kerneltest.Do(t, "ip", "-s", "-j", "link", "show", "dev", name)),
		&links); err != nil || len(links) != 1 {
		t.Fatalf("%s: %v", name, err)
	}
	return links[0].Stats64[direction][counter]
}

// queueDrops is what an interface's root qdisc has dropped, as tc(8) prints it.
func queueDrops(t *testing.T, name string) float64 {
	t.Helper()
	var qdiscs []struct{ Drops float64 }
	if err := json.Unmarshal([]byte(kerneltest.Do(t, "tc", "-s", "-j", "qdisc", "show", "dev", name, "root")),
		&qdiscs); err != nil || len(qdiscs) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	return qdiscs[0].Drops
}

// protocolCount is a counter of a protocol, as nstat(8) prints it.
func protocolCount(t *testing.T, name string) float64 {
	t.Helper()
	var counters struct{ Kernel map[string]float64 }
	if err := json.Unmarshal([]byte(kerneltest.Do(t, "nstat", "-a", "-s", "-z", "-j")), &counters); err != nil {
		t.Fatal(err)
	}
	return counters.Kernel[name]
}
