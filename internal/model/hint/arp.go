package hint

import "net/netip"

// Advice about neighbours and addresses.
type (
	// AddressRules advises adding a routing rule and a routing table for each address of a machine
	// that linerate did not read.
	AddressRules struct{}
	// FlushAddresses advises removing these addresses' entries from the neighbour table.
	FlushAddresses struct {
		Addresses []netip.Addr `json:"addresses"`
	}
	// DetectAgain advises changing the duplicate address on one of the machines, and then adding
	// the address again, which repeats duplicate address detection.
	DetectAgain struct{}
)

var _ = are(AddressRules{}, FlushAddresses{}, DetectAgain{})
