package html

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"linerate/internal/show/document"
	"linerate/internal/show/figure"
)

// piece is one block of a page. Exactly one field is set.
type piece struct {
	Figure    *figure.Figure
	Table     *table
	Statement *document.Statement
	Prose     *document.Prose
	Heading   *document.Heading
	Finding   *document.Finding
	Listing   *document.Listing
	Fold      *document.Fold
	Beside    *document.Beside
}

// piecesOf converts blocks for the template.
func piecesOf(blocks []document.Block) (list []piece, err error) {
	for _, b := range blocks {
		var p piece
		switch b := b.(type) {
		case *document.Table:
			p.Table = tableOf(b)
		case document.Figure:
			p.Figure = &b.Figure
		case document.Statement:
			p.Statement = &b
		case document.Prose:
			p.Prose = &b
		case document.Heading:
			p.Heading = &b
		case document.Finding:
			p.Finding = &b
		case document.Listing:
			p.Listing = &b
		case document.Fold:
			p.Fold = &b
		case document.Beside:
			p.Beside = &b
		default:
			return nil, fmt.Errorf("a page has no %T", b)
		}
		list = append(list, p)
	}
	return list, nil
}

// panel is drawn twice, for a page and for a phone. The style sheet shows one of them.
type panel struct {
	Title        string
	Wide, Narrow template.HTML
}

func panelsOf(f figure.Figure) (list []panel, err error) {
	for _, p := range f.Panels {
		label := strings.TrimPrefix(p.Title+": "+f.Title, ": ")
		var wide, narrow bytes.Buffer
		if err := figure.InlineSVG(&wide, p.Draw(f.PanelWidth()), label, "wide"); err != nil {
			return nil, fmt.Errorf("draw figure %s: %w", f.Name, err)
		}
		if err := figure.InlineSVG(&narrow, p.Draw(figure.Narrow), label, "narrow"); err != nil {
			return nil, fmt.Errorf("draw figure %s: %w", f.Name, err)
		}
		list = append(list, panel{p.Title, template.HTML(wide.String()), template.HTML(narrow.String())})
	}
	return list, nil
}
