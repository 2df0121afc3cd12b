package measure

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
)

// plausible says what is wrong with the counts of a server, which is another program on
// another host: a window that is not as long as the one that was asked for, and counters
// that are negative or fall.
func plausible(r message.WindowReply, window time.Duration) error {
	wrong := func(format string, args ...any) error {
		return bus.Coded(message.Invalid, fmt.Errorf("the server's reading is not plausible: "+format, args...))
	}
	// An edge is read late where a machine does other things.
	const late, least = 10 * time.Second, 20
	if took := time.Duration(r.Reading.End.BeganNs - r.Reading.Begin.BeganNs); took < window/least ||
		took > window+late {
		return wrong("a window of %v, expected %v", took, window)
	}
	edges := [][]message.FlowEnd{r.BeginFlows, r.EndFlows, r.FinalFlows}
	for _, ends := range edges {
		if len(ends) != len(r.BeginFlows) {
			return wrong("%d flows at the beginning and %d later", len(r.BeginFlows), len(ends))
		}
		for i, e := range ends {
			if field, value := absurd(reflect.ValueOf(e)); field != "" {
				return wrong("%s of flow %.40q is %v", field, e.ID, value)
			}
			if b := r.BeginFlows[i]; e.ID != b.ID || e.ReceivedBytes < b.ReceivedBytes ||
				e.WrittenBytes < b.WrittenBytes {
				return wrong("the counts of flow %.40q fall", b.ID)
			}
		}
	}
	for _, s := range r.Reading.Series {
		for _, f := range s.Flows {
			if field, value := absurd(reflect.ValueOf(f)); field != "" {
				return wrong("%s of a sample of flow %.40q is %v", field, f.ID, value)
			}
		}
	}
	return nil
}

// absurd is the first number below 0, or beyond what any counter reaches.
func absurd(v reflect.Value) (field string, value any) {
	const most = 1 << 60
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return absurd(v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if field, value := absurd(v.Index(i)); field != "" {
				return field, value
			}
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if inner, value := absurd(v.Field(i)); inner != "" {
				return f.Name, value
			}
		}
	case v.CanInt() && (v.Int() < 0 || v.Int() > most), v.CanUint() && v.Uint() > most && v.Uint() != math.MaxUint64:
		return "number", v.Interface()
	case v.CanFloat() && !(v.Float() >= 0 && v.Float() <= most):
		return "number", v.Interface()
	}
	return "", nil
}
