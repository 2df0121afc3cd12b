package pasted

import (
	"fmt"
	"strings"
	"testing"
)

// TestParameters: which lines are parameters of Linux, of its files, or of another system.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		idle, lost       int
	}{
		{"BSD with =", "net.inet.tcp.sack=1\n", "", 1, 0},
		{"BSD with :", "kern.ipc.somaxconn: 128\nnet.inet.tcp.recvspace: 65536\n", "", 2, 0},
		{"of both", "net.ipv4.tcp_sack = 1\nnet.inet.tcp.sack=0\n", "net.ipv4.tcp_sack=1", 1, 0},
		{"a counter of a driver", "     port.rx_dropped: 0\n", "", 0, 1},
		{"below /proc/sys", "/proc/sys/net/core/rmem_max:212992\n", "net.core.rmem_max=212992", 0, 0},
		{"a file without its value", "$ cat /proc/sys/net/core/rmem_max\n\n$ cat /proc/sys/net/core/wmem_max\n9\n",
			"net.core.wmem_max=9", 2, 0},
		{"files of a pattern", "$ cat /proc/sys/net/core/*mem_max\n9\n9\n", "", 3, 0},
		{"another file", "$ cat /proc/net/bonding/bond0\nMII Status: up\nSpeed: 1000 Mbps\n", "", 1, 1},
		{"another file of settings", "$ cat /etc/other.conf\nnet.core.rmem_max\na.b = 9\n", "", 1, 2},
		{"a value too many", "$ cat /proc/sys/net/core/rmem_max\n9\nsomething else\n", "net.core.rmem_max=9", 1, 1},
		{"values without names", "$ sysctl -n net.core.rmem_max kern.x net.core.wmem_max\n9\n8\n", "net.core.rmem_max=9", 1, 1},
		{"a file", "$ cat /etc/sysctl.conf\n\n# net.ipv4.tcp_sack = 0\n net.ipv4.tcp_sack = 1 " +
			"\nnet.ipv4.conf.*.rp_filter = 2\n" +
			"# ip link\n", "/etc/sysctl.conf:3 net.ipv4.tcp_sack=1", 3, 1},
		{"a file behind root's prompt", "# cat /etc/sysctl.conf\n# ip forwarding\nnet.ipv4.ip_forward=1\n# cat " +
			"/etc/sysctl.d/9.conf\n" +
			"net.ipv4.ip_forward=0\n", "/etc/sysctl.d/9.conf:1 net.ipv4.ip_forward=0, /etc/sysctl.conf:2 " +
			"net.ipv4.ip_forward=1", 3, 0},
		{"the parameters of another system in a file", "$ cat /etc/sysctl.conf\nkern.ipc.somaxconn=128\nnet.inet.tcp.sack=1\n", "", 3, 0},
		{"grep", "/etc/sysctl.d/9.conf:net.ipv4.tcp_sack=1\n/etc/sysctl.d/9.conf:# net.ipv4.tcp_sack=1\n",
			"/etc/sysctl.d/9.conf:0 net.ipv4.tcp_sack=1", 1, 0},
		{"open files", "fs.file-nr = 9 0 10\n", "9 of 10", 0, 0},
		{"damaged open files", "fs.file-nr = 9 0\n", "", 1, 0},
	} {
		p, _ := Parse(c.text)
		var got []string
		for _, m := range p.Machines {
			for key, value := range m.State.Parameters {
				got = append(got, key+"="+value)
			}
			for _, l := range m.State.Files {
				got = append(got, fmt.Sprintf("%s:%d %s=%s", l.File, l.Line, l.Key, l.Value))
			}
			if m.State.MostFiles > 0 {
				got = append(got, fmt.Sprintf("%d of %d", m.State.OpenFiles, m.State.MostFiles))
			}
		}
		if strings.Join(got, ", ") != c.want || p.Idle != c.idle || p.Lost != c.lost {
			t.Errorf("%s: %d idle, %d lost %q: %q; want %d idle, %d lost: %q", c.name, p.Idle, p.Lost, p.NotUnderstood, got,
				c.idle, c.lost, c.want)
		}
	}
}
