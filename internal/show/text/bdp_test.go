package text

import (
	"strings"
	"testing"

	"linerate/internal/science/limits"
	"linerate/internal/show/present"
)

// TestBDPHere: whether this host allows buffers that are large enough is said for either end,
// and without its values whether Linux's default does; the commands are whole lines.
func TestBDPHere(t *testing.T) {
	shown := func(l limits.BDPAnswer) string {
		var b strings.Builder
		if err := Write(&b, present.BDP(l), Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct {
		rmem, wmem int64
		receiver   string
		sender     string
	}{
		{12_500_000, 4 << 20, "; this host allows 12,500,000, enough if it receives",
			"; this host allows 4,194,304, enough for 671.1 Mbit/s without loss if it sends"},
		{2_993_000, 2_994_000, "; this host allows 2,993,000, too little if it receives",
			"; this host allows 2,994,000, enough for 479 Mbit/s without loss if it sends"},
		{6_249_999, 6_250_000, "; this host allows 6,249,999, enough for 1 Gbit/s without loss if it receives",
			"; this host allows 6,250,000, enough without loss if it sends"},
		{12_499_999, 9_375_000, "; this host allows 12,499,999, enough without loss if it receives",
			"; this host allows 9,375,000, enough if it sends"},
		{0, 0, "", ""},
	} {
		l := limits.Path{RateBps: 1e9, RTTS: 0.025, Segment: 1448}.Buffers(0, 0, limits.FirstWindow)
		l.RmemHere, l.WmemHere = c.rmem, c.wmem
		got := shown(l)
		for _, want := range []string{"buffers of up to 12,500,000 bytes" + c.receiver + "\n",
			"buffers of up to 9,375,000 bytes" + c.sender + "\n",
			" sysctl -w net.ipv4.tcp_rmem='4096 131072 12500000'\n",
			" sysctl -w net.ipv4.tcp_wmem='4096 16384 9375000'\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in %s", want, got)
			}
		}
	}
	l := limits.Path{RateBps: 1e7, RTTS: 0.025, Segment: 1448}.Buffers(0, 0, limits.FirstWindow)
	if got := shown(l); !strings.Contains(got, "; Linux's default is 6,291,456") || strings.Contains(got, "this host") {
		t.Error(got)
	}
}
