package settingfile

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
)

func TestSysctlConf(t *testing.T) {
	f := Read("99-net.conf", []byte("\ufeff# a comment\n; another\n\nnet.ipv4.tcp_rmem = 4096\t87380   16777216\n"+
		"-net/ipv4/conf/eth0.100/rp_filter=0\nnet.core.rmem_max = \"1048576\"\nnet.ipv4.conf.*.rp_filter = "+
		"0\nrubbish\n= 1\nnet.ipv4.tcp_sack =\n-net.ipv4.conf.lo.rp_filter\ntwo words = 1\n"), "")
	want := []Line{
		{File: "99-net.conf", Line: 4, Key: "net.ipv4.tcp_rmem", Value: "4096 87380 16777216", listed: true},
		{File: "99-net.conf", Line: 5, Key: "net.ipv4.conf.eth0/100.rp_filter", Value: "0", Optional: true,
			listed: true},
		{File: "99-net.conf", Line: 6, Key: "net.core.rmem_max", Value: "1048576", listed: true,
			Slip: "the quotes become part of the value", Written: `net.core.rmem_max = "1048576"`},
		{File: "99-net.conf", Line: 7, Key: "net.ipv4.conf.*.rp_filter", Value: "0", listed: true},
	}
	if !reflect.DeepEqual(f.Lines, want) || f.System != opsystem.Linux || f.Format != sysctlConf {
		t.Errorf("%s %s %+v", f.System, f.Format, f.Lines)
	}
	var wrong []int
	for _, a := range f.Apart {
		if a.Kind == Wrong {
			wrong = append(wrong, a.Line)
		}
	}
	if !slices.Equal(wrong, []int{8, 9, 10, 12}) || len(f.Apart) != 5 {
		t.Errorf("apart: %+v", f.Apart)
	}
}

// TestPasted: of what people paste instead of settings, the settings that were meant.
func TestPasted(t *testing.T) {
	for line, want := range map[string][]string{
		"sysctl -w net.ipv4.tcp_sack=1": {"net.ipv4.tcp_sack = 1"},
		"$ sudo /sbin/sysctl -q -w net.ipv4.tcp_rmem='4096 87380 16777216'": {
			"net.ipv4.tcp_rmem = 4096 87380 16777216"},
		`sysctl -w "net.ipv4.tcp_wmem=4096 1 2" # so much`: {"net.ipv4.tcp_wmem = 4096 1 2"},
		"sysctl –w net.core.rmem_max=1 && sudo sysctl -w net.core.wmem_max=2": {"net.core.rmem_max = 1",
			"net.core.wmem_max = 2"},
		"sysctl -w net.core.rmem_max=1 net.core.wmem_max=2": {"net.core.rmem_max = 1",
			"net.core.wmem_max = 2"},
		"net.ipv4.tcp_sack: 1":                                {"net.ipv4.tcp_sack = 1"},
		"net.ipv4.tcp_sack 1":                                 {"net.ipv4.tcp_sack = 1"},
		"/proc/sys/net/ipv4/conf/eth0.5/rp_filter = 1":        {"net.ipv4.conf.eth0/5.rp_filter = 1"},
		"echo 1 > /proc/sys/net/ipv4/tcp_sack":                {"net.ipv4.tcp_sack = 1"},
		`echo "1 2 3" | sudo tee /proc/sys/net/ipv4/tcp_rmem`: {"net.ipv4.tcp_rmem = 1 2 3"},
		"sudo sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_sack'":   {"net.ipv4.tcp_sack = 1"},
		"net.ipv4.tcp_congestion_control = “bbr”": {
			"net.ipv4.tcp_congestion_control = bbr"},
		"net.core.rmem_max\u00a0=\u00a04194304": {"net.core.rmem_max = 4194304"},
		"net.ipv4.tcp_sack = 1 net.ipv4.tcp_dsack = 0": {"net.ipv4.tcp_sack = 1",
			"net.ipv4.tcp_dsack = 0"},
		"net.ipv4.tcp_sack = 1; net.ipv4.tcp_dsack = 0;": {"net.ipv4.tcp_sack = 1",
			"net.ipv4.tcp_dsack = 0"},
		// What is right, or cannot be known.
		"net.ipv4.tcp_sack = 1 # it’s on": {},
		"-net.ipv4.tcp_sack = 1":          {},
		"sysctl -p":                       {},
		"net.ipv4/tcp_sack = 1":           {},
		"kernel.core_pattern = |/a b=c":   {},
	} {
		f := Read("x.conf", []byte(line+"\n"), opsystem.Linux)
		got := []string{}
		for _, l := range f.Lines {
			if l.Slip != "" {
				got = append(got, l.Setting())
			}
			if (l.Slip != "") != (l.Written == line) {
				t.Errorf("%s: %+v", line, l)
			}
		}
		for _, a := range f.Apart {
			if got = append(got, a.Instead...); a.Kind != Wrong || a.Text != line {
				t.Errorf("%s: %+v", line, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		for _, fixed := range got {
			again := Read("x.conf", []byte(fixed), opsystem.Linux)
			if len(again.Lines) != 1 || again.Lines[0].Slip != "" ||
				again.Lines[0].Setting() != fixed {
				t.Errorf("%s: %q is read as %+v", line, fixed, again)
			}
		}
	}
}

func TestSystemsAndFormats(t *testing.T) {
	for _, test := range []struct{ name, text, system, format, value string }{
		{"sysctl.conf", "kern.ipc.nmbclusters=262144 # clusters\n", opsystem.FreeBSD, sysctlConf, "262144"},
		{"/boot/loader.conf", "# boot\nhw.ixgbe.txd=\"4096\"\n", opsystem.FreeBSD, loaderConf, "4096"},
		{"sysctl.conf", "net.inet.ip.ifq.maxlen=512\nnet.inet.udp.recvspace=231072\n", opsystem.OpenBSD, sysctlConf, "512"},
		{"tuned.conf", "[main]\ninclude=balanced\n[sysctl]\nnet.core.somaxconn=>2048\n[cpu]\ngovernor=performance\n",
			opsystem.Linux, tunedProfile, "2048"},
		{"10-x.conf", "vm.swappiness = 1 # low\n", opsystem.Linux, sysctlConf, "1 # low"},
	} {
		f := Read(test.name, []byte(test.text), "")
		if f.System != test.system || f.Format != test.format || len(f.Lines) == 0 || f.Lines[0].Value != test.value {
			t.Errorf("%s: %s %s %+v", test.text, f.System, f.Format, f.Lines)
		}
	}
	if f := Read("tuned.conf", []byte("[sysctl]\nnet.core.somaxconn=>2048\nx.y=${z}\n[disk]\nreadahead=>4096\n"),
		""); f.Lines[0].Bound != ">" || len(f.Apart) != 2 {
		t.Errorf("%+v", f)
	}
}

// TestBare: what people write behind a value as a comment is separated from the value.
func TestBare(t *testing.T) {
	for _, test := range [][3]string{
		{"bbr # the fast one", "bbr", "# the fast one"},
		{"250000#big", "250000", "#big"},
		{"250000 // big", "250000", "// big"},
		{"fq ; pacing", "fq", "; pacing"},
		{"1 ; 2 ; 3", "1 ; 2 ; 3", ""},
		{"1;2;3", "1;2;3", ""},
		{"|/bin/a#b %p", "|/bin/a#b %p", ""},
		{"http://x", "http://x", ""},
		{"# x", "# x", ""},
	} {
		if value, comment := (Line{Value: test[0]}).Bare(); value != test[1] || comment != test[2] {
			t.Errorf("%q: %q, %q", test[0], value, comment)
		}
	}
}

// Files are read in their order: a later line wins over an earlier one, in the
// same file and in an earlier file.
func TestWinning(t *testing.T) {
	a := Read("a", []byte("net.x = 1\nnet.y = 1\nnet.x = 2\n"), "")
	b := Read("b", []byte("net.y = 3\nnet.z = 4\n"), "")
	var got []string
	for _, l := range Winning([]File{a, b}, nil) {
		got = append(got, l.Where()+" "+l.Setting())
	}
	if want := []string{"a:3 net.x = 2", "b:1 net.y = 3", "b:2 net.z = 4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = nil
	for _, l := range Winning([]File{b, a}, nil) {
		got = append(got, l.Where())
	}
	if want := []string{"b:2", "a:2", "a:3"}; !slices.Equal(got, want) {
		t.Errorf("in the other order %q, want %q", got, want)
	}
	got = nil
	for _, l := range Winning([]File{a, b}, func(l Line) bool { return l.Value == "2" || l.Key == "net.z" }) {
		got = append(got, l.Where())
	}
	if want := []string{"a:1", "b:1", "b:2"}; !slices.Equal(got, want) {
		t.Errorf("with refused lines %q, want %q", got, want)
	}
}

// FuzzRead: whatever a file holds, reading it ends; what is read has lines of the file, and what a
// sysctl.conf sets can be written and read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a.b = 1\n", "-a/b.c=1", "[sysctl]\na.b=>2\n[main]\ninclude=x", "a=\"1\" # c",
		"=\n-\n-=\n*.x=1", "\ufeff[a]\n", "a.b='1'", "sysctl -w net.a=1 net.b=2", "echo 1 > /proc/sys/net/a",
		"net.a: 1", "net/a.b=“1”\u00a0", "ethtool -K eth0 gro off tso off",
		"echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus", "[net]\ncoalesce=rx-usecs 1\n"} {
		f.Add("x.conf", seed)
		f.Add("loader.conf", seed)
	}
	for _, name := range samples(f) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(name), string(text))
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		file := Read(name, []byte(text), "")
		rows := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		for _, l := range file.Lines {
			if l.Line < 1 || l.Line > rows || l.Key == "" || l.Value == "" || strings.ContainsAny(l.Key+l.Value,
				"\t\n") ||
				!l.IsOption() && strings.Contains(l.Key, " ") || l.File != name {
				t.Fatalf("%+v of %d lines", l, rows)
			}
			l.Wrong()
			InterfaceOf(l.Key)
		}
		for _, a := range file.Apart {
			if a.Line < 1 || a.Line > rows || a.Why == "" || strings.Contains(a.Text, "\n") ||
				len(a.Text) > longest+len("…") ||
				a.File != name {
				t.Fatalf("%+v of %d lines", a, rows)
			}
		}
		if file.Format == "" || file.System == "" || opsystem.Name(file.System) == "" ||
			FormatName(file.Format) == file.Format && find(file.Format) == nil {
			t.Fatalf("%s for %s", file.Format, file.System)
		}
		if len(file.Lines)+len(file.Apart) == 0 && !file.Blank && !file.Nothing() {
			t.Fatal("nothing was read, and that is not said")
		}
		if file.Format != sysctlConf {
			return
		}
		for _, l := range Winning([]File{file}, nil) {
			if l.IsOption() || strings.ContainsAny(l.Value, "\"'#=") || strings.ContainsAny(l.Key, "-*?[;#=") ||
				strings.HasPrefix(l.Key, "\ufeff") || l.Bound != "" || strings.ContainsAny(l.Key,
				"\v\f\r\u0085\u00a0") ||
				templated(l.Setting()) != "" || blanks.MatchString(l.Key) || program.MatchString(l.Setting()) {
				continue // written as it is it would mean something else
			}
			again := Read("again.conf", []byte(l.Setting()+"\n"), file.System)
			if again.Format == sysctlConf && (len(again.Lines) != 1 || again.Lines[0].Value != l.Value ||
				again.Lines[0].Key != l.Key) {
				t.Fatalf("%q is read as %+v", l.Setting(), again.Lines)
			}
		}
	})
}
