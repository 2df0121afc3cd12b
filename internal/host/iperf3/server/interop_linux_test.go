package server

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// option is one that stock clients have, in the words of their command line, and
// what it does here.
type option struct {
	arguments string
	means     string
	host      string // empty: 127.0.0.1
	rate      int    // Mbit/s of each stream; 0: 20
}

// options are tried in each direction. All are paced, so that little is in flight
// when a client ends its test; datagrams slowly, for a client's receive buffer is of
// the default size: 92 datagrams of 1448 bytes, which arrive in 53 ms at 20 Mbit/s and
// in a quarter of a second at 4. A machine that pauses a client for longer loses some.
var options = []option{
	{arguments: "-t 1", means: "ends after so many seconds"},
	{arguments: "-n 2M", means: "ends after so many bytes"},
	{arguments: "-k 300 -l 8K", means: "ends after so many blocks"},
	{arguments: "-P 3 -t 1", means: "so many streams in each direction", rate: 8},
	{arguments: "-O 1 -t 1 -l 8K", means: "omits the first seconds"},
	{arguments: "-l 1000 -t 1", means: "writes in blocks of this size; the server in writes of at most 128 KiB"},
	{arguments: "-M 1000 -t 1", means: "segments of at most this size, both directions"},
	{arguments: "-N -t 1", means: "no Nagle algorithm, both directions"},
	{arguments: "-w 64K -t 1", means: "socket buffers of this size, both directions"},
	{arguments: "-C reno -t 1", means: "this congestion control, both directions, if it is there"},
	{arguments: "-S 0x10 -t 1", means: "this type of service, both directions"},
	{arguments: "-Z -t 1", means: "the client sends without copying; ignored here"},
	{arguments: "-4 -t 1", means: "over IPv4"},
	{arguments: "-6 -t 1", means: "over IPv6", host: "::1"},
	{arguments: "--get-server-output -t 1", means: "the client prints what this end counted"},
	{arguments: "-u -t 1", means: "datagrams", rate: 4},
	{arguments: "-u -n 400K", means: "datagrams, so many bytes of them", rate: 4},
	{arguments: "-u -k 300", means: "so many datagrams", rate: 4},
	{arguments: "-u -P 3 -t 1", means: "several streams of datagrams", rate: 3},
	{arguments: "-u -O 1 -t 1", means: "datagrams, the first seconds omitted", rate: 4},
	{arguments: "-u -l 200 -t 1", means: "datagrams of this size", rate: 1},
	{arguments: "-u -w 256K -t 1", means: "datagrams, socket buffers of this size", rate: 4},
	{arguments: "-u --udp-counters-64bit -t 1", means: "sequence numbers of 64 bits", rate: 4},
	{arguments: "-u -6 -t 1", means: "datagrams over IPv6", host: "::1", rate: 4},
}

// directions are the arguments by which the client sends, the server, or both.
var directions = []string{"", "-R", "--bidir"}

// clientSays is what a client prints with -J, of what is looked at.
type clientSays struct {
	Error string `json:"error"`
	End   struct {
		Streams []struct {
			Sender   counted  `json:"sender"`
			Receiver counted  `json:"receiver"`
			UDP      *counted `json:"udp"`
		} `json:"streams"`
		Sent            counted `json:"sum_sent"`
		Received        counted `json:"sum_received"`
		SentReverse     counted `json:"sum_sent_bidir_reverse"`
		ReceivedReverse counted `json:"sum_received_bidir_reverse"`
	} `json:"end"`
	ServerOutput string `json:"server_output_text"`
}

type counted struct {
	Bytes   float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Packets float64 `json:"packets"`
	Lost    float64 `json:"lost_packets"`
}

// client runs Debian's iperf3.
func client(t *testing.T, host, port string, environment []string, arguments ...string) (says clientSays) {
	command := exec.CommandContext(t.Context(), "iperf3", append([]string{"-J", "-c", host, "-p", port},
		arguments...)...)
	command.Env = append(os.Environ(), environment...)
	output, err := command.Output()
	if json.Unmarshal(output, &says) != nil {
		says.Error = fmt.Sprintf("%v: %s", err, output)
	}
	return says
}

func requireIperf3(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("iperf3"); err != nil {
		kerneltest.Skip(t, "iperf3 is not installed")
	}
	// With segments as on Ethernet: Nagle's algorithm and delayed acknowledgements
	// hold back whatever is smaller than one, until after the end of a test.
	kerneltest.Do(t, "ip", "link", "set", "lo", "up", "mtu", "1500")
}

// TestInterop: a stock client is served with each option in each direction, and
// both ends have counted the same.
//
// Many are tried at the same time. A client that is starved then does not come to
// read what has arrived before it ends its test, and is right to count less: what
// is tried by itself decides.
func TestInterop(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		requireIperf3(t)
		found := make([][]string, len(options)*len(directions))
		try := func(n int) func() {
			o, d := options[n/len(directions)], directions[n%len(directions)]
			address := "127.0.0.1"
			if o.host != "" {
				address = o.host
			}
			port, visits := open(t, address, unchanged)
			return func() {
				says := client(t, address, port, nil,
					strings.Fields(fmt.Sprintf("%s %s -b %dM", o.arguments, d, o.mbit()))...)
				if says.Error != "" {
					found[n] = []string{says.Error}
					return
				}
				found[n] = disagreements(o, d, says, <-visits)
			}
		}
		var all sync.WaitGroup
		place := make(chan struct{}, 16)
		for n := range found {
			run := try(n)
			all.Go(func() {
				place <- struct{}{}
				run()
				<-place
			})
		}
		all.Wait()
		for n := range found {
			o, d := options[n/len(directions)], directions[n%len(directions)]
			t.Run(strings.TrimSpace(o.arguments+" "+d), func(t *testing.T) {
				if len(found[n]) > 0 {
					t.Logf("among others: %s", strings.Join(found[n], "; "))
					try(n)()
				}
				for _, problem := range found[n] {
					t.Error(problem)
				}
			})
		}
	})
}

func (o option) mbit() int {
	if o.rate == 0 {
		return 20
	}
	return o.rate
}

// disagreements are what is wrong with a test, and between its two ends.
func disagreements(o option, direction string, says clientSays, v Session) (list []string) {
	complain := func(format string, arguments ...any) { list = append(list, fmt.Sprintf(format, arguments...)) }
	if v.Err != nil {
		complain("the server says %v", v.Err)
	}
	if v.Version == "" || !v.From.IsValid() {
		complain("the visit is %+v", v)
	}
	end := says.End
	for _, s := range end.Streams {
		if s.UDP != nil && (s.UDP.Packets == 0 || s.UDP.Lost > s.UDP.Packets/100) {
			complain("%v of %v datagrams were lost", s.UDP.Lost, s.UDP.Packets)
		}
	}
	up, down := counted{Bytes: float64(v.Received), Seconds: v.RanS}, counted{Bytes: float64(v.Sent), Seconds: v.RanS}
	type pair struct {
		what string
		a, b counted
	}
	var pairs []pair
	switch direction {
	case "":
		pairs = []pair{{"the client's sum and the server's", end.Sent, up},
			{"sent and received", end.Sent, end.Received}}
	case "-R":
		pairs = []pair{{"the client's sum and the server's", end.Received, down},
			{"sent and received", end.Sent, end.Received}}
	default:
		pairs = []pair{
			{"up: the client's sum and the server's", end.Sent, up}, {"up: sent and received", end.Sent, end.Received},
			{"down: the client's sum and the server's", end.ReceivedReverse, down},
			{"down: sent and received", end.SentReverse, end.ReceivedReverse},
		}
	}
	for _, p := range pairs {
		if !near(p.a, p.b) {
			complain("%s: %.0f bytes in %.3f s and %.0f in %.3f s, want the same within 1 %%", p.what, p.a.Bytes,
				p.a.Seconds, p.b.Bytes, p.b.Seconds)
		}
		// No stream is paced above its rate, but for what it makes up for and a block.
		streams := 1.0
		if strings.Contains(o.arguments, "-P 3") {
			streams = 3
		}
		if most := streams * (float64(o.mbit())/8*1e6*(p.b.Seconds+0.02) + 128<<10); p.b.Bytes > 1.01*most {
			complain("%s: %.0f bytes in %.3f s at %d Mbit/s", p.what, p.b.Bytes, p.b.Seconds, o.mbit())
		}
	}
	if strings.Contains(o.arguments, "--get-server-output") && !strings.Contains(says.ServerOutput, "for iperf3 3.") {
		complain("the server's output is %q", says.ServerOutput)
	}
	return list
}

// near: two counts agree within 1 %, apart from a block, and from what belongs to
// the time by which one end counted longer: the two clocks start and stop when a
// message comes.
func near(a, b counted) bool {
	const block = 16 << 10
	longer := math.Abs(a.Seconds-b.Seconds) * math.Max(a.Bytes/a.Seconds, b.Bytes/b.Seconds)
	return a.Bytes > 0 && b.Bytes > 0 && math.Abs(a.Bytes-b.Bytes) <= 0.01*math.Max(a.Bytes, b.Bytes)+longer+block
}

// TestDocumented: the page lists what TestInterop tries, and nothing else.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/iperf3-options.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| options of the client | what they do |\n|---|---|\n"
	for _, o := range options {
		table += fmt.Sprintf("| `%s` | %s |\n", o.arguments, o.means)
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/iperf3-options.md does not have this table:\n%s", table)
	}
}
