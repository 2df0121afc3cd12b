// Package html renders what package present composes as a single page, without scripts or external
// resources.
package html

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/figure"
	"linerate/internal/show/present"
	"linerate/internal/show/words"
)

//go:embed page.tmpl
var pageText string

//go:embed page.css
var pageStyle string

// The template escapes every text for its context. Only what this program itself draws or encodes
// is passed as markup, style or URL.
var pageTemplate = sync.OnceValue(func() *template.Template {
	functions := template.FuncMap{"pieces": piecesOf, "panels": panelsOf, "data": dataOf, "byHost": words.ByHost,
		"unbroken": unbroken}
	return template.Must(template.New("page").Funcs(functions).Parse(pageText))
})

// pageContent is the data of the template.
type pageContent struct {
	*document.Report
	Style template.CSS
	Long  bool // whether the answer is long
}

// quantity matches a number and its unit.
var quantity = pattern.MustCompile(
	`([0-9]) (%|(?:[kMGT]i?)?(?:bit/s|bits?|B/s|B|bytes?)\b|[kM]?/s\b|[nµm]?s\b|[mh]\b)`)

// unbroken keeps quantities on one line by non-breaking spaces. It must not be applied to commands
// and data that readers copy.
func unbroken(text string) string { return quantity.Regexp().ReplaceAllString(text, "$1\u00a0$2") }

// Run writes the page of a run.
func Run(w io.Writer, run *record.Run) error {
	report := present.Report(run)
	p := pageContent{Report: report, Style: style(), Long: len(report.Answer) > 160}
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, p); err != nil {
		return fmt.Errorf("fill in the page of run %s: %w", run.ID, err)
	}
	_, err := w.Write(bytes.Map(plain.Rune, b.Bytes()))
	return err
}

// style returns the palette for light and dark pages, and for paper.
func style() template.CSS {
	light, dark := figure.Variables(false)+"--tint:#fdeee2", figure.Variables(true)+"--tint:#3b2412"
	return template.CSS(":root{color-scheme:light dark;" + light + "}\n@media (prefers-color-scheme:dark){:root{" +
		dark + "}}\n" +
		"@media print{:root{" + light + "}}\n" + pageStyle + figure.Classes())
}
