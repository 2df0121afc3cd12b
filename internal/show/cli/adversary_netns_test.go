//go:build linux

package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
)

// hostileFor and hostileSeed name the variables with the time that TestAdversary takes, such as 30m, and with the
// seed of its random numbers, which it prints.
const (
	hostileFor  = "LINERATE_HOSTILE"
	hostileSeed = "LINERATE_HOSTILE_SEED"
)

// adversaries are kinds of hostile clients, each a function for one visit of a client. number tells those
// at work at the same time apart.
func adversaries(t *testing.T) map[string]func(ctx context.Context, number int, random *rand.Rand) {
	kinds := map[string]func(context.Context, int, *rand.Rand){
		"requests": func(ctx context.Context, number int, random *rand.Rand) {
			h := &hostile{random: random, from: net.TCPAddr{IP: hostileAddress(number)}}
			h.visit(ctx)
		},
		"scrapes": scrape,
	}
	for name, odd := range map[string]func(context.Context, *rand.Rand){"trickle": trickle, "freeze": freeze,
		"babble": babble, "scatter": scatter} {
		kinds[name] = func(ctx context.Context, _ int, random *rand.Rand) { odd(ctx, random) }
	}
	sessions := map[string][]string{"iperf3": {"--iperf3"}, "iperf3 udp": {"--iperf3", "--protocol", "udp"},
		"both": {"--direction", "both", "--streams", "3"}, "https": {"--protocol", "http", "--tls", "full"}}
	for _, p := range flow.Names(func(flow.Protocol) bool { return true }) {
		sessions[p] = []string{"--protocol", p}
	}
	for name, arguments := range sessions {
		kinds["mutated "+name] = func(ctx context.Context, number int, random *rand.Rand) {
			mutated(ctx, t, number, random, arguments, false)
		}
		kinds["answered "+name] = func(ctx context.Context, number int, random *rand.Rand) {
			mutated(ctx, t, number, random, arguments, true)
		}
		kinds["killed "+name] = func(ctx context.Context, number int, random *rand.Rand) {
			killed(ctx, t, number, random, arguments)
		}
	}
	return kinds
}

// hostileAddress is the loopback address of a hostile client.
func hostileAddress(number int) net.IP { return net.IPv4(127, 0, 5, byte(2+number)) }

// TestAdversary: whatever clients of all protocols do, the server keeps to its bounds, measurements beside them
// succeed, new clients are served in each second in which server and client have a CPU (second.counts), and once they
// are gone the server has what it had before. With LINERATE_HOSTILE the kinds have the server for
// themselves in turn, twenty clients at a time, and then all of them at once; without it there is one client each of
// a quarter of the kinds.
func TestAdversary(t *testing.T) {
	kerneltest.Parallel(t)
	duration, each := hostileTime, 1
	if text := os.Getenv(hostileFor); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", hostileFor, err)
		}
		each = 20
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(hostileSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", hostileSeed, err)
		}
	}
	t.Logf("%s=%d", hostileSeed, seed)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kinds := adversaries(t)
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		s := startServer(t, "--max-clients", "100", "--metrics", "127.0.0.1:5299")
		s.measure(t)
		attacked := &attacked{server: s, seed: seed, rest: s.reading(t)}
		if each > 1 {
			for name := range kinds {
				if !attacked.by(t, name, kinds, each, duration/time.Duration(len(kinds)+1)) {
					return
				}
			}
			duration /= time.Duration(len(kinds) + 1)
		} else { // some of them, other ones each time: other tests measure meanwhile
			for i, name := range slices.Sorted(maps.Keys(kinds)) {
				if uint64(i)%4 != seed%4 {
					delete(kinds, name)
				}
			}
		}
		attacked.by(t, "", kinds, 1, duration)
		s.measure(t)
		if n, stacks := s.goroutines(t); n > spareResources {
			t.Errorf("%d goroutines are left:\n%s", n, stacks)
		}
	})
}

// attacked is a server under attack.
type attacked struct {
	server *serverProcess
	seed   uint64
	rest   reading
}

// by lets clients of one kind, or with an empty name of all kinds, attack for a while, and reports whether the
// server kept to its bounds.
func (b *attacked) by(t *testing.T, name string, kinds map[string]func(context.Context, int, *rand.Rand), each int,
	duration time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var all sync.WaitGroup
	var visits atomic.Int64
	number := 0
	for kind, visit := range kinds {
		if name != "" && name != kind {
			continue
		}
		for range each {
			mine, random := number, rand.New(rand.NewPCG(b.seed, uint64(number)))
			all.Go(func() {
				for ctx.Err() == nil {
					visit(ctx, mine, random)
					visits.Add(1)
				}
			})
			number++
		}
	}
	honest := b.server.serve(t)
	worst, measured, longest := b.rest, 0, time.Duration(0)
	for ; ctx.Err() == nil; measured++ {
		began := time.Now()
		var err error
		for range patience {
			if err = b.server.asked(t.Context(), "127.0.0.1:"+hostilePort); err == nil || !honest.starved(began) {
				break
			}
		}
		if err != nil {
			t.Error(err)
			break
		}
		longest = max(longest, time.Since(began))
		now := b.server.reading(t)
		worst = reading{threads: max(worst.threads, now.threads), descriptors: max(worst.descriptors,
			now.descriptors), peak: max(worst.peak, now.peak)}
	}
	said := honest.end(t)
	cancel()
	all.Wait()
	t.Logf("%-20s %6d visits by %d, %4d measurements of at most %5v; %s; %d threads, %d descriptors, %d MiB", name,
		visits.Load(), number, measured, longest.Round(time.Millisecond), said, worst.threads, worst.descriptors,
		worst.peak>>20)
	if worst.threads > mostThreads+spareResources || worst.peak > mostMemory {
		t.Errorf("%s: %d threads and %d MiB, want at most %d and %d", name, worst.threads, worst.peak>>20, mostThreads,
			mostMemory>>20)
	}
	b.server.settles(t, b.rest)
	return !t.Failed()
}

// scrape is a scraper that asks for the metrics, and takes any time to read them.
func scrape(ctx context.Context, _ int, random *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(3000))*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:5299/metrics", nil)
	if err != nil {
		return
	}
	if answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request); err == nil {
		_, _ = io.CopyN(io.Discard, answer.Body, int64(random.IntN(200_000)))
		if random.IntN(2) == 0 {
			<-ctx.Done()
		}
		answer.Body.Close()
	}
}

// session is a client of a protocol, whose options are chosen at random.
func session(ctx context.Context, to string, random *rand.Rand, arguments []string) *exec.Cmd {
	// What to measure with comes first, or after --iperf3.
	words := append([]string{"measure"}, arguments...)
	if arguments[0] == "--iperf3" {
		words = append([]string{"measure", "--iperf3", to}, arguments[1:]...)
	} else {
		words = append(words, to)
		if p := flow.Of(arguments[len(arguments)-1]); p.Application && random.IntN(2) == 0 {
			words = append(words, "--think", "10s")
		}
	}
	words = append(words, "--duration", "500ms", "--warmup", "50ms", "--no-save", "--quiet", "--json")
	// Clients have CPUs of their own elsewhere: here the server's come first.
	return exec.CommandContext(ctx, "chrt", append([]string{"-i", "0", "linerate"}, words...)...)
}

// killed is an honest client that is killed at any instant.
func killed(ctx context.Context, t *testing.T, number int, random *rand.Rand, arguments []string) {
	lives := time.Duration(random.IntN(1200)) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, lives)
	defer cancel()
	to := "127.0.0.1"
	if arguments[0] != "--iperf3" {
		to += ":" + hostilePort
		arguments = append(arguments[:len(arguments):len(arguments)], "--source", hostileAddress(number).String())
	}
	client := session(ctx, to, random, arguments)
	out, err := client.CombinedOutput()
	sound(t, client, out, err)
}

// sound checks that a client neither crashed nor was called wrongly.
func sound(t *testing.T, client *exec.Cmd, out []byte, err error) {
	exit, is := err.(*exec.ExitError)
	text := string(out)
	if is && exit.ExitCode() == ExitUsage || strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") {
		t.Errorf("%v: %v\n%.3000s", client.Args, err, text)
	}
}

// answeredWithin is in what time a client ends, whatever a server does: its waits for a flow, a reading and the end.
const answeredWithin = 90 * time.Second

// mutated is an honest client behind a path that changes what it sends, or what the server answers.
func mutated(ctx context.Context, t *testing.T, number int, random *rand.Rand, arguments []string, answers bool) {
	outer, within := ctx, 5*time.Second
	if answers {
		within = answeredWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	port := hostilePort
	if arguments[0] == "--iperf3" {
		port = "5201"
	}
	p := &mutator{from: hostileAddress(number), port: port, random: random, answers: answers}
	var done func()
	err := errors.New("no port")
	for try := 0; err != nil; try++ {
		// The kernel may still have connections to the port before.
		p.at = net.JoinHostPort(net.IPv4(127, 0, 6, byte(2+number)).String(), strconv.Itoa(10_000+random.IntN(20_000)))
		if done, err = p.open(ctx); err != nil && (ctx.Err() != nil || try == 20) {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
	}
	defer done()
	client := session(ctx, p.at, random, arguments)
	out, err := client.CombinedOutput()
	sound(t, client, out, err)
	if answers && ctx.Err() != nil && outer.Err() == nil {
		t.Errorf("%v goes on after %v\n%.3000s", client.Args, within, out)
	}
}

// mutator forwards connections and datagrams to the server, and changes what clients send or what they are answered.
type mutator struct {
	from   net.IP
	at     string // where it listens
	port   string // the server's
	mu     sync.Mutex
	random *rand.Rand
	// answers says that what the server sends is changed, and not what its clients send.
	answers bool
}

// number is a random number below n.
func (m *mutator) number(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(n)
}

// open begins to forward until ctx ends; done ends and awaits that.
func (m *mutator) open(ctx context.Context) (done func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var config net.ListenConfig
	tcp, err := config.Listen(ctx, "tcp", m.at)
	if err != nil {
		cancel()
		return nil, err
	}
	udp, err := config.ListenPacket(ctx, "udp", m.at)
	if err != nil {
		tcp.Close()
		cancel()
		return nil, err
	}
	context.AfterFunc(ctx, func() { tcp.Close(); udp.Close() })
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := tcp.Accept()
			if err != nil {
				return
			}
			all.Go(func() { m.connection(ctx, client) })
		}
	})
	all.Go(func() { m.datagrams(ctx, udp.(*net.UDPConn)) })
	return func() { cancel(); all.Wait() }, nil
}

// connection forwards one.
func (m *mutator) connection(ctx context.Context, client net.Conn) {
	defer client.Close()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: m.from}, Timeout: time.Second}
	server, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:"+m.port)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { client.Close(); server.Close() })()
	from, to := client, server
	if m.answers {
		from, to = to, from
	}
	go func() {
		if m.number(4) == 0 { // what is answered is not read from some byte on
			_, _ = io.CopyN(from, to, int64(m.number(1<<m.number(20))))
			<-ctx.Done()
		}
		_, _ = io.Copy(from, to)
		from.Close()
	}()
	// Where it is changed: mostly within what is said before data.
	clean := m.number(1 << m.number(14))
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		said := buffer[:n]
		if clean -= n; clean < 0 {
			if said = m.change(ctx, to, said); said == nil {
				return
			}
			clean = m.number(64 << 10)
		}
		if _, err := to.Write(said); err != nil {
			return
		}
	}
}

// digits matches a number in a text, and numbers are those that lengths and counts must not have.
var (
	digits  = regexp.MustCompile(`[0-9]+`)
	numbers = []string{"", "-1", "-2147483649", "0", "00000000001", "4096", "65536", "536870912", "4294967296",
		"9223372036854775807", "18446744073709551616", strings.Repeat("9", 5000), "1e9", "0x7fffffff"}
)

// change returns what is sent instead of said; nil: nothing more is.
func (m *mutator) change(ctx context.Context, to net.Conn, said []byte) []byte {
	at := m.number(len(said))
	switch m.number(11) {
	case 0: // some bits
		for range 1 + m.number(4) {
			said[m.number(len(said))] ^= 1 << m.number(8)
		}
	case 1: // the largest length
		for i := at; i < min(at+4, len(said)); i++ {
			said[i] = 0xff
		}
	case 2: // less
		said = said[:at]
	case 3: // something else in between
		more := make([]byte, m.number(20_000))
		for i := range more {
			more[i] = byte(m.number(256))
		}
		said = append(append(append([]byte{}, said[:at]...), more...), said[at:]...)
	case 4: // the same many times
		for range m.number(300) {
			if _, err := to.Write(said); err != nil {
				return nil
			}
		}
	case 5: // another order
		said = append(append([]byte{}, said[at:]...), said[:at]...)
	case 6: // late
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(m.number(2000)) * time.Millisecond):
		}
	case 7: // nothing more, but the connection stays
		<-ctx.Done()
		return nil
	case 8: // RST
		_, _ = to.Write(said[:at])
		_ = to.(*net.TCPConn).SetLinger(0)
		return nil
	case 9: // FIN
		_, _ = to.Write(said[:at])
		return nil
	case 10: // another number, in a text
		if number := digits.FindIndex(said); number != nil {
			other := numbers[m.number(len(numbers))]
			said = slices.Concat(said[:number[0]], []byte(other), said[number[1]:])
		}
	}
	return said
}

// datagrams forwards them, by a socket for each client.
func (m *mutator) datagrams(ctx context.Context, udp *net.UDPConn) {
	servers := map[string]*net.UDPConn{}
	defer func() {
		for _, server := range servers {
			server.Close()
		}
	}()
	port, _ := strconv.Atoi(m.port)
	buffer := make([]byte, 64<<10)
	for {
		n, client, err := udp.ReadFromUDP(buffer)
		if err != nil {
			return
		}
		server := servers[client.String()]
		if server == nil {
			if server, err = net.DialUDP("udp", &net.UDPAddr{IP: m.from}, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1),
				Port: port}); err != nil {
				continue
			}
			servers[client.String()] = server
			go func() {
				answer := make([]byte, 64<<10)
				for {
					n, err := server.Read(answer)
					if err != nil && ctx.Err() != nil {
						return
					}
					if err == nil {
						m.datagram(answer[:n], m.answers, func(said []byte) { _, _ = udp.WriteToUDP(said, client) })
					}
				}
			}()
		}
		m.datagram(buffer[:n], !m.answers, func(said []byte) { _, _ = server.Write(said) })
	}
}

// datagram sends one, which it may change first.
func (m *mutator) datagram(said []byte, change bool, send func([]byte)) {
	if n := len(said); change && n > 0 && m.number(8) == 0 {
		switch at := m.number(n); m.number(4) {
		case 0:
			said[at] ^= 1 << m.number(8)
		case 1:
			said = said[:at]
		case 2:
			said = append(said[:n:n], make([]byte, m.number(1400))...)
		case 3:
			for range m.number(100) {
				send(said)
			}
		}
	}
	send(said)
}
