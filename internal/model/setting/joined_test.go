package setting

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
)

func TestJoined(t *testing.T) {
	at := func(host, port, prefix string) Setting {
		return Setting{Host: host, Address: &Address{Interface: port, Address: netip.MustParsePrefix(prefix)}}
	}
	rule := Setting{Host: "h", Rule: &Rule{From: "10.0.0.1", Table: 7}}
	in := []Setting{
		at("h", "eth0", "10.0.0.255/16"), at("h", "eth0", "10.0.1.0/16"), at("h", "eth0", "10.0.1.1/16"),
		at("h", "eth1", "10.0.1.2/16"), // another interface
		at("h", "eth1", "10.0.1.3/24"), // another prefix length
		at("h", "eth1", "10.0.1.4/24"), rule,
		// what comes between may need those before it
		at("h", "eth1", "10.0.1.5/24"),
		at("g", "eth1", "10.0.1.6/24"),                                       // another host
		at("g", "eth1", "10.0.1.8/24"),                                       // a gap
		at("g", "eth1", "255.255.255.255/24"), at("g", "eth1", "0.0.0.0/24"), // nothing follows the last one
	}
	before := slices.Clone(in)
	counts := []int{3, 1, 2, 0, 1, 1, 1, 1, 1}
	out := Joined(in)
	if len(out) != len(counts) {
		t.Fatalf("%d settings, want %d: %+v", len(out), len(counts), out)
	}
	var all []netip.Prefix
	for i, s := range out {
		if s.Address == nil {
			if counts[i] != 0 {
				t.Errorf("setting %d is %+v", i, s)
			}
			continue
		}
		if s.Address.Number() != counts[i] {
			t.Errorf("setting %d has %d addresses, want %d: %s", i, s.Address.Number(), counts[i], s.Address)
		}
		for _, p := range s.Address.All() {
			all = append(all, p)
		}
	}
	var want []netip.Prefix
	for i, s := range in {
		if s.Address != nil {
			want = append(want, s.Address.Address)
		}
		if !reflect.DeepEqual(s, before[i]) || s.Address != before[i].Address {
			t.Errorf("the list that came in was changed at %d: %+v", i, s)
		}
	}
	if !slices.Equal(all, want) {
		t.Errorf("the addresses are %v, want %v", all, want)
	}
	if twice := Joined(out); !reflect.DeepEqual(twice, out) {
		t.Errorf("joined twice it is %+v", twice)
	}
}

func TestAddressHolds(t *testing.T) {
	run := Address{Address: netip.MustParsePrefix("10.0.0.250/16"), Count: 10}
	for text, want := range map[string]bool{"10.0.0.249": false, "10.0.0.250": true, "10.0.1.3": true,
		"10.0.1.4": false, "::ffff:10.0.0.251": false} {
		if got := run.Holds(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s holds %s: %v, want %v", run, text, got, want)
		}
	}
	if (Address{}).Holds(netip.Addr{}) {
		t.Error("nothing holds something")
	}
}

// TestAddressLast: a run goes on over the borders of its numbers' parts, and ends
// nowhere where there are not so many.
func TestAddressLast(t *testing.T) {
	for _, test := range []struct {
		first string
		count int
		want  string
	}{
		{"10.0.0.1/8", 0, "10.0.0.1/8"}, {"10.0.0.1/8", 60_000, "10.0.234.96/8"}, {"10.255.255.255/8", 2, "11.0.0.0/8"},
		{"255.255.255.254/8", 2, "255.255.255.255/8"}, {"255.255.255.254/8", 3, "invalid Prefix"},
		{"fd00::ffff/64", 2, "fd00::1:0/64"}, {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/64", 2, "invalid Prefix"},
	} {
		a := Address{Address: netip.MustParsePrefix(test.first), Count: test.count}
		if got := a.Last().String(); got != test.want {
			t.Errorf("%d from %s end with %s, want %s", test.count, test.first, got, test.want)
		}
	}
}
