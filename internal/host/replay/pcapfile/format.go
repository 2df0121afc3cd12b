package pcapfile

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"linerate/internal/model/pattern"
)

// formats are files that are mistaken for captures, or that other programs read, by how they begin.
var formats = []struct{ begin, name, instead string }{
	{"\xfd7zXZ\x00", "compressed by xz", "xz -dc FILE | linerate replay -"},
	{"\x04\x22\x4d\x18", "compressed by lz4", "lz4 -dc FILE | linerate replay -"},
	{"\x1f\x8b", "compressed twice", "gzip -dc FILE | linerate replay -"},
	{"PK\x03\x04", "a ZIP archive", "unzip it"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"},
	{"snoop\x00\x00\x00", "a capture of snoop", toPcap},
	{"TRSNIFF data", "a capture of Sniffer", toPcap},
	{"RTSS", "a capture of Network Monitor", toPcap},
	{"GMBU", "a capture of Network Monitor", toPcap},
	{"\x1c\x00\x01\xac", "an lcap file of Ixia", toPcap},
	{"\xac\x01\x00\x1c", "an lcap file of Ixia", toPcap},
	{"\x1c\x00\x01\xab", "an lcap file of Ixia", toPcap},
	{"\xab\x01\x00\x1c", "an lcap file of Ixia", toPcap},
	{"\x0a\x0d\x0a", "a pcapng file whose line ends were changed, as by a transfer as text", "copy it as binary"},
	{"\x0d\x0a\x0d", "a pcapng file whose line ends were changed, as by a transfer as text", "copy it as binary"},
	{"1MOyoQ", "a pcap file in base64", "base64 -d FILE | linerate replay -"},
	{"Cg0NCg", "a pcapng file in base64", "base64 -d FILE | linerate replay -"},
	{"\x7fELF", "a program", ""},
	{"SQLite format 3", "an SQLite database", ""},
	{"\x00\x00\x00\x00", "zeros, as on a full disk or after a crash", ""},
}

const (
	toPcap = "editcap -F pcap FILE OUT converts it"
	asText = "capture with tcpdump -w FILE"
)

// texts are the same for files of text.
var texts = []struct {
	begin         *pattern.Pattern
	name, instead string
}{
	{pattern.MustCompile(`^(tcpdump: |listening on |reading from |\d\d:\d\d:\d\d\.\d|\d{4}-\d\d-\d\d \d\d:)`),
		"what tcpdump prints", asText},
	{pattern.MustCompile(`^ *1 +\d+\.\d+ `), "what tshark prints", "capture with tshark -w FILE"},
	{pattern.MustCompile(`^(0x)?0000:? +[0-9a-fA-F]{2}`), "a hexadecimal dump", "text2pcap FILE OUT converts it"},
	{pattern.MustCompile(`(?i)^\s*<(!doctype|html)`), "a web page",
		"the download may have ended at a login or an error"},
	{pattern.MustCompile(`^\s*<`), "XML", asText},
	{pattern.MustCompile(`^\s*[{[]`), "JSON", asText},
}

// unknown returns what a file seems to be that begins with these bytes and is no capture.
func unknown(begin []byte) error {
	what, instead := "", ""
	for _, f := range formats {
		if bytes.HasPrefix(begin, []byte(f.begin)) {
			what, instead = f.name, f.instead
		}
	}
	switch {
	case what != "":
	case len(begin) > 262 && string(begin[257:262]) == "ustar":
		what, instead = "a tar archive", "tar -xOf FILE MEMBER | linerate replay -"
	case isText(begin):
		what = "text"
		for _, f := range texts {
			if f.begin.MatchString(string(begin)) {
				what, instead = f.name, f.instead
				break
			}
		}
	default:
		what = fmt.Sprintf("something else, which begins with % x", begin[:min(len(begin), 4)])
	}
	if instead != "" {
		what += " (" + instead + ")"
	}
	return fmt.Errorf("no capture file of pcap or pcapng: it seems to be %s", what)
}

// isText returns whether b is text in UTF-8, of which the last character may be incomplete.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 && len(b) >= utf8.UTFMax || r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		b = b[size:]
	}
	return true
}
