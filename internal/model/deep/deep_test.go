package deep

import (
	"reflect"
	"testing"
)

type inner struct {
	Text   string
	hidden string
}

// tree returns a value of every kind whose texts are text.
func tree(text string) any {
	return map[string]any{text: []any{inner{text, "hidden"}, &inner{Text: text}, [1]string{text}, &text, nil, 7,
		map[string][]string(nil)}}
}

// TestCopy: each text of the copy is changed, and none of the original.
func TestCopy(t *testing.T) {
	original := tree("a")
	copied := Copy(reflect.ValueOf(&original).Elem(), func(v reflect.Value) bool {
		if v.Kind() == reflect.String {
			v.SetString(v.String() + "b")
		}
		return false
	}).Interface()
	if !reflect.DeepEqual(copied, tree("ab")) {
		t.Errorf("%v, want %v", copied, tree("ab"))
	}
	if !reflect.DeepEqual(original, tree("a")) {
		t.Errorf("the original is %v", original)
	}
}
