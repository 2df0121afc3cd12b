package wording

import (
	"net/netip"
	"reflect"
	"strings"

	"linerate/internal/model/deep"
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
// "blackhole 192.0.2.0/24". An address whose zone would need quoting has none.
func quoted[T any](value T) T {
	v := reflect.ValueOf(&value).Elem()
	v.Set(deep.Copy(v, func(v reflect.Value) (done bool) {
		if addr, is := v.Interface().(netip.Addr); is && v.Kind() == reflect.Struct {
			if zone := addr.Zone(); zone != "" && hostconfig.Quote(zone) != zone {
				v.Set(reflect.ValueOf(addr.WithZone("")))
			}
			return true
		}
		if v.Kind() != reflect.String {
			return false
		}
		words := strings.Split(v.String(), " ")
		for i, word := range words {
			if word != "" {
				words[i] = hostconfig.Quote(word)
			}
		}
		v.SetString(strings.Join(words, " "))
		return true
	}))
	return value
}
