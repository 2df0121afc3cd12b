//go:build linux

package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestReplayFiles: captures as people have them are sent over a real link, with what is said of them: with check
// sequences, cut in their last frame, without Ethernet headers, with merged segments. What cannot be sent is refused
// with the numbers of its frames and a way out before anything is sent.
func TestReplayFiles(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
		kerneltest.Do(t, "ip", "netns", "add", "tester")
		kerneltest.Do(t, "ip", "-n", "tester", "link", "add", "eth1", "type", "veth", "peer", "name", "eth2")
		for _, name := range []string{"eth1", "eth2"} {
			kerneltest.Do(t, "ip", "netns", "exec", "tester", "sysctl", "-qw", "net.ipv6.conf."+name+".disable_ipv6=1")
			kerneltest.Do(t, "ip", "-n", "tester", "link", "set", name, "up")
		}
		whole, err := os.ReadFile(capture(t, 6, time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(whole); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		const header, each = 24, 16
		frames := func(link uint32, change func(i int, frame []byte) []byte) []byte {
			order := binary.LittleEndian
			out := order.AppendUint32(bytes.Clone(whole[:header-4]), link)
			for i, rest := 0, whole[header:]; len(rest) > 0; i++ {
				n := each + int(order.Uint32(rest[8:]))
				frame := change(i, bytes.Clone(rest[each:n]))
				out = append(out, rest[:8]...)
				out = order.AppendUint32(order.AppendUint32(out, uint32(len(frame))), uint32(len(frame)))
				out = append(out, frame...)
				rest = rest[n:]
			}
			return out
		}
		withFCS := func(_ int, b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }
		merged := func(i int, b []byte) []byte {
			if i == 2 {
				b = append(b, make([]byte, 1000)...)
				binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
				b[23] = 6    // TCP
				b[46] = 0x50 // of 20 bytes
			}
			return b
		}
		late := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(late[header:], 1<<31)
		for _, c := range []struct {
			name    string
			content []byte
			args    string
			sent    int64
			remarks string
			cut     record.ReplayCut
		}{
			{"with check sequences", frames(0x2400_0001, withFCS), "", 6, "fcs-removed", record.ReplayCut{}},
			{"with others unannounced", frames(1, withFCS), "", 6, "fcs-found", record.ReplayCut{}},
			{"cut", whole[:len(whole)-100], "", 5, "", record.ReplayCut{After: 5, InFrame: true, Missing: 100}},
			{"cut in a header", whole[:len(whole)-1514-6], "", 5, "", record.ReplayCut{After: 5, InFrame: true,
				Missing: 6}},
			{"cut when compressed", packed.Bytes()[:packed.Len()-4], "", 6, "", record.ReplayCut{After: 6}},
			{"without Ethernet", frames(101, func(_ int, b []byte) []byte { return b[14:] }),
				"--destination-mac 02:00:00:00:00:09 --map 10.0.1.1=192.0.2.1", 6, "header-made", record.ReplayCut{}},
			{"merged", frames(1, merged), "--segment", 7, "segmented", record.ReplayCut{}},
			{"without what is merged", frames(1, merged), "--skip", 5, "left-too-large", record.ReplayCut{}},
			{"years apart", late, "--speed max", 6, "", record.ReplayCut{}},
		} {
			name := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(name, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{name, "--interface", "eth1", "--receive", "eth2", "--pace", "1000"},
				strings.Fields(c.args)...)
			if strings.Contains(c.args, "--speed") {
				args = append(args[:5], strings.Fields(c.args)...)
			}
			r, _ := replayed(t, args...)
			var remarks []string
			for _, m := range r.Remarks {
				remarks = append(remarks, string(m.Code))
			}
			cut := record.ReplayCut{}
			if r.Cut != nil {
				cut = *r.Cut
			}
			if g := r.Received; r.Sent != c.sent || g.Received != c.sent || g.Altered != 0 || cut != c.cut ||
				strings.Join(remarks, " ") != c.remarks {
				t.Errorf("%s: %+v, cut %+v, received %+v", c.name, r, cut, g)
			}
		}
		for want, c := range map[string]struct {
			content []byte
			args    string
		}{
			"frame 3: larger than eth1 sends: frame 3 has 2514 bytes": {frames(1, merged), ""},
			"frames 1, 2, 3, 4, 5 and 1 more: without an Ethernet header": {frames(113,
				func(_ int, b []byte) []byte { return append(make([]byte, 14), b[12:]...) }), ""},
			"--max-gap": {late[:len(late)-1], "--speed 1"}, "tcpdump prints": {[]byte("12:00:00.1 IP 10.0.0.1 >"), ""},
			"nothing was captured": {whole[:header], ""}, "the file is empty": {nil, ""},
			"at least": {whole, "--max-gap 0"},
		} {
			name := filepath.Join(t.TempDir(), "file")
			if want == "--max-gap" { // the first frame has the time of the others, and the second is years later
				c.content = bytes.Clone(whole)
				binary.LittleEndian.PutUint32(c.content[header+each+60:], 1<<31)
			}
			if err := os.WriteFile(name, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := in(t, "tester", append([]string{"replay", name, "--interface", "eth1", "--json"},
				strings.Fields(c.args)...)...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != ExitUsage || !strings.Contains(string(out), want) {
				t.Errorf("%v, status %d, %s, want %q", err, cmd.ProcessState.ExitCode(), out, want)
			}
			if json.Valid(out) {
				t.Errorf("%q: a result: %s", want, out)
			}
		}
	})
}
