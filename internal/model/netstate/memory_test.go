package netstate

import (
	"runtime"
	"strings"
	"testing"
)

// TestMemoryOfSnapshots: a snapshot of the largest size takes bounded memory to decode, also one that is mostly empty
// objects, each of which becomes a structure of hundreds of bytes.
func TestMemoryOfSnapshots(t *testing.T) {
	const most = 32 * LargestHostSnapshot // in all: lists that grow are copied
	for name, list := range map[string][2]string{
		"nics":       {`"state":{"nics":[`, `]}`},
		"interfaces": {`"reading":{"snapshot":{"interfaces":[`, `]}}`},
		"unknown":    {`"other":[`, `]`},
	} {
		for _, element := range []string{`{}`, `null`, `[]`, `{"driver":"` + strings.Repeat("x", 14) + `"}`,
			`{"interface":"` + strings.Repeat("x", 120) + `"}`} {
			head := `{"schema":"` + HostSnapshotSchema + `",` + list[0]
			room := LargestHostSnapshot - len(head) - len(list[1]) - 1
			text := []byte(head + strings.Repeat(element+",", room/(len(element)+1)-1) + element + list[1] + "}")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ParseHostSnapshot(text)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > most {
				t.Errorf("%s of %.20s: %d MiB for %d, %v", name, element, took>>20, len(text)>>20, err)
			}
		}
	}
}
