package pasted

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("PASTED")) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(os.Getenv("PREFIX") + string(text))
		fmt.Printf("== %s: %d lines, idle %d, LOST %d %v %v\n", f, p.Lines, p.Idle, p.Lost, p.Formats, err)
		for _, l := range p.NotUnderstood {
			fmt.Println("      ?", l)
		}
		if os.Getenv("V") != "" {
			for _, m := range p.Machines {
				b, _ := json.Marshal(m)
				fmt.Println("   ", m.Pasted, string(b))
			}
		}
	}
}
