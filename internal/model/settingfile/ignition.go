package settingfile

import (
	"encoding/base64"
	"net/url"
	"strings"

	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "ignition", label: "Ignition or Butane config", manual: "coreos.github.io/ignition, coreos.github.io/butane",
	by:     "`ignition:`, or `variant:` with `version:`",
	yields: "`systemd.units`; `storage.files` whose contents are inline or a `data:` URL, without compression",
	shape: func(n *source.Node) bool {
		return at(n, "ignition") != nil || text(n, "variant") != "" && text(n, "version") != ""
	},
	tree: (*treeReader).ignition,
})

// ignition reads the files of a config of Ignition or Butane.
func (r *treeReader) ignition(n *source.Node) {
	if units := at(n, "systemd", "units"); units != nil {
		for _, unit := range units.Items {
			if contents := at(unit, "contents"); contents != nil && contents.Kind == source.Scalar {
				r.content(text(unit, "name"), contents)
			}
		}
	}
	files := at(n, "storage", "files")
	if files == nil {
		return
	}
	for _, file := range files.Items {
		name := text(file, "path")
		contents := at(file, "contents")
		if inline := at(contents, "inline"); inline != nil {
			r.content(name, inline)
		}
		from := at(contents, "source")
		if from == nil || from.Kind != source.Scalar {
			continue
		}
		r.use(from)
		decoded, ok := dataURL(from.Text)
		line := max(1, from.At.Line)
		switch {
		case ok && text(contents, "compression") == "":
			r.embed(name, decoded, func(int) int { return line })
		case isSysctlFile(name):
			r.unread(from, "the contents of "+name+" are not in this file, or compressed")
		}
	}
}

// dataURL returns the content of a data URL (RFC 2397).
func dataURL(text string) (content string, ok bool) {
	rest, is := strings.CutPrefix(text, "data:")
	kind, data, comma := strings.Cut(rest, ",")
	if !is || !comma {
		return "", false
	}
	if strings.HasSuffix(kind, ";base64") {
		return unbase64(data)
	}
	content, err := url.PathUnescape(data)
	return content, err == nil
}

// unbase64 decodes a text in base64, with or without line breaks.
func unbase64(text string) (decoded string, ok bool) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	return string(data), err == nil
}
