package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/pasted"
)

const softnet = "00000010 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"

// write writes a tar archive of these members, each with a text unless its type says otherwise.
func write(t testing.TB, list ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range list {
		text := softnet
		if h.Typeflag != 0 && h.Typeflag != tar.TypeReg {
			text = ""
		}
		if h.Size = int64(len(text)); h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func named(names ...string) (list []tar.Header) {
	for _, name := range names {
		list = append(list, tar.Header{Name: name})
	}
	return list
}

func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// xzOf compresses by xz(1). It skips the test without it.
func xzOf(t *testing.T, text []byte, options ...string) []byte {
	t.Helper()
	kerneltest.Needs(t, "xz")
	c := exec.CommandContext(t.Context(), "xz", append(options, "-c")...)
	c.Stdin = bytes.NewReader(text)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, text []byte) (*Archive, error) {
	t.Helper()
	return Read(t.Context(), bytes.NewReader(text), "x.tar")
}

func paths(list []pasted.Member) string {
	var names []string
	for _, m := range list {
		names = append(names, m.Path)
	}
	return strings.Join(names, " ")
}

// TestCompressions: an archive is read however it is compressed, also if it is several streams.
func TestCompressions(t *testing.T) {
	plain := write(t, named("nas/proc/net/softnet_stat", "nas/ip_addr.txt", "nas/picture.png")...)
	half := len(plain) / 2
	for name, text := range map[string][]byte{
		"tar": plain, "gzip": zipped(t, plain),
		"two gzips": append(zipped(t, plain[:half]), zipped(t, plain[half:])...),
		"xz":        xzOf(t, plain), "xz with SHA-256": xzOf(t, plain, "-C", "sha256"),
		"xz without a check": xzOf(t, plain, "-C", "none"),
		"xz with CRC-32":     xzOf(t, plain, "-C", "crc32"), "xz in blocks": xzOf(t, plain, "--block-size=700"),
		"two xz": append(append(xzOf(t, plain[:half]), 0, 0, 0, 0), xzOf(t, plain[half:])...),
	} {
		a, err := read(t, text)
		if err != nil || a.Known != 2 || a.Others != 1 || a.Partly != "" || a.Members[0].Text != softnet {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// TestCutAndDamaged: an archive that is cut anywhere, or of which a byte is another one, gives what could be
// read, and says that it is not all, or an error. A compressed one is never taken for whole.
func TestCutAndDamaged(t *testing.T) {
	var list []tar.Header
	for n := range 8 {
		list = append(list, tar.Header{Name: fmt.Sprintf("nas/host%d/proc/net/softnet_stat", n)})
	}
	plain := write(t, list...)
	random := rand.New(rand.NewPCG(1, 2))
	for name, text := range map[string][]byte{"tar": plain, "gzip": zipped(t, plain), "xz": xzOf(t, plain)} {
		for range 300 {
			at := random.IntN(len(text))
			a, err := read(t, text[:at])
			if err == nil && a.Partly == "" && (a.Known < len(list) && name != "tar") {
				t.Fatalf("%s, cut at %d of %d: %d members and no word", name, at, len(text), a.Known)
			}
			other := bytes.Clone(text)
			other[at] ^= 1 << random.IntN(8)
			if a, err := read(t, other); err == nil && name != "tar" && a.Partly == "" {
				for _, m := range a.Members {
					if m.Text != softnet {
						t.Fatalf("%s, damaged at %d: %q", name, at, m.Text)
					}
				}
			}
		}
	}
}

// TestNames: what leads out of an archive is named and not read; links, devices and FIFOs are none of its
// files; a path from the root is one below it, and a name in another encoding is a name.
func TestNames(t *testing.T) {
	const file = "/proc/net/softnet_stat"
	list := named("../etc"+file, "a/../../b"+file, "/nas"+file, "./nas2"+file, "n\xe4s"+file,
		`c:\x`+strings.ReplaceAll(file, "/", `\`))
	for _, kind := range []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo} {
		list = append(list, tar.Header{Name: fmt.Sprintf("l%c", kind) + file, Typeflag: kind, Linkname: "/etc/passwd"})
	}
	dir := t.TempDir()
	t.Chdir(dir)
	a, err := read(t, write(t, list...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(a.Members), "nas"+file+" nas2"+file+" n?s"+file+" c:/x"+file; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	if !strings.Contains(a.Partly, "../etc"+file+": the name leads out of the archive") || a.Others != 7 {
		t.Errorf("%d others, %q", a.Others, a.Partly)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("written: %v", left)
	}
}

// TestHeaders: long names and sparse files of GNU tar and those of PAX are read.
func TestHeaders(t *testing.T) {
	kerneltest.Needs(t, "tar")
	long := strings.Repeat("long/", 60) + "proc/net/softnet_stat"
	for _, format := range []tar.Format{tar.FormatGNU, tar.FormatPAX} {
		if a, err := read(t, write(t, tar.Header{Name: long, Format: format})); err != nil || paths(a.Members) != long {
			t.Errorf("%v: %+v, %v", format, a, err)
		}
	}
	dir := t.TempDir()
	for name, arguments := range map[string][]string{"gnu": {"--format=gnu"}, "posix": {"--format=posix"}} {
		at := filepath.Join(dir, name, "net")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(at, "softnet_stat"))
		if err == nil {
			_, err = f.WriteString(softnet)
		}
		if err == nil {
			err = errors.Join(f.Truncate(10<<30), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "-cSf", filepath.Join(dir, name+".tar"), "-C", filepath.Join(dir, name), "net")
		if out, err := exec.CommandContext(t.Context(), "tar", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("tar: %s", out)
		}
		text, err := os.ReadFile(filepath.Join(dir, name+".tar"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := read(t, text)
		if err != nil || !strings.HasPrefix(a.Members[0].Text, softnet[:20]) ||
			!strings.Contains(a.Partly, "behind 16 MiB") {
			t.Errorf("%s: %d bytes as a sparse file of 10 GiB: %v", name, len(text), err)
		}
	}
}

// zeros is a member of so many bytes, compressed, behind the head of a tar archive.
func zeros(t testing.TB, name string, size int64) io.Reader {
	t.Helper()
	var head bytes.Buffer
	if err := tar.NewWriter(&head).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	const chunk = 16 << 20
	parts := []io.Reader{bytes.NewReader(zipped(t, head.Bytes()))}
	zero := zipped(t, make([]byte, chunk))
	for ; size > 0; size -= chunk {
		parts = append(parts, bytes.NewReader(zero))
	}
	return io.MultiReader(parts...)
}

// sparse is the head of a member of tar that is 4 GiB of nothing (GNU tar, "Sparse Formats").
func sparse(t testing.TB, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Mode: 0o644, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	head := b.Bytes()
	head[156] = tar.TypeGNUSparse
	copy(head[386:], "40000000000\x0000000000000\x00") // a part of no bytes at the end
	copy(head[483:], "40000000000\x00")
	copy(head[148:], "        ")
	sum := 0
	for _, c := range head {
		sum += int(c)
	}
	copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
	return head
}

// used returns how much memory a function takes from the system.
func used(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.HeapSys) - int64(before.HeapSys)
}

// TestBombs: what is larger than the bounds is named, and takes no more memory than they say.
func TestBombs(t *testing.T) {
	kerneltest.Slow(t)
	many := func() []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for range 300_000 {
			if _, err := w.CreateRaw(&zip.FileHeader{Name: strings.Repeat("long/", 12)}); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close()
		return b.Bytes()
	}()
	big := func(name string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		m, err := w.Create(name)
		for range 160 {
			if err == nil {
				_, err = m.Write(make([]byte, 1<<20))
			}
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	wrong := big("nas/proc/net/softnet_stat")
	binary.LittleEndian.PutUint32(wrong[bytes.LastIndex(wrong, []byte("PK\x01\x02"))+24:], 10) // its size
	nested := write(t, named("nas/proc/net/softnet_stat")...)
	for n := range 6 {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		head := tar.Header{Name: fmt.Sprintf("n%d.tar", n), Size: int64(len(nested)), Mode: 0o644}
		if err := w.WriteHeader(&head); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(nested)
		_ = w.Close()
		nested = b.Bytes()
	}
	const memory = 160 << 20
	for name, c := range map[string]struct {
		text io.Reader
		says string
	}{
		"10 GB of zeros in a known member": {zeros(t, "nas/proc/net/softnet_stat", 10<<30),
			"it has more than is read: 4096 MiB unpacked"},
		"10 GB of zeros in another member": {zeros(t, "nas/disk.img", 10<<30),
			"it has more than is read: 4096 MiB unpacked"},
		"10 GB in sparse files": {bytes.NewReader(bytes.Repeat(sparse(t, "nas/proc/net/softnet_stat"), 100)),
			"it has more than is read: 4096 MiB unpacked"},
		"a directory of 30 MB": {bytes.NewReader(many), "its directory has more than 24 MiB"},
		"a zip bomb": {bytes.NewReader(big("nas/proc/net/softnet_stat")),
			"what is behind 16 MiB"},
		"a zip with a wrong size":  {bytes.NewReader(wrong), "zip: not a valid zip file"},
		"archives in archives":     {bytes.NewReader(nested), "an archive in too many archives"},
		"nothing":                  {strings.NewReader(""), "none of its 1 members is known"},
		"a tar archive of nothing": {bytes.NewReader(write(t)), "it is empty"},
		"zstd":                     {strings.NewReader("\x28\xb5\x2f\xfd...."), "zstd -d"},
	} {
		var a *Archive
		var err error
		took := used(func() {
			r := newReader(t.Context())
			if strings.Contains(name, "10 GB") {
				r.unpacked = 256 << 20 // all that it may would take seconds
			}
			a, err = r.end(r.open(c.text, "x.tgz"))
		})
		said := fmt.Sprint(err)
		if err == nil {
			said = a.Partly
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%s: %q, want %q", name, said, c.says)
		}
		if took > memory {
			t.Errorf("%s: %d MiB of memory", name, took>>20)
		}
	}
}

// TestManyMembers: of a million members only so many are looked at.
func TestManyMembers(t *testing.T) {
	kerneltest.Slow(t)
	var block bytes.Buffer
	w := tar.NewWriter(&block)
	for n := range 1000 {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("nas/%d", n), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	parts := []io.Reader{bytes.NewReader(write(t, named("nas/proc/net/softnet_stat")...)[:1024])}
	for range 1000 {
		parts = append(parts, bytes.NewReader(block.Bytes()))
	}
	a, err := Read(t.Context(), io.MultiReader(parts...), "x.tar")
	if err != nil || a.Known != 1 || !strings.Contains(a.Partly, "200000 members") {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestDictionary: a dictionary larger than that of xz -9 is not allocated.
func TestDictionary(t *testing.T) {
	text := xzOf(t, write(t, named("nas/proc/net/softnet_stat")...), "-9e")
	if a, err := read(t, text); err != nil || a.Known != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	head := text[12 : 12+4*(int(text[12])+1)]
	at := bytes.Index(head, []byte{0x21, 1}) + 2
	head[at] = 40 // 4 GiB
	binary.LittleEndian.PutUint32(head[len(head)-4:], crc32.ChecksumIEEE(head[:len(head)-4]))
	var err error
	if took := used(func() { _, err = read(t, text) }); took > 64<<20 {
		t.Errorf("%d MiB of memory", took>>20)
	}
	if err == nil || !strings.Contains(err.Error(), "a dictionary of 4096 MiB") {
		t.Errorf("%v", err)
	}
}

// TestCancelled: the end of the context ends the reading of whatever is read.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := Read(ctx, zeros(t, "nas/disk.img", 1<<40), "x.tgz")
	if !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// TestDirectory: of a directory links are not followed, and nothing in it blocks.
func TestDirectory(t *testing.T) {
	outside, dir := t.TempDir(), filepath.Join(t.TempDir(), "nas")
	net := filepath.Join(dir, "proc/net")
	known := filepath.Join(outside, "softnet_stat")
	if err := errors.Join(os.MkdirAll(net, 0o755), os.WriteFile(known, []byte(softnet), 0o600),
		os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk\n"), 0o600),
		os.WriteFile(filepath.Join(net, "softnet_stat"), []byte(softnet), 0o600),
		os.WriteFile(filepath.Join(dir, "b.tgz"), zipped(t, write(t, named("b/proc/net/softnet_stat")...)), 0o600),
		os.WriteFile(filepath.Join(dir, "cut.tgz"), []byte("\x1f\x8b\x08"), 0o600),
		os.Symlink(known, filepath.Join(net, "dev")), os.Symlink(outside, filepath.Join(dir, "etc")),
		os.Symlink("..", filepath.Join(dir, "up")), syscall.Mkfifo(filepath.Join(net, "snmp"), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := Directory(ctx, dir)
	if err != nil || paths(a.Members) != "nas/b/b/proc/net/softnet_stat nas/proc/net/softnet_stat" ||
		!strings.Contains(a.Partly, "nas/cut.tgz: ") {
		t.Errorf("%+v, %v", a, err)
	}
	if text := pasted.ParseMembers(a.Members, dir); len(text.Machines) != 2 {
		t.Errorf("%d machines", len(text.Machines))
	}
}

// TestProc: /proc is read and ends, with the network of one process.
func TestProc(t *testing.T) {
	if _, err := os.Stat("/proc/net/softnet_stat"); err != nil {
		kerneltest.Without(t, err.Error())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	a, err := Directory(ctx, "/proc")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(paths(a.Members), "/net/snmp6"); n != 1 {
		t.Errorf("net/snmp6 of %d processes", n)
	}
	if len(pasted.ParseMembers(a.Members, "/proc").Machines) != 1 {
		t.Error("it is no one host")
	}
}
