package hint

import "net/netip"

// Advice about neighbours and addresses.
type (
	// AddressRules advises a rule and a routing table for each address of a machine that was not read.
	AddressRules struct{}
	// FlushAddresses advises removing the entries for addresses from the neighbour table.
	FlushAddresses struct {
		Addresses []netip.Addr `json:"addresses"`
	}
	// DetectAgain advises another address, for which duplicate address detection runs again.
	DetectAgain struct{}
)

var (
	_ = is[AddressRules]("address_rules")
	_ = is[FlushAddresses]("flush_addresses")
	_ = is[DetectAgain]("detect_again")
)
