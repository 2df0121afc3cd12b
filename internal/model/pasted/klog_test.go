package pasted

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

// logOf returns the lines of the log of each machine, with the level and the seconds since the boot.
func logOf(p Text) string {
	var b strings.Builder
	for _, m := range p.Machines {
		if m.State.Log == nil {
			continue
		}
		fmt.Fprintf(&b, "%s:", m.Reading.Host)
		for _, l := range m.State.Log.Lines {
			fmt.Fprintf(&b, " %d@%g %s;", l.Level, float64(l.AtNs)/1e9, l.Text)
		}
		if m.State.Log.More > 0 {
			fmt.Fprintf(&b, " and %d", m.State.Log.More)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestLog: lines of the kernel's log in each form, of which machine they are, and what is not taken
// for such lines.
func TestLog(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		idle, lost       int
	}{
		{"a line alone", "[   12.5] eth0: link down", "host1: 4@12.5 eth0: link down;\n", 0, 0},
		{"another time stamp", "[12.5s] eth0: link down", "", 0, 1},
		{"iperf", "[  4]   0.00-1.00   sec   401 MBytes  3.37 Gbits/sec    0    446 KBytes", "", 0, 0},
		{"not a command", "eth0: link down\nnet eth0: Unexpected TXQ (0) queue failure: -28", "", 0, 2},
		{"without time stamps", "$ dmesg\neth0: link down\nTCP: eth0: Driver has suspect GRO implementation, TCP " +
			"performance may be compromised.\nusb 1-1: new device\n",
			"host1: 4@0 eth0: link down; 4@0 TCP: eth0: Driver has suspect GRO implementation, TCP performance may " +
				"be compromised.;\n", 2, 0},
		{"without time stamps, with levels", "$ dmesg -t -x\nkern  :err   : eth0: link down\ndaemon:err   : eth0: " +
			"link down\n",
			"host1: 3@0 eth0: link down;\n", 2, 0},
		{"behind lines with time stamps", "$ dmesg\n[    1.5] eth0: link down\neth1: link down\n",
			"host1: 4@1.5 eth0: link down;\n", 1, 1},
		{"another tool behind it", "$ dmesg\n[    1.5] eth0: link down\n\n192.0.2.1 dev eth0 lladdr " +
			"02:00:00:00:00:01 " +
			"STALE\n",
			"host1: 4@1.5 eth0: link down;\n", 1, 0},
		{"another tool behind lines without time stamps",
			"$ dmesg\neth0: link down\n\n192.0.2.1 dev eth0 lladdr 02:00:00:00:00:01 STALE\n", "host1: 4@0 eth0: " +
				"link " +
				"down;\n", 1, 0},
		{"programs", "[    1.5] systemd[1]: eth0: link down\n[    2.5] eth0: link down\n", "host1: 4@2.5 eth0: link " +
			"down;\n", 1, 0},
		{"a disk", "[    1.5] ata1: SATA link down (SStatus 0 SControl 300)", "host1:\n", 1, 0},
		{"the same log twice", "$ dmesg\n[    1.5] eth0: link down\n$ journalctl -k -o short-monotonic\n[    " +
			"1.500000] nas kernel: eth0: link down\n",
			"nas: 4@1.5 eth0: link down;\n", 2, 0},
		{"newest first", "$ journalctl -k -r\nNov 29 10:00:02 nas kernel: eth1: link down\nNov 29 10:00:01 nas " +
			"kernel: eth0: link down\n",
			"nas: 4@0 eth0: link down; 4@0 eth1: link down;\n", 1, 0},
		{"behind a prompt", "root@gw:~# journalctl -k\nNov 29 10:00:02 localhost kernel: eth1: link down\n" +
			"Nov 29 10:00:02 other kernel: eth1: link up\n", "gw: 4@0 eth1: link down; 4@0 eth1: link up;\n", 1, 0},
		{"several machines in a file", "root@log:~# cat /var/log/messages\nNov 29 10:00:02 a kernel: eth1: link " +
			"down\n" +
			"Nov 29 10:00:02 b.example.net kernel: eth1: link up\nNov 29 10:00:03 a.example.net kernel: eth1: link " +
			"up\n" +
			"root@log:~# dmesg\n[  7.5] eth0: link up\n",
			"a: 4@0 eth1: link down; 4@0 eth1: link up;\nb.example.net: 4@0 eth1: link up;\nlog: 4@7.5 eth0: link " +
				"up;\n", 2, 0},
		{"a machine gets its name", "2: eth0: <BROADCAST,UP> mtu 1500\n\nNov 29 10:00:02 a kernel: eth1: link down\n",
			"a: 4@0 eth1: link down;\n", 0, 0},
		{"programs alone", "Nov 29 10:00:02 a sshd[77]: Server listening on 0.0.0.0 port 22.\n", "", 0, 1},
		{"a program called kernel", "Nov 29 10:00:02 a user.notice kernel: eth0: link down\n", "", 1, 0},
		{"facility of a program", "<30>1 2026-11-29T10:00:04Z web2 kernel - - - eth0: link down\n", "", 1, 0},
		{"a sentence", "Nov 29 10:00:02 we saw kernel: panic", "", 0, 1},
		{"JSON of another tool", `{"MESSAGE":"eth0: link down"}`, "", 0, 1},
		{"damaged JSON", "$ journalctl -o json\n" + `{"_TRANSPORT":"kernel","MESSAGE":"eth0: li`, "", 1, 1},
		{"numbers too large", "[9999999999.5] eth0: link down", "host1: 4@0 eth0: link down;\n", 0, 0},
	} {
		p, _ := Parse(c.text)
		if got := logOf(p); got != c.want || p.Idle != c.idle || p.Lost != c.lost {
			t.Errorf("%s: %d idle, %d lost %q:\n%s, want %d idle, %d lost:\n%s", c.name, p.Idle, p.Lost, p.NotUnderstood,
				got, c.idle, c.lost, c.want)
		}
	}
}

// TestLongLog: of a long log, lines that mean a fault are kept, even if others are newer.
func TestLongLog(t *testing.T) {
	var b strings.Builder
	b.WriteString("[ 0.5] TCP: out of memory -- consider tuning tcp_mem\n")
	for i := range 500 {
		fmt.Fprintf(&b, "[ %d.25] br0: port 1(eth1) entered blocking state\n[ %d.5] eth%d: something new\n", i+1, i+1, i)
	}
	for i := range 300 {
		fmt.Fprintf(&b, "[ %d.5] TCP: out of memory -- consider tuning tcp_mem\n", i+600)
	}
	p := parse(t, b.String())
	l := p.Machines[0].State.Log
	faults := 0
	for i, line := range l.Lines {
		if m := netstate.MessageOf(line.Text); m != nil && m.Sure != "" {
			faults++
		}
		if i > 0 && line.AtNs < l.Lines[i-1].AtNs {
			t.Errorf("line %d is of an earlier time", i)
		}
	}
	if len(l.Lines)+l.More != 1301 || len(l.Lines) > netstate.MostLogLines || faults < 1 {
		t.Errorf("%d lines with %d faults, and %d more", len(l.Lines), faults, l.More)
	}
}
