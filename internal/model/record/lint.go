package record

// LintSchema is the schema name and version of Lint.
const LintSchema = "linerate.lint/v1"

// Lint is the result of checking files of settings without applying anything.
type Lint struct {
	Schema string     `json:"schema"`
	Files  []LintFile `json:"files"` // in the order in which they are read
	// Kernel describes the kernel that the settings were checked against. Nil: none; findings then
	// rest on what is known of kernels in general.
	Kernel   *LintKernel   `json:"kernel,omitempty"`
	Settings []LintSetting `json:"settings"` // those that are in effect after all files were read
	Findings []LintFinding `json:"findings"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Notes    int           `json:"notes"`
}

// LintFile is a file that was checked.
type LintFile struct {
	File     string `json:"file"`
	Format   string `json:"format"` // sysctl.conf, loader.conf or tuned
	System   string `json:"system"` // linux, freebsd or openbsd
	Settings int    `json:"settings"`
}

// LintKernel describes the kernel that settings were checked against.
type LintKernel struct {
	Release     string `json:"release"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	// Namespaces is why it is unknown which parameters exist in each network namespace. Empty: it
	// is known.
	Namespaces string `json:"namespaces_unknown,omitempty"`
}

// Scopes of a setting.
const (
	ScopeNamespace = "namespace"
	ScopeMachine   = "machine"
)

// LintSetting is a setting that is in effect after all files were read.
type LintSetting struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Key     string `json:"key"`
	Value   string `json:"value"`
	Current string `json:"current,omitempty"` // on the checked kernel
	// Scope is ScopeNamespace or ScopeMachine. Empty: unknown.
	Scope string `json:"scope,omitempty"`
	// Amounts converts the value if its unit is not bytes: "38.1 GiB".
	Amounts string `json:"amounts,omitempty"`
	Network bool   `json:"network"` // whether it concerns the network
	// Without is the ID of the finding that explains why the line has no effect, such as refused or
	// removed. Empty: it has an effect.
	Without string `json:"without_effect,omitempty"`
}

// Severities of a LintFinding.
const (
	LintError   = "error"   // the setting will not be applied
	LintWarning = "warning" // the setting does something other than intended
	LintNote    = "note"    // additional information
)

// LintFinding is a finding about one line of a file.
type LintFinding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Key      string `json:"key,omitempty"`
	Value    string `json:"value,omitempty"`
	Says     string `json:"says"`
	// Fix is what to write or do instead. Empty: nothing in particular.
	Fix string `json:"fix,omitempty"`
	// Correction is the intended line, if it is known: "key = value".
	Correction string `json:"correction,omitempty"`
	// Other is a second line that the finding is about.
	Other string `json:"other,omitempty"`
}
