package bus

// Start is hub.Start, which imports this package (hub_test.go).
var Start func() (*Bus, error)
