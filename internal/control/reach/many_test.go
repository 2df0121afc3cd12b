package reach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMany: of many hosts at most 32 are reached at the same time, and each has its own error.
func TestMany(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	// Each host leaves a file while it is being reached, and says how many there are.
	one := script(t, "host", "cd "+dir+"; : >at.$$; set -- at.*; echo $# >>seen; sleep 0.3; rm at.$$; exit 1")
	var list []Host
	for i := range 40 {
		list = append(list, Host{Name: fmt.Sprint("h", i), Via: []string{one}})
	}
	h, err := Open(t.Context(), list, Read, Options{})
	h.Close()
	joined, is := err.(interface{ Unwrap() []error })
	if !is || len(joined.Unwrap()) != len(list) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscan(line, &n); err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	if most < 2 || most > cap(starting) || strings.Count(string(text), "\n") != len(list) {
		t.Errorf("%d at the same time of %d:\n%s", most, len(list), text)
	}
}
