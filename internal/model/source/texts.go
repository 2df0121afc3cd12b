package source

import (
	"errors"

	"linerate/internal/model/lists"
)

// Texts expands the ranges of a single text, such as an argument: "10.0.0.{1..3}" becomes three
// texts, and "10.0.{p=0..3}.{p}" four.
func Texts(text string) ([]string, error) {
	var problems Problems
	item := &Node{Kind: Scalar, Text: text}
	list := expand("", &Node{Kind: List, Items: []*Node{item}}, &problems)
	errs := lists.Map(problems, func(p Problem) error { return errors.New(p.Text) })
	texts := lists.Map(list.Items, func(copied *Node) string { return copied.Text })
	return texts, errors.Join(errs...)
}
