package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestTuningFiles: files that programs of Linux cannot read are refused with the reason, and of a directory
// what is not read is named.
func TestTuningFiles(t *testing.T) {
	dir := t.TempDir()
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("net.core.rmem_max = 1\n")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"wide.conf":   {wide, "is UTF-16 text"},
		"bare.conf":   {wide[2:], "is UTF-16 text"},
		"binary.conf": {[]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00"), "is not text"},
		"page.conf":   {[]byte("<!DOCTYPE html><html><body><pre>net.core.rmem_max = 1</pre></body></html>"), "is an HTML page"},
		"large.conf":  {[]byte(strings.Repeat("net.core.rmem_max = 1\n", maxList/20)), "has more than"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, test.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readTuning(nil, []string{path}, ""); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"10-a.conf", "README", "20-b.conf.bak"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("net.core.rmem_max = 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, skipped, err := readTuning(nil, []string{dir}, "")
	want := []string{filepath.Join(dir, "20-b.conf.bak"), filepath.Join(dir, "README")}
	if err != nil || len(files) != 1 || !slices.Equal(skipped, want) {
		t.Errorf("%d files, skipped %q, want %q, %v", len(files), skipped, want, err)
	}
}
