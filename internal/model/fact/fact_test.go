package fact

import (
	"os"
	"strings"
	"testing"
)

// Stored documents have these names: a type that is renamed keeps its own.
func TestNames(t *testing.T) {
	var names strings.Builder
	for _, zero := range Kinds() {
		names.WriteString(kinds.Name(zero) + "\n")
	}
	want, err := os.ReadFile("testdata/names")
	if err != nil {
		t.Fatal(err)
	}
	if got := names.String(); got != string(want) {
		t.Errorf("names:\n%s\nwant:\n%s", got, want)
	}
}
