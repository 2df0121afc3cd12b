package snmp

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/model/fabric"
)

// TestSurvey: ports with their rates, neighbours with their identifiers and what is behind the ports are
// read, and what a switch does not have is none of its parts.
func TestSurvey(t *testing.T) {
	f := newFake(t)
	f.port(1, "swp1", 64, 0, 0, 0)
	f.port(2, "swp2", 64, 0, 0, 0)
	f.value(ifPhysAddress+".1", gosnmp.OctetString, "\x02\x00\x00\x00\x01\x01")
	f.value(lldpLocChassisIDSubtype, gosnmp.Integer, lldpChassisMAC)
	f.value(lldpLocChassisID, gosnmp.OctetString, "\x02\x00\x00\x00\x01\x00")
	f.value(lldpLocPortID+".7", gosnmp.OctetString, "swp2")
	row := ".0.7.1"
	f.value(lldpRemChassisIDSubtype+row, gosnmp.Integer, lldpChassisMAC)
	f.value(lldpRemChassisID+row, gosnmp.OctetString, "\x02\x00\x00\x00\x09\x00")
	f.value(lldpRemPortIDSubtype+row, gosnmp.Integer, 5)
	f.value(lldpRemPortID+row, gosnmp.OctetString, "down3")
	f.value(lldpRemSysName+row, gosnmp.OctetString, "spine1")
	f.value(lldpRemPortDesc+row, gosnmp.OctetString, "to leaf\x1b[2J")
	f.value(lldpRemSysCapEnabled+row, gosnmp.OctetString, "\x28\x00")
	f.forwards(dot1dTpFdbPort, []int{2, 0, 0, 0, 0, 5}, 1, 1)
	f.serve()
	got, err := Survey(context.Background(), f.snmp(), Community(community))
	if err != nil {
		t.Fatal(err)
	}
	want := fabric.Device{Given: got.Given, System: got.System, Chassis: "02:00:00:00:01:00",
		Ports: []fabric.Port{{Name: "swp1", MAC: "02:00:00:00:01:01", SpeedBps: 1e9}, {Name: "swp2", SpeedBps: 1e9}},
		Neighbours: []fabric.Neighbour{{Local: "swp2", Chassis: "02:00:00:00:09:00", System: "spine1", Port: "down3",
			Description: got.Neighbours[0].Description, Switches: true}},
		Forwarding: []fabric.Entry{{MAC: "02:00:00:00:00:05", Port: "swp1"}}}
	if !reflect.DeepEqual(got, want) || strings.Contains(fmt.Sprint(got), "\x1b") {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if _, err := Survey(context.Background(), f.snmp(), Community("tell-nobody")); err == nil ||
		strings.Contains(err.Error(), "tell-nobody") || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("another community: %v", err)
	}
}
