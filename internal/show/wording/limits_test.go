package wording

import (
	"testing"

	"linerate/internal/model/record"
)

func TestLimit(t *testing.T) {
	link := record.LimitTerm{Kind: record.LimitLink, Bps: 1e9, PayloadBytes: 1448, WireBytes: 1538}
	shaped := record.LimitTerm{Kind: record.LimitLink, Bps: 3e8, Of: "tbf on client.eth0", Price: 0.4782, N: 2}
	cap := record.LimitTerm{Kind: record.LimitCap, Bps: 5e7}
	caps := record.LimitTerm{Kind: record.LimitCap, Bps: 5e7, N: 2, Times: 0.5}
	of := func(terms ...record.LimitTerm) record.Limit { return record.Limit{Terms: terms} }
	asked := record.Limit{Terms: []record.LimitTerm{cap}, ServerCap: true, AskedBps: 1e8}
	for _, test := range []struct {
		limit       record.Limit
		text, named string // named with a peer that is linerate's
	}{
		{of(link), "1 Gbit/s × 1448/1538", "the limit of the ends' interfaces"},
		{of(shaped, caps), "2 × tbf on client.eth0: 300 Mbit/s × 0.4782 + 2 × cap of 50 Mbit/s × 0.5",
			"the limit of the ends' interfaces and the flows' caps"},
		{of(caps), "2 × cap of 50 Mbit/s × 0.5", "the flows' caps"},
		{asked, "cap of 50 Mbit/s: the server's --max-rate, in place of 100 Mbit/s", "the flows' caps"},
		{record.Limit{Directions: []record.Limit{of(link), of(cap)}},
			"both directions: 1 Gbit/s × 1448/1538 + cap of 50 Mbit/s",
			"the limit of the ends' interfaces and the flows' caps"},
		{record.Limit{None: record.NoLimitTransactions}, "none: no limit is computed for transactions",
			"the limit of the ends' interfaces"},
		{record.Limit{None: record.NoLimitSizeTable, Of: "tbf on client.eth0"},
			"unknown: tbf on client.eth0 has a size table (tc-stab), by which it counts a packet of many segments " +
				"as one",
			"the limit of the ends' interfaces"},
		{record.Limit{None: record.NoLimitPath, Of: "flow f1: no path"}, "unknown: flow f1: no path",
			"the limit of the ends' interfaces"},
	} {
		if got := Limit(test.limit, "as stored"); got != test.text {
			t.Errorf("%+v: %q, want %q", test.limit, got, test.text)
		}
		if got := MeasuredLimit(test.limit, "", ""); got != test.named {
			t.Errorf("%+v: %q, want %q", test.limit, got, test.named)
		}
	}
	for _, code := range []string{record.NoLimitSpeed, record.NoLimitOwnSpeed, record.NoLimitSomeSpeed,
		record.NoLimitInterfaces} {
		if got := Limit(record.Limit{None: code}, ""); got == "unknown: " {
			t.Errorf("%s: %q", code, got)
		}
	}
}

// TestStoredLimit: of a record of an older version, which has words alone, the words are shown, and
// the kinds of its terms known.
func TestStoredLimit(t *testing.T) {
	for _, test := range []struct{ stored, peer, want string }{
		{"1 Gbit/s × 1448/1538", "", "the limit of the ends' interfaces"},
		{"tbf on client.eth0: 1 Gbit/s × 1448/1514", "iperf3", "the limit of this host's interface"},
		{"2 × cap of 50 Mbit/s", "", "the flows' caps"},
		{"1 Gbit/s × 1448/1538 + cap of 50 Mbit/s", "", "the limit of the ends' interfaces and the flows' caps"},
		{"unknown: flow f1: no path", "", "the limit of the ends' interfaces"},
		{"", "", "the limit of the ends' interfaces"},
	} {
		if got := MeasuredLimit(record.Limit{}, test.stored, test.peer); got != test.want {
			t.Errorf("%q: %q, want %q", test.stored, got, test.want)
		}
		if got := Limit(record.Limit{}, test.stored); got != test.stored {
			t.Errorf("%q: %q", test.stored, got)
		}
	}
}
