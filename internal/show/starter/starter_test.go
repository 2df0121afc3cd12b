package starter

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/model/study"
)

// made is a template's text for arguments such as "interfaces=4", others at their defaults.
func made(k Kind, given ...string) (string, error) {
	arguments := make([]any, len(k.Arguments))
	for i, a := range k.Arguments {
		text := a.Default
		for _, g := range given {
			if value, is := strings.CutPrefix(g, a.Name+"="); is {
				text = value
			}
		}
		var err error
		if arguments[i], err = a.Parse(text); err != nil {
			return "", fmt.Errorf("--%s %w", a.Name, err)
		}
	}
	text, err := k.Study(arguments, func(string) string { return "4096\t131072\t33554432" })
	return string(text), err
}

// TestTemplates: what a template makes is a study, with its defaults and at its bounds.
func TestTemplates(t *testing.T) {
	for name, list := range map[string][]string{
		"nas": {"", "interfaces=16 clients=1 client-rate=100gbit", "interfaces=3 clients=64 rate=10mbit",
			"clients=1", "rate=1mbit client-rate=1mbit"},
		"switch": {"", "hosts=3 rate=1mbit", "hosts=64 rate=100gbit"},
		"fabric": {"", "spines=16 leaves=16 flows=1", "spines=3 leaves=5 flows=256 rate=1mbit", "rate=100gbit"},
		"wan": {"", "rate=1mbit rtt=1s", "rate=10gbit rtt=1ms loss=0.1%", "loss=10% streams=64", "rtt=1500us",
			"rate=10gbit rtt=200ms"},
		"list": {"", "rate=1gbit rtt=100ms", "rate=10mbit rtt=20ms", "rate=1mbit rtt=1ms"},
		"hosts": {"", "server=nas client=me@there server-address=fd00::1/64 client-address=fd00::2/64",
			"server=root@nas:2299 client=me@[2001:db8::1]:22", "server=10.0.0.1 client=ssh://me@nas:22",
			"server-interface=enp3s0 client-interface=bond0.7 rate=100gbit"},
	} {
		k, found := Find(name)
		if !found {
			t.Fatalf("no kind %s", name)
		}
		for _, given := range list {
			text, err := made(k, strings.Fields(given)...)
			if err != nil {
				t.Errorf("%s %s: %v", name, given, err)
				continue
			}
			s, err := study.Parse(name, []byte(text))
			if err != nil {
				t.Errorf("%s %s: %v\n%s", name, given, err, text)
				continue
			}
			if plan, err := study.NewPlan(s); err != nil {
				t.Errorf("%s %s: %v", name, given, err)
			} else if few := plan.TooFew(); len(few) > 0 {
				t.Errorf("%s %s: %s", name, given, few)
			}
			if s.Name != name {
				t.Errorf("%s %s: the study is called %s", name, given, s.Name)
			}
			for n, line := range strings.Split(text, "\n") {
				if strings.HasPrefix(line, "#") && len(line) > 90 || line != strings.TrimRight(line, " ") {
					t.Errorf("%s %s: line %d is too long a comment, or ends in spaces: %q", name, given, n+1, line)
				}
			}
		}
	}
}

// TestBuffers: the larger buffers are those of limits bdp, but not less than the kernel's;
// twice the kernel's where those are enough; Linux's own where the kernel is not known.
func TestBuffers(t *testing.T) {
	k, _ := Find("wan")
	for _, test := range []struct{ rate, rtt, rmem, wmem, wantRmem, wantWmem string }{
		{"1gbit", "80ms", "4096 131072 33554432", "4096 16384 4194304", "4096 131072 40000000", "4096 16384 30000000"},
		{"500mbit", "80ms", "4096 131072 33554432", "4096 16384 4194304", "4096 131072 33554432",
			"4096 16384 15000000"},
		{"100mbit", "40ms", "8192 262144 33554432", "4096 16384 4194304", "8192 262144 67108864", "4096 16384 8388608"},
		{"100mbit", "40ms", "", "no numbers", "4096 131072 12582912", "4096 16384 8388608"},
		{"1mbit", "1ms", "4096 131072 2147483647", "4096 16384 4194304", "4096 131072 2147483647",
			"4096 16384 8388608"},
	} {
		arguments := make([]any, len(k.Arguments))
		for i, a := range k.Arguments {
			given := map[string]string{"rate": test.rate, "rtt": test.rtt}
			var err error
			if arguments[i], err = a.Parse(cmp.Or(given[a.Name], a.Default)); err != nil {
				t.Fatal(err)
			}
		}
		now := map[string]string{"net.ipv4.tcp_rmem": test.rmem, "net.ipv4.tcp_wmem": test.wmem}
		text, err := k.Study(arguments, func(key string) string { return now[key] })
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"{net.ipv4.tcp_rmem: " + test.wantRmem + "}", "{net.ipv4.tcp_wmem: " +
			test.wantWmem + "}"} {
			if strings.Count(string(text), want) != 2 {
				t.Errorf("%s, %s, %s, %s: want %s twice in\n%s", test.rate, test.rtt, test.rmem, test.wmem, want, text)
			}
		}
	}
}

// TestEveryKindIsTried: the test above has each kind.
func TestEveryKindIsTried(t *testing.T) {
	for _, k := range Kinds {
		text, err := made(k)
		if err != nil || !strings.Contains(text, "study: "+k.Name+"\n") {
			t.Errorf("%s: %v\n%s", k.Name, err, text)
		}
	}
}

// TestBounds: each argument refuses what is outside of its bounds, and says which they are.
func TestBounds(t *testing.T) {
	for _, k := range Kinds {
		for _, a := range k.Arguments {
			for _, text := range []string{"", "-1", "x y", "0x10", "1e99", "1e99gbit", "9999h", "200%", "NaN", "eth0\n",
				"-oProxyCommand=x", "{a}", "a: b", "10.0.0.1"} {
				v, err := a.Parse(text)
				if err == nil && (a.Type == "host" || a.Type == "name") && (text == "0x10" || text == "1e99" ||
					text == "NaN" || text == "1e99gbit" || text == "9999h" || text == "10.0.0.1") {
					continue // names as good as others
				}
				if err == nil || !strings.Contains(err.Error(), "expected ") {
					t.Errorf("%s --%s %q: %v, %v", k.Name, a.Name, text, v, err)
				}
			}
		}
	}
	for _, test := range []struct{ kind, given, want string }{
		{"nas", "clients=0", "--clients 0: expected 1 to 64"},
		{"nas", "interfaces=17", "--interfaces 17: expected 2 to 16"},
		{"nas", "rate=1", "--rate 1: expected 1mbit to 100gbit"},
		{"wan", "rtt=2s", "--rtt 2s: expected 1ms to 1s"},
		{"wan", "loss=0.1", "--loss \"0.1\" is not a ratio: it has no %; expected 10%, or 0.1%"},
		{"wan", "loss=20%", "--loss 20%: expected 0% to 10%"},
		{"wan", "rate=10gbit rtt=1s", "1192 MiB are in flight: expected at most 256 MiB"},
		{"hosts", "client-address=10.0.0.1/24", "expected two addresses of one network"},
		{"hosts", "client-address=192.168.1.15/24", "expected two different ones"},
		{"hosts", "server=root@nas:0", `"root@nas:0": expected a port from 1 to 65535`},
	} {
		k, _ := Find(test.kind)
		if _, err := made(k, strings.Fields(test.given)...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %s", test.kind, test.given, err, test.want)
		}
	}
}

// TestDocumented: the table in the manual is that of Kinds. With UPDATE_DOCS=1 it is written.
func TestDocumented(t *testing.T) {
	const page, begin, end = "../../../docs/study-files.md", "<!-- templates -->\n", "<!-- /templates -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	table := "\n| template | asks | arguments |\n|---|---|---|\n"
	for _, k := range Kinds {
		table += fmt.Sprintf("| `%s` | %s | ", k.Name, k.Short)
		for i, a := range k.Arguments {
			if i > 0 {
				table += ", "
			}
			table += "`--" + a.Name + "`"
		}
		table += " |\n"
	}
	want := before + begin + table + end + after
	if want == string(text) {
		return
	}
	if os.Getenv("UPDATE_DOCS") == "" {
		t.Fatalf("%s: the table of templates is not that of Kinds (UPDATE_DOCS=1 writes it)", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
