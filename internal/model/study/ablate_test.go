package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const apart = pair + `
factors:
  settings:
    ablate: all of it
    levels:
      as it is: {}
      all of it:
        settings:
          - {host: a, sysctl: {net.ipv4.tcp_sack: 1, net.ipv4.tcp_ecn: 0}}
          - {host: b, sysctl: {net.ipv4.tcp_sack: 0}}
          - {host: b, link: {interface: eth0, mtu: 9000}}
      off again: {}
design:
  parts:
    first: {levels: {settings: [as it is, only net.ipv4.tcp_sack]}}
    rest: {one_by_one: [settings], on_demand: true}
`

// TestAblate: a list is taken apart into each of its settings on all of its hosts,
// and the list without it, which parts of a design can name like any other level.
func TestAblate(t *testing.T) {
	s := parse(t, apart)
	var got []string
	for _, l := range s.Factors[0].Levels {
		line := fmt.Sprintf("%s; %s; %s:", l.Name, l.Part, l.Against)
		for _, set := range l.Settings {
			line += " " + strings.Join(set.Lines(), " ")
		}
		got = append(got, line)
	}
	want := []string{
		"as it is; ; :",
		"all of it; ; : a: sysctl net.ipv4.tcp_sack=1 a: sysctl net.ipv4.tcp_ecn=0 b: sysctl net.ipv4.tcp_sack=0 " +
			"b: link eth0 mtu 9000",
		"off again; ; :",
		"only net.ipv4.tcp_sack; net.ipv4.tcp_sack; : a: sysctl net.ipv4.tcp_sack=1 b: sysctl net.ipv4.tcp_sack=0",
		"only net.ipv4.tcp_ecn; net.ipv4.tcp_ecn; : a: sysctl net.ipv4.tcp_ecn=0",
		"only link eth0 mtu 9000; link eth0 mtu 9000; : b: link eth0 mtu 9000",
		"without net.ipv4.tcp_sack; net.ipv4.tcp_sack; all of it: a: sysctl net.ipv4.tcp_ecn=0 b: link eth0 mtu 9000",
		"without net.ipv4.tcp_ecn; net.ipv4.tcp_ecn; all of it: a: sysctl net.ipv4.tcp_sack=1 b: sysctl " +
			"net.ipv4.tcp_sack=0 b: link eth0 mtu 9000",
		"without link eth0 mtu 9000; link eth0 mtu 9000; all of it: a: sysctl net.ipv4.tcp_sack=1 a: sysctl " +
			"net.ipv4.tcp_ecn=0 b: sysctl net.ipv4.tcp_sack=0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	p := plan(t, s)
	if got := namesOf(p); !slices.Equal(got, []string{"as it is", "only net.ipv4.tcp_sack"}) {
		t.Errorf("the first part tries %q", got)
	}
	if f := p.Factors()[0]; f.Ablate != "all of it" || f.Levels[1].Part != "net.ipv4.tcp_sack" {
		t.Errorf("the record says %+v", f)
	}
	if all, err := NewPlan(s, AllParts); err != nil || len(all.Treatments) != len(want) {
		t.Errorf("all parts: %v, %+v", err, all)
	}
}

// TestPartLabels: what is long is cut to different names that a level may have.
func TestPartLabels(t *testing.T) {
	for _, long := range []string{"net.ipv4.conf." + strings.Repeat("x", 60) + ".rp_filter", strings.Repeat("ü", 60) +
		".rp_filter"} {
		for _, word := range []string{"only ", "without "} {
			name := partLabel(word, long)
			if len(name) > maxLabel || len(name) < maxLabel-1 || !strings.HasSuffix(name, ".rp_filter") ||
				strings.ToValidUTF8(name, "") != name {
				t.Errorf("%q has %d bytes", name, len(name))
			}
		}
	}
}

// TestPartLabelsDiffer: parts that are alike where they are cut have names of their own.
func TestPartLabelsDiffer(t *testing.T) {
	tail := " by nexthop 10 metric 20 initcwnd 40 in table 1000000000000000000"
	names := partLabels("without ", []string{"route 10.1.0.0/16" + tail, "route 10.2.0.0/16" + tail,
		"net.ipv4.tcp_sack", "route 10.3.0.0/16" + tail})
	for i, name := range names {
		if slices.Contains(names[:i], name) || len(name) > maxLabel {
			t.Errorf("%q of %q", name, names)
		}
	}
	if names[2] != "without net.ipv4.tcp_sack" || !strings.HasSuffix(names[3], " (3)") {
		t.Errorf("%q", names)
	}
}

// TestAblateControl: the congestion control that a list gives its flows is one of its parts.
func TestAblateControl(t *testing.T) {
	s := parse(t, pair+`
factors:
  settings:
    ablate: all of it
    levels:
      as it is: {}
      all of it:
        workload: {congestion_control: reno}
        settings: [{host: a, sysctl: {net.ipv4.tcp_sack: 1}}]
`)
	for _, l := range s.Factors[0].Levels[2:] {
		has := l.Workload != nil && l.Workload.CongestionControl == "reno"
		if own := l.Part == "net.ipv4.tcp_congestion_control"; has != (own == (l.Against == "")) ||
			len(l.Settings) > 0 == has {
			t.Errorf("%s (%s): %+v, settings %v", l.Name, l.Part, l.Workload, l.Settings)
		}
	}
	if n := len(s.Factors[0].Levels); n != 6 {
		t.Errorf("%d levels", n)
	}
}
