package flow

import (
	"strconv"
	"testing"
)

func TestParseDSCP(t *testing.T) {
	for text, want := range map[string]DSCP{
		"0": 0, "63": 63, "CS0": 0, "cs6": 48, "AF11": 10, "AF41": 34, "AF43": 38, "EF": 46, "ef": 46,
		"VA": 44, "LE": 1,
	} {
		if got, err := parseDSCP(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "64", "-1", "AF44", "AF51", "AF10", "CS8", "0x2e", "4.5"} {
		if got, err := parseDSCP(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
	for d := range DSCP(64) {
		if got, err := parseDSCP(d.String()); err != nil || got != d || d.TrafficClass() != 4*int(d) {
			t.Errorf("%d is written %s, and read as %d, %v", d, d, got, err)
		}
		if got, _ := parseDSCP(strconv.Itoa(int(d))); got != d {
			t.Errorf("%d is read as %d", d, got)
		}
	}
}
