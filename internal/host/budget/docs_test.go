package budget

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/model/unit"
)

var update = flag.Bool("update", false, "write the table of the documents")

// TestDocs: the document's table has the bounds.
func TestDocs(t *testing.T) {
	const file = "../../../docs/server.md"
	const begin, end = "<!-- bounds -->\n", "<!-- /bounds -->"
	bytes := func(n int) string { return unit.Bytes(n).String() }
	table := "\n| bound on | one client | all clients | below the machine's |\n|---|---|---|---|\n"
	for _, row := range [Resources][3]string{
		Clients:     {"", "`--max-clients`", ""},
		Flows:       {"`--max-flows`", "", ""},
		Connections: {"`--max-connections`, at least `--max-flows`", "", "descriptors"},
		Threads: {fmt.Sprintf("%d for each CPU, at least `--max-flows`", threadsOfCPU),
			fmt.Sprintf("%d, at least one client's", threadsAll),
			fmt.Sprintf("RLIMIT_NPROC, pids.max, RLIMIT_DATA, RLIMIT_AS, less %d",
				spareThreads)},
		Polling:  {"1 for each CPU", "2 for each CPU", ""},
		Buffers:  {bytes(buffersEach), bytes(buffersAll), ""},
		Samples:  {fmt.Sprint(samples), "", ""},
		Requests: {fmt.Sprint(requests), "", ""},
		Memory: {bytes(memoryBase) + " and " + bytes(memoryFlow) + " for each of `--max-flows`", bytes(memoryAll) +
			", at least one client's", "a quarter of memory.max, RLIMIT_DATA, RLIMIT_AS"},
		Descriptors: {"", "", fmt.Sprintf("RLIMIT_NOFILE, less %d and unidentified connections", spareDescriptors)},
	} {
		table += fmt.Sprintf("| %%s | %s | %s | %s |\n", row[0], row[1], row[2])
	}
	words := make([]any, Resources)
	for r := range Resources {
		words[r] = r.String()
	}
	table = fmt.Sprintf(table, words...) + "\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	has, after, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatalf("%s has no place for the bounds", file)
	case has == table:
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has not these bounds (go test ./internal/host/budget -update):\n%s", file, table)
	}
}
