//go:build linux

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/stats"
)

// soakFor names the variable with the time that TestSoak takes, such as 8h.
const soakFor = "LINERATE_SOAK"

// TestSoak: however long a server serves honest clients of every protocol beside hostile
// ones, its memory, descriptors, threads and goroutines do not grow, neither under this
// load nor when it rests in between. The last third of the time is compared with the first,
// after a tenth for the runtime to make what it keeps.
func TestSoak(t *testing.T) {
	if os.Getenv(soakFor) == "" {
		t.Skip("takes minutes or hours: make soak")
	}
	duration, err := time.ParseDuration(os.Getenv(soakFor))
	if err != nil {
		t.Fatalf("%s: %v", soakFor, err)
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		s := startServer(t, "--max-clients", "40")
		soak := &soaking{server: s, series: map[string][]float64{}, took: make([]time.Duration, len(honest))}
		alone := soak.alone(t)
		// Thirty cycles in ten minutes, so that a median of rests stands for nine.
		cycle := min(max(duration/30, 10*time.Second), time.Minute)
		began := time.Now()
		warm := began.Add(duration / 10)
		for time.Since(began) < duration && !t.Failed() {
			soak.load(t, cycle*2/3, time.Now().After(warm))
			soak.rest(t, cycle/3, time.Now().After(warm))
		}
		t.Logf("%v: %d honest measurements (%d repeated), %d visits of hostile clients\n%s",
			time.Since(began).Round(time.Second), soak.honest, soak.repeated, soak.visits, soak.table(t))
		for i, took := range soak.took {
			t.Logf("measure %s: %v alone, at most %v under load", strings.Join(honest[i], " "),
				alone[i].Round(time.Millisecond), took.Round(time.Millisecond))
			if took > alone[i]+slowdown {
				t.Errorf("measure %s takes %v under load, and %v alone: expected at most %v more",
					strings.Join(honest[i], " "), took, alone[i], slowdown)
			}
		}
		s.measure(t)
		if err := s.command.Process.Signal(syscall.SIGTERM); err != nil || !s.ends(stopsWithin+stopsMargin) {
			t.Errorf("the server goes on after SIGTERM: %v", err)
		}
	})
}

// patience is how often a measurement is tried: one of 300 ms cannot be taken when the
// kernel has the server wait for a CPU for as long, and says so.
const patience = 3

// slowdown is how much longer than alone an honest measurement may take under load.
const slowdown = 5 * time.Second

// honest are the measurements that TestSoak takes in turn.
var honest = [][]string{
	{soakHost + ":" + hostilePort}, {soakHost + ":" + hostilePort, "--direction", "both", "--streams", "4"},
	{soakHost + ":" + hostilePort, "--protocol", "udp", "--rate-cap", "50M"},
	{soakHost + ":" + hostilePort, "--protocol", "rr"},
	{soakHost + ":" + hostilePort, "--protocol", "crr"}, {soakHost + ":" + hostilePort, "--protocol", "udp-rr"},
	{"--iperf3", soakHost + ":5201"},
}

const soakHost = "127.0.0.1"

// soaking is a soak test of one server.
type soaking struct {
	server *serverProcess
	honest int
	// took is the longest time of each honest measurement that succeeded under load.
	took []time.Duration
	// repeated is how many measurements failed, and were repeated.
	repeated int
	visits   int64
	order    []string // of the series
	series   map[string][]float64
}

// alone is the median time of five of each honest measurement, before the load.
func (k *soaking) alone(t *testing.T) (median []time.Duration) {
	for _, arguments := range honest {
		var seconds []float64
		for range 5 {
			began := time.Now()
			if err := k.server.asked(t.Context(), arguments...); err != nil {
				t.Fatal(err)
			}
			seconds = append(seconds, time.Since(began).Seconds())
		}
		median = append(median, time.Duration(stats.Median(seconds)*float64(time.Second)))
	}
	return median
}

// load has clients of all kinds at work for a while, and reads what the server has.
func (k *soaking) load(t *testing.T, length time.Duration, reads bool) {
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	hostile := attack(ctx, func(i int) string { return fmt.Sprintf("127.0.0.%d", 2+i) })
	for _, odd := range []func(context.Context, *rand.Rand){trickle, freeze, babble, scatter} {
		random := rand.New(rand.NewPCG(uint64(k.honest), 3))
		hostile.Go(func() {
			for ctx.Err() == nil {
				odd(ctx, random)
				hostile.visits.Add(1)
			}
		})
	}
	measured := make(chan int, 1)
	go func() {
		n := k.honest
		for ; ctx.Err() == nil; n++ {
			var err error
			for range patience {
				began := time.Now()
				if err = k.server.asked(t.Context(), honest[n%len(honest)]...); err == nil {
					k.took[n%len(honest)] = max(k.took[n%len(honest)], time.Since(began))
					break
				}
				k.repeated++
			}
			if err != nil {
				t.Error(err)
			}
		}
		measured <- n
	}()
	for tick := time.NewTicker(time.Second); ctx.Err() == nil; <-tick.C {
		if reads {
			k.read(t, "load", 0)
		}
	}
	k.honest = <-measured
	cancel()
	hostile.Wait()
	k.visits += hostile.visits.Load()
}

// rest leaves the server alone for a while, and reads what it still has.
func (k *soaking) rest(t *testing.T, length time.Duration, reads bool) {
	time.Sleep(length)
	if reads {
		k.read(t, "rest", 1)
	}
}

// read takes one reading: from outside, and of the runtime, as inspect says.
func (k *soaking) read(t *testing.T, when string, how byte) {
	t.Helper()
	state, err := k.server.runtime(how)
	if err != nil {
		t.Errorf("the server's runtime: %v\n%.3000s", err, k.server.said)
		return
	}
	now := k.server.reading(t)
	add := func(what string, x float64) {
		what = when + "\t" + what
		if k.series[what] == nil {
			k.order = append(k.order, what)
		}
		k.series[what] = append(k.series[what], x)
	}
	add("memory (KiB)", float64(now.memory>>10))
	add("heap (KiB)", float64(state.Heap>>10))
	add("descriptors", float64(now.descriptors))
	add("threads", float64(now.threads))
	add("goroutines", float64(state.Goroutines))
}

// runtime asks the server's own runtime.
func (s *serverProcess) runtime(how byte) (state runtimeState, err error) {
	conn, err := net.Dial("unix", s.inspect)
	if err != nil {
		return state, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := conn.Write([]byte{how}); err != nil {
		return state, err
	}
	return state, json.NewDecoder(conn).Decode(&state)
}

// table lists the series, and fails the test for those that grow.
func (k *soaking) table(t *testing.T) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "when\twhat\treadings\tleast\tmost\tfirst third\tlast third\tallowed\tfound if more than")
	for _, what := range k.order {
		list := k.series[what]
		first, last, allowed := growth(list)
		verdict := ""
		if last > allowed {
			verdict = "GROWS"
			t.Errorf(
				"%s grows: the median is %.0f in the first third of the time, and %.0f in the last; expected at "+
					"most %.0f",
				strings.ReplaceAll(what, "\t", ": "), first, last, allowed)
		}
		// Between the middles of the thirds are three fifths of all that was done.
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.4f a visit\t%s\n", what, len(list), slices.Min(list),
			slices.Max(list), first, last, allowed, (allowed-first)/(0.6*float64(k.visits+int64(k.honest))), verdict)
	}
	_ = w.Flush() // to memory
	return b.String()
}

// growth is the median of the first and of the last third of a series, and what the last
// may be if the series is flat: a tenth more than the first, or more by three times the
// range in which the middle half of the first third is.
func growth(series []float64) (first, last, allowed float64) {
	third := max(1, len(series)/3)
	head := slices.Sorted(slices.Values(series[:third]))
	first, last = stats.Median(head), stats.Median(series[len(series)-third:])
	return first, last, first + max(first/10, 3*(head[third*3/4]-head[third/4]))
}

// TestGrowth: a leak that is small beside the noise of single readings is found, and a flat
// series is none, whatever its noise.
func TestGrowth(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	const n = 60
	series := func(of func(i int) float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = of(i)
		}
		return list
	}
	for name, c := range map[string]struct {
		of    func(i int) float64
		grows bool
	}{
		"flat":                  {func(int) float64 { return 20 }, false},
		"noise":                 {func(int) float64 { return 100 * random.Float64() }, false},
		"falls":                 {func(i int) float64 { return float64(100 - i) }, false},
		"one outlier":           {func(i int) float64 { return float64(20 + 1000*(i/(n-1))) }, false},
		"one more each time":    {func(i int) float64 { return float64(20 + i) }, true},
		"a ramp in some noise":  {func(i int) float64 { return float64(3*i) + 30*random.Float64() }, true},
		"a step in the middle":  {func(i int) float64 { return float64(20 + 5*(2*i/n)) }, true},
		"from nothing to three": {func(i int) float64 { return float64(3 * i / (n - 1)) }, true},
	} {
		first, last, allowed := growth(series(c.of))
		if last > allowed != c.grows {
			t.Errorf("%s: %g, then %g where %g is allowed: grows %v", name, first, last, allowed, c.grows)
		}
	}
	for n := range 5 { // however few there are
		growth(make([]float64, n+1))
	}
}

// trickle says one byte at a time, and never all of a greeting.
func trickle(ctx context.Context, random *rand.Rand) {
	var said []net.Conn
	for _, port := range []string{hostilePort, "5201"} {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+random.IntN(20)))},
			Timeout: time.Second}
		conn, err := dialer.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer conn.Close()
		said = append(said, conn)
	}
	for i := range 20 {
		for _, conn := range said {
			_, _ = conn.Write([]byte("linerate/"[i%9:][:1])) // closed, perhaps
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freeze stops an honest client at any instant, for a while, and kills it.
func freeze(ctx context.Context, random *rand.Rand) {
	command := exec.Command("linerate", "measure", "127.0.0.1:"+hostilePort, "--source", "127.0.3.1", "--duration",
		"1s", "--warmup", "100ms", "--no-save")
	if command.Start() != nil {
		return
	}
	wait := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	wait(time.Duration(random.IntN(1500)) * time.Millisecond)
	_ = command.Process.Signal(syscall.SIGSTOP)
	wait(time.Duration(random.IntN(3000)) * time.Millisecond)
	_ = command.Process.Kill()
	_ = command.Wait() // killed
}

// babble is a client of iperf3 that says anything after its cookie.
func babble(ctx context.Context, random *rand.Rand) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 4, byte(1+random.IntN(20)))},
		Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:5201")
	if err != nil {
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	said := [][]byte{
		append([]byte(strings.Repeat("a", 36)), 0),
		[]byte("\x00\x00\x00\x20" + `{"tcp":true,"omit":0,"time":100}`),
		[]byte("\xff\xff\xff\xff"), []byte(`{"udp":true,"len":1e99,"parallel":-1}`), make([]byte, 1+random.IntN(5000)),
	}
	for _, what := range said[:1+random.IntN(len(said))] {
		if _, err := conn.Write(what); err != nil {
			return
		}
	}
	_, _ = conn.Read(make([]byte, 100))
}

// scatter sends datagrams of any content to both ports.
func scatter(ctx context.Context, random *rand.Rand) {
	for _, port := range []int{5201, 5202} {
		conn, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			return
		}
		for range 20 {
			data := make([]byte, random.IntN(1500))
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			_, _ = conn.Write(data) // a port that refuses one answers with an error
		}
		conn.Close()
	}
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}
