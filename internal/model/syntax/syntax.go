// Package syntax checks the strings of documents, messages and texts that come from elsewhere. Each string field of a
// document declares what it is in a struct tag, `is:"interface"`; a map what its keys and, behind a comma, its values
// are. Names are checked once, where a document enters the program, so that what a rule, a command or a file is made
// of is a name and nothing else.
package syntax

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"linerate/internal/model/deep"
)

// Kind says what a string is. The empty string is of every kind: it is absent.
type Kind string

// Kinds of strings.
const (
	// Text is any text, also with line ends. It may contain names of hosts.
	Text Kind = "text"
	// Words are printable characters on one line: names that the kernel, drivers and hardware give.
	Words Kind = "words"
	// Value is that of a kernel parameter, and Parameter its name, with dots or slashes.
	Value     Kind = "value"
	Parameter Kind = "parameter"
	// Word is a name in a list of the kernel's or of linerate: of a driver, a state, a counter. Name is one that an
	// administrator has chosen, such as of a table of nftables.
	Word Kind = "word"
	Name Kind = "name"
	// Interface is the name of an interface, with the forms of ip(8) and ifconfig(8): eth0.100, veth0@if3, eth0:1. The
	// kernel also allows characters of the shell and control characters.
	Interface Kind = "interface"
	// Link is a link-layer address, and Address an IP address, perhaps with zone and prefix length, or "default".
	Link    Kind = "link"
	Address Kind = "address"
	// Peer is the IP address of another host or, in texts, its name.
	Peer Kind = "peer"
	// Socket is the local or remote address of a socket as ss(8) prints it: *:22, [fe80::1]%eth0:546.
	Socket Kind = "socket"
	// File is the path of a file.
	File Kind = "file"
	// Host is the name of a host, Domain one in which names are searched. System is what a neighbour calls itself, and
	// Description what an administrator has written about a port.
	Host        Kind = "host"
	Domain      Kind = "domain"
	System      Kind = "system"
	Description Kind = "description"
)

// The most bytes that strings have: names in general, and names of interfaces (ALTIFNAMSIZ in linux/if.h).
const longest, longestInterface = 256, 127

// kinds has for each kind what is expected, for errors, and its test. Nil: nothing is tested.
var kinds = map[Kind]struct {
	expected string
	fits     func(string) bool
}{
	Text: {}, Description: {}, Value: {},
	Words:     {"printable characters on one line", isLine},
	Word:      {"a word without characters of the shell", isWord},
	Name:      {"a name without characters of the shell", isWord},
	Parameter: {"the name of a kernel parameter", func(s string) bool { return plain(s) && isPath(s) }},
	Interface: {"the name of an interface, without characters of the shell", isInterface},
	Link:      {"a link-layer address", isLink},
	Address:   {"an IP address", isAddress},
	Peer: {"an IP address or the name of a host",
		func(s string) bool { return isAddress(s) || isWord(s) && isPath(s) }},
	Socket: {"the address of a socket", isSocket},
	File:   {"a path", func(s string) bool { return isLine(s) && isPath(s) }},
	Host:   {"the name of a host, without characters of the shell", isHost},
	System: {"printable characters on one line", isLine},
	Domain: {"the name of a domain", isWord},
}

// Kinds returns all kinds.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

// Fits reports whether a text is of a kind.
func (k Kind) Fits(text string) bool {
	of := kinds[k]
	return text == "" || of.fits == nil || of.fits(text)
}

// special are the characters with a meaning in a shell, even in the middle of a word (POSIX, section 2.2).
const special = "|&;<>()$`\\\"'*?{}"

// plain reports whether a text is printable and a shell takes it literally in the middle of a word.
func plain(text string) bool {
	return printable(text) && !strings.ContainsAny(text, special) && !strings.ContainsFunc(text, unicode.IsSpace)
}

// printable reports whether all of a text is shown as it is, on one line.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// isPath reports whether no part of a path leads upwards.
func isPath(text string) bool {
	return !strings.HasPrefix(text, "-") && !strings.Contains("/"+text+"/", "/../")
}

func isLine(text string) bool { return printable(text) && len(text) <= 16*longest }

func isWord(text string) bool { return plain(text) && len(text) <= longest }

// isHost also accepts the name that the kernel gives a host until it has one (UTS_NODENAME).
func isHost(text string) bool { return isWord(text) || text == "(none)" }

func isSocket(text string) bool { return isWord(strings.Replace(text, "*", "", 2)) }

// isInterface is dev_valid_name of net/core/dev.c, and more.
func isInterface(text string) bool {
	return plain(text) && len(text) <= longestInterface && !strings.HasPrefix(text, "-") &&
		!strings.Contains(text, "/") && text != "." && text != ".."
}

func isLink(text string) bool {
	return len(text) <= 64 && !strings.HasPrefix(text, "-") && strings.Trim(text, "0123456789abcdefABCDEF:.-") == ""
}

func isAddress(text string) bool {
	bare, length, has := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(bare)
	number := length != "" && len(length) <= 3 && strings.Trim(length, "0123456789") == ""
	return text == "default" || err == nil && has == number && (addr.Zone() == "" || isInterface(addr.Zone()))
}

// A misfit is a string that is not of its kind.
type misfit struct {
	place, text string
	kind        Kind
}

func (m *misfit) Error() string {
	return fmt.Sprintf("%s is %.60q: expected %s", m.place, m.text, kinds[m.kind].expected)
}

// The least text of an object in bytes, on average, and how many objects of a document are not asked for it.
const textOfObject, few = 32, 16 << 10

// Objects counts the objects, lists and nulls of a JSON text. Each may take hundreds of bytes of memory, and "{}" has
// two of text.
func Objects(text []byte) int {
	return bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("null"))
}

// Sparse returns an error if a JSON text from elsewhere has so many objects for its size that decoding it takes far
// more memory than that. It comes before decoding.
func Sparse(text []byte) error {
	if n := Objects(text); n > len(text)/textOfObject+few {
		return fmt.Errorf("%d objects and lists in %d bytes", n, len(text))
	}
	return nil
}

// Check returns an error with the place and the quoted text of a string in a document that is not of the kind that its
// field declares. Strings that declare none are not tested. The document is a pointer.
func Check(document any) error {
	if m := (&walk{}).value(reflect.ValueOf(document), "", false); m != nil {
		return m
	}
	return nil
}

// Prune removes what Check does not accept: the innermost element of a list or map that has such a string, or the
// string alone if it is in none. It returns what Check says of each. The document is a pointer.
func Prune(document any) (removed []string) {
	w := walk{removed: func(m *misfit) { removed = append(removed, m.Error()) }}
	w.value(reflect.ValueOf(document), "", false)
	return removed
}

// A walk visits the strings of a document.
type walk struct {
	at []step
	// removed is called with what does not fit, which is then removed. Nil: the first ends the walk.
	removed func(*misfit)
}

// A step leads to a field, or to an element of a list or map.
type step struct {
	kind       reflect.Kind // of what contains it
	field, key string
	index      int
}

func (w *walk) place() string {
	var b strings.Builder
	for _, s := range w.at {
		switch {
		case s.kind == reflect.Slice:
			fmt.Fprintf(&b, "[%d]", s.index)
		case s.kind == reflect.Map:
			fmt.Fprintf(&b, "[%.60q]", s.key)
		case s.field != "": // empty: it is embedded
			b.WriteString("." + s.field)
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// A field of a struct has strings that are tested.
type field struct {
	index     int
	name, tag string
}

// fields has the []field of each struct type that was met: reading its tags takes longer than testing its strings.
var fields sync.Map

func fieldsOf(t reflect.Type) []field {
	if known, is := fields.Load(t); is {
		return known.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag := f.Tag.Get("is"); f.IsExported() && tested(f.Type, tag) {
			list = append(list, field{i, name, tag})
		}
	}
	fields.Store(t, list)
	return list
}

// tested reports whether a value of a type with a tag may have a string that Fits tests. Structs may contain
// themselves, and are not looked into.
func tested(t reflect.Type, tag string) bool {
	switch t.Kind() {
	case reflect.String:
		return kinds[Kind(tag)].fits != nil
	case reflect.Pointer, reflect.Slice:
		return tested(t.Elem(), tag)
	case reflect.Map:
		keys, values, _ := strings.Cut(tag, ",")
		return tested(t.Key(), keys) || tested(t.Elem(), values)
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Interface
}

// in returns what value returns for a part of a value.
func (w *walk) in(s step, v reflect.Value, tag string, listed bool) *misfit {
	w.at = append(w.at, s)
	m := w.value(v, tag, listed)
	w.at = w.at[:len(w.at)-1]
	return m
}

// value returns a string of v that does not fit. If it is to remove what does not fit, it empties a string that is in
// no list instead.
func (w *walk) value(v reflect.Value, tag string, listed bool) *misfit {
	switch v.Kind() {
	case reflect.String:
		if Kind(tag).Fits(v.String()) {
			return nil
		}
		m := &misfit{w.place(), v.String(), Kind(tag)}
		if w.removed == nil || listed {
			return m
		}
		w.removed(m)
		v.SetString("")
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return w.value(v.Elem(), tag, listed || v.Kind() == reflect.Interface)
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			if m := w.in(step{kind: v.Kind(), field: f.name}, v.Field(f.index), f.tag, listed); m != nil {
				return m
			}
		}
	case reflect.Slice:
		return w.list(v, tag)
	case reflect.Map:
		return w.entries(v, tag)
	}
	return nil
}

func (w *walk) list(v reflect.Value, tag string) *misfit {
	if !tested(v.Type().Elem(), tag) {
		return nil
	}
	var kept reflect.Value // others may have the list itself
	for i := range v.Len() {
		switch m := w.in(step{kind: reflect.Slice, index: i}, v.Index(i), tag, true); {
		case m != nil && (w.removed == nil || !v.CanSet()):
			return m
		case m != nil:
			if w.removed(m); !kept.IsValid() {
				kept = reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v.Slice(0, i))
			}
		case kept.IsValid():
			kept = reflect.Append(kept, v.Index(i))
		}
	}
	if kept.IsValid() {
		v.Set(kept)
	}
	return nil
}

func (w *walk) entries(v reflect.Value, tag string) *misfit {
	keys, values, _ := strings.Cut(tag, ",")
	var kept reflect.Value
	for key, value := range v.Seq2() {
		m := w.value(key, keys, true)
		if m == nil {
			m = w.in(step{kind: reflect.Map, key: key.String()}, value, values, true)
		}
		switch {
		case m == nil:
		case w.removed == nil || !v.CanSet():
			return m
		default:
			if w.removed(m); !kept.IsValid() {
				kept = deep.Copy(v, func(of reflect.Value) bool { return of.Type() != v.Type() })
			}
			kept.SetMapIndex(key, reflect.Value{})
		}
	}
	if kept.IsValid() {
		v.Set(kept)
	}
	return nil
}
