package plain

import "testing"

func TestLine(t *testing.T) {
	for _, test := range []struct{ text, line, whole string }{
		{"eth0", "eth0", "eth0"},
		{"größer 40 µs → ±2 %", "größer 40 µs → ±2 %", "größer 40 µs → ±2 %"},
		{"a\nb\tc", "a b c", "a\nb\tc"},
		{"\x1b[2Ja\rb\x00\x7f", "�[2Ja�b��", "�[2Ja�b��"},
		{"\u009b31m", "�31m", "�31m"}, // C1: CSI as one character
		{"a\u202eb", "a�b", "a�b"},    // right-to-left override
		{"no such host\r\nlost\r\n", "no such host lost ", "no such host\nlost\n"},
		{"\xff\xfea", "��a", "��a"}, // not UTF-8
	} {
		if got := Line(test.text); got != test.line {
			t.Errorf("Line(%q) = %q, want %q", test.text, got, test.line)
		}
		if got := Text(test.text); got != test.whole {
			t.Errorf("Text(%q) = %q, want %q", test.text, got, test.whole)
		}
	}
	if got := Short("größer", 3); got != "grö" {
		t.Errorf("Short = %q", got)
	}
}
