package words

import (
	"slices"
	"strings"
	"testing"
)

func TestNaturalOrder(t *testing.T) {
	names := []string{"eth10", "eth2", "eth1", "swp1", "eth1.100", "eth02", "enp3s0f1", "enp3s0f0"}
	slices.SortFunc(names, Natural)
	if got := strings.Join(names, " "); got != "enp3s0f0 enp3s0f1 eth1 eth1.100 eth2 eth02 eth10 swp1" {
		t.Error(got)
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"all of it", 9, "all of it"},
		{"at a space, not in a word", 14, "at a space…"},
		{"just at its end", 8, "just at…"},
		{"oneverylongword that has no space", 12, "oneverylong…"},
		{"世界世界 世界", 6, "世界…"},
		{"Goodput is 32.22 Gbit/s, in a single trial.", 17, "Goodput is…"},
		{"Goodput is 32.22 Gbit/s, in a single trial.", 24, "Goodput is 32.22 Gbit/s…"},
		{"reaches 119.5 of 478.2 MB/s", 22, "reaches 119.5 of…"},
		{"at least (0.999–1.003 times", 16, "at least…"},
		{"32.22 Gbit/s, in a single trial.", 9, "32.22…"},
	} {
		if got := Shorten(test.text, test.n); got != test.want || Width(got) > test.n {
			t.Errorf("%q in %d: %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

func TestByHost(t *testing.T) {
	got := ByHost([]string{"on a: ip link", "on a: ip route", "on b: arp -d", "restart it", "on a: once",
		"on a: twice"})
	want := []string{"on a:", "  ip link", "  ip route", "on b: arp -d", "restart it", "on a:", "  once", "  twice"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
