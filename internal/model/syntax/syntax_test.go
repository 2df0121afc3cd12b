package syntax_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/deep"
	"linerate/internal/model/fact"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/syntax"
)

// documents come from elsewhere: from files, agents, servers and switches.
var documents = []any{&netstate.HostSnapshots{}, &record.HostSample{}, &record.SwitchReading{}, &message.Hello{},
	&message.WindowReply{}, &[]message.Listening{}, &[]message.FlowEnd{}, &message.FlowProgress{},
	&message.Iperf3Opened{}, &message.Iperf3Closed{}}

// quoted are parts of documents of which each string is quoted where a command has it (TestFixesQuote in wording,
// FuzzHostile in hostconfig).
var quoted = []reflect.Type{reflect.TypeFor[record.Finding](), reflect.TypeFor[fact.Fact](),
	reflect.TypeFor[fact.Apart]()}

// each calls found for each string in v, also those that lists, maps and pointers could have, with a function that
// sets it. Lists and maps have one element then.
func each(v reflect.Value, tag, name string, found func(name, tag string, set func(string))) {
	if slices.Contains(quoted, v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		found(name, tag, v.SetString)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		each(v.Elem(), tag, name, found)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			each(v.Index(0), tag, name, found)
		}
	case reflect.Map:
		keys, values, _ := strings.Cut(tag, ",")
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		entry := func(of reflect.Value) func(string) {
			return func(text string) {
				of.SetString(text)
				v.Set(reflect.MakeMap(v.Type()))
				v.SetMapIndex(key, value)
			}
		}
		each(key, keys, name, func(name, tag string, _ func(string)) { found(name, tag, entry(key)) })
		each(value, values, name, func(name, tag string, _ func(string)) { found(name, tag, entry(value)) })
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				each(v.Field(i), f.Tag.Get("is"), v.Type().Name()+"."+f.Name, found)
			}
		}
	}
}

// TestDeclared: each string of a document declares what it is.
func TestDeclared(t *testing.T) {
	fields := 0
	for _, d := range documents {
		each(reflect.ValueOf(d).Elem(), "", "", func(name, tag string, _ func(string)) {
			if fields++; !slices.Contains(syntax.Kinds(), syntax.Kind(tag)) {
				t.Errorf(`%s: expected a tag is:"KIND" with a kind of package syntax, not %q`, name, tag)
			}
		})
	}
	if fields < 400 {
		t.Errorf("%d strings", fields)
	}
}

// TestHostile: what does not fit, in each string of a document and as the key of each map, is an error. Prune returns
// the same error, and leaves a document without that string.
func TestHostile(t *testing.T) {
	free := []syntax.Kind{syntax.Text, syntax.Value, syntax.Description}
	shown := []syntax.Kind{syntax.Words, syntax.System, syntax.File}
	try := func(d any, set func(string), name, tag, text string, refused bool) {
		set(text)
		defer set("")
		err := syntax.Check(d)
		if (err != nil) != refused {
			t.Errorf("%s, %s: %q: %v", name, tag, text, err)
		}
		if err == nil {
			return
		}
		if strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
			t.Errorf("%q acts on a terminal", err)
		}
		copied := deep.Copy(reflect.ValueOf(d), func(reflect.Value) bool { return false }).Interface()
		removed := syntax.Prune(copied)
		if len(removed) != 1 || removed[0] != err.Error() || syntax.Check(copied) != nil {
			t.Errorf("%s: %q, want %v; then %v", name, removed, err, syntax.Check(copied))
		}
		if err := syntax.Check(d); err == nil {
			t.Errorf("%s: Prune of a copy changed the original", name)
		}
	}
	for _, d := range documents {
		each(reflect.ValueOf(d).Elem(), "", "", func(name, tag string, set func(string)) {
			of := syntax.Kind(tag)
			try(d, set, name, tag, "x\x1b[2J\n", !slices.Contains(free, of))
			try(d, set, name, tag, "$(reboot)", !slices.Contains(free, of) && !slices.Contains(shown, of))
		})
	}
}

// TestFits: names that hosts have fit, and others do not.
func TestFits(t *testing.T) {
	for kind, of := range map[syntax.Kind][2]string{
		syntax.Interface: {"eth0 eth0.100 eth0:1 veth0@if3 eth0.5@eth0 br-größe wlp2s0 enp0s31f6np0 vif1.0-emu 名前 " +
			"a_long_alternative_name_of_an_interface tun#1 br~lan [v6]",
			"eth0/1 . .. -rf a;b $(x) `x` a'b a\"b a\\b a|b a&b a>b eth0* " +
				"a\x1bb a\u202eb a\xffb a\x00b " + strings.Repeat("x", 128)},
		syntax.Address: {"192.0.2.1 192.0.2.0/24 ::1 fe80::1%eth0/64 2001:db8::/32 0.0.0.0/0 default " +
			"::ffff:192.0.2.1",
			"192.0.2 192.0.2.1/ 192.0.2.1/x fe80::1%a;b host.example 192.0.2.1/24/24 /24"},
		syntax.Link:   {"02:00:00:00:00:01 0200.0000.0001 192.0.2.1 00-11", "02:00:00:00:00:0g $(x) eth0"},
		syntax.Socket: {"0.0.0.0:22 *:80 [::]:22 127.0.0.53%lo:53 [fe80::1]%eth0:546 *:*", "$(x):22 a;b:1 ***"},
		syntax.Parameter: {"net.ipv4.conf.eth0/100.rp_filter net/core/rmem_max net.ipv4.conf.größe.arp_filter",
			"-w a=$(x) ../../etc/passwd net/../../x"},
		syntax.Word: {"fq_codel 802.3ad Tcp.RetransSegs CLOSE-WAIT 8001:", "a;b $x a`b {a,b} ?"},
		syntax.File: {"/etc/sysctl.d/99-a.conf", "/etc/../x -rf"},
		syntax.Peer: {"gw.example.net 192.0.2.1 fe80::1", "a;b -h $(x)"},
		syntax.Host: {"nas host-1 größe nas.example.net [2001:db8::1]:5001", "a;b $(x) x\x1b[2J"},
	} {
		for _, text := range strings.Fields(of[0]) {
			if !kind.Fits(text) {
				t.Errorf("%q is no %s", text, kind)
			}
		}
		for _, text := range strings.Fields(of[1]) {
			if kind.Fits(text) {
				t.Errorf("%q is a %s", text, kind)
			}
		}
	}
}
