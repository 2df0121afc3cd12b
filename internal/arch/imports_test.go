package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "linerate/"

func TestLayers(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range layerViolations(s) {
			t.Error(v)
		}
	}
}

func TestRestrictedImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range importViolations(s) {
			t.Error(v)
		}
	}
}

func TestPurity(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range purityViolations(s) {
			t.Error(v)
		}
	}
}

func TestKernelOnly(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range kernelViolations(s) {
			t.Error(v)
		}
	}
}

func TestStreams(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range streamViolations(s) {
			t.Error(v)
		}
	}
}

// layerViolations are the imports of this module that the file's layer may not have.
func layerViolations(s source) []string {
	own, ok := layerOf(s.dir)
	if !ok {
		return []string{fmt.Sprintf("%s: the directory belongs to no layer (internal/arch/rules_test.go lists them)",
			s.path)}
	}
	var found []string
	for path, at := range s.imports() {
		dir, ok := strings.CutPrefix(path, module)
		if !ok {
			continue
		}
		other, known := layerOf(dir)
		switch {
		case !known:
			found = append(found, fmt.Sprintf("%s: %s belongs to no layer", at, path))
		case !s.test && isKit(dir) && !isKit(s.dir):
			found = append(found, fmt.Sprintf("%s: %s is a test kit: only tests may import it", at, path))
		case within(dir, own.dir), slices.Contains(own.may, other.dir), slices.Contains(everywhere, other.dir):
		case (s.test || isKit(s.dir)) && excepted(s.dir, other.dir):
		default:
			found = append(found, fmt.Sprintf("%s: %s may not import %s: %s", at, own.dir, path, own.why))
		}
	}
	return found
}

func excepted(dir, to string) bool {
	for _, c := range testExceptions {
		if within(dir, c.dir) && c.to == to {
			return true
		}
	}
	return false
}

// importViolations are restricted imports in other layers than those allowed. Test
// files and test kits may import what they need, except cgo.
func importViolations(s source) []string {
	var found []string
	for path, at := range s.imports() {
		for _, k := range restricted {
			if !matches(path, k.paths) || (s.test || isKit(s.dir)) && path != "C" {
				continue
			}
			if !slices.ContainsFunc(k.layers, func(dir string) bool { return within(s.dir, dir) }) {
				found = append(found, fmt.Sprintf("%s: %s may not import %q: %s", at, s.dir, path, k.why))
			}
		}
	}
	return found
}

// purityViolations are I/O, clocks and random numbers in the pure layers.
func purityViolations(s source) []string {
	pure := slices.ContainsFunc(pureLayers, func(dir string) bool { return within(s.dir, dir) })
	if !pure || s.test || isKit(s.dir) {
		return nil
	}
	var found []string
	for path, at := range s.imports() {
		if _, partly := pureOnly[path]; matches(path, pureDenied) && !matches(path, pureAllowed) && !partly {
			found = append(found, fmt.Sprintf("%s: %s may not import %q: %s", at, s.dir, path, pureWhy))
		}
	}
	for path, names := range pureSelectors {
		s.uses(path, func(name string, at token.Position) {
			if slices.Contains(names, name) {
				found = append(found, fmt.Sprintf("%s: %s may not use %s.%s: %s", at, s.dir, path, name, pureWhy))
			}
		})
	}
	for path, names := range pureOnly {
		s.uses(path, func(name string, at token.Position) {
			if !slices.Contains(names, name) {
				found = append(found, fmt.Sprintf("%s: %s may use no more of %s than %v: %s", at, s.dir, path,
					names, pureWhy))
			}
		})
	}
	return found
}

// kernelViolations are system calls, and files of /proc and /sys, below internal but
// outside internal/kernel.
func kernelViolations(s source) []string {
	if within(s.dir, "internal/kernel") || !within(s.dir, "internal") || s.test || isKit(s.dir) {
		return nil
	}
	var found []string
	s.uses("syscall", func(name string, at token.Position) {
		ok := slices.ContainsFunc(syscallValues, func(v string) bool {
			begin, wild := strings.CutSuffix(v, "*")
			return name == v || wild && strings.HasPrefix(name, begin) && name == strings.ToUpper(name)
		})
		if !ok {
			found = append(found, fmt.Sprintf("%s: syscall.%s: %s", at, name, syscallWhy))
		}
	})
	if !touchesFiles(s) {
		return found // its paths are names in texts
	}
	continued := make(map[*ast.BasicLit]bool) // the second and later pieces of a broken string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sum, ok := n.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
			if piece := stringLiteral(sum.Y); piece != nil && endsInString(sum.X) {
				continued[piece] = true
			}
		}
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || continued[lit] {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err == nil && !slices.Contains(ownFiles, text) && (strings.HasPrefix(text, "/proc/") ||
			strings.HasPrefix(text, "/sys/")) {
			found = append(found, fmt.Sprintf(
				"%s: %q: the roots of /proc and /sys belong to internal/kernel, so that tests can move them",
				s.fset.Position(lit.Pos()), text))
		}
		return true
	})
	return found
}

// touchesFiles reports whether the file's layer may open files: package model only knows their names.
func touchesFiles(s source) bool { return !within(s.dir, "internal/model") }

// stringLiteral is the expression as the literal of a string; nil when it is anything else.
func stringLiteral(e ast.Expr) *ast.BasicLit {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		return lit
	}
	return nil
}

// endsInString reports whether the last operand of a sum is the literal of a string.
func endsInString(e ast.Expr) bool {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		e = sum.Y
	}
	return stringLiteral(e) != nil
}

// streamViolations are uses of the standard streams past the filter of the command line.
func streamViolations(s source) []string {
	if !within(s.dir, "internal") || s.test || isKit(s.dir) {
		return nil
	}
	var found []string
	report := func(path, name string, at token.Position) {
		found = append(found, fmt.Sprintf("%s: %s.%s: %s", at, path, name, streamsWhy))
	}
	s.uses("os", func(name string, at token.Position) {
		if (name == "Stdout" || name == "Stderr") && !slices.Contains(streamFiles, s.path) {
			report("os", name, at)
		}
	})
	s.uses("fmt", func(name string, at token.Position) {
		if strings.HasPrefix(name, "Print") {
			report("fmt", name, at)
		}
	})
	return found
}

// TestChildren: the environment of what the program starts is made in one place.
func TestChildren(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range childViolations(s) {
			t.Error(v)
		}
	}
}

// childViolations are children that would inherit secrets.
func childViolations(s source) []string {
	if !within(s.dir, "internal") || s.test || isKit(s.dir) || s.dir == "internal/kernel/proc" {
		return nil
	}
	var found []string
	report := func(name string, at token.Position) {
		found = append(found, fmt.Sprintf("%s: %s: children are made by proc.Command, whose environment has no secrets",
			at, name))
	}
	s.uses("os/exec", func(name string, at token.Position) {
		if strings.HasPrefix(name, "Command") {
			report("exec."+name, at)
		}
	})
	s.uses("os", func(name string, at token.Position) {
		if name == "Environ" || name == "StartProcess" {
			report("os."+name, at)
		}
	})
	return found
}

// TestLayersExist: every layer that the rules name has Go files.
func TestLayersExist(t *testing.T) {
	all := sources(t)
	used := func(dir string) bool {
		return slices.ContainsFunc(all, func(s source) bool { return within(s.dir, dir) })
	}
	for _, r := range layers {
		if !used(r.dir) {
			t.Errorf("the rules name %s, which has no Go files", r.dir)
		}
	}
	for _, k := range restricted {
		for _, dir := range k.layers {
			if !used(dir) {
				t.Errorf("the rules let %s import %v, but it has no Go files", dir, k.paths)
			}
		}
	}
}
