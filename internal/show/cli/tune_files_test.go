package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestTuningFiles: files that programs of Linux cannot read are refused with the reason, and of a directory
// what is not read is named.
func TestTuningFiles(t *testing.T) {
	dir := t.TempDir()
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("net.core.rmem_max = 1\n")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"wide.conf":   {wide, "is UTF-16 text"},
		"bare.conf":   {wide[2:], "is UTF-16 text"},
		"binary.conf": {[]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00"), "is not text"},
		"large.conf":  {[]byte(strings.Repeat("net.core.rmem_max = 1\n", maxList/20)), "has more than"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, test.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readTuning(nil, []string{path}, ""); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"10-a.conf", "README", "20-b.conf.bak"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("net.core.rmem_max = 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, not, err := readTuning(nil, []string{dir}, "")
	want := []string{filepath.Join(dir, "20-b.conf.bak"), filepath.Join(dir, "README")}
	if err != nil || len(files) != 1 || !slices.Equal(not.skipped, want) || not.masked != nil {
		t.Errorf("%d files, not read %q, want %q, %v", len(files), not, want, err)
	}
}

// TestDirectories: of directories that are given together, files are read by their names, and one of /etc
// in place of one of /usr/lib, whatever the order of the arguments; what is given after them, after them.
func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	etc, lib, other := dir+"/etc/sysctl.d", dir+"/usr/lib/sysctl.d", dir+"/x"
	for _, name := range []string{etc + "/10-a.conf", etc + "/50-b.conf", lib + "/50-b.conf", lib + "/20-c.conf",
		lib + "/README", other + "/50-b.conf", dir + "/sysctl.conf"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("net.core.rmem_max = 4096\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ args, want, masked []string }{
		{[]string{etc, lib}, []string{etc + "/10-a.conf", lib + "/20-c.conf", etc + "/50-b.conf"},
			[]string{lib + "/50-b.conf"}},
		{[]string{lib, etc, dir + "/sysctl.conf"}, []string{etc + "/10-a.conf", lib + "/20-c.conf", etc + "/50-b.conf",
			dir + "/sysctl.conf"}, []string{lib + "/50-b.conf"}},
		{[]string{dir + "/sysctl.conf", lib, other},
			[]string{dir + "/sysctl.conf", lib + "/20-c.conf", lib + "/50-b.conf"},
			[]string{other + "/50-b.conf"}},
	} {
		names, not, err := tuningNames(test.args)
		if err != nil || !slices.Equal(names, test.want) || !slices.Equal(not.masked, test.masked) {
			t.Errorf("%q: %q, %q, %v", test.args, names, not.masked, err)
		}
	}
}
