package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"

	"linerate/internal/control/notebook"
)

// TestURLPort: the port is the URL's, or else that of --port, or else its scheme's.
func TestURLPort(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"http://nas/", "nas:80"},
		{"http://nas/ --port 8080", "nas:8080"},
		{"http://nas:81/ --port 8080", "nas:81"},
		{"dns://nas -p 5353", "nas:5353"},
	} {
		var f measureFlags
		flags := pflag.NewFlagSet("measure", pflag.ContinueOnError)
		f.define(flags)
		if err := flags.Parse(strings.Fields(c.line)); err != nil {
			t.Fatal(err)
		}
		if o, _, err := f.options(flags.Args()); err != nil || len(o.Addresses) != 1 || o.Addresses[0] != c.want {
			t.Errorf("%s: %v, %v; want %s", c.line, o.Addresses, err, c.want)
		}
	}
}

// TestURLByName: a server is asked by its name in the URL, also where a family or a port is
// chosen beside it.
func TestURLByName(t *testing.T) {
	t.Setenv(notebook.Variable, filepath.Join(t.TempDir(), "n.db"))
	var mu sync.Mutex
	asked := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Host] = true
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	var errs strings.Builder
	status := Main([]string{"measure", "http://localhost:" + port + "/", "-4", "--pace", "100", "--duration", "100ms",
		"--warmup", "10ms", "--no-save", "--quiet"}, strings.NewReader(""), io.Discard, &errs)
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || !asked["localhost:"+port] {
		t.Errorf("status %d, asked of %v: %s", status, asked, errs.String())
	}
}
