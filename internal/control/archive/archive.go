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
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ulikunitz/xz"

	"linerate/internal/model/pasted"
)

// Bounds of what is read.
const (
	mostMembers   = 200_000   // members of an archive, known or not
	largestMember = 16 << 20  // bytes of a member that is read
	mostText      = 256 << 20 // bytes of all members that are read
	mostUnpacked  = 4 << 30   // bytes that come out of a decompressor
	deepest       = 2         // archives in archives
)

// Archive is what was read of an archive.
type Archive struct {
	Members []pasted.Member
	// Known counts the members that are read, and Others those of other formats.
	Known, Others int
	// Partly says why the archive was not read to its end. Empty: it was.
	Partly string
}

// Is reports whether a file's first bytes are those of an archive. 262 bytes suffice.
func Is(head []byte) bool { return kindOf(head) != "" }

func kindOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz"
	case bytes.HasPrefix(head, []byte("BZh")):
		return "bzip2"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
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
	members        int
}

// errBound ends the reading of an archive that has more than the bounds allow.
var errBound = errors.New("it has more than is read")

// File reads an archive from a file, of which the caller knows that it is one (Is).
func File(ctx context.Context, f *os.File) (*Archive, error) {
	r := newReader(ctx)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 262)
	n, _ := f.ReadAt(head, 0)
	if kindOf(head[:n]) == "zip" {
		err = r.zip(f, info.Size(), "", 0)
	} else {
		_, err = r.stream(f, "", 0)
	}
	return r.end(err)
}

func newReader(ctx context.Context) *reader {
	return &reader{ctx: ctx, into: &Archive{}, text: mostText, unpacked: mostUnpacked}
}

// end returns the archive. What was read before an error counts.
func (r *reader) end(err error) (*Archive, error) {
	if r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	if err != nil {
		r.into.Partly = err.Error()
	}
	if len(r.into.Members) == 0 {
		if err == nil {
			err = fmt.Errorf("none of its %d members is known", r.into.Others)
		}
		return nil, err
	}
	return r.into, nil
}

// Directory reads an unpacked archive. Links are not followed, and nothing outside it is read.
func Directory(ctx context.Context, name string) (*Archive, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := newReader(ctx)
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || !d.Type().IsRegular():
			return nil // what is not readable is not read
		}
		if r.members++; r.members > mostMembers {
			return errBound
		}
		full := path.Join(path.Base(name), at)
		if !pasted.KnownMember(full) {
			r.into.Others++
			return nil
		}
		f, err := root.Open(at)
		if err != nil {
			return nil
		}
		defer f.Close()
		return r.keep(full, f)
	})
	return r.end(err)
}

// stream reads an archive that is compressed or not. Is is false if it is none.
func (r *reader) stream(from io.Reader, within string, depth int) (is bool, err error) {
	in := bufio.NewReaderSize(from, 1<<16)
	for range 3 { // .tar.gz.xz does not exist; what does has one compression
		head, failed := in.Peek(262)
		var out io.Reader
		switch kindOf(head) {
		case "gzip":
			out, err = gzip.NewReader(in)
		case "xz":
			out, err = xz.ReaderConfig{DictCap: 64 << 20, SingleStream: true}.NewReader(in)
		case "bzip2":
			out = bzip2.NewReader(in)
		case "tar":
			return true, r.tar(tar.NewReader(in), within, depth)
		default:
			if failed != nil && !errors.Is(failed, io.EOF) {
				return false, failed
			}
			return false, errors.New("it is compressed, and no tar archive")
		}
		if err != nil {
			return true, err
		}
		in = bufio.NewReaderSize(&metered{r: r, from: out}, 1<<16)
	}
	return false, errors.New("it is compressed several times")
}

// metered counts what comes out of a decompressor, and ends when it is too much or the context ends.
type metered struct {
	r    *reader
	from io.Reader
}

func (m *metered) Read(p []byte) (int, error) {
	if err := m.r.ctx.Err(); err != nil {
		return 0, err
	}
	if m.r.unpacked <= 0 {
		return 0, fmt.Errorf("%w: %d GiB unpacked", errBound, mostUnpacked>>30)
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
		case head.Typeflag != tar.TypeReg:
			continue
		}
		if err := r.member(path.Join(within, clean(head.Name)), from, depth); err != nil {
			return err
		}
	}
}

func (r *reader) zip(from io.ReaderAt, size int64, within string, depth int) error {
	z, err := zip.NewReader(from, size)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		err = r.member(path.Join(within, clean(f.Name)), &metered{r: r, from: in}, depth)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// clean returns a member's name as a path below the archive. It is never opened.
func clean(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

// member reads a member if its format is known, or if it is an archive itself.
func (r *reader) member(name string, from io.Reader, depth int) error {
	if r.members++; r.members > mostMembers {
		return fmt.Errorf("%w: %d members", errBound, mostMembers)
	}
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case pasted.KnownMember(name):
		return r.keep(name, from)
	case depth < deepest && slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2",
		".tbz"}, func(end string) bool { return strings.HasSuffix(name, end) }):
		// What is wrong with an archive inside does not end the one around it.
		if _, err := r.stream(from, strings.TrimSuffix(name, path.Ext(name)), depth+1); err != nil {
			if errors.Is(err, errBound) || r.ctx.Err() != nil {
				return err
			}
			r.into.Partly = name + ": " + err.Error()
		}
		return nil
	}
	r.into.Others++
	return nil
}

// keep reads the text of a member.
func (r *reader) keep(name string, from io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(from, min(largestMember, r.text)+1))
	if int64(len(text)) > min(largestMember, r.text) {
		if r.text < largestMember {
			return fmt.Errorf("%w: %d MiB of text", errBound, mostText>>20)
		}
		text = text[:bytes.LastIndexByte(text[:largestMember], '\n')+1]
		r.into.Partly = fmt.Sprintf("%s has more than %d MiB", name, largestMember>>20)
	}
	r.text -= int64(len(text))
	r.into.Known++
	r.into.Members = append(r.into.Members, pasted.Member{Path: name, Text: string(text)})
	return err
}
