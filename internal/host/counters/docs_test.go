package counters

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

// docs/counters.md names every counter.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "counters.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"Reading", "InterfaceCounters", "QdiscCounters", "CPUTimes", "SoftnetCounters",
		"TCPInfo", "Tables"}
	for i, value := range []any{
		netstate.Reading{}, netstate.InterfaceCounters{}, netstate.QdiscCounters{}, netstate.CPUTimes{},
		netstate.SoftnetCounters{}, netstate.TCPInfo{}, netstate.Tables{},
	} {
		kind := reflect.TypeOf(value)
		for f := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(f).Tag.Get("json"), ",")
			// Whole parts have a heading instead.
			if part := kind.Field(f).Type.Kind(); names[i] == "Reading" && (part == reflect.Slice ||
				part == reflect.Map) {
				continue
			}
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("docs/counters.md does not name `%s` of %s", name, names[i])
			}
		}
	}
}
