package pasted

import (
	"fmt"
	"strings"
	"testing"
)

// pingText is the output of a ping with this many bytes of data.
func pingText(command, to string, size, sent, received int) string {
	text := fmt.Sprintf("$ %s\nPING %s (%s) %d(%d) bytes of data.\n", command, to, to, size, size+28)
	if strings.Contains(to, ":") {
		text = fmt.Sprintf("$ %s\nPING %s(%s) %d data bytes\n", command, to, to, size)
	}
	for i := range received {
		text += fmt.Sprintf("%d bytes from %s: icmp_seq=%d ttl=64 time=%d.5 ms\n", size+8, to, i+1, i+1)
	}
	return text + fmt.Sprintf("\n--- %s ping statistics ---\n%d packets transmitted, %d received, %d%% packet loss, "+
		"time 9ms\n",
		to, sent, received, 100-100*received/sent)
}

// TestProbes: what the outputs of ping and tracepath say of a peer together, and what they do not say.
func TestProbes(t *testing.T) {
	const a, b = "192.0.2.1", "2001:db8::1"
	const do = "ping -M do " + a
	link := "$ ip addr\n2: eth0: <BROADCAST,UP> mtu 1500\n    inet 192.0.2.9/24 scope global eth0\n"
	for _, c := range []struct {
		name, text, want string
		idle, lost       int
	}{
		{"two pings",
			pingText("ping "+a, a, 56, 4, 3) + pingText("ping "+a, a, 56, 1, 1), a + " 4/5 1.5-2.5-3.5", 4, 0},
		{"no reply", pingText("ping "+a, a, 56, 3, 0), a + " 0/3", 2, 0},
		{"a large one without a reply", pingText("ping -s 8000 "+a, a, 8000, 3, 0), "", 2, 0},
		{"a small and a large one",
			pingText("ping "+a, a, 56, 3, 3) + pingText(do+" -s 1472", a, 1472, 3, 0),
			a + " 3/3 1.5-2.5-3.5 > 84 < 1500", 4, 0},
		{"a byte more is lost",
			link + pingText(do, a, 1464, 2, 2) + pingText(do, a, 1465, 2, 0), a + " eth0 1500 > 1492", 5, 0},
		{"a byte more is lost, perhaps by chance",
			link + pingText(do, a, 1464, 2, 2) + pingText(do, a, 1465, 1, 0), "", 5, 0},
		{"a byte more is lost, and may be a fragment",
			link + pingText("ping "+a, a, 1464, 2, 2) + pingText("ping "+a, a, 1465, 2, 0), "", 5, 0},
		{"eight bytes more are lost", link + pingText(do, a, 1464, 2, 2) + pingText(do, a, 1472, 2, 0),
			a + " eth0 1500 > 1492 < 1500", 5, 0},
		{"IPv6", pingText("ping "+b, b, 1444, 2, 2) + pingText("ping "+b, b, 1445, 2, 0), b + " > 1492", 4, 0},
		{"a router says so",
			link + pingText(do, a, 1464, 2, 2) + strings.Replace(pingText(do, a, 1465, 2, 0), "\n\n---",
				"\nFrom 192.0.2.254 icmp_seq=1 Frag needed and DF set (mtu = 1492)\n\n---", 1), a + " eth0 1500 >> " +
				"1492", 5, 0},
		{"the statistics alone", "--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 2 received, 50% packet " +
			"loss, time 9ms\n" +
			"rtt min/avg/max/mdev = 1.000/2.000/9.000/1.000 ms\n", a + " 2/4 1-0-9", 0, 0},
		{"more received than sent", "--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 9 received\n", "", 0, 0},
		{"without statistics", "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: " +
			"icmp_seq=1 " +
			"ttl=64 time=1 ms\n", "", 0, 0},
		{"a file", "64 bytes from disk\n", "", 0, 1},
		{"a sentence", "PING me when it works, 56 bytes is enough\n", "", 0, 1},
		{"tracepath", "$ tracepath " + a + "\n 1?: [LOCALHOST]  pmtu 9000\n 1:  192.0.2.254  0.4ms pmtu 1500\n 2:  " +
			"192.0.2.1  1ms reached\n",
			a + " 9000 >> 1500", 1, 0},
		{"tracepath to the end", "$ tracepath " + a + "\n 1?: [LOCALHOST]  pmtu 1500\n 1:  192.0.2.1  1ms reached\n", a + " 1500 > 1500", 1, 0},
		{"tracepath not to the end", "$ tracepath " + a + "\n 1?: [LOCALHOST]  pmtu 1500\n 1:  no reply\n     Too " +
			"many hops: pmtu 1500\n", "", 1, 0},
		{"tracepath to a name that ping had",
			pingText("ping "+a, a, 56, 1, 1) + "$ tracepath 192.0.2.1\n 1?: [LOCALHOST]  pmtu 9000\n" +
				" 1:  no reply pmtu 1500\n", a + " 9000 1/1 1.5-1.5-1.5 >> 1500", 3, 0},
		{"tracepath without a command", " 1?: [LOCALHOST]  pmtu 9000\n 1:  192.0.2.254  0.4ms pmtu 1500\n", "", 0, 0},
		{"numbers", " 1:  one\n 2:  two\n", "", 0, 2},
		{"mtr to a name", "$ mtr example.net -r -i 0.5 -c 100\n" + mtrText + "  2.|-- 192.0.2.9  9.0%   100" + mtrTimes,
			"192.0.2.9 91/100 0.3-0-0.9", 2, 0},
		{"mtr without its command", mtrText + "  2.|-- web.example.net  50.0%   10" + mtrTimes,
			"web.example.net 5/10 0.3-0-0.9", 1, 0},
		{"two reports of mtr", mtrText + mtrText, a + " 200/200 0.3-0-0.9", 2, 0},
		{"mtr without an answer at the end", mtrText + "  2.|-- ???  100.0   10" + mtrTimes, "", 2, 0},
		{"rows of mtr", "  1.|-- 192.0.2.1  9.0%   100    0.4   0.4   0.3   0.9   0.1\n", "", 0, 1},
	} {
		p, _ := Parse(c.text)
		var got []string
		for _, m := range p.Machines {
			for _, p := range m.State.Probes {
				text := []string{p.Address}
				if p.Interface != "" {
					text = append(text, p.Interface)
				}
				if p.InterfaceMTU > 0 {
					text = append(text, fmt.Sprint(p.InterfaceMTU))
				}
				if e := p.Echo; e != nil {
					text = append(text, fmt.Sprintf("%d/%d", e.Received, e.Sent))
					if e.MaxMs > 0 {
						text = append(text, fmt.Sprintf("%g-%g-%g", e.MinMs, e.MedianMs, e.MaxMs))
					}
				}
				if m := p.PathMTU; m != nil {
					text = append(text, map[bool]string{true: ">>", false: ">"}[m.Reported], fmt.Sprint(m.MTU))
					if m.Below > 0 {
						text = append(text, "<", fmt.Sprint(m.Below))
					}
				}
				got = append(got, strings.Join(text, " "))
			}
		}
		if strings.Join(got, ", ") != c.want || p.Idle != c.idle || p.Lost != c.lost {
			t.Errorf("%s: %d idle, %d lost %q: %q; want %d idle, %d lost: %q", c.name, p.Idle, p.Lost, p.NotUnderstood, got,
				c.idle, c.lost, c.want)
		}
	}
}

// mtrText is a report of mtr with one hop.
const (
	mtrTimes = "    0.4   0.4   0.3   0.9   0.1\n"
	mtrText  = "HOST: here  Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 192.0.2.1  0.0%   100" + mtrTimes
)

// TestRates: what resembles the output of iperf, dd or curl is not ignored as such.
func TestRates(t *testing.T) {
	for text, lost := range map[string]int{
		"[ ID] Interval           Transfer     Bandwidth\n[  4]   0.00-1.00   sec   390 MBytes  3.27 Gbits/sec\n": 0,
		"s1:  [  4] local 192.0.2.9 port 45424 connected to 192.0.2.1 port 5101\n":                                0,
		"[  4] a list\n[  5] of things\n":                 2,
		"1024 bytes are enough\n":                         1,
		"time_total: 9\ntime_connect: 8\n":                2,
		"* a list\n* of things\n":                         2,
		"iperf Done, says he\n":                           1,
		"{\n  \"start\": {},\n  \"end\": {}\n}\n":         0,
		"{\n  \"other\": {},\n  \"end\": {}\n}\n":         4,
		"{\n  \"start\": {}\n}\n2: eth0: <UP> mtu 1500\n": 0,
	} {
		if p, _ := Parse(text); p.Lost != lost {
			t.Errorf("%q: lost %q", text, p.NotUnderstood)
		}
	}
}
