package tool

import (
	"errors"
	"io/fs"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
)

// printed is what a tool has printed once: recorded from the programs of Debian
// 12, except for netperf's, which is put together after its manual.
func printed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		tool, record string
		want         Report
	}{
		{"iperf3", "iperf3", Report{SenderBps: 60486047, SenderBytes: 7561512, ReceiverBps: 49034165,
			ReceiverBytes: 6381392, Seconds: 1.041134}},
		{"iperf3", "iperf3-read", Report{SenderBps: 52304848, SenderBytes: 6539224, ReceiverBps: 49818051,
			ReceiverBytes: 6227904, Seconds: 1.000171}},
		{"iperf3", "iperf3-udp", Report{SenderBps: 51674260, SenderBytes: 6459528, ReceiverBps: 50550712,
			ReceiverBytes: 6459528, Seconds: 1.022265}},
		// A client's sum is what it says it is, not that of its lines.
		{"iperf", "iperf", Report{SenderBps: 58122059, SenderBytes: 12189816, ReceiverBps: 48793810,
			ReceiverBytes: 12189816, Seconds: 1.6778, FromServer: true}},
		{"iperf", "iperf-one", Report{SenderBps: 48504234, SenderBytes: 11141180, ReceiverBps: 48919913,
			ReceiverBytes: 11141180, Seconds: 1.8376, FromServer: true}},
		{"iperf", "iperf-read", Report{SenderBps: 57492482, SenderBytes: 12058624, ReceiverBps: 48772210,
			ReceiverBytes: 12058624, Seconds: 1.978}},
		{"iperf", "iperf-udp", Report{SenderBps: 50165422, SenderBytes: 9510900, ReceiverBps: 49772906,
			ReceiverBytes: 9510900, Seconds: 1.5167}},
		{"nuttcp", "nuttcp", Report{ReceiverBps: 48985500, ReceiverBytes: 10490478, Seconds: 1.71}},
		{"qperf", "qperf", Report{ReceiverBps: 49283072, ReceiverBytes: 6160384, Seconds: 1}},
		{"qperf", "qperf-rr", Report{Seconds: 1, LatencyUs: 10.716, TransactionsPerS: 93318.4}},
		{"sockperf", "sockperf", Report{Seconds: 0.55, LatencyUs: 6.377, TransactionsPerS: 43002 / 0.55}},
		{"netperf", "netperf", Report{ReceiverBps: 941390000, ReceiverBytes: 1179091240, SenderBps: 941416137,
			SenderBytes: 1179123712, Seconds: 10.02}},
		{"netperf", "netperf-rr", Report{Seconds: 10, TransactionsPerS: 11405.88, LatencyUs: 87.43}},
		{"wrk", "wrk", Report{TransactionsPerS: 896.11, LatencyUs: 4450, Seconds: 1}},
		{"ab", "ab", Report{TransactionsPerS: 876.16, LatencyUs: 4565, Seconds: 1.002}},
		{"h2load", "h2load", Report{TransactionsPerS: 3097, LatencyUs: 5080, Seconds: 1.01}},
		{"dnsperf", "dnsperf", Report{TransactionsPerS: 189.964857, LatencyUs: 4494, Seconds: 1.000185}},
	} {
		tool, ok := Find(flow.Tool{Name: test.tool})
		if !ok {
			t.Fatal(test.tool)
		}
		got, err := tool.Parse(printed(t, test.record+".client"), printed(t, test.record+".server"), false)
		if err != nil {
			t.Errorf("%s: %v", test.record, err)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }
		if !near(got.SenderBps, test.want.SenderBps) || !near(got.ReceiverBps, test.want.ReceiverBps) ||
			!near(got.Seconds, test.want.Seconds) ||
			!near(got.LatencyUs, test.want.LatencyUs) || !near(got.TransactionsPerS, test.want.TransactionsPerS) ||
			got.SenderBytes != test.want.SenderBytes || got.ReceiverBytes != test.want.ReceiverBytes ||
			got.FromServer != test.want.FromServer {
			t.Errorf("%s:\n%+v, want\n%+v", test.record, got, test.want)
		}
	}
}

// TestParseNothing: what is no report is an error that shows what was printed, and
// never a figure.
func TestParseNothing(t *testing.T) {
	for _, tool := range All() {
		for _, text := range []string{"", "Killed\n", "{}", "connect failed: Connection refused\n",
			"[SUM] 0.0-1.0 sec x Bytes", "bw = x\nTHROUGHPUT=x\nmegabytes=x"} {
			if tool.parse == nil {
				continue
			}
			if r, err := tool.Parse(text, text, false); err == nil {
				t.Errorf("%s of %q: %+v", tool.Name, text, r)
			} else if !strings.Contains(err.Error(), tool.Name) {
				t.Errorf("%s of %q: %v", tool.Name, text, err)
			}
		}
	}
	tool, _ := Find(flow.Tool{Name: "iperf3"})
	if _, err := tool.Parse(printed(t, "iperf3-refused.client"), "", false); err == nil ||
		!strings.Contains(err.Error(), "Connection refused") {
		t.Errorf("a refusal: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile("testdata/" + file.Name()); err == nil {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tool := range All() {
			_, _ = tool.Parse(text, text, false)
		}
	})
}

func TestWords(t *testing.T) {
	job := Job{
		Spec: flow.Spec{
			Protocol: "tcp", Streams: 4, MSS: 1000, NoDelay: new(true), CongestionControl: "reno", Window: 65536,
			RateCap: 2e6, DSCP: new(flow.DSCP(46)), ToolArgs: []string{"-l", "9000"},
		},
		Reads: true, Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddrPort("10.0.0.2:7001"),
		Seconds: 2.53,
	}
	plain := Job{Spec: flow.Spec{Streams: 1, CongestionControl: "cubic"},
		Destination: netip.MustParseAddrPort("[fd00::2]:7001"), Seconds: 2}
	datagrams := Job{Spec: flow.Spec{Protocol: "udp", Streams: 1, RateCap: 1e7, Datagram: 1000},
		Destination: job.Destination, Seconds: 2}
	applied := Job{Spec: flow.Spec{Protocol: flow.HTTP, Connections: 8, TLS: flow.TLSFull},
		Destination: job.Destination, Seconds: 2.53}
	queries := Job{Spec: flow.Spec{Protocol: flow.DNSTCP, Connections: 2, Pipeline: 3}, Source: job.Source,
		Destination: job.Destination, Seconds: 3}
	for _, test := range []struct {
		tool   string
		job    Job
		client string
	}{
		{"iperf3", job,
			"iperf3 -c 10.0.0.2 -p 7001 -t 3 -J -i 0 -B 10.0.0.1 -P 4 -R -C reno -b 2000000 -M 1000 -N -w 65536 " +
				"--tos 184 -l 9000"},
		{"iperf3", plain, "iperf3 -c fd00::2 -p 7001 -t 2 -J -i 0 -C cubic"},
		{"iperf3", datagrams, "iperf3 -c 10.0.0.2 -p 7001 -t 2 -J -i 0 -u -b 10000000 -l 1000"},
		{"iperf", job,
			"iperf -c 10.0.0.2 -p 7001 -t 2.53 -f b -B 10.0.0.1 -P 4 -R --fq-rate 2000000 -M 1000 -N -w 65536 -l 9000"},
		{"iperf", plain, "iperf -c fd00::2 -p 7001 -t 2 -f b -Z cubic -V"},
		{"nuttcp", job, "nuttcp -P 7001 -p 7002 -T2.53 -fparse -r -F -M1000 -D -R2000 -w64 -ws64 -l 9000 10.0.0.2"},
		{"qperf", plain, "qperf -lp 7001 -ip 7002 -t 2 -v -uu fd00::2 tcp_bw"},
		{"wrk", applied, "wrk -t 1 -c 8 -d 3s https://10.0.0.2:7001/"},
		{"h2load", applied, "h2load -D 3 -c 8 --h1 https://10.0.0.2:7001/"},
		{"dnsperf", queries, "dnsperf -s 10.0.0.2 -p 7001 -l 3 -c 2 -q 6 -m tcp -a 10.0.0.1"},
		{"smtp-source", Job{Spec: flow.Spec{Protocol: flow.SMTP, Connections: 2}, Destination: job.Destination},
			"smtp-source -d -s 2 -l 1000 -m 100000000 10.0.0.2:7001"},
		{"netperf", plain,
			"netperf -H fd00::2 -p 7001 -l 2 -t TCP_STREAM -P 0 -6 -- -P ,7002 -K cubic -k " +
				"THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,LOCAL_BYTES_SENT,LOCAL_BYTES_RECVD," +
				"REMOTE_BYTES_SENT,REMOTE_BYTES_RECVD,MEAN_LATENCY"},
	} {
		tool, _ := Find(flow.Tool{Name: test.tool})
		if got := strings.Join(tool.ClientWords(test.job), " "); got != test.client {
			t.Errorf("got  %s\nwant %s", got, test.client)
		}
		if words := tool.ServerWords(test.job); tool.Server == "" && words == nil {
			continue
		} else if words[0] != tool.Server || !slices.Contains(words, "7001") {
			t.Errorf("%s: server %q", test.tool, words)
		}
	}
}

// TestCheckArgs: what is not in a tool's table is refused, however it is spelled.
func TestCheckArgs(t *testing.T) {
	for _, test := range []struct {
		tool, words string
		wrong       int // index of the first word refused; -1: none
		why         string
	}{
		{"iperf3", "", -1, ""},
		{"iperf3", "-O 2 --zerocopy -l 8K", -1, ""},
		{"iperf", "--txdelay-time 1.5 -S af11", -1, ""},
		{"iperf", "--tos 0x10", -1, ""},
		{"nuttcp", "-l8k -c0x2e", -1, ""},
		{"qperf", "-m 64K -lca 1", -1, ""},
		{"sockperf", "--tos 16 --nonblocked", -1, ""},
		{"netperf", "-m 1448", -1, ""},

		{"iperf3", "-P 4", 0, "-P is decided by streams"},
		{"iperf3", "-O 2 -P4", 2, "-P is decided by streams"},
		{"iperf3", "--parallel=4", 0, "--parallel is decided by streams"},
		{"iperf3", "--json", 0, "decided by linerate, which reads the figures"},
		{"iperf3", "--logfile /tmp/x", 0, "decided by linerate, which keeps the output"},
		{"iperf3", "--logf /tmp/x", 0, "not among"}, // getopt_long takes it for --logfile
		{"iperf3", "-F /etc/shadow", 0, "not among"},
		{"iperf3", "-I/tmp/x", 0, "not among"},
		{"iperf3", "--extra-data x", 0, "not among"},
		{"iperf3", "--omit=2", 0, "not among"},
		{"iperf3", "-O2", 0, "not among"},
		{"iperf3", "-ZF /etc/shadow", 0, "not among"},
		{"iperf3", "-O -F", 1, "expected a number after -O"},
		{"iperf3", "-O /tmp/x", 1, "expected a number after -O"},
		{"iperf3", "-Z -O", 1, "expected a number after it"},
		{"iperf3", "-Z other.example", 1, "not among"},
		{"iperf3", "--", 0, "not among"},
		{"iperf", "-S ../x", 1, "expected a name"},
		{"iperf", "-o x", 0, "decided by linerate, which keeps the output"},
		{"iperf", "-l 1,2", 1, "expected a size"},
		{"nuttcp", "-l", 0, "expected a size"},
		{"nuttcp", "-l 8k", 0, "expected a size"}, // 8k would be the host
		{"nuttcp", "-l/tmp", 0, "expected a size"},
		{"netperf", "-k /tmp/x", 0, "decided"},
		{"sockperf", "--full-log /tmp/x", 0, "not among"},
		{"sockperf", "--load-vma=/tmp/x.so", 0, "not among"},
		{"qperf", "-oo msg_size:1:64K:*2", 0, "decided"},
		{"qperf", "other.example", 0, "not among"},
	} {
		tool, _ := Find(flow.Tool{Name: test.tool})
		words := strings.Fields(test.words)
		got := tool.CheckArgs(words)
		switch {
		case test.wrong < 0 && len(got) > 0:
			t.Errorf("%s %q: %+v, want nothing wrong", test.tool, test.words, got)
		case test.wrong >= 0 && (len(got) == 0 || got[0].Index != test.wrong ||
			!strings.Contains(got[0].Why, test.why)):
			t.Errorf("%s %q: %+v, want word %d refused: %s", test.tool, test.words, got, test.wrong, test.why)
		}
	}
}

// TestArgsLetNothingThrough: a word that a table takes is neither a path nor an address,
// and no table has an option that linerate decides.
func TestArgsLetNothingThrough(t *testing.T) {
	for _, tool := range All() {
		if len(tool.Args) == 0 {
			t.Errorf("%s has no options for tool_args", tool.Name)
		}
		for _, a := range tool.Args {
			for name := range strings.FieldsSeq(a.Names) {
				for by, flags := range tool.Decided {
					if slices.Contains(strings.Fields(flags), name) {
						t.Errorf("%s: %s is allowed, and decided by %s", tool.Name, name, by)
					}
				}
				for _, value := range []string{"", "-", "-1", "--", "/", "./x", "a/b", "..", "10.0.0.1", "fe80::1",
					"a.example", "1 2", "1\n2", "1\x00", "$(id)", strings.Repeat("1", 40)} {
					words := []string{name, value}
					if a.Attached {
						words = []string{name + value}
					}
					if len(tool.CheckArgs(words)) == 0 {
						t.Errorf("%s takes %q", tool.Name, words)
					}
				}
			}
		}
	}
}
