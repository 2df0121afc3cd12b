package answer

import (
	"testing"

	"linerate/internal/model/record"
)

func TestDoctor(t *testing.T) {
	clock := func(host, confidence string) record.Finding {
		return record.Finding{ID: "clock-unsynchronised", Host: host, Confidence: confidence,
			Summary: "the clock is not synchronised"}
	}
	mtu := record.Finding{ID: "mtu-differs", Host: "x", Confidence: record.Certain,
		Summary: "x and y have different MTUs"}
	two := []string{"x", "y"}
	for _, test := range []struct {
		hosts    []string
		findings []record.Finding
		want     string
	}{
		{two, nil, "Nothing was found that slows x, y down."},
		{two, []record.Finding{mtu}, "x and y have different MTUs."},
		{two, []record.Finding{clock("x", record.Certain)}, "x: the clock is not synchronised."},
		{two, []record.Finding{clock("x", record.Likely), clock("y", record.Likely)},
			"x and y: the clock is not synchronised."},
		{[]string{"x"}, []record.Finding{clock("x", record.Certain)}, "The clock is not synchronised."},
		{two, []record.Finding{mtu, clock("x", record.Possible), clock("y", record.Possible)},
			"x and y have different MTUs. 1 cause is possible."},
		{two, []record.Finding{mtu, clock("x", record.Likely), clock("y", record.Possible)},
			"2 causes found; the first: x and y have different MTUs. 1 cause is possible."},
	} {
		if got := Doctor(record.Evaluation{Hosts: test.hosts, Evaluated: []string{"mtu-differs"},
			Findings: test.findings}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestDoctorOfDrops: packets that were dropped harmfully for an unknown cause are in the answer as
// the table of drops has them, those since boot as such, and so are causes of that time.
func TestDoctorOfDrops(t *testing.T) {
	row := func(counter string, packets int64, verdict string) record.Drop {
		return record.Drop{Host: "x", Where: "Ip", Counter: counter, Packets: packets, Verdict: verdict}
	}
	since := func(d record.Drop) record.Drop {
		d.Boot = true
		return d
	}
	again := row("FragFails", 40, record.Harmful)
	again.Again = true
	drops := []record.Drop{row("OutDiscards", 4, record.Harmful), again, row("NoPorts", 5, record.Unknown),
		since(row("OutDiscards", 24_927, record.Harmful)), since(row("InDiscards", 9, record.Harmless))}
	maybe := func(id string, boot bool) record.Finding {
		return record.Finding{ID: id, Host: "x", Confidence: record.Possible, Boot: boot}
	}
	said := func(text string, boot bool) record.Finding {
		f := maybe(text, boot)
		f.Summary = text
		return f
	}
	const quiet, before = "Nothing was found that slows x down in 3 s.",
		" Dropped harmfully since boot: Ip OutDiscards 24,927."
	for want, e := range map[string]record.Evaluation{
		"No cause is known for packets that were dropped in 3 s, harmfully: Ip OutDiscards 4." +
			before: {OverS: 3, Drops: drops},
		quiet + before: {OverS: 3, Drops: drops[1:]},
		quiet:          {OverS: 3, Drops: drops[4:]},
		"Nothing was found that slows x down." + before: {Drops: drops[3:]},
		quiet + " 2 causes are possible, by what happened since boot." + before: {OverS: 3, Drops: drops[3:],
			Findings: []record.Finding{maybe("a", true), maybe("b", true)}},
		quiet + " 2 causes are possible, 1 of them by what happened since boot." + before: {OverS: 3, Drops: drops[3:],
			Findings: []record.Finding{maybe("a", true), maybe("b", false)}},
		"1 cause is possible, by what happened since boot: a." + before: {Drops: drops[3:],
			Findings: []record.Finding{said("a", true)}},
		"2 causes are possible, 1 of them by what happened since boot; the first: a." + before: {Drops: drops[3:],
			Findings: []record.Finding{said("a", true), said("b", false)}},
		"The link is down.": {OverS: 3, Drops: drops,
			Findings: []record.Finding{{Confidence: record.Certain, Summary: "the link is down"}}},
	} {
		e.Hosts, e.Evaluated = []string{"x"}, []string{"link-down"}
		if got := Doctor(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	two := record.Evaluation{Hosts: []string{"x", "y"}, Evaluated: []string{"link-down"}, OverS: 3, Drops: drops[:1]}
	if got, want := Doctor(two),
		"No cause is known for packets that were dropped in 3 s, harmfully: x: Ip OutDiscards 4."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
