package setting

import "testing"

// TestNearestKey: a slip in a long key is found, and the directory makes none alike.
func TestNearestKey(t *testing.T) {
	beside := []string{"net.ipv4.tcp_ecn", "net.ipv4.tcp_dsack", "net.ipv4.tcp_app_win",
		"net.ipv4.tcp_slow_start_after_idle"}
	for key, want := range map[string]string{
		"net.ipv4.tcp_slow_start_after_idel": "net.ipv4.tcp_slow_start_after_idle",
		"net.ipv4.tcp_initcwnd":              "",
		"net.ipv4.tcp_nodelay":               "",
		"net.ipv4.tcp_delack_min":            "",
	} {
		if got := NearestKey(key, beside); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
