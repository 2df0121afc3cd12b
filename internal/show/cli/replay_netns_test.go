//go:build linux

package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/record"
)

// capture writes a file of pcap with so many frames, so far apart: UDP over IPv4 from
// 10.0.1.1 to 10.0.2.1, of several sizes, each with its own identification.
func capture(t *testing.T, frames int, apart time.Duration) string {
	t.Helper()
	order := binary.LittleEndian
	out := order.AppendUint32(nil, 0xa1b23c4d) // nanoseconds
	out = append(out, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	out = order.AppendUint32(order.AppendUint32(out, 65535), 1)
	for i := range frames {
		size := []int{60, 590, 1514}[i%3]
		f := make([]byte, size)
		copy(f, "\x02\x00\x00\x00\x00\x99\x02\x00\x00\x00\x00\x98\x08\x00\x45\x00")
		big := binary.BigEndian
		big.PutUint16(f[16:], uint16(size-14))
		big.PutUint16(f[18:], uint16(i))
		copy(f[22:], "\x40\x11\x00\x00\x0a\x00\x01\x01\x0a\x00\x02\x01")
		s := uint32(0)
		for k := 14; k < 34; k += 2 {
			s += uint32(big.Uint16(f[k:]))
		}
		for s > 0xffff {
			s = s>>16 + s&0xffff
		}
		big.PutUint16(f[24:], ^uint16(s))
		copy(f[34:], "\xa0\x00\xa0\x01")
		big.PutUint16(f[38:], uint16(size-34)) // without a checksum of UDP
		big.PutUint32(f[42:], uint32(i))
		at := time.Duration(i) * apart
		out = order.AppendUint32(out, uint32(at/time.Second))
		out = order.AppendUint32(out, uint32(at%time.Second))
		out = order.AppendUint32(order.AppendUint32(out, uint32(size)), uint32(size))
		out = append(out, f...)
	}
	name := filepath.Join(t.TempDir(), "frames.pcap")
	if err := os.WriteFile(name, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// replayed runs a replay on the tester.
func replayed(t *testing.T, args ...string) (r record.Replay, status int) {
	t.Helper()
	cmd := in(t, "tester", append([]string{"replay", "--json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	status = cmd.ProcessState.ExitCode()
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%s: status %d, %v: %s%s", strings.Join(args, " "), status, err, out.String(), errs.String())
	}
	return r, status
}

// TestReplay: a file goes through a router, and each of its frames is found behind it, at
// the file's own times, faster, and at a constant rate; a link that is slower than the
// replay shows as that.
func TestReplay(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
		for _, name := range []string{"tester", "router"} {
			kerneltest.Do(t, "ip", "netns", "add", name)
		}
		inside := func(name string, words string) {
			kerneltest.Do(t, "ip", append([]string{"netns", "exec", name}, strings.Fields(words)...)...)
		}
		for _, n := range []string{"1", "2"} {
			kerneltest.Do(t, "ip", "-n", "tester", "link", "add", "eth"+n, "address", "02:00:00:00:0"+n+":01", "type",
				"veth", "peer", "name", "eth"+n, "address", "02:00:00:00:0"+n+":02", "netns", "router")
			for _, name := range []string{"tester", "router"} {
				inside(name, "sysctl -qw net.ipv6.conf.eth"+n+".disable_ipv6=1 net.ipv4.conf.eth"+n+".rp_filter=0")
				inside(name, "ip link set eth"+n+" up")
			}
			inside("router", "ip address add 10.0."+n+".254/24 dev eth"+n)
		}
		inside("router", "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0")
		inside("router", "ip neighbour add 10.0.2.1 lladdr 02:00:00:00:02:01 dev eth2")
		to := []string{"--interface", "eth1", "--destination-mac", "02:00:00:00:01:02"}

		const frames, apart = 600, time.Millisecond
		file := capture(t, frames, apart)
		for _, c := range []struct {
			args    []string
			seconds float64 // from the first frame to the last; 0: as fast as possible
		}{
			{nil, 0.599}, {[]string{"--speed", "2x"}, 0.599 / 2}, {[]string{"--pace", "3000"}, 599. / 3000},
			{[]string{"--speed", "max"}, 0},
			{[]string{"--speed", "4", "--source-mac", "02:00:00:00:00:77", "--map", "10.0.1.0/24=10.0.9.0/24"},
				0.599 / 4},
		} {
			r, status := replayed(t, slices.Concat([]string{file, "--receive", "eth2"}, to, c.args)...)
			g := r.Received
			if r.Sent != frames || g == nil || g.Received != frames || g.Lost != 0 || g.Altered != 0 ||
				g.Reordered != 0 || g.Duplicates != 0 || g.Merged != 0 {
				t.Fatalf("%v: %+v, received %+v", c.args, r, g)
			}
			if g.Latency == nil || g.Latency.Count != frames || g.Latency.MinUs <= 0 {
				t.Errorf("%v: latency %+v", c.args, g.Latency)
			}
			timed := c.seconds > 0
			// It never ends early, and the rate is within what it was late at the end.
			if timed && (r.TookS < r.ScheduleS || r.ScheduleS < c.seconds*0.999999 ||
				r.ScheduleS > c.seconds*1.000001 || r.Lateness == nil ||
				r.TookS-r.ScheduleS > r.Lateness.MaxUs*1.01/1e6+1e-6) {
				t.Errorf("%v: %.6f s of %.6f s, lateness %+v", c.args, r.TookS, c.seconds, r.Lateness)
			}
			if !timed && (r.Lateness != nil || r.Paced || r.ScheduleS != 0) || (status == ExitDoubt) != (timed &&
				!r.Paced) {
				t.Errorf("%v: status %d, %+v", c.args, status, r)
			}
			if r.Mode != packet.Socket && r.Mode != packet.Program {
				t.Errorf("sent by %q", r.Mode)
			}
		}

		// Other addresses are routed elsewhere, and nothing arrives.
		r, _ := replayed(t, slices.Concat([]string{file, "--receive", "eth2", "--speed", "max", "--map",
			"10.0.2.1=10.0.3.1"}, to)...)
		if r.Sent != frames || r.Received.Received != 0 || r.Received.Lost != frames {
			t.Errorf("to nowhere: %+v", r.Received)
		}

		// 433 kB take 0.87 s at 4 Mbit/s, less what a bucket holds, and the schedule has 0.6 s.
		inside("tester", "tc qdisc add dev eth1 root tbf rate 4mbit burst 5000 limit 10000")
		r, status := replayed(t, slices.Concat([]string{file}, to)...)
		if least := float64(r.SentBytes-15_000) * 8 / 4e6; status != ExitDoubt || r.Paced || r.Sent != frames ||
			r.TookS < least || r.TookS < r.ScheduleS*1.2 || r.BlockedS <= 0 || r.Lateness.MaxUs < 10e3 {
			t.Errorf("faster than its link: status %d, took %.3f s, least %.3f s, %+v", status, r.TookS, least, r)
		}
		inside("tester", "tc qdisc del dev eth1 root")
		// A router whose link is slower drops: what is lost is counted.
		inside("router", "tc qdisc add dev eth2 root tbf rate 2mbit burst 5000 limit 10000")
		r, _ = replayed(t, slices.Concat([]string{file, "--receive", "eth2", "--speed", "max"}, to)...)
		if g := r.Received; g.Lost == 0 || g.Received == 0 || g.Lost+g.Received != frames || g.Altered != 0 ||
			g.Reordered != 0 {
			t.Errorf("over a slow link: %+v", g)
		}

		passes, _ := replayed(t, slices.Concat([]string{file, "--speed", "max", "--passes", "3"}, to)...)
		if passes.Sent != 3*frames {
			t.Errorf("%d frames in three passes", passes.Sent)
		}
		for want, args := range map[string][]string{
			"expected --interface": {file}, "one pass": {file, "--interface", "eth1", "--receive", "eth2",
				"--passes", "2"},
			"--pace and --speed": {file, "--interface", "eth1", "--pace", "1", "--speed", "2"},
			"one length":         {file, "--interface", "eth1", "--map", "10.0.0.1"},
			"no capture file":    {"/proc/self/status", "--interface", "eth1"}, "MAC address": {file, "--interface",
				"eth1", "--source-mac", "02:00:00:00:00:00:00:01"},
		} {
			cmd := in(t, "tester", append([]string{"replay"}, args...)...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != ExitUsage || !strings.Contains(string(out), want) {
				t.Errorf("%v: %v, %s, want %q", args, err, out, want)
			}
		}
	})
}
