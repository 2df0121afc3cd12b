package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/proc"
)

// TestParameterWarnings: a misspelt parameter is named before anything is made, and what
// another kernel or namespace may have is not called wrong.
func TestParameterWarnings(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"net/ipv4/conf/all", "net/ipv4/conf/default"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "arp_ignore"), []byte("0\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const text = `study: parameters
topology:
  hosts:
    a: {via: [ssh, a], sysctls: {net.ipv4.conf.all.arp_ignore: 1, net.core.rmem_max: 1, net.none.such: 1}, interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {via: [ssh, b], interfaces: {eth7: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b}]
workload: {flows: [{from: a, to: b}]}
factors:
  f:
    levels:
      none: {}
      one: {settings: [{host: b, sysctl: {net.ipv4.conf.eth7.arp_ignore: 1, net.ipv4.conf.all.arp_ingore: 1}}]}
      two: {settings: [{host: b, sysctl: {net.ipv4.conf.all.arp_ingore: 2}}, {host: a, sysctl: {net.ipv4.conf.eth0.arp_ingore: 2}}]}
`
	const lacks = "this machine's kernel does not have "
	virtual := []string{
		lacks + "net.none.such, or shows it in its first network namespace only",
		lacks + "net.ipv4.conf.all.arp_ingore; did you mean net.ipv4.conf.all.arp_ignore?",
		lacks + "net.ipv4.conf.eth0.arp_ingore; did you mean net.ipv4.conf.eth0.arp_ignore?",
	}
	var real []string
	for i, host := range []string{"a", "b", "a"} {
		real = append(real, virtual[i]+" (that of "+host+" is another one)")
	}
	virtual = append([]string{
		"net.core.rmem_max is machine-wide, and a lab's hosts are network namespaces: a cannot set it"}, virtual...)
	for text, want := range map[string][]string{text: real, strings.NewReplacer("via: [ssh, a], ", "",
		"via: [ssh, b], ", "").Replace(text): virtual} {
		var got []string
		for _, w := range ParameterWarnings(planOf(t, text), proc.Sysctls{Root: root}) {
			got = append(got, w.Text)
			if want := strings.HasSuffix(w.Text, "?"); w.Misspelt != want {
				t.Errorf("%s: misspelt %t, want %t", w.Text, w.Misspelt, want)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestParameterProblem: a warning has the line and column of the key, which neither a comment
// nor a longer key has, and names the option that set it; a misspelt parameter has every place.
func TestParameterProblem(t *testing.T) {
	const text = "# net.a.b\nx: {net.a.bc: 1}\ny:\n  - z: {net.a.d: net.a.b, 'net.a.b': 1}\n  - " +
		"{\"net.e{0..1}.f\": 1}\n  - {\"net.a.b\": 2, host: \"h{1..2}\"}\n"
	for _, c := range []struct {
		key, set string
		misspelt bool
		want     string
	}{
		{"net.a.b", "", false, "x.yaml:4:27: wrong"},
		{"net.a.b", "", true, "x.yaml:4:27: wrong\nx.yaml:6:6: wrong"},
		{"net.e1.f", "", false, "x.yaml:5:6: wrong"},
		{"net.a.g", "", true, "x.yaml: wrong"},
		{"x1", "x1=2", false, "--set x1=2: wrong"},
	} {
		var set []string
		if c.set != "" {
			set = []string{c.set}
		}
		if got := (ParameterWarning{Key: c.key, Text: "wrong", Misspelt: c.misspelt}).Problems("x.yaml", text,
			set...).Error(); got != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
}

// TestLowered: a setting that lowers a buffer below what the host has is named, with the
// treatment; one that raises it is not, nor that of a real host, which has another kernel.
func TestLowered(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "net/ipv4"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tcp_rmem", "tcp_wmem", "tcp_notsent_lowat"} {
		if err := os.WriteFile(filepath.Join(root, "net/ipv4", name), []byte("4096\t131072\t33554432\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	const text = `study: buffers
topology:
  hosts:
    a: {sysctls: {net.ipv4.tcp_wmem: 4096 16384 4194304}, interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b}]
workload: {flows: [{from: a, to: b}]}
factors:
  f:
    levels:
      none: {}
      larger: {settings: [{host: b, sysctl: {net.ipv4.tcp_rmem: 4096 131072 16777216}}]}
      largest: {settings: [{host: b, sysctl: {net.ipv4.tcp_rmem: 4096 131072 67108864}}, {host: a, sysctl: {net.ipv4.tcp_wmem: 4096 16384 16777216}}]}
`
	var got []string
	for _, text := range []string{text, strings.NewReplacer("a: {", "a: {via: [ssh, a], ", "b: {",
		"b: {via: [ssh, b], ").Replace(text)} {
		for _, w := range Lowered(planOf(t, text), proc.Sysctls{Root: root}) {
			got = append(got, w.Text)
		}
	}
	if want := `net.ipv4.tcp_rmem of b is lowered in treatment "larger": the third (max) 16777216, not 33554432`; !slices.Equal(got, []string{
		want}) {
		t.Errorf("%q, want %q", got, want)
	}
}
