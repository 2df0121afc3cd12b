package source

import (
	"encoding"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
)

// Decode fills the struct that into points to. It is strict: unknown keys, missing keys and values
// of the wrong kind are problems, and all of them are reported. The remaining values are decoded
// nevertheless; Sound reports whether a value is among them.
func (d *Document) Decode(into any) Problems {
	d.wrong, d.refused = map[*Node]bool{}, map[*Node]Problem{}
	c := decoder{file: d.File, wrong: d.wrong, refused: d.refused}
	c.value(d.Root, reflect.ValueOf(into).Elem(), Field{})
	return c.problems
}

// renamed maps keys of earlier versions to the current ones.
var renamed = map[string]string{"ports": "interfaces", "port": "interface"}

// inIP maps ip(8)'s words to the keys of study files.
var inIP = map[string]string{"dev": "interface", "src": "source"}

type decoder struct {
	file     string
	problems Problems
	wrong    map[*Node]bool
	refused  map[*Node]Problem
}

// fail reports a problem with the value of a field, under the field's name.
func (c *decoder) fail(n *Node, f Field, format string, args ...any) {
	if f.Name != "" {
		format, args = "%s: "+format, append([]any{f.Name}, args...)
	}
	c.failAt(n, n.At, format, args...)
}

// failAt reports a problem with a node at a given position.
func (c *decoder) failAt(n *Node, at Position, format string, args ...any) {
	c.wrong[n] = true
	c.problems.add(c.file, at, format, args...)
}

// value decodes a node into v, which is the value of f or one of its elements.
func (c *decoder) value(n *Node, v reflect.Value, f Field) {
	t := v.Type()
	switch {
	case n.Kind == Bad:
	case isText(t):
		c.text(n, v, f)
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		c.value(n, v.Elem(), f)
	case isKeyed(t):
		c.keyed(n, v, f)
	case t.Kind() == reflect.Slice:
		c.list(n, v, f)
	case t.Kind() == reflect.Struct:
		c.structure(n, v, f)
	default:
		c.scalar(n, v, f)
	}
}

// describe returns what was found, for messages.
func describe(n *Node) string {
	switch {
	case n.Kind == Null:
		return "nothing"
	case n.Kind == List:
		return "a list"
	case n.Kind == Mapping && len(n.Entries) == 1:
		// In table: {100+p} the value is a mapping to YAML, and so is fd00::1 inside [ ].
		key, value := n.Entries[0].Key.Text, n.Entries[0].Value
		switch {
		case n.flow && value.Kind == Null:
			return fmt.Sprintf("a mapping; if the brace was meant as an expression, quote it: \"{%s}\"", key)
		case value.Kind == Scalar && strings.HasPrefix(value.Text, ":"):
			return fmt.Sprintf("a mapping; text with colons needs quotes: \"%s:%s\"", key, value.Text)
		}
		return "a mapping"
	case n.Kind == Mapping:
		return "a mapping"
	}
	text := []rune(n.Text)
	if len(text) > 60 {
		return strconv.Quote(string(text[:60])) + "…"
	}
	return strconv.Quote(n.Text)
}

func (c *decoder) keyed(n *Node, v reflect.Value, f Field) {
	if n.Kind != Mapping {
		if n.Kind != Null || f.Required {
			c.fail(n, f, "expected a mapping from names, found %s", describe(n))
		}
		return
	}
	element := v.Type().Elem()
	key, _ := option(element, "key")
	value, simple := option(element, "value")
	v.Set(reflect.MakeSlice(v.Type(), len(n.Entries), len(n.Entries)))
	for i, entry := range n.Entries {
		item := v.Index(i)
		item.Field(key).SetString(entry.Key.Text)
		inside := Field{Name: entry.Key.Text}
		if simple {
			c.value(entry.Value, item.Field(value), inside)
		} else {
			c.structure(entry.Value, item, inside)
		}
	}
}

func (c *decoder) list(n *Node, v reflect.Value, f Field) {
	if n.Kind == Scalar && f.Several {
		n = &Node{Kind: List, At: n.At, Items: []*Node{n}}
	}
	if n.Kind != List {
		if n.Kind != Null || f.Required {
			c.fail(n, f, "expected a list%s, found %s", items(v.Type().Elem()), describe(n))
		}
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		c.value(item, v.Index(i), Field{Name: f.Name, Enum: f.Enum, Type: v.Type().Elem()})
	}
}

// items returns an example of an item of a list of mappings with its required keys, at least two.
// Empty: the items are no mappings.
func items(t reflect.Type) string {
	if t.Kind() != reflect.Struct || isText(t) {
		return ""
	}
	var keys []string
	for _, f := range Fields(t) {
		shape := "…"
		switch kind := f.Type.Kind(); {
		case isText(f.Type):
		case isKeyed(f.Type), kind == reflect.Struct, kind == reflect.Pointer:
			shape = "{…}"
		case kind == reflect.Slice:
			shape = "[…]"
		}
		if f.Required || len(keys) < 2 {
			keys = append(keys, f.Name+": "+shape)
		}
	}
	return " of items such as - {" + strings.Join(keys, ", ") + "}"
}

func (c *decoder) structure(n *Node, v reflect.Value, f Field) {
	if n.Kind == Bad {
		return
	}
	t := v.Type()
	if i, short := shortField(t); short && n.Kind == Scalar {
		c.value(n, v.Field(i), f)
		return
	}
	fields := Fields(t)
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	if n.Kind != Mapping && (n.Kind != Null || hasRequired(t)) {
		c.fail(n, f, "expected a mapping with %s, found %s", Or(names), describe(n))
		return
	}
	intended := map[string]bool{} // keys that unknown ones were obviously meant to be
	for _, entry := range n.Entries {
		i := slices.Index(names, entry.Key.Text)
		switch {
		case i >= 0:
			c.value(entry.Value, v.FieldByIndex(fields[i].index), fields[i])
			c.zero(entry.Value, v, fields[i])
		case slices.Contains(names, renamed[entry.Key.Text]):
			intended[renamed[entry.Key.Text]] = true
			c.failAt(n, entry.Key.At, "key %q is called %q now", entry.Key.Text, renamed[entry.Key.Text])
		case slices.Contains(names, inIP[entry.Key.Text]):
			intended[inIP[entry.Key.Text]] = true
			c.failAt(n, entry.Key.At, "unknown key %q; did you mean %q?", entry.Key.Text, inIP[entry.Key.Text])
		case entry.Key.Kind != Bad:
			intended[Nearest(entry.Key.Text, names)] = true
			c.failAt(n, entry.Key.At, "unknown key %q%s", entry.Key.Text, DidYouMean(entry.Key.Text, names))
		}
	}
	for _, field := range fields {
		if _, there := n.get(field.Name); field.Required && !there && !intended[field.Name] {
			c.fail(n, f, "missing key %q: %s", field.Name, field.Doc)
		}
	}
}

// zero keeps apart from an absent key that n gives the field f of v the value zero, or refuses it.
func (c *decoder) zero(n *Node, v reflect.Value, f Field) {
	value := v.FieldByIndex(f.index)
	switch {
	case f.Required || n.Kind != Scalar || value.Kind() == reflect.Bool || !value.IsZero() || c.wrong[n]:
	case n.Text == "":
		c.refuse(n, f, "expected text, found \"\"; without the key its default applies")
	case !f.Zero:
		c.refuse(n, f, "expected more than 0, found %s; without the key its default applies", describe(n))
	default:
		if zeros := zerosOf(v, f); zeros != nil {
			*zeros = Zeros(strings.TrimSpace(string(*zeros) + " " + f.Name))
		}
	}
}

// refuse reports a value that the struct cannot hold. It is sound nevertheless, so that checks of
// meaning, which may know a closer bound, find it; Reporter then takes back what refuse has said.
func (c *decoder) refuse(n *Node, f Field, format string, args ...any) {
	c.fail(n, f, format, args...)
	delete(c.wrong, n)
	c.refused[n] = c.problems[len(c.problems)-1]
}

// text decodes a scalar into a type that parses text.
func (c *decoder) text(n *Node, v reflect.Value, f Field) {
	if n.Kind != Scalar {
		c.fail(n, f, "expected a single value, found %s", describe(n))
		return
	}
	err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Text))
	if f.Unit && err == nil && !v.IsZero() && strings.Trim(n.Text, "0123456789. ") == "" {
		err = fmt.Errorf("%s has no unit; expected such as %sms", describe(n), n.Text)
	}
	switch v.Addr().Interface().(type) {
	case *netip.Addr:
		// The standard library's error says what failed to parse, not what was expected.
		if err != nil || n.Text == "" {
			err = fmt.Errorf("%s is not an IP address: %sexpected one such as 192.168.1.15 or fd00::15", describe(n),
				AboveByte(n.Text))
		}
	case *netip.Prefix:
		if err != nil || n.Text == "" {
			err = fmt.Errorf("%s is not an address with a prefix length: %sexpected one such as 192.168.1.15/24",
				describe(n), AboveByte(n.Text))
		}
	}
	if err != nil {
		c.fail(n, f, "%v", err)
	}
}

// dotted matches four numbers, as in an IPv4 address.
var dotted = pattern.MustCompile(`^\s*(\d+)\.(\d+)\.(\d+)\.(\d+)(-[\d.]*)?(/\d*)?\s*$`)

// AboveByte returns a part of a message about an invalid address: the number that is too large for
// an IPv4 address. Empty: there is none.
func AboveByte(text string) string {
	for _, number := range dotted.FindStringSubmatch(text) {
		if n, err := strconv.Atoi(number); err == nil && n > 255 {
			return number + " is above 255; "
		}
	}
	return ""
}

func (c *decoder) scalar(n *Node, v reflect.Value, f Field) {
	wanted := map[reflect.Kind]string{
		reflect.Bool: "true or false", reflect.String: "text", reflect.Float64: "a number",
	}[v.Kind()]
	if wanted == "" {
		wanted = "a whole number"
	}
	if n.Kind != Scalar {
		c.fail(n, f, "expected %s, found %s", wanted, describe(n))
		return
	}
	var err error
	switch v.Kind() {
	case reflect.String:
		if len(f.Enum) > 0 && !slices.Contains(f.Enum, n.Text) {
			c.fail(n, f, "%s is not a choice: expected %s%s", describe(n), Or(f.Enum), nearest(n.Text, f.Enum))
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		v.SetBool(n.Text == "true")
		if n.Text != "true" && n.Text != "false" {
			err = strconv.ErrSyntax
		}
	case reflect.Int:
		var i int
		i, err = strconv.Atoi(n.Text)
		v.SetInt(int64(i))
	case reflect.Uint64:
		var u uint64
		u, err = strconv.ParseUint(strings.TrimPrefix(n.Text, "+"), 10, 64)
		v.SetUint(u)
		wanted += " of at least 0"
	case reflect.Float64:
		var x float64
		if x, err = strconv.ParseFloat(n.Text, 64); math.IsNaN(x) || math.IsInf(x, 0) {
			x, err = 0, strconv.ErrSyntax
		}
		v.SetFloat(x)
	default:
		panic("source: cannot decode " + v.Type().String())
	}
	if err != nil {
		c.fail(n, f, "expected %s, found %s", wanted, describe(n))
	}
}

// nearest is DidYouMean without the list of candidates, for messages that have just listed them.
func nearest(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
