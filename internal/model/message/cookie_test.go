package message

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestCookieText(t *testing.T) {
	request := FlowRequest{ID: "f", Cookie: Cookie{1, 2, 0xff}}
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var back FlowRequest
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, request) {
		t.Errorf("%s became %+v, %v", data, back, err)
	}
	if data, _ = json.Marshal(FlowRequest{ID: "f"}); strings.Contains(string(data), "cookie") {
		t.Errorf("no cookie, but %s", data)
	}
	for _, bad := range []string{"", "01", strings.Repeat("0", 31), strings.Repeat("0", 33), strings.Repeat("0", 34),
		strings.Repeat("g", 32)} {
		if err := new(Cookie).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a cookie", bad)
		}
	}
}
