package pasted

import "strings"

// A line of syslog is parsed by hand, because a large log has little else: what an expression takes for it
// is most of what the whole line may take.

// syslogRowOf returns the parts of a line that begins with a time and a host:
//
//	<6>Nov 29 10:00:00 nas kern.info kernel[12]: text
//
// The time is that of RFC 3164 or RFC 5424, or of journalctl -o short-full or -o short-unix. False: it has
// another form.
func syslogRowOf(line string) (e syslogEntry, is bool) {
	if strings.HasPrefix(line, "<") {
		end := span(line[1:], 3, isDigit) + 1
		if end == 1 || !strings.HasPrefix(line[end:], ">") {
			return e, false
		}
		e.priority, line = line[1:end], line[end+1:]
	}
	line, is = cutStamp(line)
	if !is {
		return e, false
	}
	e.host, line, is = strings.Cut(line, " ")
	if !is || e.host != "(none)" && (e.host == "" || span(e.host, 64, isHostByte) < len(e.host)) {
		return e, false
	}
	if word, rest, _ := strings.Cut(line, " "); strings.Contains(word, ".") {
		facility, level, _ := strings.Cut(word, ".")
		if len(facility) >= 3 && span(facility, 8, isWordByte) == len(facility) &&
			len(level) >= 3 && span(level, 7, isWordByte) == len(level) {
			e.facility, e.level, line = facility, level, rest
		}
	}
	end := span(line, 60, isProgramByte)
	if end == 0 {
		return e, false
	}
	e.program, line = line[:end], line[end:]
	if strings.HasPrefix(line, "[") {
		id, rest, closed := strings.Cut(line[1:], "]")
		if !closed || id == "" || span(id, 20, func(b byte) bool { return isWordByte(b) || b == '-' }) < len(id) {
			return e, false
		}
		line = rest
	}
	line, is = strings.CutPrefix(line, ":")
	if !is || line != "" && line[0] != ' ' {
		return e, false
	}
	e.text = strings.TrimPrefix(line, " ")
	return e, true
}

// cutStamp returns what follows a time and a blank.
func cutStamp(line string) (rest string, is bool) {
	if rest, is = cutShape(line, "Aaa _0 00:00:00"); !is {
		rest, is = cutShape(line, "Aaa _0 0000 00:00:00")
	}
	if is {
		return strings.CutPrefix(cutFraction(rest, ".", 9), " ")
	}
	if rest, is = cutShape(line, "0000-00-00"); is {
		if rest == "" || rest[0] != 'T' && rest[0] != ' ' {
			return "", false
		}
		if rest, is = cutShape(rest[1:], "00:00:00"); !is {
			return "", false
		}
		rest = cutFraction(rest, ".,", 9)
		if after, is := strings.CutPrefix(rest, "Z"); is {
			return strings.CutPrefix(after, " ")
		}
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			after, is := cutShape(rest[1:], "00:00")
			if !is {
				after, is = cutShape(rest[1:], "0000")
			}
			if !is {
				return "", false
			}
			rest = after
		}
		return strings.CutPrefix(rest, " ")
	}
	if rest, is = cutShape(line, "Aaa 0000-00-00 00:00:00"); is {
		rest, is = strings.CutPrefix(cutFraction(rest, ".", 6), " ")
		zone := span(rest, 5, func(b byte) bool { return b >= 'A' && b <= 'Z' || isDigit(b) || b == '+' || b == '-' })
		if !is || zone == 0 {
			return "", false
		}
		return strings.CutPrefix(rest[zone:], " ")
	}
	if whole := span(line, 11, isDigit); whole >= 9 {
		if rest, is = cutShape(line[whole:], ".000000"); is {
			return strings.CutPrefix(rest, " ")
		}
	}
	return "", false
}

// cutShape returns what follows a text of a shape, in which 0 is any digit, _ a digit or a blank, A a capital
// and a small letter.
func cutShape(text, shape string) (rest string, is bool) {
	if len(text) < len(shape) {
		return "", false
	}
	for i := range len(shape) {
		b := text[i]
		switch shape[i] {
		case '0':
			is = isDigit(b)
		case '_':
			is = isDigit(b) || b == ' '
		case 'A':
			is = b >= 'A' && b <= 'Z'
		case 'a':
			is = b >= 'a' && b <= 'z'
		default:
			is = b == shape[i]
		}
		if !is {
			return "", false
		}
	}
	return text[len(shape):], true
}

// cutFraction returns a text without the fraction of a second at its beginning: one of the points and at
// most so many digits.
func cutFraction(text, points string, most int) string {
	if text == "" || strings.IndexByte(points, text[0]) < 0 {
		return text
	}
	if n := span(text[1:], most, isDigit); n > 0 {
		return text[1+n:]
	}
	return text
}

// span returns how many bytes at the beginning of a text are of a kind, at most so many.
func span(text string, most int, of func(byte) bool) (n int) {
	for n < len(text) && n < most && of(text[n]) {
		n++
	}
	return n
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWordByte(b byte) bool {
	return isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

func isHostByte(b byte) bool { return isWordByte(b) || b == '.' || b == ':' || b == '-' }

func isProgramByte(b byte) bool { return isWordByte(b) || strings.IndexByte("./@()+-", b) >= 0 }
