package pasted

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAsked: of texts as people paste them, what is not read is of formats that nothing reads yet.
func TestAsked(t *testing.T) {
	unread := map[string]*regexp.Regexp{ // by file
		"08": regexp.MustCompile(`^(\d\d:\d\d:\d\d |45: \d+ |Linux 4.11)`),                                             // mpstat, /proc/interrupts
		"09": regexp.MustCompile(`^(\S.*: ?.*|802.3ad info|details \w+ lacp pdu:)$`),                                   // /proc/net/bonding
		"13": regexp.MustCompile(`^(1d:00.0 Ethernet controller|LnkCap:|LnkSta:)`),                                     // lspci
		"18": regexp.MustCompile(`^(ix0|options=|ether |inet |media: |status: |nd6 |Name |\d+ |[\d/]+ .*mbuf|lagg0 )`), // of FreeBSD
	}
	files, err := filepath.Glob("testdata/asked/*.txt")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		p, _ := Parse(string(text))
		for _, line := range p.NotUnderstood {
			_, line, _ = strings.Cut(line, ": ")
			if unread[name] == nil || !unread[name].MatchString(line) {
				t.Errorf("%s: %q is not read", name, line)
			}
		}
	}
}
