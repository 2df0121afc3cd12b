package facts

import (
	"linerate/internal/model/record"
)

// Devices are an interface and those that it is made of or on. Without a name there are none.
func (h *Host) Devices(name string) (touches []record.Touch) {
	if name == "" {
		return nil
	}
	touches = []record.Touch{{Device: name}}
	nic := h.Port(record.InterfaceSnapshot{Interface: name}).NIC
	for _, i := range h.Reading.Snapshot.Interfaces {
		if i.Master == name || nic.VLAN != 0 && i.Index != 0 && i.Index == nic.Peer {
			touches = append(touches, record.Touch{Device: i.Interface})
		}
	}
	return touches[:min(len(touches), MostPlaces)]
}
