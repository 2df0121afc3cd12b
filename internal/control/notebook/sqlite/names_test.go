package sqlite

import (
	"bytes"
	"compress/gzip"
	"errors"
	"runtime"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestTrialsAreChecked: a stored trial with the name of an interface that is none is damaged.
func TestTrialsAreChecked(t *testing.T) {
	trial := record.Trial{Hosts: []netstate.HostReading{{Host: "a", Snapshot: netstate.Snapshot{
		Interfaces: []netstate.InterfaceSnapshot{{Interface: "a;reboot"}}}}}}
	packed, err := pack(trial)
	if err != nil {
		t.Fatal(err)
	}
	err = unpack(packed, &trial)
	if !errors.Is(err, notebook.ErrDamaged) || !strings.Contains(err.Error(), `interfaces[0].interface is "a;reboot"`) {
		t.Errorf("%v", err)
	}
}

// TestMemoryOfDocuments: a stored document takes memory in proportion to its size, also one that another program made.
func TestMemoryOfDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"spaces":        strings.Repeat(" ", 256<<20) + "{}",
		"empty objects": `{"flows":[` + strings.Repeat("{},", 4<<20) + `{}]}`,
		"nulls":         `{"hosts":[` + strings.Repeat("null,", 4<<20) + `null]}`,
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		var trial record.Trial
		runtime.ReadMemStats(&before)
		err := unpack(packed.Bytes(), &trial)
		runtime.ReadMemStats(&after)
		most := 1<<20 + 4*mostUnpacked(packed.Len())
		if took := int64(after.TotalAlloc - before.TotalAlloc); !errors.Is(err, notebook.ErrDamaged) || took > most {
			t.Errorf("%s: %d bytes for %d, want at most %d: %v", name, took, packed.Len(), most, err)
		}
	}
}
