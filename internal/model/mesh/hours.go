package mesh

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Hours is a window of each day, in minutes of the clock on the wall: 01:00-05:00, or 22:00-05:00 over midnight.
// The end is not within it. The zero value is all day.
//
// Methods take a time in the zone whose clock counts. Where clocks are put forward, minutes that a day does not
// have are left out; where they are put back, minutes that a day has twice are within the window both times.
type Hours struct {
	From, To int // minutes from midnight
}

const day = 24 * 60

// ParseHours returns hours as String writes them. "" is all day.
func ParseHours(text string) (Hours, error) {
	if text == "" {
		return Hours{}, nil
	}
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return Hours{}, fmt.Errorf("hours: expected such as 01:00-05:00, not %.40q", text)
	}
	var h Hours
	var err error
	if h.From, err = minute(from); err != nil {
		return Hours{}, err
	}
	if h.To, err = minute(to); err != nil {
		return Hours{}, err
	}
	if h.From == h.To%day {
		return Hours{}, errors.New("hours: they end when they begin")
	}
	return h, h.check()
}

// minute returns the minute of a day that a text such as 05:00 names; 24:00 is the end of the day.
func minute(text string) (int, error) {
	var h, m int
	if _, err := fmt.Sscanf(text, "%2d:%2d", &h, &m); err != nil || fmt.Sprintf("%02d:%02d", h, m) != text ||
		h < 0 || m < 0 || m > 59 || h*60+m > day {
		return 0, fmt.Errorf("hours: expected a time such as 05:00, not %.40q", text)
	}
	return h*60 + m, nil
}

func (h Hours) check() error {
	if h != (Hours{}) && (h.From < 0 || h.From >= day || h.To < 0 || h.To > day || h.From == h.To%day) {
		return fmt.Errorf("hours: expected two different minutes of a day, not %d and %d", h.From, h.To)
	}
	return nil
}

// String returns the hours as a flag has them. All day is "".
func (h Hours) String() string {
	if h == (Hours{}) {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", h.From/60, h.From%60, h.To/60, h.To%60)
}

// MarshalText returns String.
func (h Hours) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText is ParseHours.
func (h *Hours) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHours(string(text))
	return err
}

// Within reports whether a time is within the hours.
func (h Hours) Within(t time.Time) bool {
	if h == (Hours{}) {
		return true
	}
	now := t.Hour()*60 + t.Minute()
	if h.From < h.To {
		return h.From <= now && now < h.To
	}
	return h.From <= now || now < h.To
}

// Next returns the first time from t on that is within the hours.
func (h Hours) Next(t time.Time) time.Time { return h.until(t, true) }

// End returns the first time from t on that is not within the hours. The zero time: there is none.
func (h Hours) End(t time.Time) time.Time { return h.until(t, false) }

// until returns the first time from t on at which Within has a value. It looks at each minute, as only the clock
// says what clocks do; a window that a day does not have is there the next day.
func (h Hours) until(t time.Time, within bool) time.Time {
	if h.Within(t) == within {
		return t
	}
	t = t.Add(-time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	for range 3 * day {
		if t = t.Add(time.Minute); h.Within(t) == within {
			return t
		}
	}
	return time.Time{}
}
