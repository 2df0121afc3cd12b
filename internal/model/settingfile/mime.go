package settingfile

import (
	"strings"

	"linerate/internal/model/pattern"
)

const mimeFile = "mime"

var _ = register(&format{
	name: mimeFile, label: "user data of several parts", manual: "cloudinit.readthedocs.io, User data formats",
	by:     "`Content-Type: multipart/…`",
	yields: "each part as a file of its own, also in base64",
	read:   (*File).mime,
})

var (
	mimeHead     = pattern.MustCompile(`(?i)\A(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?content-type:\s*multipart/`)
	mimeBoundary = pattern.MustCompile(`(?i)boundary="?([^"\s;]+)`)
)

// mime parses a message of several parts (RFC 2046).
func (f *File) mime(text string) {
	m := mimeBoundary.FindStringSubmatch(text)
	if m == nil {
		f.apart(Unread, 1, firstEntry(text), "a message of several parts without a boundary")
		return
	}
	var body, head strings.Builder
	n, begin, inHead := 0, 0, true
	end := func() {
		if begin > 0 {
			first := begin
			f.mimePart(strings.ToLower(head.String()), body.String(), func(line int) int { return first + line })
		}
		body.Reset()
		head.Reset()
	}
	within := false
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimRight(line, "\r\n ")
		switch {
		case bare == "--"+m[1] || bare == "--"+m[1]+"--":
			end()
			within, inHead, begin = bare == "--"+m[1], true, 0
		case !within:
		case inHead && bare == "":
			inHead, begin = false, n
		case inHead:
			head.WriteString(line)
		default:
			body.WriteString(line)
		}
	}
	if within {
		end()
	}
}

// mimePart reads a part.
func (f *File) mimePart(head, body string, at func(int) int) {
	name := "part"
	switch {
	case strings.Contains(head, "x-shellscript"), strings.Contains(head, "cloud-boothook"):
		name += ".sh"
	case strings.Contains(head, "cloud-config"):
		name += ".yaml"
	}
	if strings.Contains(head, "base64") {
		decoded, ok := unbase64(body)
		if !ok {
			f.apart(Unread, at(1), "part", "it is not base64")
			return
		}
		first := at(1)
		body, at = decoded, func(int) int { return first }
	}
	f.block(name, body, at)
}
