//go:build linux && !portable

package openmetrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/host/hoststate"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// scrape is the values of the series that a registry answers with, by their text.
func scrape(t *testing.T, registry *prometheus.Registry) (series map[string]float64, text string) {
	t.Helper()
	answer := httptest.NewRecorder()
	handler(registry).ServeHTTP(answer, httptest.NewRequest("GET", Path, nil))
	series = map[string]float64{}
	for line := range strings.Lines(answer.Body.String()) {
		if at := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			series[line[:at]] = value
		}
	}
	return series, answer.Body.String()
}

// opened is a host in a registry that refuses inconsistent metrics.
func opened(t *testing.T) (*Host, *prometheus.Registry) {
	t.Helper()
	h, err := OpenHost()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(h)
	return h, registry
}

// withoutIPv6 keeps interfaces that are made from sending packets of their own.
func withoutIPv6(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0o644); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

type qdisc struct{ Packets, Drops, Backlog float64 }

// rootQdisc is what tc(8) prints of an interface's root qdisc.
func rootQdisc(t *testing.T, name string) qdisc {
	t.Helper()
	var list []qdisc
	if err := json.Unmarshal([]byte(kerneltest.Do(t, "tc", "-s", "-j", "qdisc", "show", "dev", name, "root")),
		&list); err != nil || len(list) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	return list[0]
}

// TestHost: what the kernel counts is what is shown, with the limits beside it; promlint has
// nothing to say.
func TestHost(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		withoutIPv6(t)
		for _, words := range []string{
			"ip link set dev lo up", "ip link add dev eth0 type veth peer name far0", "ip link set dev far0 up",
			"ip link set dev eth0 up",
			"ip address add 10.0.0.1/24 dev eth0",
			"ip neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev eth0",
			"tc qdisc add dev eth0 root tbf rate 80mbit burst 10k limit 3k",
		} {
			kerneltest.Do(t, strings.Fields(words)[0], strings.Fields(words)[1:]...)
		}
		full, err := net.Listen("tcp4", "127.0.0.1:8080")
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		for range 3 {
			conn, err := net.Dial("tcp4", "127.0.0.1:8080")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		conn, err := net.Dial("udp4", "10.0.0.9:9")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range 100 { // more than the queue holds
			_, _ = conn.Write(make([]byte, 1000))
		}
		tbf := rootQdisc(t, "eth0")
		for end := time.Now().Add(20 * time.Second); tbf.Backlog > 0 &&
			time.Now().Before(end); tbf = rootQdisc(t, "eth0") {
			time.Sleep(10 * time.Millisecond)
		}
		h, registry := opened(t)
		h.doctor.wait = time.Minute
		got, text := scrape(t, registry)
		lint(t, strings.NewReader(text))
		if _, err := registry.Gather(); err != nil { // the handler leaves out what is inconsistent
			t.Error(err)
		}
		var links []struct {
			Stats64 struct {
				Rx, Tx struct{ Bytes, Packets, Dropped float64 }
			}
		}
		if err := json.Unmarshal([]byte(kerneltest.Do(t, "ip", "-s", "-j", "link", "show", "dev", "far0")),
			&links); err != nil {
			t.Fatal(err)
		}
		far := links[0].Stats64
		if tbf.Drops == 0 || far.Rx.Packets == 0 {
			t.Fatalf("the kernel's own: %+v, %+v", far, tbf)
		}
		for series, want := range map[string]float64{
			`linerate_interface_receive_bytes_total{interface="far0"}`:                           far.Rx.Bytes,
			`linerate_interface_receive_packets_total{interface="far0"}`:                         far.Rx.Packets,
			`linerate_interface_drops_total{cause="other",direction="receive",interface="far0"}`: far.Rx.Dropped,
			`linerate_interface_carrier{interface="eth0"}`:                                       1,
			`linerate_interface_shaper_bytes_per_second{interface="eth0",kind="tbf"}`:            1e7,
			`linerate_interface_transmit_limit_bytes_per_second{interface="eth0"}`:               1e7,
			`linerate_qdisc_drops_total{interface="eth0",kind="tbf"}`:                            tbf.Drops,
			`linerate_qdisc_packets_total{interface="eth0",kind="tbf"}`:                          tbf.Packets,
			`linerate_listener_queue_connections{local="127.0.0.1:8080"}`:                        3,
			`linerate_tcp_connections{state="ESTAB"}`:                                            6,
			`linerate_tcp_connections{state="CLOSE-WAIT"}`:                                       0,
			`linerate_netstat_tcp_active_opens_total`:                                            3,
			`linerate_netstat_tcpext_listen_overflows_total`:                                     0,
			`linerate_reading_success{part="sockets"}`:                                           1,
			`linerate_reading_omitted{part="interfaces"}`:                                        0,
			`linerate_doctor_evaluation_interval_seconds`:                                        0,
		} {
			if value, there := got[series]; !there || value != want {
				t.Errorf("%s is %v (%v), want %v", series, value, there, want)
			}
		}
		for series := range got {
			if strings.Contains(series, `interface="lo"`) ||
				strings.HasPrefix(series, `linerate_interface_receive_limit`) {
				t.Errorf("%s is shown", series)
			}
		}
	})
}

// TestFindings: a cause is shown while it is there; what was counted before the first
// evaluation is none, and what is counted after it is one.
func TestFindings(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		const off, noListener = `confidence="certain",rule="window-scaling-off"`,
			`confidence="likely",rule="udp-no-listener"`
		parameter := func(value string) {
			if err := os.WriteFile("/proc/sys/net/ipv4/tcp_window_scaling", []byte(value), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		send := func() {
			conn, err := net.Dial("udp4", "127.0.0.1:9")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for range 100 {
				_, _ = conn.Write([]byte("x")) // refused
			}
		}
		send()
		parameter("0")
		h, registry := opened(t)
		h.doctor.after, h.doctor.share, h.doctor.wait = 0, 0, time.Minute
		check := func(when string, want map[string]bool) {
			t.Helper()
			got, text := scrape(t, registry)
			for labels, is := range want {
				if _, there := got["linerate_finding{"+labels+"}"]; there != is {
					t.Errorf("%s: %s is shown: %v\n%s", when, labels, there, text)
				}
			}
		}
		const sinceBoot = `confidence="possible",rule="udp-no-listener"`
		check("at first", map[string]bool{off: true, noListener: false, sinceBoot: false})
		parameter("1")
		send()
		check("after datagrams without a listener", map[string]bool{off: false, noListener: true, sinceBoot: false})
		check("later", map[string]bool{off: false, noListener: false, sinceBoot: false})
	})
}

// TestCountedMeanwhile: what a driver and a rule of nftables counted since the evaluation before is
// a finding.
func TestCountedMeanwhile(t *testing.T) {
	d := newDoctor()
	defer d.close()
	d.after, d.share, d.wait = 0, 0, time.Minute
	readings := int64(0)
	d.read = func(_ context.Context, o hoststate.Options) (s netstate.HostSnapshot, err error) {
		readings++
		s.Reading.Host = "nas"
		s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", Up: true}}
		s.State.NICs = []netstate.NIC{
			{Interface: "eth0", Driver: "ixgbe", Counters: map[string]int64{"rx_crc_errors": 9 * readings}}}
		s.State.Nftables = &netstate.Nftables{Rules: []netstate.NftRule{{Family: "inet", Table: "filter",
			Chain: "output",
			Hook:  "output", Handle: 7, Verdict: "drop", Counted: true, Packets: uint64(20 * readings)}}}
		for _, part := range []string{"nics", "nftables"} {
			s.State.Parts = append(s.State.Parts, netstate.StatePart{Part: part, EndedNs: 60e9 * readings})
		}
		if o.Since != nil && len(o.Since.State.NICs) == 1 && len(o.Since.State.Parts) == 2 {
			overS := float64(60*readings) - float64(o.Since.State.Parts[0].EndedNs)/1e9
			s.State.NICs[0] = s.State.NICs[0].Since(o.Since.State.NICs[0], overS)
			s.State.Nftables.Since(o.Since.State.Nftables, overS)
		}
		return s, nil
	}
	for _, want := range []bool{false, true, true} {
		findings := d.diagnosis().Findings
		for _, id := range []string{"frames-damaged", "firewall-drop"} {
			if found := slices.ContainsFunc(findings, func(f record.Finding) bool {
				return f.ID == id && !f.Boot
			}); found != want {
				t.Errorf("evaluation %d: %s: %t, want %t: %+v", readings, id, found, want, findings)
			}
		}
	}
}

// TestEvaluations: an evaluation that takes long is one at a time, keeps no scrape waiting for
// long, and is not repeated soon.
func TestEvaluations(t *testing.T) {
	d := newDoctor()
	defer d.close()
	began, release := 0, make(chan struct{})
	d.read = func(ctx context.Context, _ hoststate.Options) (s netstate.HostSnapshot, err error) {
		began++ // one at a time: the race detector sees others
		select {
		case <-release:
		case <-ctx.Done():
			err = ctx.Err()
		}
		return s, err
	}
	var scrapes sync.WaitGroup
	for range 8 {
		scrapes.Go(func() {
			if d.diagnosis() != nil {
				t.Error("there is a diagnosis before the first has ended")
			}
		})
	}
	scrapes.Wait()
	close(release)
	for end := time.Now().Add(20 * time.Second); d.diagnosis() == nil && time.Now().Before(end); {
	}
	if d.diagnosis() == nil || began != 1 {
		t.Errorf("%d evaluations for 8 scrapes", began)
	}
}

// TestBounds: however many interfaces and listeners there are, the number of series is bounded,
// what is left out is counted, and scrapes do not read the host each time.
func TestBounds(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		const more = 20
		var batch strings.Builder
		for i := range (mostInterfaces + more) / 2 {
			fmt.Fprintf(&batch, "link add dev a%d type veth peer name b%[1]d\n", i)
		}
		file := t.TempDir() + "/batch"
		if err := os.WriteFile(file, []byte(batch.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "ip", "-batch", file)
		for i := range mostListeners + more {
			l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", 10000+i))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		h, registry := opened(t)
		got, text := scrape(t, registry)
		lint(t, strings.NewReader(text))
		if _, err := registry.Gather(); err != nil { // the handler leaves out what is inconsistent
			t.Error(err)
		}
		counted := map[string]int{}
		for series := range got {
			name, _, _ := strings.Cut(series, "{")
			counted[name]++
		}
		for name, want := range map[string]int{
			"linerate_interface_carrier":          mostInterfaces,
			"linerate_interface_drops_total":      len(perDrop) * mostInterfaces,
			"linerate_listener_queue_connections": mostListeners,
		} {
			if counted[name] != want {
				t.Errorf("%d series of %s, want %d", counted[name], name, want)
			}
		}
		for _, part := range []string{"interfaces", "listeners"} {
			if n := got[`linerate_reading_omitted{part="`+part+`"}`]; n < more {
				t.Errorf("%v %s are said to be left out, want at least %d", n, part, more)
			}
		}
		if _, there := got[fmt.Sprintf(`linerate_interface_carrier{interface="a%d"}`,
			(mostInterfaces+more)/2-1)]; there {
			t.Error("the newest interface replaced an older one")
		}
		// As often as scrapes come, the host is read once in an interval.
		readings := map[*reading]bool{}
		began := time.Now()
		var scrapes sync.WaitGroup
		var mu sync.Mutex
		for range 8 {
			scrapes.Go(func() {
				for range 20 {
					r := h.reading()
					mu.Lock()
					readings[r] = true
					mu.Unlock()
				}
			})
		}
		scrapes.Wait()
		if most := int(time.Since(began)/minInterval) + 2; len(readings) > most {
			t.Errorf("160 scrapes read the host %d times in %v, want at most %d", len(readings),
				time.Since(began), most)
		}
	})
}

// TestKernelNames: a name that is not UTF-8 is shown by its escapes.
func TestKernelNames(t *testing.T) {
	for name, want := range map[string]string{"eth0.5": "eth0.5", "a\xffb": `a\xffb`, "a\nb": `a\nb`, "ö": "ö"} {
		if got := label(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// BenchmarkScrape is a scrape of a host, with a new reading each time.
func BenchmarkScrape(b *testing.B) {
	h, err := OpenHost()
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(h)
	for b.Loop() {
		h.last = nil
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
