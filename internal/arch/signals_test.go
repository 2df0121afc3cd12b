package arch

import (
	"go/ast"
	"slices"
	"testing"
)

// computes are the functions that compute from documents and take no context, by their packages.
var computes = map[string][]string{
	"netstate":    {"ParseHostSnapshot"},
	"study":       {"Parse", "ParseTopology"},
	"pasted":      {"Parse", "ParseOver", "ParseMembers"},
	"settingfile": {"Read"},
	"compare":     {"Snapshots", "Runs"},
	"diagnose":    {"Hosts"},
	"conclude":    {"Conclude"},
	"chance":      {"Fill"},
}

// ownDocuments are functions whose documents are those of the program, or that are called while it computes.
var ownDocuments = []string{"builtInCommands", "writeStudy", "notSnapshot"}

// TestSignalsEndComputing: the verbs say where they compute from documents, so that a signal ends them there.
func TestSignalsEndComputing(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if s.dir != "internal/show/cli" || s.test {
			continue
		}
		for _, d := range s.file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || slices.Contains(ownDocuments, f.Name.Name) {
				continue
			}
			said := false
			ast.Inspect(f, func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is {
					return true
				}
				switch of := call.Fun.(type) {
				case *ast.Ident:
					said = said || of.Name == "computing"
				case *ast.SelectorExpr:
					from, _ := of.X.(*ast.Ident)
					if from == nil || !slices.Contains(computes[from.Name], of.Sel.Name) {
						break
					}
					if found++; !said {
						t.Errorf("%s: %s.%s without defer computing()()", s.fset.Position(call.Pos()), from.Name,
							of.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if found == 0 {
		t.Error("no function computes: the test shows nothing")
	}
}
