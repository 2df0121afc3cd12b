package source

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
)

// Encode is the inverse of Decode: it returns the text of a file that decodes to *v. Keys with zero
// values are left out unless they are required or in the Zeros of their struct. It returns an error
// if there is no such text.
func Encode[T any](v *T) ([]byte, error) {
	text := []byte(strings.Join(encode(reflect.ValueOf(v).Elem()).lines(), "\n") + "\n")
	doc, problems := Parse(reflect.TypeFor[T]().String(), text)
	if doc == nil {
		return nil, problems.Err()
	}
	again := new(T)
	if err := append(problems, doc.Decode(again)...).Err(); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(v, again) {
		return nil, errors.New("it has values that a file cannot have")
	}
	return text, nil
}

// encodedValue is the text of a value: on the line of its key, or as a block of lines below it.
type encodedValue struct {
	inline string
	block  []string
}

func (w encodedValue) lines() []string {
	if w.block == nil {
		return []string{w.inline}
	}
	return w.block
}

// add appends a value to a block, after or below a key or the dash of a list.
func (w *encodedValue) add(key string, value encodedValue) {
	switch {
	case value.block == nil:
		w.block = append(w.block, key+" "+value.inline)
	case key == "-":
		for i, line := range value.block {
			w.block = append(w.block, []string{"- ", "  "}[min(i, 1)]+line)
		}
	default:
		w.block = append(w.block, key)
		for _, line := range value.block {
			w.block = append(w.block, "  "+line)
		}
	}
}

func encode(v reflect.Value) encodedValue {
	t := v.Type()
	w := encodedValue{inline: "{}"} // unless something is added
	switch {
	case isText(t):
		return encodedValue{inline: scalar(spelled(v))}
	case t.Kind() == reflect.Pointer:
		return encode(v.Elem())
	case isKeyed(t):
		key, _ := option(t.Elem(), "key")
		value, simple := option(t.Elem(), "value")
		for i := range v.Len() {
			item := v.Index(i)
			name := scalar(item.Field(key).String()) + ":"
			if simple {
				item = item.Field(value)
			}
			w.add(name, encode(item))
		}
	case t.Kind() == reflect.Slice:
		var short []string
		for i := range v.Len() {
			item := encode(v.Index(i))
			short = append(short, item.inline)
			w.add("-", item)
		}
		if !slices.Contains(short, "") {
			return encodedValue{inline: "[" + strings.Join(short, ", ") + "]"}
		}
	case t.Kind() == reflect.Struct:
		if i, short := shortField(t); short && onlyField(v, i) {
			return encode(v.Field(i))
		}
		for _, f := range Fields(t) {
			if inner := v.FieldByIndex(f.index); f.Required || !inner.IsZero() || zerosOf(v, f).Has(f.Name) {
				w.add(f.Name+":", encode(inner))
			}
		}
	default:
		return encodedValue{inline: scalar(fmt.Sprint(v.Interface()))}
	}
	if w.block != nil {
		w.inline = ""
	}
	return w
}

// onlyField reports whether all fields of a struct except one are zero.
func onlyField(v reflect.Value, i int) bool {
	other := reflect.New(v.Type()).Elem()
	other.Field(i).Set(v.Field(i))
	return reflect.DeepEqual(v.Interface(), other.Interface())
}

// spelled returns the text of a type that parses text.
func spelled(v reflect.Value) string {
	if m, is := v.Interface().(encoding.TextMarshaler); is {
		if text, err := m.MarshalText(); err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v.Interface())
}

// bare matches texts that need no quotes.
var bare = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./%-]*( [A-Za-z0-9(][A-Za-z0-9_./%()-]*)*$`)

// scalar formats a text as a scalar, in quotes if it needs them.
func scalar(text string) string {
	if bare.MatchString(text) && !slices.Contains([]string{"null", "Null", "NULL"}, text) {
		return text
	}
	return Quoted(text)
}

// Quoted formats a text in double quotes. Its braces are escaped so that they mean themselves.
func Quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "{", "{{", "}",
		"}}").Replace(text) + `"`
}
