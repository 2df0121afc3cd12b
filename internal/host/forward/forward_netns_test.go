//go:build linux && !portable

package forward

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestForward: the rate of a device whose link is slow is that of the link, of a router in IPv4
// and IPv6 and of a switch; more is forwarded where some may be lost; the longest burst is what
// its buffer takes in; links may carry longer frames than are sent; what does not forward is an error that says so.
func TestForward(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
		kerneltest.Do(t, "ip", "netns", "add", "device")
		device := func(words string) {
			kerneltest.Do(t, "ip", append([]string{"netns", "exec", "device"}, strings.Fields(words)...)...)
		}
		for _, n := range []string{"1", "2"} {
			kerneltest.Do(t, "ip", "link", "add", "eth"+n, "mtu", "9216", "type", "veth", "peer", "name", "eth"+n,
				"mtu", "9216", "netns", "device")
			kerneltest.Do(t, "ip", "address", "add", "10.0."+n+".1/24", "dev", "eth"+n)
			kerneltest.Do(t, "ip", "address", "add", "2001:db8:"+n+"::1/64", "dev", "eth"+n, "nodad")
			kerneltest.Do(t, "ip", "link", "set", "eth"+n, "up")
			device("ip address add 10.0." + n + ".254/24 dev eth" + n)
			device("ip address add 2001:db8:" + n + "::fe/64 dev eth" + n + " nodad")
			device("ip link set eth" + n + " up")
		}
		device("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
		device("tc qdisc add dev eth2 root tbf rate 40mbit burst 10000 limit 20000")
		const shaped = 40e6 / 8 // bytes, as tbf counts them: without check sequences
		measure := func(o Options) (record.ForwardSize, error) {
			o.Interface, o.Receive, o.Search, o.Confirm, o.Repeats, o.Resolution = "eth1", "eth2", 300*time.Millisecond,
				500*time.Millisecond, 1, cmp.Or(o.Resolution, 0.05)
			o.Tell = func(string) {}
			if o.Losses == nil {
				o.Losses = []float64{0}
			}
			r, err := Run(t.Context(), o)
			if err != nil {
				return record.ForwardSize{}, err
			}
			return r.Sizes[0], nil
		}
		for _, c := range []struct {
			router, frame string
		}{{"10.0.1.254", "512"}, {"2001:db8:1::fe", "512"}, {"", "1518"}} {
			o := Options{Frames: []string{c.frame}, Losses: []float64{0.1, 0}}
			want := shaped / (512 - checkSequence)
			if c.router != "" {
				o.Router = netip.MustParseAddr(c.router)
			} else {
				want = shaped / (1518 - checkSequence)
				device("ip link add br0 type bridge")
				device("ip link set br0 up")
				for _, n := range []string{"1", "2"} {
					device("ip address flush dev eth" + n)
					device("ip link set eth" + n + " master br0")
				}
			}
			size, err := measure(o)
			if err != nil {
				t.Fatalf("%s: %v", c.router, err)
			}
			none, some := size.Goals[0], size.Goals[1]
			if none.Loss != 0 || some.Loss != 0.1 || size.CeilingPerS < want {
				t.Errorf("%q: %+v", c.router, size)
			}
			// The queue takes in some more than leaves it, and pauses of this machine some less.
			if none.PacketsPerS < want*0.75 || none.PacketsPerS > want*1.1 || some.PacketsPerS < none.PacketsPerS ||
				some.PacketsPerS > want*1.25 {
				t.Errorf("%q: %.0f/s without loss and %.0f/s with a loss of 10 %%, want %.0f: %+v", c.router,
					none.PacketsPerS, some.PacketsPerS, want, size)
			}
			if l := none.Latency; l == nil || l.Count < 50 || l.MinUs <= 0 || l.P50Us > 50e3 {
				t.Errorf("%q: latency %+v", c.router, l)
			}
		}
		// The device holds what its queue and its burst take in, and sends on meanwhile.
		bursts := func(o Options) *record.ForwardBursts {
			o.Frames, o.Bursts, o.Resolution = []string{"1518"}, 3, 0.2
			size, err := measure(o)
			if err != nil || size.Bursts == nil {
				t.Fatalf("bursts: %v, %+v", err, size)
			}
			return size.Bursts
		}
		var longest []int64
		for _, limit := range []string{"20000", "80000"} {
			device("tc qdisc replace dev eth2 root tbf rate 40mbit burst 10000 limit " + limit)
			b := bursts(Options{})
			if len(b.Frames) != 3 || b.BufferFrames >= b.MeanFrames || b.BufferFrames < b.MeanFrames/2 ||
				b.MostFrames <= slices.Max(b.Frames) {
				t.Fatalf("limit %s: %+v", limit, b)
			}
			longest = append(longest, slices.Min(b.Frames)) // pauses of this machine only make longer ones
		}
		const frame = 1518 - checkSequence
		if short, long := float64(longest[0]), float64(longest[1]); short < 0.7*30000/frame || short > 2*30000/frame ||
			long-short < 0.5*60000/frame || long-short > 2*60000/frame {
			t.Errorf("longest bursts %v: expected about %d and %d", longest, 30000/frame, 90000/frame)
		}
		if b := bursts(Options{Most: 100}); len(b.Frames) != 0 || !strings.Contains(b.Why, "--most") {
			t.Errorf("all is forwarded: %+v", b)
		}
		device("tc qdisc del dev eth2 root")
		device("ip link del br0")
		for _, n := range []string{"1", "2"} {
			device("ip address add 10.0." + n + ".254/24 dev eth" + n)
		}
		device("ip route add 20.0.0.0/31 via 10.0.2.1")
		device("ip route add 20.0.0.3/32 via 10.0.2.1")
		router := netip.MustParseAddr("10.0.1.254")
		some, err := measure(Options{Router: router, To: netip.MustParsePrefix("20.0.0.0/30"), Frames: []string{"64"},
			Most: 2000, Losses: []float64{0.3}})
		if err != nil || some.Goals[0].PacketsPerS == 0 || some.Goals[0].Trials[0].LostShare < 0.2 {
			t.Errorf("one of four destinations has no route: %+v, %v", some, err)
		}
		size, err := measure(Options{Router: router, Frames: []string{"imix"}, Most: 2000, Tuples: 1000})
		if err != nil || size.Goals[0].BoundedBy != record.BoundedByCap || size.Goals[0].PacketsPerS < 1800 ||
			size.Goals[0].PacketsPerS > 2010 {
			t.Errorf("2,000/s and no more: %+v, %v", size, err)
		}
	})
}
