// Package archive reads support archives: what sos report, supportconfig and similar programs collect
// of a host, as a file or unpacked in a directory.
//
// An archive comes from a stranger. It is read as a stream and never unpacked: nothing is written, no
// path of it is opened, and links are not followed. Sizes, members and nesting are bounded; what lies
// beyond the bounds is named and not read.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

// Bounds of what is read.
const (
	mostMembers      = 200_000   // members of an archive, known or not
	largestMember    = 16 << 20  // bytes of a member that is read
	largestPerhaps   = 1 << 20   // bytes of a member that is read to see whether its format is known
	mostText         = 128 << 20 // bytes of all members that are read
	mostUnpacked     = 4 << 30   // bytes that come out of a decompressor, or of members that are read
	largestDirectory = 24 << 20  // bytes of the directory of a zip archive
	largestZip       = 64 << 20  // bytes of a zip archive that is in a pipe or in another archive
	deepest          = 2         // archives in archives
	mostNamed        = 4         // reasons why something was not read
)

// slowest bounds the wait for a file that is no disk's, such as /proc/kmsg.
const slowest = 2 * time.Second

// Archive is what was read of an archive.
type Archive struct {
	Members []pasted.Member
	// Snapshots are documents of linerate snapshot, by their paths.
	Snapshots map[string][]byte
	// Known counts the members that are read, and Others those of other formats, links and devices.
	Known, Others int
	// Partly says what was not read, and why. Empty: everything was that is known.
	Partly string
}

// Is reports whether a file's first bytes are those of an archive or of a compressed file. 262 bytes
// suffice.
func Is(head []byte) bool { return kindOf(head) != "" }

func kindOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(head, xzHead):
		return "xz"
	case bytes.HasPrefix(head, []byte("BZh")):
		return "bzip2"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return "zstd"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return "zip"
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return "tar"
	}
	return ""
}

// reader reads one archive and those in it.
type reader struct {
	ctx  context.Context
	into *Archive
	// text and unpacked are how many bytes may still be read.
	text, unpacked int64
	dictionaries   int64 // how many bytes of dictionaries of xz may still be made
	members        int
	skipped        []string // what was not read, and why
	more           int      // further ones
	// process has the first process of a directory below proc. Those of the others have the same.
	process map[string]string
}

// errBound ends the reading of an archive that has more than the bounds allow.
var errBound = errors.New("it has more than is read")

// Read reads an archive of which the caller knows that it is one (Is). Name is that of its file.
func Read(ctx context.Context, from io.Reader, name string) (*Archive, error) {
	r := newReader(ctx)
	return r.end(r.open(from, name))
}

func (r *reader) open(from io.Reader, name string) error {
	if f, is := from.(*os.File); is { // the directory of a zip archive is at its end
		head := make([]byte, 262)
		n, _ := f.ReadAt(head, 0)
		if info, err := f.Stat(); err == nil && kindOf(head[:n]) == "zip" {
			return r.zip(f, info.Size(), "", 0)
		}
	}
	return r.stream(from, "", name, 0)
}

func newReader(ctx context.Context) *reader {
	return &reader{ctx: ctx, into: &Archive{}, text: mostText, unpacked: mostUnpacked,
		dictionaries: mostDictionaries, process: map[string]string{}}
}

// skip records what is not read.
func (r *reader) skip(what, why string) {
	if len(r.skipped) >= mostNamed {
		r.more++
		return
	}
	if what != "" {
		why = plain.Short(what, 200) + ": " + why
	}
	r.skipped = append(r.skipped, why)
}

// end returns the archive. What was read before an error counts.
func (r *reader) end(err error) (*Archive, error) {
	if r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	if err != nil {
		r.skipped = append(r.skipped, err.Error())
	}
	if r.more > 0 {
		r.skipped = append(r.skipped, fmt.Sprintf("and %d more", r.more))
	}
	r.into.Partly = strings.Join(r.skipped, "; ")
	if len(r.into.Members)+len(r.into.Snapshots) == 0 {
		switch {
		case r.into.Partly != "":
			return nil, errors.New(r.into.Partly)
		case r.members == 0:
			return nil, errors.New("it is empty")
		}
		return nil, fmt.Errorf("none of its %d members is known", r.members)
	}
	return r.into, nil
}

// Directory reads an unpacked archive, or a directory of archives, snapshots and texts. Links are not
// followed, and nothing outside it is read.
func Directory(ctx context.Context, name string) (*Archive, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	r := newReader(ctx)
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.skip(at, reason(err))
			return nil
		case d.IsDir():
			return nil
		}
		// What was a file may have become a FIFO since, which O_NONBLOCK does not wait for.
		var in io.Reader
		if name := path.Join(filepath.Base(full), at); d.Type().IsRegular() && wanted(name) {
			f, err := root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				r.skip(at, reason(err))
				return nil
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			_ = f.SetReadDeadline(time.Now().Add(slowest)) // of most files there is none to set
			in = f
		}
		// When a file was written says little here: copies are as old as their copying.
		err = r.member(path.Join(filepath.Base(full), at), in, time.Time{}, 0)
		if err != nil && !errors.Is(err, errBound) && ctx.Err() == nil {
			r.skip(at, reason(err))
			err = nil
		}
		return err
	})
	return r.end(err)
}

// reason returns an error without the path that a caller names.
func reason(err error) string {
	if at, is := errors.AsType[*fs.PathError](err); is {
		return at.Err.Error()
	}
	return err.Error()
}

// stream reads an archive that is compressed or not, or a compressed text.
func (r *reader) stream(from io.Reader, within, name string, depth int) (err error) {
	in := bufio.NewReaderSize(from, 1<<16)
	for range 3 { // .tar.gz.xz does not exist; what does has one compression
		head, failed := in.Peek(262)
		var out io.Reader
		switch kindOf(head) {
		case "gzip":
			out, err = gzip.NewReader(in)
		case "xz":
			out, err = newXZReader(in, &r.dictionaries)
		case "bzip2":
			out = bzip2.NewReader(in)
		case "zstd":
			return errors.New("it is compressed by zstd, which is not read: zstd -d")
		case "zip":
			text, err := io.ReadAll(io.LimitReader(in, largestZip+1))
			if err != nil || len(text) > largestZip {
				return cmp.Or(err, fmt.Errorf("%w: a zip archive of %d MiB", errBound, largestZip>>20))
			}
			return r.zip(bytes.NewReader(text), int64(len(text)), within, depth)
		case "tar":
			if err := r.tar(tar.NewReader(in), within, depth); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, in) // the checksums of a compression are behind the archive's end
			return err
		default:
			switch {
			case failed != nil && !errors.Is(failed, io.EOF):
				return failed
			case len(head) > 0 && allZero(head):
				return nil // a tar archive without members
			}
			if name = strings.TrimSuffix(name, path.Ext(name)); !pasted.KnownMember(name) {
				name += ".txt"
			}
			return r.member(name, in, time.Time{}, deepest)
		}
		if err != nil {
			return cut(err)
		}
		in = bufio.NewReaderSize(&metered{r: r, from: out}, 1<<16)
	}
	return errors.New("it is compressed several times")
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// metered counts what comes out of a decompressor or a member, and ends when it is too much or the context ends.
type metered struct {
	r    *reader
	from io.Reader
}

func (m *metered) Read(p []byte) (int, error) {
	if err := m.r.ctx.Err(); err != nil {
		return 0, err
	}
	if m.r.unpacked <= 0 {
		return 0, fmt.Errorf("%w: %d MiB unpacked", errBound, mostUnpacked>>20)
	}
	n, err := m.from.Read(p)
	m.r.unpacked -= int64(n)
	return n, err
}

func (r *reader) tar(from *tar.Reader, within string, depth int) error {
	for {
		head, err := from.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case head.Typeflag == tar.TypeDir:
			r.members++
			if r.members > mostMembers {
				return errMembers
			}
			continue
		}
		var in io.Reader
		if head.Typeflag == tar.TypeReg || head.Typeflag == tar.TypeGNUSparse {
			in = from
		}
		name, inside := clean(head.Name)
		if !inside {
			r.skip(head.Name, "the name leads out of the archive")
			in = nil
		}
		if err := r.member(path.Join(within, name), in, head.ModTime, depth); err != nil {
			return err
		}
	}
}

func (r *reader) zip(from io.ReaderAt, size int64, within string, depth int) error {
	directory := &bounded{from: from, left: largestDirectory}
	z, err := zip.NewReader(directory, size)
	if err != nil {
		return err
	}
	directory.left = math.MaxInt64 // from here on metered does it
	for _, f := range z.File {
		if f.Mode().IsDir() {
			continue
		}
		if err := r.zipped(f, within, depth); err != nil {
			if errors.Is(err, errBound) || r.ctx.Err() != nil {
				return err
			}
			r.skip(f.Name, reason(err))
		}
	}
	return nil
}

// zipped reads a member of a zip archive.
func (r *reader) zipped(f *zip.File, within string, depth int) error {
	name, inside := clean(f.Name)
	var in io.Reader
	switch {
	case !inside:
		r.skip(f.Name, "the name leads out of the archive")
	case f.Flags&1 != 0:
		r.skip(f.Name, "it is encrypted")
	case f.Mode().IsRegular() && wanted(name):
		opened, err := f.Open()
		if err != nil {
			return err
		}
		defer opened.Close()
		in = &metered{r: r, from: opened}
	}
	return r.member(path.Join(within, name), in, f.Modified, depth)
}

// bounded is a file of which only so many bytes can be read.
type bounded struct {
	from io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("%w: its directory has more than %d MiB", errBound, largestDirectory>>20)
	}
	return b.from.ReadAt(p, at)
}

// clean returns a member's name as a path below the archive; it is never opened. Inside is false if the
// name leads out of the archive. A name that begins with a slash does not: tar(1) leaves it out.
func clean(name string) (at string, inside bool) {
	name = strings.TrimLeft(strings.ToValidUTF8(strings.ReplaceAll(name, `\`, "/"), "?"), "/")
	at = path.Clean(name)
	return at, at != ".." && !strings.HasPrefix(at, "../")
}

var (
	errMembers = fmt.Errorf("%w: %d members", errBound, mostMembers)
	ofProcess  = pattern.MustCompile(`^((?:.*/)?proc/)(\d+|self|thread-self)/`)
)

// wanted reports whether a member may be read, by its name.
func wanted(name string) bool {
	return pasted.KnownMember(name) || pasted.PerhapsMember(name) || isArchive(name) || isCompressed(name) ||
		strings.HasSuffix(name, ".json")
}

// isCompressed reports whether a name is that of a compressed text that may be read.
func isCompressed(name string) bool {
	text := strings.TrimSuffix(name, path.Ext(name))
	return slices.Contains([]string{".gz", ".xz", ".bz2"}, path.Ext(name)) && !isArchive(name) &&
		(pasted.KnownMember(text) || pasted.PerhapsMember(text))
}

// isArchive reports whether a name is that of an archive.
func isArchive(name string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz", ".zip"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// member reads a member if its format is known, or if it is an archive itself. From is nil if it is no
// file, such as a link.
func (r *reader) member(name string, from io.Reader, modified time.Time, depth int) error {
	if r.members++; r.members > mostMembers {
		return errMembers
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	if process := ofProcess.FindStringSubmatch(name); process != nil {
		if first := r.process[process[1]]; first == "" && strings.Contains(name, "/net/") {
			r.process[process[1]] = process[2]
		} else if first != process[2] || strings.Contains(name, "/task/") {
			from = nil
		}
	}
	m := pasted.Member{Path: name, Time: modified}
	if from != nil {
		from = &metered{r: r, from: from} // a sparse file has bytes that are nowhere else
	}
	switch {
	case from == nil:
	case depth < deepest && isCompressed(name):
		return r.inside(from, "", name, deepest)
	case pasted.KnownMember(name):
		return r.keep(m, from, largestMember)
	case depth < deepest && isArchive(name):
		within := name
		for isArchive(within) || strings.HasSuffix(within, ".tar") {
			within = strings.TrimSuffix(within, path.Ext(within))
		}
		return r.inside(from, within, name, depth+1)
	case isArchive(name):
		r.skip(name, "an archive in too many archives")
	case strings.HasSuffix(name, ".json"):
		return r.snapshot(name, from)
	case pasted.PerhapsMember(name):
		return r.keep(m, from, largestPerhaps)
	}
	r.into.Others++
	return nil
}

// inside reads an archive or a compressed text in an archive. What is wrong with it does not end the one around it.
func (r *reader) inside(from io.Reader, within, name string, depth int) error {
	err := r.stream(from, within, name, depth)
	if err == nil || errors.Is(err, errBound) || r.ctx.Err() != nil {
		return err
	}
	r.skip(name, reason(err))
	return nil
}

// snapshot keeps a document of linerate snapshot.
func (r *reader) snapshot(name string, from io.Reader) error {
	in := bufio.NewReader(from)
	if head, _ := in.Peek(256); !bytes.Contains(head, []byte(netstate.HostSnapshotSchema)) {
		r.into.Others++
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(in, min(netstate.LargestHostSnapshot, r.text)))
	r.text -= int64(len(text))
	lists.Put(&r.into.Snapshots, name, text)
	return err
}

// keep reads the text of a member, of at most so many bytes.
func (r *reader) keep(m pasted.Member, from io.Reader, largest int64) error {
	most := min(largest, r.text)
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if int64(len(text)) > most {
		if r.text < largest {
			return fmt.Errorf("%w: %d MiB of text", errBound, mostText>>20)
		}
		text = text[:bytes.LastIndexByte(text[:most], '\n')+1]
		r.skip(m.Path, fmt.Sprintf("what is behind %d MiB", most>>20))
	}
	m.Text = pasted.Decoded(text)
	if !pasted.KnownMember(m.Path) && !pasted.Recognised(m.Text) {
		r.into.Others++
		return err
	}
	r.text -= int64(len(text))
	r.into.Known++
	r.into.Members = append(r.into.Members, m)
	return err
}
