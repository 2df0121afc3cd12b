package archive

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"

	"linerate/internal/model/pasted"
)

// zipOf writes a zip archive of members.
func zipOf(t *testing.T, members map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range members {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTexts: a member is read if it is compressed, or in the UTF-16 that the shell of Windows writes, and what is
// wrong with one does not end the archive.
func TestTexts(t *testing.T) {
	const half = "Settings for eth0:\n\tSpeed: 100Mb/s\n\tDuplex: Half\n"
	wide := "\xff\xfe"
	for _, unit := range utf16.Encode([]rune(half)) {
		wide += string([]byte{byte(unit), byte(unit >> 8)})
	}
	a, err := read(t, zipOf(t, map[string]string{"h/ethtool_eth0.txt.gz": string(zipped(t, []byte(half))),
		"h/ethtool_eth1.txt": wide, "h/ethtool_eth2.txt.gz": "\x1f\x8b damaged", "h/picture.png.gz": "\x1f\x8b"}))
	if err != nil || a.Known != 2 || a.Others != 1 || !strings.HasPrefix(a.Partly, "h/ethtool_eth2.txt.gz: ") {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, m := range a.Members {
		if m.Text != half {
			t.Errorf("%s: %q", m.Path, m.Text)
		}
	}
}

// TestHostsOfDirectories: the directories that differ between files of one name are those of hosts, however deep.
func TestHostsOfDirectories(t *testing.T) {
	const link = "2: eth0: <UP> mtu 1500\n    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff\n"
	for names, want := range map[string]string{
		"mg/quay/host/worker-0/ip_link mg/quay/host/worker-1/ip_link":  "worker-0 worker-1",
		"mg/a/ip_link.txt mg/b/ip_link.txt":                            "a b",
		"mg/a/net/ip_link.txt mg/b/net/ip_link.txt mg/b/ss/ss-tin.txt": "a b",
		"mg/a/ip_link.txt": "mg",
	} {
		var list []pasted.Member
		for name := range strings.FieldsSeq(names) {
			list = append(list, pasted.Member{Path: name, Text: link})
		}
		var got []string
		for _, m := range pasted.ParseMembers(list, "x.tar").Machines {
			got = append(got, m.Reading.Host)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}
