package text

import (
	"bytes"
	"strings"
	"testing"

	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
	"linerate/internal/show/words"
)

// TestMesh: what a terminal shows of a mesh fits on a screen of 80 columns, however many hosts there are.
func TestMesh(t *testing.T) {
	for _, n := range []int{7, 12, 500} {
		var b bytes.Buffer
		if err := Run(&b, present.Report(showtest.Mesh(n)), Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) > 40 {
			t.Errorf("%d hosts: %d lines", n, len(lines))
		}
		for _, line := range lines {
			if words.Width(line) > 80 {
				t.Errorf("%d hosts: %d columns: %s", n, words.Width(line), line)
			}
		}
	}
}
