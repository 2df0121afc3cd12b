package setting

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

func TestQdiscCheck(t *testing.T) {
	for _, test := range []struct {
		q    Qdisc
		key  string
		want string
	}{
		{Qdisc{Kind: "fifo"}, "kind", `kind "fifo": expected pfifo, bfifo`},
		{Qdisc{Kind: "tbf", Rate: 1e6}, "", "tbf needs a rate and a burst"},
		{Qdisc{Kind: "tbf", Rate: 7, Burst: 2000}, "rate", "at least 8 bit/s"},
		{Qdisc{Kind: "fq", Rate: 1e6}, "rate", "fq has no rate; expected it with tbf or cake"},
		{Qdisc{Kind: "cake", Limit: 5}, "limit", "cake has no limit; expected it with pfifo"},
		{Qdisc{Kind: "pfifo", Limit: -1}, "limit", "limit -1: expected 1 to 4294967295"},
		{Qdisc{Kind: "codel", Target: 10}, "target", "at least 1us"},
		{Qdisc{Kind: "sfq", Perturb: 1500e6}, "perturb", "whole seconds"},
		{Qdisc{Kind: "red"}, "", "red needs a limit"},
		{Qdisc{Kind: "red", Limit: 9000, Min: 5000, Max: 5000}, "max", "min less than max"},
		{Qdisc{Kind: "red", Limit: 9000, Max: 10000}, "max", "no more than the limit"},
		{Qdisc{Kind: "red", Limit: 9000, Probability: 1}, "probability", "less than 100%"},
		{Qdisc{Kind: "ets", Bands: 17}, "bands", "expected 1 to 16"},
		{Qdisc{Kind: "ets", Bands: 2, Strict: 1, Quanta: []unit.Bytes{1, 2}}, "bands", "at least 3"},
		{Qdisc{Kind: "ets", Bands: 2, Quanta: []unit.Bytes{0}}, "quanta", "bytes each"},
		{Qdisc{Kind: "red", Limit: 9000}, "", ""},
		{Qdisc{Kind: "cake"}, "", ""},
		{Qdisc{Kind: "ets", Bands: 3, Strict: 1, Quanta: []unit.Bytes{1, 2}}, "", ""},
	} {
		key, why := test.q.Check()
		if key != test.key || !strings.Contains(why, test.want) || test.want == "" && why != "" {
			t.Errorf("%+v: %q, %q; want %q, %q", test.q, key, why, test.key, test.want)
		}
	}
}

// TestQdiscTable: each option of a study file has a documentation, is one of a kind, and
// is among the options of a qdisc that has all.
func TestQdiscTable(t *testing.T) {
	var all Qdisc
	v := reflect.ValueOf(&all).Elem()
	yes := true
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		case reflect.Float64:
			f.SetFloat(1)
		}
	}
	all.ECN, all.Quanta = &yes, []unit.Bytes{1}
	var keys []string
	for _, o := range all.Options() {
		keys = append(keys, o.Key)
	}
	for _, f := range source.Fields(reflect.TypeFor[Qdisc]()) {
		if f.Name == "interface" || f.Name == "kind" {
			continue
		}
		if kinds, _, ok := strings.Cut(f.Doc, ": "); !ok || kinds == "" {
			t.Errorf("%s: %q is of no kind", f.Name, f.Doc)
		}
		if !slices.Contains(keys, f.Name) {
			t.Errorf("%s is not among the options", f.Name)
		}
	}
}
