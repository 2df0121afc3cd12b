package record

// LintSchema is the schema of a Lint.
const LintSchema = "linerate.lint/v1"

// Lint is what is to be said about files of settings before anything is tried.
type Lint struct {
	Schema string     `json:"schema"`
	Files  []LintFile `json:"files"` // in the order in which they are read
	// Kernel is which kernel was asked; nil: none was, and what is said is what is
	// known of kernels in general.
	Kernel   *LintKernel   `json:"kernel,omitempty"`
	Settings []LintSetting `json:"settings"` // those that hold in the end
	Findings []LintFinding `json:"findings"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Notes    int           `json:"notes"`
}

// LintFile is a file that was read.
type LintFile struct {
	File     string `json:"file"`
	Format   string `json:"format"` // sysctl.conf, loader.conf or tuned
	System   string `json:"system"` // linux, freebsd or openbsd
	Settings int    `json:"settings"`
}

// LintKernel is the kernel that was asked.
type LintKernel struct {
	Release     string `json:"release"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	// Namespaces is why it could not be found out by looking which parameters are
	// a namespace's own; empty: it was.
	Namespaces string `json:"namespaces_unknown,omitempty"`
}

// Scopes of a setting, as far as they are known.
const (
	ScopeNamespace = "namespace"
	ScopeMachine   = "machine"
)

// LintSetting is a setting that holds when all files have been read.
type LintSetting struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Key     string `json:"key"`
	Value   string `json:"value"`
	Current string `json:"current,omitempty"` // on the kernel that was asked
	// Scope is namespace or machine; empty: not known.
	Scope string `json:"scope,omitempty"`
	// Amounts says what the value comes to where its unit is not bytes: "38.1 GiB".
	Amounts string `json:"amounts,omitempty"`
	Network bool   `json:"network"` // it is about the network
	// Without is the ID of the finding for which the line has no effect, such as refused or
	// removed; empty: it takes effect.
	Without string `json:"without_effect,omitempty"`
}

// Severities of a finding.
const (
	LintError   = "error"   // it will not be set at all
	LintWarning = "warning" // it does something else than it seems to
	LintNote    = "note"    // worth knowing
)

// LintFinding is one thing to be said about one line.
type LintFinding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Key      string `json:"key,omitempty"`
	Value    string `json:"value,omitempty"`
	Says     string `json:"says"`
	// Fix is what to write instead, or to do; empty: nothing in particular.
	Fix string `json:"fix,omitempty"`
	// Correction is the line that was meant, where that is known: "key = value".
	Correction string `json:"correction,omitempty"`
	// Other is the line that it is about as well.
	Other string `json:"other,omitempty"`
}
