package pasted

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

// grown are counters of a NIC, an interface, a protocol, a CPU and a qdisc as the tools print them.
func grown(n int) map[string]string {
	return map[string]string{
		"ethtool -S eth0": fmt.Sprintf("NIC statistics:\n     rx_packets: %d\n     rx_missed_errors: %d\n",
			1000+n, 100+n),
		"ip -s link show eth0": fmt.Sprintf("2: eth0: <BROADCAST,UP> mtu 1500 qdisc fq state UP mode DEFAULT\n"+
			"    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"+
			"    RX: bytes packets errors dropped missed mcast\n"+
			"    9999 %d 0 0 %d 0\n", 1000+n, 100+n),
		"nstat -az": fmt.Sprintf("#kernel\nTcpRetransSegs                  %d                  0.0\n"+
			"TcpOutSegs                  %d                  0.0\n", 100+n, 100000+n),
		"cat /proc/net/softnet_stat": fmt.Sprintf("%08x %08x 00000000 00000000 00000000 00000000 00000000 00000000 "+
			"00000000 00000000 00000000 00000000 00000000\n", 1000+n, 100+n),
		"tc -s qdisc": fmt.Sprintf("qdisc fq 8001: dev eth0 root refcnt 2 limit 10000p\n"+
			" Sent 99 bytes %d pkt (dropped %d, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n", 1000+n, 100+n),
	}
}

// growthOf returns by how much the counters of grown grew in each part.
func growthOf(s netstate.HostSnapshot) (list []int64) {
	r := s.Reading
	for i, c := range r.End.Interfaces {
		list = append(list, int64(c.RxMissed-r.Begin.Interfaces[i].RxMissed))
	}
	for _, n := range s.State.NICs {
		if n.CountedS > 0 {
			list = append(list, n.Counters["rx_missed_errors"]-n.Before["rx_missed_errors"])
		}
	}
	if len(r.End.SNMP) > 0 {
		list = append(list, r.SNMPDelta("Tcp.RetransSegs"))
	}
	for i, c := range r.End.Softnet {
		list = append(list, int64(c.Dropped-r.Begin.Softnet[i].Dropped))
	}
	for _, q := range r.End.Qdiscs {
		if b, ok := r.QdiscsAtBegin()[q.Key()]; ok {
			list = append(list, int64(q.Drops-b.Drops))
		}
	}
	return list
}

// TestGrowth: the output of a command twice in a text is growth if the text says the time, however it
// says it.
func TestGrowth(t *testing.T) {
	for form, want := range map[string]float64{
		"$ %[1]s\n%[2]s\n$ sleep 10\n$ %[1]s\n%[3]s":                   10,
		"root@nas:~# %[1]s\n%[2]s\nroot@nas:~# sleep 1m; %[1]s\n%[3]s": 60,
		"+ %[1]s\n%[2]s+ sleep 10\n+ %[1]s\n%[3]s":                     10,
		"root@nas:~# date\nSun Nov 29 10:00:00 UTC 2026\nroot@nas:~# %[1]s\n%[2]s" +
			"root@nas:~# date\nSun Nov 29 10:00:30 UTC 2026\nroot@nas:~# %[1]s\n%[3]s": 30,
		"[10:00:00] root@nas:~# %[1]s\n%[2]s[10:00:07] root@nas:~# %[1]s\n%[3]s":                   7,
		"2026-11-29 10:00:00 root@nas:~# %[1]s\n%[2]s2026-11-29 10:00:08 root@nas:~# %[1]s\n%[3]s": 8,
		"$ %[1]s; sleep 5; %[1]s\n%[2]s%[3]s":                                                      5,
		"$ while sleep 2; do %[1]s; done\n%[2]s%[3]s":                                              2,
		"# for i in 1 2; do %[1]s; sleep 3; done\n%[2]s%[3]s":                                      3,
		"root@nas:~# date\nSun Nov 29 10:00:00 UTC 2026\nroot@nas:~# %[1]s | grep a\n%[2]s" +
			"root@nas:~# sleep 3\nroot@nas:~# %[1]s | grep b\n%[3]s": 0,
		"==> /tmp/a-10:00:00.txt <==\n$ %[1]s\n%[2]s\n==> /tmp/a-10:00:09.txt <==\n$ %[1]s\n%[3]s": 9,
		"Every 2.0s: %[1]s    nas: Sun Nov 29 10:00:00 2026\n\n%[2]s\n" +
			"Every 2.0s: %[1]s    nas: Sun Nov 29 10:00:04 2026\n\n%[3]s": 4,
	} {
		a, b := grown(0), grown(40)
		for command := range a {
			text := fmt.Sprintf(form, command, a[command], b[command])
			p, err := Parse(text)
			if err != nil || len(p.Machines) == 0 {
				t.Errorf("%s: %v", text, err)
				continue
			}
			m := p.Machines[0]
			if m.OverS != want {
				t.Errorf("%s\nis over %v s, want %v", text, m.OverS, want)
			}
			if want == 0 {
				continue
			}
			if len(p.Machines) != 1 || p.Lost > 0 {
				t.Errorf("%s: %d machines, not read %q", text, len(p.Machines), p.NotUnderstood)
			}
			for _, n := range growthOf(m) {
				if n != 40 {
					t.Errorf("%s\ngrew by %v, want 40 each", text, growthOf(m))
				}
			}
			if len(growthOf(m)) == 0 {
				t.Errorf("%s: nothing grew", text)
			}
		}
	}
}

// TestGrowthGiven: without a time in the text, that which the caller gives counts, for each repetition.
// Without it, the command is named, and nothing grew.
func TestGrowthGiven(t *testing.T) {
	var text strings.Builder
	for n := range 3 {
		fmt.Fprintf(&text, "root@nas:~# ethtool -S eth0\n%s", grown(10 * n)["ethtool -S eth0"])
	}
	p, err := ParseOver(text.String(), 10)
	if err != nil || len(p.Machines) != 1 || p.Machines[0].OverS != 20 || p.Machines[0].State.NICs[0].CountedS != 20 {
		t.Fatalf("%v, %d machines: %+v", err, len(p.Machines), p.Machines)
	}
	if got := growthOf(p.Machines[0]); len(got) != 2 || got[0] != 20 || got[1] != 20 {
		t.Errorf("grew by %v, want 20 at the NIC and its interface", got)
	}
	p, err = Parse(text.String())
	if err != nil || p.Machines[0].OverS != 0 || len(p.Untimed) != 1 || p.Untimed[0] != "ethtool -S eth0" {
		t.Errorf("%v, over %v s, untimed %q", err, p.Machines[0].OverS, p.Untimed)
	}
}

// TestGrowthOfWhatIsReset: a counter that became smaller, one that only one of the outputs has, and those of
// commands that are there once did not grow. Nothing did between a reading and the next boot.
func TestGrowthOfWhatIsReset(t *testing.T) {
	text := "root@nas:~# nstat -az\nTcpRetransSegs 7 0.0\n" +
		"root@nas:~# ethtool -S eth0\nNIC statistics:\n rx_missed_errors: 100\n rx_crc_errors: 5\n" +
		"root@nas:~# sleep 10\n" +
		"root@nas:~# ethtool -S eth0\nNIC statistics:\n rx_missed_errors: 3\n"
	p, err := Parse(text)
	if err != nil || len(p.Machines) != 1 || p.Machines[0].OverS != 10 {
		t.Fatalf("%v %+v", err, p.Machines)
	}
	m := p.Machines[0]
	if n := m.Reading.SNMPDelta("Tcp.RetransSegs"); n != 0 {
		t.Errorf("what was read once grew by %d", n)
	}
	for name, now := range m.State.NICs[0].Counters {
		if before := m.State.NICs[0].Before[name]; before < now {
			t.Errorf("%s grew from %d to %d", name, before, now)
		}
	}
	if c := m.Reading.End.Interfaces; len(c) != 1 || c[0].RxMissed > m.Reading.Begin.Interfaces[0].RxMissed {
		t.Errorf("%+v after %+v", c, m.Reading.Begin.Interfaces)
	}
	booted := "root@nas:~# cat /proc/uptime\n5000.0 1\n" +
		"root@nas:~# ethtool -S eth0\nNIC statistics:\n rx_missed_errors: 1\n"
	first, _ := Parse(booted)
	again, _ := Parse(strings.NewReplacer("5000.0", "60.0", "errors: 1", "errors: 90").Replace(booted))
	if again.Machines[0].Since(first.Machines[0], 10) {
		t.Error("counters grew over a boot")
	}
}
