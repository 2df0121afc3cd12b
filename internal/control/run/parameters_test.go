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
	virtual = append([]string{"net.core.rmem_max is machine-wide, and a lab's hosts are network namespaces: a cannot set it"}, virtual...)
	for text, want := range map[string][]string{text: real, strings.NewReplacer("via: [ssh, a], ", "", "via: [ssh, b], ", "").Replace(text): virtual} {
		var got []string
		for _, w := range ParameterWarnings(planOf(t, text), proc.Sysctls{Root: root}) {
			got = append(got, w.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLocated: a warning names the line and column of its parameter, which a comment does
// not have.
func TestLocated(t *testing.T) {
	w := ParameterWarning{"net.a.b", "no such parameter"}
	if got, want := w.Located("x.yaml", "# net.a.b\nsysctls: {net.a.b: 1}\n"), "x.yaml:2:11: warning: no such parameter"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := w.Located("x.yaml", "sysctls: {}\n"), "x.yaml: warning: no such parameter"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
