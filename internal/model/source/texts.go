package source

import "errors"

// Texts expands the ranges of a single text, such as an argument: "10.0.0.{1..3}" becomes three
// texts, and "10.0.{p=0..3}.{p}" four.
func Texts(text string) ([]string, error) {
	var problems Problems
	item := &Node{Kind: Scalar, Text: text}
	list := expand("", &Node{Kind: List, Items: []*Node{item}}, &problems)
	var errs []error
	for _, p := range problems {
		errs = append(errs, errors.New(p.Text))
	}
	var texts []string
	for _, copied := range list.Items {
		texts = append(texts, copied.Text)
	}
	return texts, errors.Join(errs...)
}
