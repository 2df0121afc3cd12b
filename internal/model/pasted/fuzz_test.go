package pasted

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

// FuzzFormats gives any text to one format, whatever the others would make of it, behind a command: it is
// read within its bounds, each line counts once, and a document of the snapshot is one.
func FuzzFormats(f *testing.F) {
	files, err := filepath.Glob("testdata/samples/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	seeded := map[*format]bool{}
	add := func(s start, command, text string) {
		for _, of := range s.formats {
			seeded[of] = true
			f.Add(uint8(slices.Index(formats, of)), command, text)
		}
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		command, text := "", ""
		var in start
		for line := range strings.Lines(string(content)) {
			if s, is := startOf(lineOf(line, 0)); is {
				add(in, command, text)
				in, command, text = s, strings.Join(s.command, " "), ""
				continue
			}
			if text += line; len(in.formats) == 0 && strings.TrimSpace(line) != "" { // a sample without commands
				for _, of := range formats {
					if of.tells(lineOf(line, 0)) {
						add(start{formats: []*format{of}}, "", line)
					}
				}
			}
		}
		add(in, command, text)
	}
	for _, of := range formats {
		if !seeded[of] {
			f.Errorf("no sample has %s", of.name)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, command, text string) {
		if len(formats) > 256 {
			t.Fatalf("%d formats have no number", len(formats))
		}
		c, _ := commandOf(command)
		r := reader{member: "member"}
		r.begin(start{host: "nas", command: c, formats: formats[int(n)%len(formats):][:1]})
		r.text(text, 0)
		r.finish()
		lines := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(lineOf(line, 0)) != "" {
				lines++
			}
		}
		if r.Lines != lines || lines < r.Idle+r.Lost || len(r.Machines) > mostMachines ||
			len(r.NotUnderstood) > mostLost {
			t.Fatalf("%d of %d lines, %d idle, %d lost, %d machines", r.Lines, lines, r.Idle, r.Lost, len(r.Machines))
		}
		for _, m := range r.Machines {
			document, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := netstate.ParseHostSnapshot(document); err != nil {
				t.Fatalf("%v: %s", err, document)
			}
		}
	})
}
