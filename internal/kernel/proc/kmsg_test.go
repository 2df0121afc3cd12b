package proc

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLogLine: lines about the network are known by their text or by their device, whatever
// driver wrote them; others, and those of programs, are not.
func TestLogLine(t *testing.T) {
	for text, want := range map[string]string{
		"6,1,2000,-;e1000e 0000:00:19.0 eth0: NIC Link is Down\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:19.0\n": "e1000e 0000:00:19.0 eth0: NIC Link is Down",
		"6,2,2000,-;igb: something new\n SUBSYSTEM=net\n DEVICE=n3\n":                                        "igb: something new",
		"4,3,2000,-;TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies.\n":             "TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies.",
		"4,4,2000,-;nf_conntrack: nf_conntrack: table full, dropping packet\n":                               "nf_conntrack: nf_conntrack: table full, dropping packet",
		"6,5,2000,-;br0: port 1(veth0) entered forwarding state\n":                                           "br0: port 1(veth0) entered forwarding state",
		"6,6,2000,-;device eth0 entered promiscuous mode\n":                                                  "device eth0 entered promiscuous mode",
		"4,7,2000,-,caller=T1;NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out\n":                   "NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out",
		`6,8,2000,-;eth0: link down \x1b[2Jgone` +
			"\n": "eth0: link down \uFFFD[2Jgone",
		"6,9,2000,-;usb 1-1: new high-speed USB device\n SUBSYSTEM=usb\n DEVICE=+usb:1-1\n": "",
		"14,10,2000,-;a program says that eth0: link is down\n":                             "",
		"6,11,2000,-;EXT4-fs (vda1): mounted filesystem\n":                                  "",
	} {
		line, network, err := logLine(text)
		if err != nil || network != (want != "") || network && (line.Text != want || line.AtNs != 2_000_000 ||
			line.Level != int(text[0]-'0')) {
			t.Errorf("%q: %+v %t %v", text, line, network, err)
		}
	}
	for _, text := range []string{"", ";", "6,1;eth0: link down", "x,1,2,-;eth0: link down", "6,1,-5,-;eth0: link down",
		"6,1,99999999999999999999,-;a", "6,1,9223372036854775807,-;a"} {
		if line, network, err := logLine(text); err == nil {
			t.Errorf("%q: %+v %t, and no error", text, line, network)
		}
	}
}

// FuzzLogLine: whatever a kernel or driver prints, a line is short, plain text.
func FuzzLogLine(f *testing.F) {
	f.Add("6,1,2000,-;eth0: link is down \\x1b\\xff\n SUBSYSTEM=net\n")
	f.Fuzz(func(t *testing.T, text string) {
		line, _, err := logLine(text)
		if err == nil && (line.AtNs < 0 || utf8.RuneCountInString(line.Text) > mostLogLine ||
			strings.ContainsAny(line.Text, "\x1b\n\x00\u202e")) {
			t.Errorf("%q: %+v", text, line)
		}
	})
}
