package sqlite

import (
	"errors"
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
