package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wrongLines are what people get wrong, with what the answer has to name; ␣ is a space
// within an argument.
var wrongLines = []struct{ line, want string }{
	// Flags.
	{"measure nas --streem 4", "did you mean --streams?"},
	{"limits goodput --vlna 1", "did you mean --vlan?"},
	{"limits goodput --vlan", "--vlan needs a value: number of VLAN tags"},
	{"limits goodput --vlan x", `--vlan "x": expected a whole number`},
	{"limits goodput --timestamps=maybe", `--timestamps "maybe": expected true or false`},
	{"run arp-flux --seed abc", `--seed "abc": expected a whole number of at least 0`},
	{"plot latest --scale big", `--scale "big": expected a number`},
	{"measure nas --streams many", `--streams "many": expected a whole number`},
	{"measure nas --pace fast --protocol rr", `--pace "fast": expected a number`},
	{"measure nas --nodelay=perhaps", `--nodelay "perhaps": expected true or false`},
	{"chek nas.yaml", `did you mean "check"?`},
	// Quantities.
	{"limits goodput --rate 1000", "expected 1000M for Mbit/s, or 1000bit for bit/s"},
	{"limits goodput --rate 100MB/s", "expected 800mbit"},
	{"limits bdp --rtt 30", "expected 30ms, 30us or 30s"},
	{"measure nas --latency --expect latency_p99␣<=␣500", "such as 'latency_p99 <= 500us'"},
	// iperf3's options.
	{"measure -c nas -Z", "iperf3's -Z, --zerocopy; here: the default"},
	{"measure nas --parallel 4", "here: --streams"},
	{"measure nas -n 1G", "here: tests end by time: --duration"},
	{"measure -s", "linerate serve"},
	{"-c nas", "linerate measure HOST"},
	{"-s", "linerate serve"},
	{"serve -D", "systemd"},
	{"serve -s", "linerate serve"},
	{"measure nas -R --bidir", "expected one of them"},
	{"measure nas -u --protocol tcp", "-u and --protocol tcp"},
	{"measure nas -4 -6", "-4 and -6"},
	{"measure nas -S 3", "type of service"},
	{"measure nas -x", "unknown flag: -x; linerate measure --help lists them"},
	{"serve -p 5203 --listen :5204", "--port and --listen"},
	// Files.
	{"check tab.yaml", "tab.yaml:3:1: tab: indent with spaces"},
	{"tune nas.yaml", "linerate run nas.yaml"},
	{"run blog.conf", "linerate tune blog.conf"},
	{"run nas", "did you mean ./nas.yaml?"},
	{"check ./nas", "did you mean ./nas.yaml?"},
	{"tune blog", "did you mean ./blog.conf?"},
}

// arguments are those of a line of a test.
func arguments(line string) []string {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "␣", " ")
	}
	return args
}

// wrongFiles are the files of wrongLines, in the current directory.
func wrongFiles(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"nas.yaml":  "study: nas\ntopology:\n  hosts: {a: {}}\nworkload: {}\n",
		"tab.yaml":  "study: nas\ntopology:\n\thosts:\n",
		"blog.conf": "# for 10 Gbit/s\nnet.core.rmem_max = 4194304\n",
	} {
		if err := os.WriteFile(filepath.Join(".", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMessages: what people get wrong is answered with what is right.
func TestMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	wrongFiles(t)
	for _, c := range wrongLines {
		args := arguments(c.line)
		var errs strings.Builder
		status := Main(args, strings.NewReader(""), io.Discard, &errs)
		if status != ExitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d, %q; want %q", c.line, status, errs.String(), c.want)
		}
		for _, leak := range []string{"strconv.", "pflag", "invalid syntax"} {
			if strings.Contains(errs.String(), leak) {
				t.Errorf("%s: %q", c.line, errs.String())
			}
		}
	}
}

// TestPortInUse: the next port is proposed, and never linerate's own for iperf3.
func TestPortInUse(t *testing.T) {
	l, port := listening(t)
	defer l.Close()
	var errs strings.Builder
	if status := Main([]string{"serve", "--iperf3", "off", "-p", port}, strings.NewReader(""), io.Discard, &errs); status != ExitFailed || !strings.Contains(errs.String(), "another port: --listen :") {
		t.Errorf("status %d, %q", status, errs.String())
	}
}
