// Package recipes tests the recipes of CONTRIBUTING.md: it adds one of each kind to a copy of the module, in the files
// that the recipe names and in no other, and executes the program that this makes.
package recipes
