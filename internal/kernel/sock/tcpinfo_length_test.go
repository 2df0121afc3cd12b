//go:build linux && !portable

package sock

import (
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestParseTCPInfoOfOlderKernels: fields behind the end of what a kernel filled are lacking,
// and no others. The lengths are those of struct tcp_info in Linux 3.2, 4.9, 4.14, 4.19, 5.4
// and 6.1.
func TestParseTCPInfoOfOlderKernels(t *testing.T) {
	whole := make([]byte, unsafe.Sizeof(unix.TCPInfo{}))
	for i := range whole {
		whole[i] = 1
	}
	for _, test := range []struct {
		length         int
		lacking, known string
	}{
		{104, "pacing_rate_bps", "total_retrans"},
		{168, "busy_us", "delivery_rate_bps"},
		{192, "bytes_retrans", "sndbuf_limited_us"},
		{224, "snd_wnd_bytes", "reord_seen"},
		{232, "", "snd_wnd_bytes"},
		{len(whole), "", "snd_wnd_bytes"},
	} {
		info := ParseTCPInfo(whole[:test.length])
		if test.lacking == "" && len(info.Lacks) > 0 || test.lacking != "" &&
			!slices.Contains(info.Lacks, test.lacking) || slices.Contains(info.Lacks, test.known) {
			t.Errorf("%d bytes: lacks %v; want %q lacking and %q known", test.length, info.Lacks, test.lacking,
				test.known)
		}
		if info.Lacking("snd_wnd_bytes") == "" != (info.SndWnd != 0) ||
			info.Lacking("busy_us") == "" != (info.BusyUs != 0) {
			t.Errorf("%d bytes: lacks %v, but window %d and busy %d", test.length, info.Lacks, info.SndWnd, info.BusyUs)
		}
	}
}
