package pasted

import (
	"fmt"
	"strings"
	"testing"
)

// TestSystem: what tools say of a machine as a whole, and what does not say it.
func TestSystem(t *testing.T) {
	const link = "2: eth0: <BROADCAST,UP> mtu 1500\n" // a part of the snapshot, so that there is a machine
	for _, c := range []struct {
		name, text, want string
		idle, lost       int
	}{
		{"uname", link + "\nLinux nas 6.1.0-28-amd64 #1 SMP Debian 6.1.119-1 (2024-11-22) x86_64 GNU/Linux\n",
			"nas linux 6.1.0-28-amd64 amd64", 0, 0},
		{"uname behind a prompt",
			"me@pi:~$ uname -a\nLinux raspberrypi 6.6.20+rpt-rpi-v8 #1 SMP Debian aarch64 GNU/Linux\n$ ip link\n" + link,
			"pi linux 6.6.20+rpt-rpi-v8 arm64", 2, 0},
		{"uname of another machine",
			"me@pi:~$ ip link\n" + link + "\nLinux web 6.6.20 #1 SMP x86_64 GNU/Linux\n" + link,
			"pi, web linux 6.6.20 amd64", 1, 0},
		{"uname -r", "$ uname -r\n6.1.0-28-amd64\n$ ip link\n" + link, "host1  6.1.0-28-amd64", 2, 0},
		{"uname -v", "$ uname -v\n#1 SMP Debian 6.1.119-1 (2024-11-22)\n$ ip link\n" + link, "host1", 3, 0},
		{"a sentence", link + "\nLinux is slow 6.1 here\n", "host1", 0, 1},
		{"hostname", "$ hostname\nnas.example.net\n$ ip link\n" + link, "nas.example.net", 3, 0},
		{"hostname -I", "$ hostname -I\n192.0.2.1 198.51.100.1\n$ ip link\n" + link, "host1", 3, 0},
		{"localhost", "$ hostname\nlocalhost\n$ ip link\n" + link, "host1", 3, 0},
		{"uptime",
			link + "\n 10:55:22 up 40 days, 3 min,  1 user,  load average: 0.49, 0.12, 0.04\n", "host1 up 3456180", 0, 0},
		{"uptime of hours",
			link + "\n16:33:40 up 5:55, 12 users,  load average: 9.32, 8.96, 8.87\n", "host1 up 21300", 0, 0},
		{"uptime -p",
			"$ uptime -p\nup 2 weeks, 3 days, 4 hours, 5 minutes\n$ ip link\n" + link, "host1 up 1483500", 2, 0},
		{"/proc/uptime", "$ cat /proc/uptime\n350735.47 234388.90\n$ ip link\n" + link, "host1 up 350735", 2, 0},
		{"a damaged /proc/uptime", "$ cat /proc/uptime\nnan\n$ ip link\n" + link, "host1", 2, 1},
		{"a line with up", link + "\nup 3 days\n", "host1", 0, 1},
		{"free -h", "$ free -h\n              total        used        free      shared  buff/cache   available\n" +
			"Mem:           3.7G        217M        3.2G         11M        267M        3.2G\n", "host1 3972844748 " +
			"free 3435973836", 2, 0},
		{"free -g", "$ free -g\n              total        used        free      shared  buff/cache   available\n" +
			"Mem:             15           8           0           0           6           0\n", "host1", 2, 0},
		{"free without a command", "              total        used        free      shared  buff/cache   available\n" +
			"Mem:          15893        9087         201         460        6604         311\n", "", 2, 0},
		{"an old free", "$ free\n             total       used       free     shared    buffers     cached\n" +
			"Mem:       8009912    7471152     538760          0     157048    4893932\n-/+ buffers/cache:    " +
			"2420172 " +
			"   5589740\n", "host1", 3, 0},
		{"meminfo", "MemTotal:        8009912 kB\nMemFree:          538760 kB\nMemAvailable:    6820236 kB\n",
			"host1 8202149888 free 6983921664", 1, 0},
		{"meminfo of an old kernel", "MemTotal:        8009912 kB\nMemFree:          538760 kB\n", "host1", 1, 0},
		{"not synchronised", "System clock synchronized: no\n", "host1 unsynchronised", 0, 0},
		{"chronyc", "Leap status     : Not synchronised\n", "host1 unsynchronised", 0, 0},
		{"chronyc of others",
			"$ chronyc sources\n^* ntp.example.net  2  6  377  33  +12us[ +20us] +/- 9ms\n", "", 2, 0},
		{"a clock source",
			"$ cat /sys/devices/system/clocksource/clocksource0/current_clocksource\nhpet\n", "host1 hpet", 1, 0},
		{"the output of ps", "$ ps aux\nUSER PID\nroot 1\n$ ip link\n" + link, "host1", 4, 0},
		{"other output behind ps", "$ ps aux\nUSER PID\n\n2: eth0: <BROADCAST,UP> mtu 1500\n", "host1", 2, 0},
		{"a neighbour",
			"Interface:    eth0, via: LLDP, RID: 1, Time: 0 day, 00:01:02\n  Port:        \n    PortID:       ifname " +
				"Gi1/0/7\n" +
				"    MFS:          99999\n  VLAN:         9999, pvid: yes\n  VLAN:         x\n", "host1 eth0 Gi1/0/7 " +
				"0 0", 3, 0},
		{"rows of a neighbour", "    PortID:       ifname Gi1/0/7\n    SysName:      sw1\n", "", 0, 2},
		{"JSON of lldpctl",
			"{\n\"lldp\": {\"interface\": {\"eth0\": {\"port\": {\"id\": {\"type\": \"ifname\", \"value\": " +
				"\"p7\"}}}}}\n}\n",
			"host1 eth0 p7 0 0", 0, 0},
		{"JSON of another tool", "$ lldpctl -f json\n{\n\"interface\": {\"eth0\": {}}\n}\n", "", 1, 3},
	} {
		p, _ := Parse(c.text)
		var got []string
		for _, m := range p.Machines {
			names := []string{m.Reading.Host, m.Host.OS, m.Host.Kernel, m.Host.Arch}
			text := strings.TrimRight(strings.Join(names, " "), " ")
			if m.State.UptimeS > 0 {
				text += fmt.Sprintf(" up %.0f", m.State.UptimeS)
			}
			if m.Reading.End.Memory != nil {
				text += fmt.Sprintf(" %d free %d", m.State.MemoryBytes, m.Reading.End.Memory.AvailableBytes)
			}
			if clock := m.State.Clock; clock != nil {
				text += map[bool]string{true: "", false: " unsynchronised"}[clock.Synchronised]
				text += map[bool]string{true: "", false: " " + clock.Source}[clock.Source == ""]
			}
			for _, n := range m.State.LLDP {
				text += fmt.Sprintf(" %s %s %d %d", n.Interface, n.Port, n.MFS, n.PVID)
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want || p.Idle != c.idle || p.Lost != c.lost {
			t.Errorf("%s: %d idle, %d lost %q: %q; want %d idle, %d lost: %q", c.name, p.Idle, p.Lost, p.NotUnderstood, got,
				c.idle, c.lost, c.want)
		}
	}
}

// TestToolsOfEverySystem: what iperf3, ps and the like print does not make the host of a macOS text a Linux one.
func TestToolsOfEverySystem(t *testing.T) {
	text := "mac$ ifconfig en0\nen0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n" +
		"\tether 02:00:00:00:00:01\n\tinet 192.0.2.7 netmask 0xffffff00 broadcast 192.0.2.255\n" +
		"mac$ iperf3 -c 192.0.2.1\n" +
		strings.Repeat("[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec\n", 30) +
		"mac$ ps aux\n" + strings.Repeat("root 1 0.0 0.1 169836 13100 ?? Ss 0:02 /sbin/launchd\n", 30)
	p, err := Parse(text)
	if err != nil || len(p.Machines) != 1 || p.Machines[0].Host.OS != "darwin" {
		t.Errorf("%v %+v", err, p.Machines)
	}
}
