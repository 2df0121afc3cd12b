package html

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"linerate/internal/show/document"
	"linerate/internal/show/figure"
)

// piece is one block of a page; one field is set.
type piece struct {
	Figure    *picture
	Table     *table
	Statement *document.Statement
	Prose     *prose
	Heading   string
	Finding   *document.Finding
	Listing   *document.Listing
	Fold      *fold
	Beside    *columns
}

type prose struct {
	Text string
	Data *data
}

type fold struct {
	ID, Summary string
	Pieces      []piece
}

type columns struct{ Left, Right []piece }

type picture struct {
	Title, Note string
	Panels      []panel
	Data        *data
}

// panel is drawn twice, for a page and for a phone; the style shows one.
type panel struct {
	Title        string
	Wide, Narrow template.HTML
}

func piecesOf(blocks []document.Block) (list []piece, err error) {
	for _, b := range blocks {
		var p piece
		switch b := b.(type) {
		case *document.Table:
			p.Table = tableOf(b)
		case document.Figure:
			p.Figure, err = pictureOf(b.Figure)
		case document.Statement:
			p.Statement = &b
		case document.Prose:
			p.Prose = &prose{b.Text, dataOf(b.Name, b.Data)}
		case document.Heading:
			p.Heading = b.Text
		case document.Finding:
			p.Finding = &b
		case document.Listing:
			p.Listing = &b
		case document.Fold:
			p.Fold = &fold{ID: b.ID, Summary: b.Summary}
			p.Fold.Pieces, err = piecesOf(b.Blocks)
		case document.Beside:
			p.Beside = &columns{}
			if p.Beside.Left, err = piecesOf(b.Left); err == nil {
				p.Beside.Right, err = piecesOf(b.Right)
			}
		default:
			err = fmt.Errorf("a page has no %T", b)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func pictureOf(f figure.Figure) (*picture, error) {
	out := &picture{Title: f.Title, Note: f.Note, Data: dataOf(f.Name, f.Data)}
	for _, p := range f.Panels {
		label := strings.TrimPrefix(p.Title+": "+f.Title, ": ")
		var wide, narrow bytes.Buffer
		if err := figure.InlineSVG(&wide, p.Draw(f.PanelWidth()), label, "wide"); err != nil {
			return nil, fmt.Errorf("draw figure %s: %w", f.Name, err)
		}
		if err := figure.InlineSVG(&narrow, p.Draw(figure.Narrow), label, "narrow"); err != nil {
			return nil, fmt.Errorf("draw figure %s: %w", f.Name, err)
		}
		out.Panels = append(out.Panels, panel{p.Title, template.HTML(wide.String()), template.HTML(narrow.String())})
	}
	return out, nil
}
