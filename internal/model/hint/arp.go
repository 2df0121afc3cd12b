package hint

import "net/netip"

// Hints about neighbours and addresses.
type (
	// AddressRules: a rule and a table for each address of a machine that was not read.
	AddressRules struct{}
	// FlushAddresses: the entries for addresses go from the neighbour table.
	FlushAddresses struct {
		Addresses []netip.Addr `json:"addresses"`
	}
	// DetectAgain: another address, for which duplicate address detection runs again.
	DetectAgain struct{}
)

var (
	_ = is[AddressRules]("address_rules")
	_ = is[FlushAddresses]("flush_addresses")
	_ = is[DetectAgain]("detect_again")
)
