package machinetest

// packagesLeftOut are not tested in machines, with the reason.
var packagesLeftOut = map[string]string{
	"internal/arch":               "reads source code with the compiler, and no kernel",
	"internal/kernel/machinetest": "boots machines",
}

// testsLeftOut are not run in machines, by package, with the reason.
var testsLeftOut = map[string]map[string]string{}
