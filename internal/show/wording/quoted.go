package wording

import (
	"reflect"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
)

// forShell returns a finding for lines that people paste into a shell: in every text that it is about, and of its
// arguments, each word is one of the shell (hostconfig.Quote). These texts are names that hosts, switches and pasted
// texts give, and the kernel allows an interface with the name "a;reboot".
func forShell(f record.Finding) record.Finding {
	f.About, f.Args = quoted(f.About), quoted(f.Args)
	return f
}

// quoted returns a copy of a value in which each word of a text is one of the shell. Words end at blanks, as in
// "blackhole 192.0.2.0/24".
func quoted[T any](value T) T {
	v := reflect.ValueOf(&value).Elem()
	v.Set(quotedValue(v))
	return value
}

func quotedValue(v reflect.Value) reflect.Value {
	made := reflect.New(v.Type()).Elem()
	made.Set(v)
	switch v.Kind() {
	case reflect.String:
		words := strings.Split(v.String(), " ")
		for i, word := range words {
			if word != "" {
				words[i] = hostconfig.Quote(word)
			}
		}
		made.SetString(strings.Join(words, " "))
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			break
		}
		if v.Kind() == reflect.Interface {
			made.Set(quotedValue(v.Elem()))
			break
		}
		at := reflect.New(v.Type().Elem())
		at.Elem().Set(quotedValue(v.Elem()))
		made.Set(at)
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		made.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			made.Index(i).Set(quotedValue(v.Index(i)))
		}
	case reflect.Array:
		for i := range v.Len() {
			made.Index(i).Set(quotedValue(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		made.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			made.SetMapIndex(quotedValue(key), quotedValue(value))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if made.Field(i).CanSet() { // others are of netip.Addr and similar types, which have no free text
				made.Field(i).Set(quotedValue(v.Field(i)))
			}
		}
	}
	return made
}
