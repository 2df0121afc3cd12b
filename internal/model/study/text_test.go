package study

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestText: the text of each study of the repository decodes to the same study, and the plan
// made from it is the same.
func TestText(t *testing.T) {
	files, err := filepath.Glob("../../../studies/*.yaml")
	more, _ := filepath.Glob("../../control/controltest/testdata/*.yaml")
	if err != nil || len(files) < 5 || len(more) == 0 {
		t.Fatalf("%d and %d studies, %v", len(files), len(more), err)
	}
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("\nworkload:")) {
			continue // a topology
		}
		s, err := Decode(file, data)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Text()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want, err := Parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(file, text)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		want.File, got.File = "", ""
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: another study after Text:\n%s", file, text)
		}
	}
}

// TestTextOfHostileNames: braces in a name are no range in the text.
func TestTextOfHostileNames(t *testing.T) {
	s, err := Decode("f", []byte(
		"study: x\ntopology: {hosts: {a: {interfaces: {eth0: {}}}}, links: []}\nworkload: {flows: []}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Topology.Hosts[0].Interfaces[0].Name = `{0..90}"\: #'`
	text, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Decode("f", text); err != nil ||
		again.Topology.Hosts[0].Interfaces[0].Name != s.Topology.Hosts[0].Interfaces[0].Name {
		t.Errorf("%v\n%s", err, text)
	}
	s.Factors = []Factor{{Name: "f", Levels: []Level{{Name: "x", Part: "y"}}}} // which has no key
	if text, err := s.Text(); err == nil {
		t.Errorf("no error:\n%s", text)
	}
}
