package record

import "testing"

func TestFlowAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1:80": "10.0.0.1", "10.0.0.1": "10.0.0.1", "[fd00::1]:80": "fd00::1", "[fd00::1]": "fd00::1",
		"[::ffff:10.0.0.1]:80": "10.0.0.1", "": "invalid IP", "nonsense": "invalid IP",
	} {
		if got := (Flow{Source: text}).SourceAddr().String(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
