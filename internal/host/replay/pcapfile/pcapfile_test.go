package pcapfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// built is a file in parts, each a header, a packet or a block.
type built struct {
	parts   [][]byte
	packets []Packet // complete at the end of the part with the index in at
	at      []int
}

func (f *built) add(part []byte, packets ...Packet) {
	for _, p := range packets {
		f.packets, f.at = append(f.packets, p), append(f.at, len(f.parts))
	}
	f.parts = append(f.parts, part)
}

func (f *built) bytes() []byte { return bytes.Join(f.parts, nil) }

// data is the content of a packet of the tests.
func data(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + size)
	}
	return b
}

// pcapFile is a file of each magic number.
func pcapFile(order binary.AppendByteOrder, number uint32, minor uint16, link uint32) *built {
	head := order.AppendUint32(nil, number)
	head = order.AppendUint16(order.AppendUint16(head, 2), minor)
	head = order.AppendUint32(append(head, make([]byte, 8)...), 65535)
	f := &built{}
	f.add(order.AppendUint32(head, link))
	unit := time.Microsecond
	if number == magicNano {
		unit = time.Nanosecond
	}
	for i, size := range []int{60, 1514, 0, 61} {
		b := order.AppendUint32(order.AppendUint32(nil, uint32(1e9+i)), uint32(500+i))
		lengths := []int{size, size + i}
		if minor < 3 {
			lengths[0], lengths[1] = lengths[1], lengths[0]
		}
		b = order.AppendUint32(order.AppendUint32(b, uint32(lengths[0])), uint32(lengths[1]))
		if number == magicModified {
			b = append(b, make([]byte, 8)...)
		}
		f.add(append(b, data(size)...), Packet{Data: data(size), Length: size + i, Link: LinkType(link & 0xffff),
			FCS: link>>28 != 0, At: time.Unix(int64(1e9+i), int64(500+i)*int64(unit))})
	}
	return f
}

// block is a block of pcapng.
func block(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	body = append(bytes.Clone(body), make([]byte, -len(body)&3)...)
	b := order.AppendUint32(order.AppendUint32(nil, kind), uint32(len(body)+12))
	return order.AppendUint32(append(b, body...), uint32(len(body)+12))
}

func option(order binary.AppendByteOrder, code uint16, value []byte) []byte {
	b := order.AppendUint16(order.AppendUint16(nil, code), uint16(len(value)))
	return append(append(b, value...), make([]byte, -len(value)&3)...)
}

func section(order binary.AppendByteOrder) []byte {
	b := order.AppendUint16(order.AppendUint16(order.AppendUint32(nil, 0x1a2b3c4d), 1), 0)
	b = append(order.AppendUint64(b, 1<<64-1), option(order, 4, []byte("a program"))...)
	return block(order, 0x0a0d0d0a, b)
}

func interfaceOf(order binary.AppendByteOrder, link uint16, snap uint32, options ...[]byte) []byte {
	b := order.AppendUint32(order.AppendUint16(order.AppendUint16(nil, link), 0), snap)
	return block(order, interfaceDescription, append(b, bytes.Join(options, nil)...))
}

func enhanced(order binary.AppendByteOrder, device uint32, stamp uint64, b []byte, length int, opts ...[]byte) []byte {
	body := order.AppendUint32(order.AppendUint32(order.AppendUint32(nil, device), uint32(stamp>>32)), uint32(stamp))
	body = order.AppendUint32(order.AppendUint32(body, uint32(len(b))), uint32(length))
	body = append(append(body, b...), make([]byte, -len(b)&3)...)
	return block(order, enhancedPacket, append(body, bytes.Join(opts, nil)...))
}

// ngFile has sections of both byte orders with interfaces of several resolutions and link types, packets of each
// kind of block, and blocks that are skipped.
func ngFile() *built {
	f := &built{}
	for i, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		f.add(section(order))
		f.add(block(order, 0x0bad, data(33)))
		f.add(interfaceOf(order, 1, 98, option(order, 2, []byte("eth0")), option(order, 13, []byte{byte(32 * i)})))
		f.add(interfaceOf(order, 113, 0, option(order, 9, []byte{9}), option(order, 14, order.AppendUint64(nil, 50))))
		f.add(interfaceOf(order, 101, 0, option(order, 9, []byte{0x80 | 10})))
		f.add(enhanced(order, 0, 1e15+1, data(61+i), 61+i), Packet{Data: data(61 + i), Length: 61 + i, Link: Ethernet,
			FCS: i == 1, At: time.Unix(1e9, 1000)})
		f.add(enhanced(order, 1, 1e18+7, data(64), 1000, option(order, 2, order.AppendUint32(nil, 4<<5))),
			Packet{Data: data(64), Length: 1000, Link: SLL, FCS: true, At: time.Unix(1e9+50, 7)})
		f.add(block(order, 5, data(12))) // statistics of an interface
		f.add(enhanced(order, 2, 3<<10+512, data(40), 40), Packet{Data: data(40), Length: 40, Link: Raw,
			At: time.Unix(3, 5e8)})
		simple := order.AppendUint32(nil, 150)
		f.add(block(order, simplePacket, append(simple, data(98)...)), Packet{Data: data(98), Length: 150,
			Link: Ethernet, FCS: i == 1})
		old := order.AppendUint16(order.AppendUint16(nil, 2), 9)
		old = order.AppendUint32(order.AppendUint32(old, 0), 2048)
		old = order.AppendUint32(order.AppendUint32(old, 30), 30)
		f.add(block(order, obsoletePacket, append(old, data(30)...)), Packet{Data: data(30), Length: 30, Link: Raw,
			At: time.Unix(2, 0)})
		f.add(block(order, 0x0bad, nil))
	}
	return f
}

// files are captures of every kind.
func files() map[string]*built {
	list := map[string]*built{"pcapng": ngFile()}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for name, number := range map[string]uint32{"µs": magic, "ns": magicNano, "Kuznetsov": magicModified} {
			list[fmt.Sprintf("pcap %v %s", order, name)] = pcapFile(order, number, 4, 1)
		}
		list[fmt.Sprintf("pcap %v with check sequences", order)] = pcapFile(order, magic, 4, 0x2400_0001)
		list[fmt.Sprintf("pcap %v 2.2", order)] = pcapFile(order, magic, 2, 113)
	}
	return list
}

// read reads all packets.
func read(from io.Reader) (packets []Packet, err error) {
	r, err := Open(from)
	for err == nil {
		var p Packet
		if p, err = r.Next(); err == nil {
			p.Data = bytes.Clone(p.Data)
			packets = append(packets, p)
		}
	}
	return packets, err
}

// compare reports packets that differ.
func compare(t *testing.T, name string, got, want []Packet) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d packets, want %d", name, len(got), len(want))
	}
	for i, p := range got {
		w := want[i]
		if !bytes.Equal(p.Data, w.Data) || p.Length != w.Length || !p.At.Equal(w.At) || p.Link != w.Link ||
			p.FCS != w.FCS {
			t.Errorf("%s: packet %d is %+v, want %+v", name, i+1, p, w)
		}
	}
}

// TestCut: a file that is cut at any byte gives all packets that are complete before, and says that it is cut, with
// the bytes that are missing.
func TestCut(t *testing.T) {
	for name, f := range files() {
		whole := f.bytes()
		if got, err := read(bytes.NewReader(whole)); err != io.EOF {
			t.Fatalf("%s: %v after %d packets", name, err, len(got))
		} else {
			compare(t, name, got, f.packets)
		}
		part, begin := 0, 0
		for n := range whole {
			for n >= begin+len(f.parts[part]) {
				begin += len(f.parts[part])
				part++
			}
			complete := 0
			for complete < len(f.at) && f.at[complete] < part {
				complete++
			}
			got, err := read(bytes.NewReader(whole[:n]))
			compare(t, fmt.Sprintf("%s up to byte %d", name, n), got, f.packets[:complete])
			var cut *Cut
			switch {
			case n == begin && part > 0:
				if err != io.EOF {
					t.Fatalf("%s up to byte %d, the end of part %d: %v", name, n, part, err)
				}
			case part == 0:
				if err == nil || err == io.EOF {
					t.Fatalf("%s up to byte %d, in its header: %v", name, n, err)
				}
			case !errors.As(err, &cut) || cut.After != complete || cut.Missing < 1 ||
				cut.Missing > begin+len(f.parts[part])-n:
				t.Fatalf("%s up to byte %d of %d in a part from %d on: %v", name, n, len(whole), begin, err)
			case n >= begin+16 && name[:5] == "pcap " && cut.Missing != begin+len(f.parts[part])-n &&
				!strings.Contains(name, "Kuznetsov"):
				t.Fatalf("%s up to byte %d: %v", name, n, err)
			case cut.InPacket != (complete < len(f.at) && f.at[complete] == part) && n >= begin+12:
				t.Fatalf("%s up to byte %d: %v", name, n, err)
			}
		}
	}
}

// TestCutCompressed: the same for what is left of a compressed file.
func TestCutCompressed(t *testing.T) {
	f := ngFile()
	pack := map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	}
	for name, open := range pack {
		var packed bytes.Buffer
		w := open(&packed)
		if _, err := w.Write(f.bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := read(bytes.NewReader(packed.Bytes()))
		if err != io.EOF {
			t.Fatalf("%s: %v", name, err)
		}
		compare(t, name, got, f.packets)
		for n := range packed.Len() {
			got, err := read(bytes.NewReader(packed.Bytes()[:n]))
			if len(got) > len(f.packets) {
				t.Fatalf("%s up to byte %d: %d packets", name, n, len(got))
			}
			compare(t, fmt.Sprintf("%s up to byte %d", name, n), got, f.packets[:len(got)])
			var cut *Cut
			if !errors.As(err, &cut) && (len(got) > 0 || err == nil || err == io.EOF) {
				t.Fatalf("%s up to byte %d: %v after %d packets", name, n, err, len(got))
			}
		}
	}
}

// TestCompressedByBzip2: such a file is read.
func TestCompressedByBzip2(t *testing.T) {
	file, err := os.Open("testdata/one.pcap.bz2")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got, err := read(file); err != io.EOF || len(got) != 1 || got[0].Length != 60 {
		t.Errorf("%d packets, %v", len(got), err)
	}
}

// TestDamage: what is invalid is named behind the packets before it.
func TestDamage(t *testing.T) {
	order := binary.LittleEndian
	begin := slicesOf(section(order), interfaceOf(order, 1, 0), enhanced(order, 0, 1, data(60), 60))
	for want, rest := range map[string][]byte{
		"only zeros":         make([]byte, 100),
		"would have 5":       order.AppendUint32(order.AppendUint32(nil, 9), 5),
		"of interface 7":     enhanced(order, 7, 1, data(60), 60),
		"ends with":          append(block(order, 9, data(8))[:16], 1, 2, 3, 4),
		"resolution of time": interfaceOf(order, 1, 0, option(order, 9, []byte{20})),
		"version 9.0":        append(section(order)[:12], 9, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
		"byte order":         append(section(order)[:8], make([]byte, 40)...),
		"in a block of": block(order, enhancedPacket, slicesOf(make([]byte, 12), order.AppendUint32(nil, 100),
			make([]byte, 20))),
		"a block with a frame": block(order, enhancedPacket, make([]byte, 8)),
		"too short":            block(order, interfaceDescription, make([]byte, 4)),
	} {
		file := slicesOf(begin, rest)
		if want == "only zeros" {
			whole := pcapFile(order, magic, 4, 1)
			file = slicesOf(whole.parts[0], whole.parts[1], rest)
		}
		got, err := read(bytes.NewReader(file))
		var damage *Damage
		if len(got) != 1 || !errors.As(err, &damage) || damage.After != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d packets, %v", want, len(got), err)
		}
	}
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestUnknown: a file that is no capture is called what it seems to be.
func TestUnknown(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "\xfd7zXZ\x00\x00": "xz -dc", "PK\x03\x04\x14": "ZIP", "snoop\x00\x00\x00": "editcap",
		"\x0a\x0d\x0a\x1c\x00": "copy it as binary", "1MOyoQIABAA": "base64", "\x00\x00\x00\x00\x00": "zeros",
		"12:01:02.123456 IP 10.0.0.1.22 > 10.0.0.2.99: Flags [.]\n": "tcpdump prints", "  1 0.000000 10.0.0.1 →": "tshark",
		"0000  45 00 00 3c": "text2pcap", "\n<!DOCTYPE html><html>": "web page", "<?xml version=": "XML",
		"[\n {\"_index\":": "JSON", "hello, world": "to be text", "\x01\x02\x03\x04\x05": "begins with 01 02 03 04",
		"\xd4\xc3\xb2\xa1\x03\x00\x04\x00" + strings.Repeat("\x00", 16): "version 3.4",
		"\xd4\xc3\xb2\xa1\x02":                       "ends in the header",
		strings.Repeat("x", 257) + "ustar\x0000root": "tar",
	} {
		if got, err := read(strings.NewReader(text)); err == nil || err == io.EOF ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d packets, %v, want %q", text, len(got), err, want)
		}
	}
	broken := errors.New("the disk does not answer")
	head := pcapFile(binary.LittleEndian, magic, 4, 1).bytes()
	for n := range 50 {
		_, err := read(io.MultiReader(bytes.NewReader(head[:n]), failing{broken}))
		if n > 0 && n < 24 && err == nil || (n == 0 || n >= 24) && !errors.Is(err, broken) {
			t.Errorf("an error behind byte %d: %v", n, err)
		}
	}
}

// failing fails to read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestBounds: whatever lengths a file says, and however much it has without a packet, memory and time are bounded.
func TestBounds(t *testing.T) {
	order := binary.LittleEndian
	head := slicesOf(section(order), interfaceOf(order, 1, 0))
	large := order.AppendUint32(order.AppendUint32(nil, 0x0bad), 0x7fff_fff0)
	record := pcapFile(order, magic, 4, 1).parts[0]
	for name, file := range map[string]io.Reader{
		"a block of 2 GiB":  io.MultiReader(bytes.NewReader(slicesOf(head, large)), zeros{}),
		"small blocks":      io.MultiReader(bytes.NewReader(head), &repeated{part: block(order, 0x0bad, nil)}),
		"interfaces":        io.MultiReader(bytes.NewReader(head), &repeated{part: interfaceOf(order, 1, 0)}),
		"sections":          &repeated{part: section(order)},
		"a packet of 4 GiB": io.MultiReader(bytes.NewReader(record), &repeated{part: []byte("\xff\xff\xff\xff")}),
		"a block with a packet of 2 GiB": io.MultiReader(bytes.NewReader(slicesOf(head,
			order.AppendUint32(order.AppendUint32(nil, enhancedPacket), 0x7fff_fff0))), zeros{}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(file)
		runtime.ReadMemStats(&after)
		var damage *Damage
		if !errors.As(err, &damage) {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", name, used)
		}
	}
}

// zeros is endless.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// repeated is a part over and over.
type repeated struct {
	part []byte
	at   int
}

func (r *repeated) Read(b []byte) (int, error) {
	n := copy(b, r.part[r.at:])
	r.at = (r.at + n) % len(r.part)
	return n, nil
}

// FuzzRead: no file stops the reader, and packets are within it.
func FuzzRead(f *testing.F) {
	for _, file := range files() {
		f.Add(file.bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		packets, err := read(bytes.NewReader(b))
		if err == nil {
			t.Fatal("no end")
		}
		for i, p := range packets {
			if p.Length < len(p.Data) || len(p.Data) > mostPacket {
				t.Errorf("packet %d has %d bytes of %d", i+1, len(p.Data), p.Length)
			}
		}
	})
}
