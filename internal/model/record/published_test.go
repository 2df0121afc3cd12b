package record

import (
	"strings"
	"testing"
)

// TestParsePublished: a table says where it is from, and its columns in which unit
// they are.
func TestParsePublished(t *testing.T) {
	const text = "# a series\n# origin: somewhere\n# factor: aliases\n# seconds: 60\n# link: " +
		"1gbit\naliases,tcp_kbit_per_s,tcp_nodelay_mbit_per_s\n1,920462,921.5\n254,990832,993\n"
	p, err := ParsePublished("second", text)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "second" || p.About != "a series" || p.Origin != "somewhere" || p.Factor != "aliases" ||
		p.Seconds != 60 || p.LinkBps != 1e9 || len(p.Series) != 2 {
		t.Fatalf("%+v", p)
	}
	if s := p.Series[1]; s.Name != "tcp nodelay" || s.Points[0] != (PublishedPoint{"1", 921.5e6}) ||
		p.Series[0].Points[1] != (PublishedPoint{"254", 990832e3}) {
		t.Errorf("%+v", p.Series)
	}
	for wrong, want := range map[string]string{
		strings.Replace(text, "origin", "about", 1):       "origin",
		strings.Replace(text, "1gbit", "fast", 1):         "link: ",
		strings.Replace(text, "60", "long", 1):            `seconds "long"`,
		strings.Replace(text, "_kbit_per_s", "_speed", 1): `column "tcp_speed"`,
		strings.Replace(text, "920462", "fast", 1):        `"fast" is not a figure`,
		strings.Replace(text, "920462,", "", 1):           "line 7: 2 columns, expected 3",
		text[:strings.Index(text, "1,920462")]:            "no figures",
		"":                                                "origin",
	} {
		if _, err := ParsePublished("second", wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
